"""What tests of pages rely on: the browser sees faults of accessibility, requests to others, and errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.extras import NEEDS

pytest.importorskip("fastapi", reason=NEEDS["fastapi"])

from dovetail.serve import Part, make_app
from tests.browser import served, visit

PAGE = """<!doctype html><html lang="en"><title>Page</title>
<link rel="stylesheet" href="/assets/shared/tokens.css"><main><h1>Page</h1>{}</main></html>"""


@pytest.fixture
def page(tmp_path: Path) -> Any:
    def of(inner: str) -> Any:
        (tmp_path / "page.html").write_text(PAGE.format(inner))
        return make_app([Part(pages={"/": tmp_path / "page.html"})])

    return of


def test_a_good_page_has_no_fault(chromium: Any, page: Any) -> None:
    with served(page('<button class="button">Go</button>')) as address, visit(chromium, address, dark=True) as visited:
        assert visited.faults() == []
        assert visited.overflow() <= 0


def test_faults_are_found(chromium: Any, page: Any) -> None:
    with served(page("<button></button>")) as address, visit(chromium, address) as visited:
        assert "Buttons must have discernible text" in visited.faults()[0]


@pytest.mark.parametrize(
    "inner",
    ["<script>alert(1)</script>", '<b style="color: red">b</b>', '<img alt="a" src="http://127.0.0.2:9/a.png">'],
)
def test_the_policy_stops_what_pages_must_not_have(chromium: Any, page: Any, inner: str) -> None:
    with served(page(inner)) as address:
        visiting = visit(chromium, address)
        with pytest.raises(AssertionError), visiting as visited:
            visited.page.wait_for_load_state("networkidle")
