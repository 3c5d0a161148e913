"""What no request gets past, and what every answer carries."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.extras import NEEDS

pytest.importorskip("fastapi", reason=NEEDS["fastapi"])
pytest.importorskip("httpx2", reason=NEEDS["httpx2"])

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.requests import Request
from starlette.testclient import TestClient

from dovetail.errors import InputError
from dovetail.serve import Guard, Limits, Part, Refused, guard_for, make_app

LIMITS = Limits(body=2000, seconds=5.0, requests=3)


class Said(BaseModel):
    text: str
    times: int = 1


@pytest.fixture
def part(tmp_path: Path) -> Part:
    router = APIRouter()

    @router.post("/say")
    def say(body: Said) -> dict[str, str]:
        if body.text == "wrong":
            raise InputError("no such word", "a.txt", 3)
        if body.text == "full":
            raise Refused(429, "too much", {"Retry-After": "2"})
        if body.text == "bug":
            raise ZeroDivisionError
        return {"said": body.text * body.times}

    @router.post("/count")
    async def count(request: Request) -> dict[str, int]:
        return {"bytes": sum([len(piece) async for piece in request.stream()])}

    (tmp_path / "page.html").write_text("<!doctype html><title>Page</title>")
    (tmp_path / "a.js").write_text("export {};")
    return Part(
        router=router,
        pages={"/": tmp_path / "page.html"},
        assets={"/assets/own": tmp_path},
        streamed=("/count",),
        health=lambda: {"words": 3},
        metrics=lambda: ["own_total 7"],
    )


def client_of(part: Part, **how: Any) -> TestClient:
    app = make_app([part], limits=LIMITS, **how)
    return TestClient(app, base_url="http://localhost:8765", raise_server_exceptions=False)


@pytest.fixture
def client(part: Part) -> Iterator[TestClient]:
    with client_of(part) as client:
        yield client
        assert client.post("/say", json={"text": "still here"}).json() == {"said": "still here"}


def raw(client: TestClient, body: bytes, kind: str = "application/json", **headers: str) -> Any:
    return client.post("/say", content=body, headers={"Content-Type": kind, **headers})


@pytest.mark.parametrize(
    ("body", "status", "told"),
    [
        (b"{", 400, "the body is not JSON: Expecting property name enclosed in double quotes at character 1"),
        (b"", 422, "body: missing"),
        (b'{"text": "\xff"}', 400, "the body is not UTF-8 (byte 10)"),
        (b'{"text": "a\\u0000b"}', 422, "the body holds a NUL character; leave it out"),
        (b'{"text": "a\x00b"}', 400, "not JSON: Invalid control character"),
        (b'{"text": "a\\ud800b"}', 422, "the body holds half of a surrogate pair"),
        (b'{"\\udc00": "a"}', 422, "the body holds half of a surrogate pair"),
        (b"[" * 900 + b"]" * 900, 422, "nested more than 50 deep"),
        (b"[" * 1900, 400, "the body is "),
        (b'{"text": "a", "times": NaN}', 422, "NaN is no number of JSON"),
        (b'{"text": "a", "times": ' + b"9" * 1000 + b"}", 422, "a number of 1,000 digits is too long"),
        (b'{"text": "' + b"a" * 2000 + b'"}', 413, "the body is larger than 2,000 bytes"),
        (b'{"text": 7}', 422, "text: this must be a valid string"),
        (b'{"text": null}', 422, "text: this must be a valid string"),
        (b'{"text": "a", "times": "x"}', 422, "times: this must be a valid integer"),
        (b"{}", 422, "text: missing"),
        (b"[]", 422, "body: this must be a valid dictionary"),
        (b'"text"', 422, "body: this must be a valid dictionary"),
        (b'{"text": "wrong"}', 422, "a.txt:3: no such word"),
        (b'{"text": "full"}', 429, "too much"),
        (b'{"text": "bug"}', 500, "unexpected error in dovetail (ZeroDivisionError)"),
    ],
    ids=lambda value: value[:40] if isinstance(value, str) else None,
)
def test_failures_are_json_and_the_next_request_works(client: TestClient, body: bytes, status: int, told: str) -> None:
    response = raw(client, body)
    assert response.status_code == status
    assert told in response.json()["error"]


def test_a_body_that_does_not_say_its_length_is_bounded_too(client: TestClient) -> None:
    pieces = (b"x" * 500 for _ in range(10))
    response = client.post("/say", content=pieces, headers={"Content-Type": "application/json"})
    assert response.status_code == 413


def test_streamed_routes_take_bodies_of_any_length(client: TestClient) -> None:
    pieces = (b"x" * 500 for _ in range(100))
    response = client.post("/count", content=pieces, headers={"Content-Type": "application/x-ndjson"})
    assert response.json() == {"bytes": 50_000}


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_only_json_is_taken(client: TestClient, kind: str) -> None:
    for path in ("/say", "/count"):
        response = client.post(path, content=b'{"text": "a"}', headers={"Content-Type": kind})
        assert response.status_code == 415
        assert "the content type must be application/" in response.json()["error"]


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "localhost.evil.example", "192.168.0.7", ""])
def test_other_names_are_refused(client: TestClient, host: str) -> None:
    for path in ("/", "/health", "/assets/own/a.js"):
        response = client.get(path, headers={"Host": host})
        assert response.status_code == 421
        assert "does not go by the name" in response.json()["error"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:9", "[::1]:8765"])
def test_names_of_this_machine_are_taken_with_any_port(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:9999"},
        {"Origin": "http://localhost:8765.evil.example"},
    ],
)
def test_posts_from_pages_of_other_sites_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    response = raw(client, b'{"text": "a"}', **headers)
    assert response.status_code == 403
    assert "another site" in response.json()["error"]


@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost:8765"}, {"Sec-Fetch-Site": "none"}, {}]
)
def test_posts_of_own_pages_and_of_programs_are_taken(client: TestClient, headers: dict[str, str]) -> None:
    assert raw(client, b'{"text": "a"}', **headers).status_code == 200


def test_answers_carry_headers_of_security(client: TestClient) -> None:
    for path in ("/", "/health", "/nothing", "/assets/own/a.js", "/assets/shared/tokens.css"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


def test_what_is_not_there_is_told_in_json(client: TestClient) -> None:
    assert client.get("/nothing").json() == {"error": "there is nothing at /nothing"}
    assert client.put("/say", json={}).json() == {"error": "/say does not take PUT"}
    assert client.get("/assets/own/../secret").status_code == 404
    assert client.get("/assets/own/%2e%2e/%2e%2e/etc/passwd").status_code == 404
    assert client.get("/docs").status_code == 404  # its scripts would come from elsewhere


def test_health_and_metrics_have_what_parts_say(client: TestClient) -> None:
    assert client.get("/health").json()["words"] == 3
    client.get("/nothing")
    lines = client.get("/metrics").text.splitlines()
    assert 'dovetail_requests_total{path="/health",status="200"} 1' in lines
    assert 'dovetail_requests_total{path="other",status="404"} 1' in lines
    assert "own_total 7" in lines
    assert "dovetail_requests_running 1" in lines  # this one


def test_a_token_is_asked_of_all_but_health(part: Part) -> None:
    with client_of(part, guard=Guard(token="secret")) as client:
        assert client.get("/health").status_code == 200
        for path in ("/", "/metrics", "/openapi.json", "/assets/own/a.js"):
            assert client.get(path).status_code == 401
        assert client.get("/", headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert client.get("/", headers={"Authorization": "Bearer secret"}).status_code == 200
        assert client.get("/?token=wrong").status_code == 401
        opened = client.get("/?token=secret", follow_redirects=False)
        assert (opened.status_code, opened.headers["location"]) == (303, "/")
        assert {"HttpOnly", "SameSite=strict"} <= set(opened.headers["set-cookie"].split("; "))
        assert client.get("/").status_code == 200  # the client keeps the cookie
        assert raw(client, b'{"text": "a"}').status_code == 200


def test_a_token_is_made_unless_the_host_is_this_machine_alone() -> None:
    assert guard_for("127.0.0.1").token is None
    assert guard_for("localhost", "mine").token == "mine"
    for host in ("0.0.0.0", "::", "192.168.0.7", "example.org"):
        guard = guard_for(host)
        assert guard.token is not None
        assert len(guard.token) >= 32
        assert guard.any_address
    assert guard_for("0.0.0.0").token != guard_for("0.0.0.0").token
    assert "lab.example" in guard_for("0.0.0.0", allowed=["Lab.example"]).names


def test_parts_live_from_the_first_request_to_the_last() -> None:
    told = []

    @asynccontextmanager
    async def living() -> AsyncIterator[None]:
        told.append("begun")
        yield
        told.append("ended")

    with client_of(Part(lifespan=living)):
        assert told == ["begun"]
    assert told == ["begun", "ended"]


def test_what_routes_take_and_give_is_described(client: TestClient) -> None:
    described = client.get("/openapi.json").json()
    assert set(described["paths"]) == {"/say", "/count", "/health", "/metrics"}
    assert json.dumps(described["paths"]["/say"]).count("Said") == 1
