"""The page in a real browser: thirty sentences by mouse and keys, a reload, a killed server, nothing lost."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.extras import NEEDS

pytest.importorskip("fastapi", reason=NEEDS["fastapi"])

from tests.browser import WIDTHS, visit
from tests.labelling.conftest import SENTENCES


class Server:
    """``dovetail label`` in a process of its own, which can be killed."""

    def __init__(self, folder: Path, *more: str) -> None:
        self.text, self.answers = folder / "text.txt", folder / "text.labels.jsonl"
        self.text.write_text("".join(" ".join(s) + "\n" for s in SENTENCES))
        self.more, self.port = more, 0
        self.process: Any = None

    def start(self) -> str:
        command = [sys.executable, "-m", "dovetail", "label", str(self.text), *self.more, "--annotator", "ann"]
        command += [*"--tokenised --sentence-per-line --no-browser --port".split(), str(self.port)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                self.port = int(found[1])
                return found[0]
        raise AssertionError("the server did not start")

    def end(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        code = int(self.process.wait(30))
        self.process.stderr.close()
        return code

    def kept(self) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.answers.read_text().splitlines()]
        return [line for line in lines if line.get("state") == "done"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Any]:
    made: list[Server] = []

    def make(*more: str) -> Server:
        made.append(Server(tmp_path, *more))
        return made[0]

    yield make
    if made[0].process.poll() is None:
        made[0].end()


def words(page: Any) -> list[str]:
    return [str(word) for word in page.locator("#sentence .word").all_inner_texts()]


def tags(page: Any) -> list[str]:
    return [re.sub(r"[ \d%<>]+$", "", one) for one in page.locator("#sentence .entity > .tag").all_inner_texts()]


def until(page: Any, so: Callable[[], bool]) -> None:
    """Wait for something; the policy of the page lets no script of a test wait in it."""
    for _ in range(600):
        if so():
            return
        page.wait_for_timeout(25)
    raise AssertionError(f"it did not come; the page says: {page.locator('main').inner_text()}")


def count(page: Any, wanted: int) -> None:
    until(page, lambda: page.locator("#count").inner_text().startswith(f"{wanted} of"))


def by_keys(page: Any) -> None:
    """Ada is a person, the Bank of London an organisation, whatever was guessed."""
    for key in "x Home 1 ArrowRight ArrowRight ArrowRight Shift+ArrowRight Shift+ArrowRight 3".split():
        page.keyboard.press(key)


def by_mouse(page: Any) -> None:
    for key in ("x", "Escape"):
        page.keyboard.press(key)
    place = page.locator("#sentence .word")
    place.nth(0).click()
    page.get_by_role("button", name="PER", exact=False).first.click()
    place.nth(3).hover()
    page.mouse.down()
    place.nth(4).hover()
    place.nth(5).hover()
    page.mouse.up()
    page.keyboard.press("3")


def save(page: Any, key: str = "Enter") -> None:
    before = words(page)
    page.keyboard.press(key)
    until(page, lambda: words(page) != before)


def test_thirty_sentences_a_reload_and_a_killed_server(chromium: Any, server: Any) -> None:
    running = server("--labels", "PER", "LOC", "ORG")
    with visit(chromium, running.start()) as visited:
        page = visited.page
        page.wait_for_selector("#sheet:not([hidden])")
        for number in range(30):
            (by_mouse if number % 10 == 0 else by_keys)(page)
            assert sorted(tags(page)) == ["ORG", "PER"]
            save(page)
            if number == 14:
                count(page, 15)
                page.reload()
                page.wait_for_selector("#sheet:not([hidden])")
                count(page, 15)
                assert len(running.kept()) == 15
                assert words(page) not in [list(line["words"]) for line in running.kept()]
            if number == 21:
                running.end(signal.SIGKILL)
                by_keys(page)
                page.keyboard.press("Enter")
                page.wait_for_selector("#notice:not([hidden])")
                assert sorted(tags(page)) == ["ORG", "PER"]
                running.start()
                save(page)
                assert page.locator("#notice").is_hidden()
        count(page, 31)
        kept = running.kept()
        assert len({tuple(line["words"]) for line in kept}) == 31
        assert all(line["answer"] == [[0, 1, "PER"], [3, 6, "ORG"]] for line in kept)
        # the model has learnt, and now guesses right by itself
        until(page, lambda: page.locator("#training").inner_text().startswith("Has learnt from "))
        page.reload()
        page.wait_for_selector("#sentence .entity")
        assert sorted(tags(page)) == ["ORG", "PER"]
        page.wait_for_selector("#score b")
        # what was asked of the server that was killed: refused, or broken off
        visited.errors[:] = [error for error in visited.errors if "net::ERR_" not in error]
    assert running.end() == 0


def test_the_answer_to_the_last_search_is_shown(chromium: Any, server: Any) -> None:
    running, held = server("--labels", "PER,LOC,ORG"), []
    with visit(chromium, running.start()) as visited:
        page = visited.page
        page.wait_for_selector("#sheet:not([hidden])")
        save(page, "f")
        page.route(re.compile(r"/label/search\?.*state=&"), lambda route: held.append(route))
        page.keyboard.press("/")
        until(page, lambda: len(held) == 1)
        page.locator("#which").select_option("flagged")
        until(page, lambda: page.locator("#found button").count() == 1)
        with page.expect_response(re.compile("state=&")):
            held[0].continue_()
        page.wait_for_timeout(100)
        assert page.locator("#found button").count() == 1
    running.end()


def test_undo_skip_flag_and_search(chromium: Any, server: Any) -> None:
    running = server("--labels", "PER,LOC,ORG")
    with visit(chromium, running.start()) as visited:
        page = visited.page
        page.wait_for_selector("#sheet:not([hidden])")
        first = words(page)
        by_keys(page)
        page.keyboard.press("u")
        assert tags(page) == ["PER"]  # within a sentence, change by change
        save(page)
        page.keyboard.press("u")
        until(page, lambda: words(page) == first)
        assert tags(page) == ["PER"]  # and then answer by answer
        page.locator("#sentence .entity .off").click()
        assert tags(page) == []
        save(page, "s")
        flagged = words(page)
        save(page, "f")
        count(page, 0)
        page.keyboard.press("/")
        page.locator("#which").select_option("flagged")
        until(page, lambda: page.locator("#found button").count() == 1)
        page.locator("#found button").click()
        until(page, lambda: words(page) == flagged)
        assert "flagged" in page.locator("#source").inner_text()
        by_keys(page)
        save(page)
        count(page, 1)
        assert running.kept()[-1]["words"] == flagged
    running.end()


def test_nested_entities(chromium: Any, server: Any) -> None:
    running = server("--labels", "PER", "LOC", "ORG", "--task", "nested")
    with visit(chromium, running.start()) as visited:
        page = visited.page
        page.wait_for_selector("#sheet:not([hidden])")
        by_keys(page)
        page.locator("#sentence .word").nth(5).click()
        page.keyboard.press("2")
        assert page.locator("#sentence .entity .entity").count() == 1
        save(page)
        assert running.kept()[0]["answer"] == [[0, 1, "PER"], [3, 6, "ORG"], [5, 6, "LOC"]]
    running.end()


def test_words(chromium: Any, server: Any) -> None:
    running = server("--labels", "NAME", "OTHER", "--task", "words")
    with visit(chromium, running.start()) as visited:
        page = visited.page
        page.wait_for_selector("#sheet:not([hidden])")
        page.keyboard.press("Home")
        for key in "1222":  # a digit labels a word, and goes on to the next one
            page.keyboard.press(key)
        page.keyboard.press("l")
        page.locator("#filter").fill("na")
        page.keyboard.press("Enter")
        save(page)
        assert running.kept()[0]["answer"] == ["NAME", "OTHER", "OTHER", "OTHER", "NAME", None, None, None]
        assert visited.faults() == []
    running.end()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_has_no_serious_fault(chromium: Any, server: Any, width: int, dark: bool) -> None:
    running = server("--labels", "PER", "LOC", "ORG")
    with visit(chromium, running.start(), width=width, dark=dark) as visited:
        visited.page.wait_for_selector("#sheet:not([hidden])")
        by_keys(visited.page)
        assert visited.faults() == []
        assert visited.overflow() <= 0
        for button in ("find", "help", "who"):
            visited.page.locator(f"#{button}").click()
            visited.page.wait_for_selector("dialog[open]")
            assert visited.faults() == []
            visited.page.keyboard.press("Escape")
    running.end()
