"""The documentation as a site: it builds without a warning, asks nobody for anything, and can be used by all."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.extras import NEEDS

pytest.importorskip("mkdocs", reason=NEEDS["mkdocs"])
pytest.importorskip("mkdocstrings_handlers.python", reason=NEEDS["mkdocstrings_handlers"])

from tests.browser import WIDTHS, chromium, visit
from tests.docs.pages import ROOT

__all__ = ["chromium"]

SHOWN = ("index.html", "gallery.html", "train.html", "reference/models.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built strictly: each page in the navigation, each link and anchor to something."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    return folder


def _texts(site: Path, suffix: str) -> Iterator[tuple[str, str]]:
    for path in sorted(site.rglob(f"*{suffix}")):
        yield str(path.relative_to(site)), path.read_text(encoding="utf-8")


def test_every_page_is_there(site: Path) -> None:
    built = {path.stem for path in site.glob("*.html")}
    assert {path.stem for path in (ROOT / "docs").glob("*.md")} | {"contributing", "changelog", "licence"} <= built
    assert {"models", "text", "errors"} <= {path.stem for path in (site / "reference").glob("*.html")}
    assert {path.stem for path in (ROOT / "src/dovetail/data").glob("*.md")} == {
        p.stem for p in site.glob("cards/*.html")
    }


def test_every_page_can_be_reached_from_the_first(site: Path) -> None:
    navigation = (site / "index.html").read_text(encoding="utf-8").split("<article", 1)[0]
    reached = {address.partition("#")[0] for address in re.findall(r'href="([^":]+)"', navigation)}
    pages = {name for name, _ in _texts(site, ".html")}
    assert pages - reached == {"404.html"}


def test_nothing_is_asked_of_others(site: Path) -> None:
    tags = "script|img|iframe|link|source|video|object|use"
    fetched = re.compile(rf"<(?:{tags})\b[^>]*(?:src|href|data)=[\"']?(?:https?:)?//[^>]*>")
    assert [(name, found) for name, text in _texts(site, ".html") for found in fetched.findall(text)] == []
    of_style = re.compile(r"(?:url\(\s*[\"']?|@import\s+[\"'])(?:https?:)?//[^)]*")
    assert [(name, found) for name, text in _texts(site, ".css") for found in of_style.findall(text)] == []


def test_examples_in_docstrings_are_code(site: Path) -> None:
    text = (site / "reference" / "models.html").read_text(encoding="utf-8")
    for outside in re.split(r"<code>.*?</code>", text, flags=re.DOTALL):
        assert "&gt;&gt;&gt; " not in outside


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_have_no_serious_fault(chromium: Any, site: Path, width: int, dark: bool) -> None:
    for name in SHOWN:
        with visit(chromium, (site / name).as_uri(), width=width, dark=dark, beside=site.as_uri()) as visited:
            assert visited.faults() == [], name
            assert visited.overflow() <= 0, name


def test_search_works_from_the_disk(chromium: Any, site: Path) -> None:
    with visit(chromium, (site / "index.html").as_uri(), beside=site.as_uri()) as visited:
        visited.page.get_by_role("textbox", name="Search").fill("kappa")
        found = visited.page.locator(".md-search-result__link").first
        found.wait_for()
        assert "label.html" in str(found.get_attribute("href"))
