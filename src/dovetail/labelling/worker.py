"""The process beside the page, in which models are trained: the page never waits for it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dovetail.labelling.training import Job, Outcome, train, warm_up
from dovetail.text.sentence import Sentence

NICE = 5
"""The page goes before."""


@dataclass
class Worker:
    """Does the latest job that it was given; ``done`` hears of outcomes, in a thread of its own.

    A job that comes while another is at work waits, and a later one takes its place.
    """

    task: str
    sentences: Sequence[Sentence]
    done: Callable[[Outcome], None]
    failed: Callable[[str], None] = lambda message: None
    _waiting: Job | None = None
    _busy: bool = False
    _closed: bool = False
    _wake: threading.Condition = field(default_factory=threading.Condition)
    _process: Any = None
    _pipe: Any = None

    def start(self) -> None:
        """Start the process, which imports what it needs and then waits."""
        self._spawn()
        threading.Thread(target=self._run, name="dovetail-label-worker", daemon=True).start()

    def submit(self, job: Job) -> None:
        """Train next."""
        with self._wake:
            self._waiting = job
            self._wake.notify()

    @property
    def busy(self) -> bool:
        """Whether a job is at work or waits."""
        return self._busy or self._waiting is not None

    def close(self) -> None:
        """End the process, whatever it is doing."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        self._process.terminate()
        self._process.join(5)

    def _spawn(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), name="dovetail-label", daemon=True)
        self._process.start()
        theirs.close()
        self._pipe.send((self.task, list(self.sentences)))

    def _run(self) -> None:
        while True:
            with self._wake:
                while self._waiting is None and not self._closed:
                    self._wake.wait()
                if self._closed:
                    return
                job, self._waiting, self._busy = self._waiting, None, True
            self._work(job)

    def _work(self, job: Job | None) -> None:
        try:
            self._pipe.send(job)
            found = self._pipe.recv()
        except (EOFError, OSError):
            if self._closed:
                return
            self._busy = False
            self.failed("training ended unexpectedly (out of memory?); it is tried again after the next answers")
            self._spawn()
            return
        try:
            if isinstance(found, Outcome):
                self.done(found)
            else:
                self.failed(str(found))
        finally:
            self._busy = False


def _serve(pipe: Any) -> None:
    """The process: the sentences first, then job after job, until the page is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the page, which then ends this
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICE)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    task, sentences = pipe.recv()
    with contextlib.suppress(Exception):  # what is wrong comes again, and is told, with the first job
        warm_up(task)
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        try:
            found: Any = train(job, sentences)
        except Exception as error:  # the page goes on, and says so
            found = f"training failed: {type(error).__name__}: {error}"
        pipe.send(found)


def _leave_with_parent() -> None:
    """A page that was killed takes its process with it, even in the middle of training."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(0)
