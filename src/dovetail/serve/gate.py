"""What every request passes before any route sees it, and every answer on its way out.

A plain ASGI application around another one: no thread, no copy of streams.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection
from dataclasses import dataclass
from time import perf_counter
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dovetail.serve.bodies import Gone, parse_json, read_body, too_large
from dovetail.serve.failures import Refused, busy
from dovetail.serve.guard import SAFE, Guard, token_in
from dovetail.serve.metrics import Metrics
from dovetail.spellings import respelled

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
JSON, NDJSON = "application/json", "application/x-ndjson"
UNCOUNTED = ("/health", "/metrics")
"""Paths that are answered however busy the server is."""


@dataclass(frozen=True)
class Limits:
    """How much is taken, and for how long."""

    body: int = 1_000_000
    """Bytes of a body, but of streamed ones."""
    seconds: float = 30.0
    """For a body to arrive, and for an answer to be found."""
    requests: int = 512
    """At work or waiting at the same time."""


class Gate:
    """The application with the gate before it."""

    def __init__(self, app: ASGIApp, guard: Guard, limits: Limits, streamed: Collection[str], metrics: Metrics) -> None:
        self.app, self.guard, self.limits, self.metrics = app, guard, limits, metrics
        self.streamed = frozenset(streamed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets
            await send({"type": "websocket.close", "code": 1008})
            return
        began, status = perf_counter(), 499

        async def dressed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        self.metrics.running += 1
        try:
            await self._pass(scope, receive, dressed)
        except Gone:
            pass
        except Refused as refusal:
            await refusal.response()(scope, receive, dressed)
        finally:
            self.metrics.running -= 1
            self.metrics.answered(_path(scope), status, perf_counter() - began)

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, path, method = Headers(scope=scope), scope["path"], scope["method"]
        self.guard.check_host(headers)
        if (welcome := self._welcome(scope)) is not None:
            await welcome(scope, receive, send)
            return
        self.guard.check_token(path, headers, _cookie_name(scope))
        self.guard.check_site(method, headers)
        if self.metrics.running > self.limits.requests and path not in UNCOUNTED:
            raise busy(f"{self.limits.requests} requests are at work already")
        query = dict(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        if (fields := respelled("request", query, path)) != query:
            scope["query_string"] = urlencode(fields).encode()
        if method not in SAFE:
            receive = await self._checked_body(path, headers, receive)
        await self.app(scope, receive, send)

    def _welcome(self, scope: Scope) -> Response | None:
        """A page that is opened with the token in its address: the browser keeps it as a cookie from now on."""
        token = token_in(scope["query_string"].decode("latin-1")) if scope["method"] == "GET" else None
        if token is None or self.guard.token is None or not self.guard.admits(token):
            return None
        response = RedirectResponse(scope["path"], 303)
        response.set_cookie(_cookie_name(scope), token, httponly=True, samesite="strict")
        return response

    async def _checked_body(self, path: str, headers: Headers, receive: Receive) -> Receive:
        """What gives the body to a route, once it is known to be JSON of bounded size."""
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if path in self.streamed:
            if kind not in (NDJSON, JSON):
                raise Refused(415, f"the content type must be {NDJSON}, not {kind or 'missing'}")
            return receive
        length = headers.get("content-length")
        if length is not None and length.isdecimal() and int(length) > self.limits.body:
            raise too_large(self.limits.body)
        empty = length in (None, "0") and "transfer-encoding" not in headers
        # also of empty bodies: a form of another site cannot send this type
        if kind != JSON:
            raise Refused(415, f"the content type must be {JSON}, not {kind or 'missing'}")
        if empty:
            return receive
        try:
            body = await asyncio.wait_for(read_body(receive, self.limits.body), self.limits.seconds)
        except TimeoutError:
            told = f"the body did not arrive within {self.limits.seconds:g} s"
            raise Refused(408, told, {"Connection": "close"}) from None
        value = parse_json(body)
        if isinstance(value, dict) and (fields := respelled("request", value, path)) != value:
            body = json.dumps(fields).encode()
        return _once(body, receive)


def _once(body: bytes, rest: Receive) -> Receive:
    """A stream that gives a body that has been read, and then what comes after it."""
    given = False

    async def receive() -> Message:
        nonlocal given
        if given:
            return await rest()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


def _path(scope: Scope) -> str:
    """The route of a request, whatever stood in its place holders; others are counted together."""
    route = scope.get("route")
    return str(getattr(route, "path", "other"))


def _cookie_name(scope: Scope) -> str:
    """Servers on other ports of this machine have cookies of their own."""
    server = scope.get("server") or ("", 0)
    return f"dovetail-{server[1]}"
