"""Who may ask: the names under which the server is called, the pages that may post to it, and a token."""

from __future__ import annotations

import ipaddress
import secrets
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers

from dovetail.serve.failures import Refused

LOOPBACK = ("localhost", "127.0.0.1", "::1")
OPEN = ("/health",)
"""What is answered without a token."""
SAFE = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True)
class Guard:
    """The names and the token of a server."""

    names: frozenset[str] = frozenset(LOOPBACK)
    """Host names that it goes by. Others are refused: a foreign name that has been pointed at this machine (DNS
    rebinding) would make the pages of that name ones of our own."""
    any_address: bool = False
    """Whether numbers (192.168.0.7) are names of it, too: they cannot be pointed elsewhere."""
    token: str | None = None
    """What every request must show, in ``Authorization: Bearer``, or as the cookie that a page with ``?token=``
    leaves."""

    def check_host(self, headers: Headers) -> None:
        """Refuse requests to a name that is not ours."""
        if len(headers.getlist("host")) != 1:
            raise Refused(400, "one Host header is needed")
        name = host_name(headers["host"])
        if name not in self.names and not (self.any_address and _is_address(name)):
            raise Refused(421, f"this server does not go by the name {name!r}; allow it with --allow-host {name}")

    def check_site(self, method: str, headers: Headers) -> None:
        """Refuse what pages of other sites send in the name of their reader."""
        if method in SAFE:
            return
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Refused(403, "this request comes from a page of another site")
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != headers["host"].lower():
            raise Refused(403, "this request comes from a page of another site (its Origin is not this server)")

    def admits(self, token: str | None) -> bool:
        """Whether this is the token, told in a time that says nothing about it."""
        if self.token is None:
            return True
        return token is not None and secrets.compare_digest(token.encode(errors="replace"), self.token.encode())

    def check_token(self, path: str, headers: Headers, cookie: str) -> None:
        """Refuse requests without the token."""
        if path in OPEN or self.token is None:
            return
        kind, _, bearer = headers.get("authorization", "").partition(" ")
        if not (
            self.admits(bearer.strip() if kind.lower() == "bearer" else None) or self.admits(_cookie(headers, cookie))
        ):
            told = "a token is needed: open the address with ?token=..., or send Authorization: Bearer ..."
            raise Refused(401, told, {"WWW-Authenticate": "Bearer"})


def guard_for(host: str, token: str | None = None, allowed: Iterable[str] = ()) -> Guard:
    """The guard of a server on this host: on loopback it needs no token, elsewhere one is made unless given.

    >>> guard_for("127.0.0.1").token is None, guard_for("0.0.0.0").token is None
    (True, False)
    """
    local = is_loopback(host)
    names = {*LOOPBACK, *(name.lower() for name in allowed)} | ({host.lower()} if not _is_address(host) else set())
    if not local:
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
        token = token or secrets.token_urlsafe(24)
    return Guard(frozenset(names), not local, token)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the host.

    >>> is_loopback("localhost"), is_loopback("127.0.0.5"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    return host.lower() == "localhost" or (_is_address(host) and ipaddress.ip_address(host.strip("[]")).is_loopback)


def host_name(host: str) -> str:
    """The name in a Host header, without the port.

    >>> host_name("localhost:8765"), host_name("[::1]:8765")
    ('localhost', '::1')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def token_in(query: str) -> str | None:
    """The token in what follows the question mark of an address."""
    return parse_qs(query).get("token", [None])[0]


def _cookie(headers: Headers, name: str) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return found.value if found is not None else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True
