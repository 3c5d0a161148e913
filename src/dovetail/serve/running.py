"""An application on a port, from the first request to a graceful stop."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from typing import Any

from dovetail.errors import DovetailError
from dovetail.serve.extra import uvicorn
from dovetail.serve.guard import Guard

GRACE = 10
"""Seconds that requests at work have to end, once the server is to stop."""
CONNECTIONS = 900
"""Open at the same time; systems often allow a process no more than 1,024 files."""


def run(
    app: Any,
    host: str,
    port: int,
    *,
    said: Callable[[str], None],
    guard: Guard | None = None,
    open_page: bool = False,
) -> None:
    """Serve until Ctrl-C or SIGTERM: then no request is taken, those at work are answered, and it returns.

    A second Ctrl-C does not wait for them. ``said`` hears of the address, with the token where there is one.
    """
    listening = listen(host, port)
    address = address_of(listening, host, guard.token if guard is not None else None)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=GRACE,
        timeout_keep_alive=20,
        limit_concurrency=CONNECTIONS,
        h11_max_incomplete_event_size=64 * 1024,
    )
    server = _Server(config, lambda: _begin(address, said, open_page))
    with listening:
        server.run(sockets=[listening])
    if server.failed:
        raise DovetailError("the server could not start; what is above says why")


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any that is free."""
    try:
        [(family, kind, protocol, _, address), *_] = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (socket.gaierror, OverflowError, UnicodeError):
        raise DovetailError(f"--host {host}: there is no such host") from None
    made = socket.socket(family, kind, protocol)
    try:
        if sys.platform != "win32":
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(2048)
    except OSError as error:
        made.close()
        reason = "it is taken" if error.errno in (98, 48, 10048) else error.strerror
        raise DovetailError(f"port {port} of {host} cannot be used: {reason}; choose another with --port") from None
    return made


def address_of(listening: socket.socket, host: str, token: str | None) -> str:
    """What to open in a browser."""
    port = listening.getsockname()[1]
    name = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)
    name = f"[{name}]" if ":" in name else name
    return f"http://{name}:{port}/" + (f"?token={token}" if token is not None else "")


class _Server(uvicorn.Server):
    """A server that says when it is ready, and for which Ctrl-C is the usual end, not an interrupt."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self.ready, self.failed = ready, False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self.failed = self.should_exit
        if not self.failed:
            self.ready()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """While it runs, signals stop it; afterwards they are what they were, and none is raised again."""
        try:
            before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        except ValueError:  # not the main thread
            before = {}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def _begin(address: str, said: Callable[[str], None], open_page: bool) -> None:
    said(f"listening on {address} (Ctrl-C stops)")
    if open_page:
        import webbrowser

        webbrowser.open(address)
