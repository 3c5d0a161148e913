"""Progress of a training run: a bar on a terminal, plain lines in a log, nothing when quiet."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dovetail.cli.compiling import WATCH, watch
from dovetail.cli.console import say

if TYPE_CHECKING:
    from dovetail.learning.monitor import Progress

SECONDS_BETWEEN_LINES = 5.0


class Reporter:
    """What a command tells about long work: nothing, unless a kind of reporter says it somewhere."""

    def doing(self, what: str) -> None:
        """A step of the work begins: "reading train.conll"."""

    def standing(self, done: int, of: int | None, unit: str, seconds: float = 0, left: float | None = None) -> None:
        """So much of the step is done."""

    def trained(self, progress: Progress) -> None:
        """A pass of training is done; for ``Tagger.fit``."""


@contextmanager
def reporting(quiet: bool) -> Iterator[Reporter]:
    """The reporter that fits where the standard error goes."""
    watch()
    if quiet:
        with _telling(lambda _: None):
            yield Reporter()
    elif sys.stderr.isatty():
        with _rich_bar() as bar:
            reporter = Bar(bar)
            with _telling(reporter.compiling):
                yield reporter
    else:
        with _telling(say):
            yield Lines()


@contextmanager
def _telling(tell: Callable[[str], None]) -> Iterator[None]:
    before, WATCH.tell = WATCH.tell, tell
    try:
        yield
    finally:
        WATCH.tell = before


class Lines(Reporter):
    """A line for each step, and one every few seconds while training."""

    def __init__(self) -> None:
        self.last = float("-inf")

    def doing(self, what: str) -> None:
        """Say so."""
        say(what)

    def standing(self, done: int, of: int | None, unit: str, seconds: float = 0, left: float | None = None) -> None:
        """Say where the work stands, but not too often."""
        if time.monotonic() - self.last >= SECONDS_BETWEEN_LINES:
            self.last = time.monotonic()
            say(how_far(done, of, unit, seconds, left))

    def trained(self, progress: Progress) -> None:
        """Say where the run stands, but not too often."""
        if time.monotonic() - self.last >= SECONDS_BETWEEN_LINES or progress.iteration == progress.limit:
            self.last = time.monotonic()
            say(f"iteration {progress.iteration}/{progress.limit}, {describe(progress, _compiling(progress))}")


class Bar(Reporter):
    """A bar that moves on a terminal."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar
        self.task = bar.add_task("", total=None, standing="")

    def doing(self, what: str) -> None:
        """Name the step; the bar swings to and fro."""
        self.bar.update(self.task, description=what, total=None, completed=0, standing="")

    def compiling(self, message: str) -> None:
        """Say so above the bar."""
        self.bar.console.print(message, highlight=False)

    def standing(self, done: int, of: int | None, unit: str, seconds: float = 0, left: float | None = None) -> None:
        """Move the bar."""
        self.bar.update(self.task, completed=done, total=of, standing=how_far(done, of, unit, seconds, left))

    def trained(self, progress: Progress) -> None:
        """Move the bar."""
        self.bar.update(
            self.task,
            description=f"iteration {progress.iteration}/{progress.limit}",
            completed=progress.iteration,
            total=progress.limit,
            standing=describe(progress, _compiling(progress)),
        )


def describe(progress: Progress, compiling: float = 0.0) -> str:
    """The objective, the best score on dev, the seconds gone by and left, on one line.

    What is left is reckoned without the seconds that compiling took: that comes only once.

    >>> from dovetail.learning.monitor import Progress
    >>> describe(Progress(iteration=10, limit=40, objective=1234.5, seconds=5, dev=61.2, best_dev=61.2))
    'objective 1,234.5, best dev 61.20, 5 s, at most 15 s left'
    """
    dev = f", best dev {progress.best_dev:.2f}" if progress.best_dev is not None else ""
    left = replace(progress, seconds=max(progress.seconds - compiling, 0.0)).seconds_left
    times = f"{progress.seconds:.0f} s, at most {left:.0f} s left"
    return f"objective {progress.objective:,.1f}{dev}, {times}"


def _compiling(progress: Progress) -> float:
    return WATCH.seconds(within=progress.seconds)


def how_far(done: int, of: int | None, unit: str, seconds: float = 0, left: float | None = None) -> str:
    """How far a step of the work is, on one line.

    >>> how_far(500, 2000, "words", 10, 30)
    '500 of 2,000 words, 10 s, at most 30 s left'
    """
    whole = f"{done:,} {unit}" if of is None else f"{done:,} of {of:,} {unit}"
    return whole if left is None else f"{whole}, {seconds:.0f} s, at most {left:.0f} s left"


def _rich_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    # Transient: the summary that follows says it all.
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=10),
        TextColumn("{task.fields[standing]}"),
        console=Console(stderr=True),
        transient=True,
    )
