"""What the server says to requests that are not those of its page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.extras import NEEDS

pytest.importorskip("fastapi", reason=NEEDS["fastapi"])
pytest.importorskip("httpx2", reason=NEEDS["httpx2"])

from fastapi.testclient import TestClient

from dovetail.labelling.routes import part_of
from dovetail.serve import make_app
from tests.labelling.conftest import GOLD


@pytest.fixture
def client(make_session: Any) -> Iterator[Any]:
    session = make_session()
    session.start = lambda: None  # nothing is trained here
    with TestClient(make_app([part_of(session, "news")]), base_url="http://localhost") as found:
        yield found


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/label/answer", {"tab": "a", "number": 0, "answer": [[0, 99, "PER"]]}),
        ("/label/answer", {"tab": "a", "number": 0, "answer": "all of it"}),
        ("/label/answer", {"tab": "a", "number": 10**9, "answer": []}),
        ("/label/answer", {"tab": "a", "number": -1, "answer": []}),
        ("/label/answer", {"tab": "a", "number": 0, "answer": [], "state": "undone"}),
        ("/label/answer", {"tab": "a", "number": 0, "state": "done"}),
        ("/label/answer", {"tab": "a", "number": 0, "answer": [], "annotator": "a\nb"}),
        ("/label/answer", {"tab": "a", "number": 0, "answer": [], "more": 1}),
        ("/label/next", {"tab": ""}),
        ("/label/next", {}),
        ("/label/open", {"tab": "a", "number": 120}),
    ],
)
def test_wrong_requests_are_refused_and_nothing_is_kept(client: Any, path: str, body: Any) -> None:
    refused = client.post(path, json=body)
    assert 400 <= refused.status_code < 500
    assert refused.json()["error"]
    assert client.get("/label/status?tab=a").json()["counts"]["done"] == 0
    assert client.post("/label/next", json={"tab": "a"}).json()["item"] is not None


@pytest.mark.parametrize(
    "path", ["/label/why?number=0&position=0", "/label/why?number=0&position=99", "/label/export/exe"]
)
def test_what_is_not_there_is_said(client: Any, path: str) -> None:
    assert client.get(path).status_code == 422


def test_pages_of_other_sites_cannot_label(client: Any) -> None:
    body = {"tab": "a", "number": 0, "answer": GOLD}
    assert client.post("/label/answer", json=body, headers={"Origin": "http://evil.example"}).status_code == 403
    assert client.post("/label/answer", json=body, headers={"Host": "evil.example"}).status_code == 421
    assert client.post("/label/answer", json=body).json()["saved"]
    exported = client.get("/label/export/conll")
    assert exported.headers["content-disposition"] == 'attachment; filename="news.conll"'
    assert exported.text.splitlines()[0].endswith("\tB-PER")
