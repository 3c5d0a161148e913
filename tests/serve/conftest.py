"""The browser for tests of pages, and small models on a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser import chromium
from tests.extras import NEEDS

__all__ = ["chromium"]

MODELS = Path(__file__).parents[1] / "data" / "models"
NAMES = ("tagger", "dependency-tags", "parser", "nested", "words", "segments-markov")


@pytest.fixture(scope="session")
def app() -> Any:
    """An application with a small model of many a kind; they know sentences such as: Ada saw Bern ."""
    pytest.importorskip("fastapi", reason=NEEDS["fastapi"])
    from dovetail.serve import make_app
    from dovetail.serve.annotator import Annotator
    from dovetail.serve.roster import roster

    files = [next(MODELS.glob(f"{name}.dovetail*")) for name in NAMES]
    return make_app([Annotator(roster(list(map(str, files)))).part()])


@pytest.fixture
def client(app: Any) -> Iterator[Any]:
    """A client of the application; after the test it must still answer."""
    pytest.importorskip("httpx2", reason=NEEDS["httpx2"])
    from starlette.testclient import TestClient

    with TestClient(app, base_url="http://localhost:8765", raise_server_exceptions=False) as client:
        yield client
        assert client.post("/annotate", json={"text": "Ada saw Bern ."}).status_code == 200
