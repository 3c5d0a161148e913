"""A real Chromium that tests drive: pages of an application on a port, what they ask for, and what axe finds in them.

A test takes the fixture ``chromium`` (imported in a conftest.py), and opens ``visit(chromium, address, width=390,
dark=True)`` on an address that ``served(app)`` gives. Leaving the visit fails if the page asked another host for
anything, or logged an error; ``visited.faults()`` says what axe finds wrong.
"""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.extras import NEEDS

CHROMIUM = [Path("/usr/bin/chromium"), Path("/usr/bin/chromium-browser"), Path("/usr/bin/google-chrome")]
ARGUMENTS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
AXE = Path(__file__).parent / "data" / "axe" / "axe.min.js.gz"
WIDTHS = (1280, 390)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser of playwright; tests that want it are skipped where there is none.

    It is closed after each file of tests: as long as it is open, asyncio cannot be run in this thread.
    """
    api = pytest.importorskip("playwright.sync_api", reason=NEEDS["playwright"])
    found = next((path for path in CHROMIUM if path.exists()), None)
    if found is None:
        pytest.skip(f"no Chromium at {', '.join(map(str, CHROMIUM))}")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(found), args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def served(app: Any) -> Iterator[str]:
    """An application on a free port, in a thread; gives its address."""
    import uvicorn

    from dovetail.serve.running import listen

    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(20)
    listening.close()


@dataclass
class Visited:
    """An open page, the addresses elsewhere that it asked for, and the errors that it logged."""

    page: Any
    elsewhere: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def faults(self) -> list[str]:
        """What axe finds to be a serious or critical fault of accessibility, in words."""
        self.page.evaluate(gzip.decompress(AXE.read_bytes()).decode("utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations'], preload: false})")
        return [
            f"{fault['impact']}: {fault['help']}: {node['html'][:200]} {node['failureSummary']}"
            for fault in found["violations"]
            if fault["impact"] in ("serious", "critical")
            for node in fault["nodes"]
        ]

    def overflow(self) -> int:
        """How many pixels the page is wider than its window."""
        wide: int = self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        return wide


@contextmanager
def visit(chromium: Any, address: str, *, width: int = 1280, dark: bool = False, beside: str = "") -> Iterator[Visited]:
    """A page of a browser of its own, without cookies; fails if it asks others for anything, or logs an error.

    ``beside`` is what it may ask of besides itself, such as the folder of a file.
    """
    size, scheme = {"width": width, "height": 900 if width > 600 else 844}, "dark" if dark else "light"
    context = chromium.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(60_000)
    visited = Visited(page)
    host = beside or address.partition("?")[0].rstrip("/")

    def asked(request: Any) -> None:
        if not request.url.startswith((host, "data:", "blob:")):
            visited.elsewhere.append(request.url)

    def said(message: Any) -> None:
        if message.type == "error":
            visited.errors.append(message.text)

    page.on("request", asked)
    page.on("console", said)
    page.on("pageerror", lambda error: visited.errors.append(str(error)))
    page.goto(address)
    yield visited
    context.close()
    assert visited.elsewhere == []
    assert visited.errors == []
