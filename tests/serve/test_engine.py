"""The queue of a model: bounded in number, size and time; what waits together is answered together."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.extras import NEEDS

pytest.importorskip("fastapi", reason=NEEDS["fastapi"])

from dovetail.errors import DovetailError
from dovetail.serve.batch import LONGEST_LINE, MOST_KEPT, PATIENCE, Batches, Kept
from dovetail.serve.engine import BATCH, Engine, Room
from dovetail.serve.failures import Refused
from dovetail.serve.fields import LONGEST_WORD, MOST_CHARACTERS
from dovetail.serve.gate import Limits
from dovetail.text.sentence import Document


class Slow:
    """A model that answers when it may, remembers what it was given at once, and fails on some words."""

    def __init__(self) -> None:
        self.may, self.begun = threading.Event(), threading.Event()
        self.seen: list[int] = []

    def annotate(self, documents: Iterable[Document]) -> Iterator[Document]:
        given = list(documents)
        self.seen.append(len(given))
        self.begun.set()
        assert self.may.wait(20)
        for document in given:
            if any("bad" in sentence.words for sentence in document):
                raise DovetailError("a bad word")
            if any("bug" in sentence.words for sentence in document):
                raise ZeroDivisionError
            yield document


def tried(work: Callable[[Engine, Slow], Any], room: Room | None = None) -> None:
    """Run something with an engine at work."""

    async def run() -> None:
        model = Slow()
        engine = Engine(model, room)
        engine.start()
        try:
            await work(engine, model)
        finally:
            model.may.set()
            await asyncio.to_thread(engine.stop)

    asyncio.run(run())


async def begun(engine: Engine, model: Slow, texts: Iterable[str]) -> list[asyncio.Task[Document]]:
    """Tasks of texts that wait, the first of which is at work."""
    tasks = []
    for text in texts:
        tasks.append(asyncio.create_task(engine.annotate(text)))
        await asyncio.sleep(0)
        await asyncio.to_thread(model.begun.wait, 20)
    return tasks


def test_what_waits_is_answered_together_and_in_order() -> None:
    async def work(engine: Engine, model: Slow) -> None:
        tasks = await begun(engine, model, [f"word{n} ." for n in range(10)])
        model.may.set()
        found = await asyncio.gather(*tasks)
        assert [document[0].words[0] for document in found] == [f"word{n}" for n in range(10)]
        assert model.seen == [1, 9]

    tried(work)


def test_limits_are_those_that_the_page_tells() -> None:
    page = " ".join((Path(__file__).parents[2] / "docs" / "serve.md").read_text(encoding="utf-8").split())
    for told in (
        f"at most {MOST_CHARACTERS:,} characters, a word {LONGEST_WORD:,}, a body {Limits().body:,} bytes",
        f"a temporary file, {MOST_KEPT / 1e9:.0f} GB at most",
        f"A line has at most {LONGEST_LINE:,} bytes; {Batches().most} requests of many lines are answered at once",
        f"neither sends nor reads for {PATIENCE:.0f} seconds is ended",
    ):
        assert told in page


def test_sixteen_batches_run_at_once() -> None:
    batches = Batches()
    batches.running = 15
    batches.answer(*[None] * 3)  # type: ignore[arg-type]
    batches.running = 16
    with pytest.raises(Refused, match="16 batches are at work already; try again in 5 s"):
        batches.answer(*[None] * 3)  # type: ignore[arg-type]


def test_batches_are_bounded() -> None:
    async def work(engine: Engine, model: Slow) -> None:
        tasks = await begun(engine, model, ["first", *["long " * (BATCH // 10) for _ in range(4)]])
        model.may.set()
        await asyncio.gather(*tasks)
        assert model.seen == [1, 2, 2]

    tried(work)


def test_one_failure_is_nobody_elses() -> None:
    async def work(engine: Engine, model: Slow) -> None:
        tasks = await begun(engine, model, ["first", "good one", "bad one", "bug here", "good two"])
        model.may.set()
        found = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(one) for one in found] == [Document, Document, DovetailError, ZeroDivisionError, Document]
        assert (await engine.annotate("still here"))[0].words == ("still", "here")

    tried(work)


@pytest.mark.parametrize("room", [Room(jobs=2), Room(characters=10)], ids=["jobs", "characters"])
def test_past_the_queue_requests_are_refused_at_once_and_taken_later(room: Room) -> None:
    async def work(engine: Engine, model: Slow) -> None:
        tasks = await begun(engine, model, ["one", "two", "three"])
        with pytest.raises(Refused, match="wait for this model already; try again in 1 s") as refused:
            await engine.annotate("four")
        assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "1"})
        model.may.set()
        await asyncio.gather(*tasks)
        assert len(await engine.annotate("five")) == 1
        assert engine.characters == 0

    tried(work, room)


def test_a_long_text_is_taken_when_nothing_waits() -> None:
    async def work(engine: Engine, model: Slow) -> None:
        model.may.set()
        assert len(await engine.annotate("word " * 1000)) == 1

    tried(work, Room(characters=10))


def test_answers_that_take_too_long_are_given_up_and_not_worked_on() -> None:
    async def work(engine: Engine, model: Slow) -> None:
        tasks = await begun(engine, model, ["one", "two"])
        for task in tasks:
            with pytest.raises(Refused, match=r"there was no answer within 0\.1 s") as refused:
                await task
            assert refused.value.status == 503
        model.may.set()
        assert len(await engine.annotate("three")) == 1
        assert model.seen == [1, 1]  # nobody waited for the second any more

    tried(work, Room(seconds=0.1))


def test_what_waits_when_the_server_stops_is_answered_and_nothing_new_is_taken() -> None:
    async def work(engine: Engine, model: Slow) -> None:
        tasks = await begun(engine, model, ["one", "two"])
        stopping = asyncio.create_task(asyncio.to_thread(engine.stop))
        while not engine._stopped:
            await asyncio.sleep(0.01)
        with pytest.raises(Refused, match="stopping"):
            await engine.annotate("three")
        model.may.set()
        assert [len(document) for document in await asyncio.gather(*tasks)] == [1, 1]
        await stopping

    tried(work)


def lines_of(pieces: Iterable[bytes], most: int = 1000) -> tuple[list[bytes | None], str | None]:
    async def run() -> tuple[list[bytes | None], str | None]:
        kept = Kept(most)
        if all(kept.write(piece) for piece in pieces):
            kept.end()
        return [line async for line in kept.lines()], kept.failed

    return asyncio.run(run())


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_lines_are_the_same_however_they_arrive(size: int) -> None:
    text = b"one\n\ntwo \r\nthree\nfour"
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert lines_of(pieces) == ([b"one", b"", b"two \r", b"three", b"four"], None)


def test_what_waits_for_its_answers_is_bounded() -> None:
    found, failed = lines_of([b"a\n" * 300, b"b\n" * 300])
    assert len(found) == 300
    assert failed is not None
    assert "read answers while you send" in failed


def test_what_was_read_makes_room() -> None:
    async def run() -> int:
        kept, count = Kept(100), 0
        lines = kept.lines()
        for _ in range(50):
            assert kept.write(b"a" * 79 + b"\n")
            assert await anext(lines) == b"a" * 79
            count += 1
        return count

    assert asyncio.run(run()) == 50
