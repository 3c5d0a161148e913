"""The page of ``dovetail serve`` in a real browser: what it shows, by keys and by pointer, for all eyes and ears."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.extras import NEEDS

pytest.importorskip("fastapi", reason=NEEDS["fastapi"])

from tests.browser import WIDTHS, served, visit

TEXT = "Ada saw Bern . Bela saw Ada ."


@pytest.fixture(scope="module")
def address(app: Any) -> Iterator[str]:
    with served(app) as found:
        yield found


def ask(page: Any, model: str, text: str = TEXT) -> None:
    page.wait_for_selector(".sentence")
    page.get_by_label("Text", exact=True).fill(text)
    # the text by itself is asked about, too, of the model that was there before
    with page.expect_response(lambda got: got.url.endswith("/annotate") and model in (got.request.post_data or "")):
        page.get_by_label("Model").select_option(model)
    page.wait_for_selector("#answer[aria-busy=false]", state="attached")


def until(page: Any, so: Callable[[], bool]) -> None:
    """Wait for something on the page."""
    for _ in range(600):
        if so():
            return
        page.wait_for_timeout(25)
    raise AssertionError(page.locator("#answer").inner_text())


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_has_no_serious_fault(chromium: Any, address: str, width: int, dark: bool) -> None:
    with visit(chromium, address, width=width, dark=dark) as visited:
        page = visited.page
        for model in ("dependency-tags", "parser", "nested", "words", "segments-markov", "tagger"):
            ask(page, model)
            if model == "tagger":
                page.get_by_role("button", name="Why?").first.click()
                page.get_by_text("Speaks for it").wait_for()
            assert visited.faults() == [], model
            assert visited.overflow() <= 0, model


def test_entities_are_shown_with_their_probabilities(chromium: Any, address: str) -> None:
    with visit(chromium, address) as visited:
        ask(visited.page, "nested")
        ask(visited.page, "tagger")
        names = visited.page.locator(".chip").all()
        assert [one.get_attribute("aria-label").partition(":")[0] for one in names] == ["Ada", "Bern", "Bela", "Ada"]
        assert visited.page.get_by_role("status").inner_text() == "2 sentences, 4 names"
        assert visited.page.locator(".reading").first.inner_text().startswith("Ada PER 9")


def test_other_readings_are_told_on_hover_and_on_focus(chromium: Any, address: str) -> None:
    with visit(chromium, address) as visited:
        ask(visited.page, "words")
        ask(visited.page, "tagger")
        tip, chip = visited.page.get_by_role("tooltip"), visited.page.locator(".chip").nth(1)
        chip.focus()
        assert "Bern LOC" in tip.inner_text()
        assert "Bern PER" in tip.inner_text()
        assert chip.get_attribute("aria-describedby") == "tip"
        visited.page.keyboard.press("Escape")
        assert tip.count() == 0
        visited.page.locator(".span").first.hover()
        assert "Ada PER" in tip.inner_text()
        visited.page.mouse.move(0, 0)
        assert tip.count() == 0


def test_everything_can_be_done_by_keys(chromium: Any, address: str) -> None:
    with visit(chromium, address) as visited:
        page = visited.page
        page.wait_for_selector(".sentence")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the answer"
        page.get_by_label("Text", exact=True).fill("Bela saw Bern .")
        with page.expect_response("**/annotate"):
            page.keyboard.press("Control+Enter")
        page.get_by_role("button", name="Bela").focus()
        page.keyboard.press("Enter")
        page.get_by_text("Speaks for it").wait_for()
        assert page.locator(".why select").input_value() == "0"
        page.locator(".why select").focus()
        with page.expect_response("**/explain"):
            page.keyboard.press("ArrowDown")
        page.locator(".verdict").get_by_text("no name").wait_for()
        page.keyboard.press("Escape")
        assert page.locator(".why").count() == 0
        assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("Bela: PER")


def test_trees_and_dependencies_are_drawn_and_told(chromium: Any, address: str) -> None:
    with visit(chromium, address) as visited:
        page = visited.page
        ask(page, "dependency-tags", "Ada saw Bern .")
        assert page.locator("svg.drawing .arm").count() == 4
        page.get_by_text("As a table").click()
        assert page.get_by_role("row").count() == 5
        shown = page.locator("svg.drawing").inner_html()
        page.get_by_role("button", name="2 ·").click()
        assert page.locator("svg.drawing").inner_html() != shown
        ask(page, "parser", "Ada saw Bern .")
        assert page.locator("svg.drawing .word").count() == 4
        page.get_by_text("In brackets").click()
        assert page.locator(".brackets").inner_text().startswith("(ROOT (")


def test_constituents_are_explained(chromium: Any, address: str) -> None:
    with visit(chromium, address) as visited:
        page = visited.page
        ask(page, "parser", "Ada saw Bern")
        why = page.get_by_role("button", name="Why?")
        until(page, lambda: why.count() == 1)  # no more those of the answer before
        with page.expect_response("**/explain"):
            why.click()
        page.locator(".verdict").get_by_text("there is no answer without it").wait_for()
        assert len(page.locator(".why option").all()) == 3


def test_what_a_user_types_is_text_and_nothing_else(chromium: Any, address: str) -> None:
    evil = "<img src=x onerror=alert(1)> </style><script>alert(2)</script> Ada saw \U0001f600 <b>Bern</b> ."
    with visit(chromium, address) as visited:
        for model in ("parser", "dependency-tags", "nested", "tagger"):
            ask(visited.page, "words", evil)
            ask(visited.page, model, evil)
            assert visited.page.locator("#answer img, #answer script, #answer b").count() == 0
        assert "onerror=" in visited.page.locator("#sentences").inner_text()


def test_failures_are_told(chromium: Any, address: str) -> None:
    with visit(chromium, address) as visited:
        ask(visited.page, "words", "a" * 20_000)
        alert = visited.page.get_by_role("alert")
        assert "a word of 20,000 characters" in alert.inner_text()
        visited.errors.clear()  # the browser itself logs answers with 422
        ask(visited.page, "tagger", "Ada")
        assert alert.count() == 0


def test_the_theme_is_kept(chromium: Any, address: str) -> None:
    with visit(chromium, address) as visited:
        page = visited.page
        light = page.evaluate("getComputedStyle(document.body).backgroundColor")
        page.get_by_role("button", name="Dark").click()
        page.reload()
        page.wait_for_selector(".sentence")
        assert page.get_by_role("button", name="Dark").get_attribute("aria-pressed") == "true"
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") != light
