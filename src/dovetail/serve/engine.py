"""One model at work: requests wait in a bounded queue, and those that wait together are answered together.

A model is used by one thread, its own. Whatever waits when the thread is free goes into one batch, up to a bound, which
costs little more than a single text: the busier the server, the larger the batches.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from dovetail.serve.failures import busy
from dovetail.text.segment import segment
from dovetail.text.sentence import Document

NAME = "text"
BATCH = 20_000
"""Characters that are answered together; a longer text is alone."""


@dataclass(frozen=True)
class Room:
    """How much may wait for a model."""

    jobs: int = 256
    characters: int = 2_000_000
    seconds: float = 30.0
    """How long an answer may take, from the beginning of its waiting."""


@dataclass(eq=False)
class Job:
    """A text to annotate, or something else to do with the model, and who waits for it."""

    size: int
    text: str | Document = ""
    other: Callable[[], Any] | None = None
    done: Future[Any] = field(default_factory=Future)


class Engine:
    """A model with its queue and its thread."""

    def __init__(self, model: Any, room: Room | None = None) -> None:
        self.model, self.room = model, room or Room()
        self.waiting: deque[Job] = deque()
        self.characters = 0  # of all that wait
        self.answered = self.batches = 0
        self._changed = threading.Condition()
        self._stopped = True
        self._first: str | None = None
        self._thread: threading.Thread | None = None

    def start(self, first: str | None = None) -> None:
        """Begin to work; with a text to answer before all others, so that nobody waits until kernels are compiled."""
        self._stopped, self._first = False, first
        self._thread = threading.Thread(target=self._work, name="dovetail-engine", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Answer what waits, and end."""
        with self._changed:
            self._stopped = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    async def annotate(self, text: str | Document) -> Document:
        """A text or a document with the answers of the model."""
        size = len(text) if isinstance(text, str) else sum(len(word) + 1 for s in text for word in s.words)
        found: Document = await self._submit(Job(size, text))
        return found

    async def do(self, other: Callable[[], Any], size: int) -> Any:
        """Whatever else is done with the model, alone; ``size`` is about how many characters it is of."""
        return await self._submit(Job(size, other=other))

    def has_room(self, size: int = 0) -> bool:
        """Whether something of this size can wait now."""
        return len(self.waiting) < self.room.jobs and self.characters + size <= self.room.characters

    async def _submit(self, job: Job) -> Any:
        with self._changed:
            if self._stopped:
                raise busy("the server is stopping", 5)
            if not self.has_room(job.size if self.waiting else 0):
                raise busy(f"{len(self.waiting)} requests wait for this model already")
            self.waiting.append(job)
            self.characters += job.size
            self._changed.notify()
        try:
            return await asyncio.wait_for(asyncio.wrap_future(job.done), self.room.seconds)
        except TimeoutError:
            raise busy(f"there was no answer within {self.room.seconds:g} s", 5) from None

    # the thread

    def _work(self) -> None:
        if self._first is not None:
            with suppress(Exception):  # whoever asks will be told
                self._alone(self._first)
        while (jobs := self._next()) is not None:
            self.batches += 1
            wanted = [job for job in jobs if job.done.set_running_or_notify_cancel()]
            self.answered += len(wanted)
            if wanted and wanted[0].other is not None:
                _settle(wanted[0], wanted[0].other)
            elif wanted:
                self._annotate(wanted)

    def _next(self) -> list[Job] | None:
        """What is answered next: one job, or several texts; None at the end."""
        with self._changed:
            while not self.waiting:
                if self._stopped:
                    return None
                self._changed.wait()
            jobs = [self._pop()]
            while jobs[0].other is None and self.waiting and self.waiting[0].other is None:
                if sum(job.size for job in jobs) + self.waiting[0].size > BATCH:
                    break
                jobs.append(self._pop())
            return jobs

    def _pop(self) -> Job:
        job = self.waiting.popleft()
        self.characters -= job.size
        return job

    def _annotate(self, jobs: Sequence[Job]) -> None:
        """Answer all texts at once; if that fails, one by one, so that each has its own failure."""
        try:
            found = list(self.model.annotate([self._document(job.text) for job in jobs]))
        except Exception:
            for job in jobs:
                _settle(job, lambda job=job: self._alone(job.text))  # type: ignore[misc]
            return
        for job, document in zip(jobs, found, strict=True):
            job.done.set_result(document)

    def _alone(self, text: str | Document) -> Document:
        found: list[Document] = list(self.model.annotate([self._document(text)]))
        return found[0]

    def _document(self, text: str | Document) -> Any:
        """What the model is given: a text whose words are to be found as it is."""
        return text if getattr(self.model, "words", False) else document_of(text)


def document_of(text: str | Document) -> Document:
    """A document with a name, so that it is one whatever it is answered with.

    >>> [len(sentence) for sentence in document_of("Ada slept. Bela wrote.")]
    [3, 3]
    """
    return Document(tuple(segment(text)), text, NAME) if isinstance(text, str) else replace(text, id=NAME)


def _settle(job: Job, work: Callable[[], Any]) -> None:
    try:
        job.done.set_result(work())
    except BaseException as error:
        job.done.set_exception(error)
