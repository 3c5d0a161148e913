"""Progress of long work: a bar on a terminal, plain lines in a log, nothing when quiet; and whether numba compiles."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cache
from threading import Timer
from typing import TYPE_CHECKING, Any

from dovetail.cli.console import say

if TYPE_CHECKING:
    from dovetail.clusters.clustering import ClusterProgress
    from dovetail.learning.monitor import Progress

SECONDS_BETWEEN_LINES = 5.0


class Reporter:
    """What a command tells about long work: nothing, unless a kind of reporter says it somewhere."""

    def doing(self, what: str) -> None:
        """A step of the work begins: "reading train.conll"."""

    def compiling(self, what: str) -> None:
        """Numba compiles, which takes a while."""

    def standing(self, done: int, of: int | None, how_far: str, step: str = "") -> None:
        """So much of the work is done; ``step`` is the name of the step, where it has another each time."""

    def counted(self, words: int) -> None:
        """So many words of a text are counted."""
        self.standing(words, None, f"{words:,} words")

    def clustered(self, progress: ClusterProgress, unit: str = "words") -> None:
        """So many words are clustered, or visits to them done."""
        told = times(progress.seconds, progress.seconds_left)
        self.standing(progress.done, progress.of, f"{progress.done:,} of {progress.of:,} {unit}, {told}")

    def trained(self, progress: Progress) -> None:
        """A pass of training is done; for ``Tagger.fit``."""
        done, of = progress.iteration, progress.limit
        standing = describe(progress, WATCH.seconds(within=progress.seconds))
        part = "" if progress.part is None else "part {} of {} held out, ".format(*progress.part)
        self.standing(done, of, standing, f"{part}iteration {done}/{of}")


class Lines(Reporter):
    """A line for each step, and one every few seconds in between; the last pass of training is always told."""

    def __init__(self) -> None:
        self.last = float("-inf")

    def doing(self, what: str) -> None:
        """Say so."""
        say(what)

    compiling = doing

    def standing(self, done: int, of: int | None, how_far: str, step: str = "") -> None:
        """Say so, but not too often."""
        if time.monotonic() - self.last >= SECONDS_BETWEEN_LINES or (step and done == of):
            self.last = time.monotonic()
            say(f"{step}, {how_far}" if step else how_far)


class Bar(Reporter):
    """A bar that moves on a terminal."""

    def __init__(self, bar: Any) -> None:
        self.bar = bar
        self.task = bar.add_task("", total=None, standing="")

    def doing(self, what: str) -> None:
        """Name the step; the bar swings to and fro."""
        self.bar.update(self.task, description=what, total=None, completed=0, standing="")

    def compiling(self, what: str) -> None:
        """Say so above the bar."""
        self.bar.console.print(what, highlight=False)

    def standing(self, done: int, of: int | None, how_far: str, step: str = "") -> None:
        """Move the bar."""
        self.bar.update(self.task, completed=done, total=of, standing=how_far, description=step or None)


@contextmanager
def reporting(quiet: bool) -> Iterator[Reporter]:
    """The reporter that fits where the standard error goes."""
    watch()
    with _rich_bar() if sys.stderr.isatty() and not quiet else nullcontext() as bar:
        reporter = Reporter() if quiet else Bar(bar) if bar is not None else Lines()
        before, WATCH.tell = WATCH.tell, reporter.compiling
        try:
            yield reporter
        finally:
            WATCH.tell = before


def _rich_bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = TextColumn("{task.description}"), BarColumn(bar_width=10), TextColumn("{task.fields[standing]}")
    return Progress(*columns, console=Console(stderr=True), transient=True)  # the summary that follows says it all


def describe(progress: Progress, compiling: float = 0.0) -> str:
    """The objective, the best score on dev, the seconds gone by and left, on one line.

    What is left is reckoned without the seconds that compiling took: that comes only once.

    >>> from dovetail.learning.monitor import Progress
    >>> describe(Progress(iteration=10, limit=40, objective=1234.5, seconds=5, dev=61.2, best_dev=61.2))
    'objective 1,234.5, best dev 61.20, 5 s, at most 15 s left'
    """
    where = "dev" if progress.part is None else "cross-validated"
    dev = f", best {where} {progress.best_dev:.2f}" if progress.best_dev is not None else ""
    left = replace(progress, seconds=max(progress.seconds - compiling, 0.0)).seconds_left
    return f"objective {progress.objective:,.1f}{dev}, {times(progress.seconds, left)}"


def times(seconds: float, left: float) -> str:
    """The seconds gone by and left.

    >>> times(5, 15)
    '5 s, at most 15 s left'
    """
    return f"{seconds:.0f} s, at most {left:.0f} s left"


# compilation: it happens once on a machine, so the user is told, and it does not count when time is estimated

NOTICE = "compiling, about 10 s; this happens only the first time on this machine"
PATIENCE = 1.0
"""Seconds of compiling after which the user is told."""


class Watch:
    """Listens to numba's events: notes when it compiles, and tells the user once if it takes long."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self.tell = tell
        self.told = False
        self.periods: list[tuple[float, float]] = []
        self._depth = 0
        self._began = 0.0
        self._timer: Timer | None = None

    def notify(self, event: Any) -> None:
        """Numba begins or ends to compile a function; those that it calls are compiled within."""
        self._depth += 1 if event.is_start else -1
        if event.is_start and self._depth == 1:
            self._began = time.perf_counter()
            if not self.told:
                self._timer = Timer(max(PATIENCE - self.seconds(), 0.0), self._tell_once)
                self._timer.daemon = True
                self._timer.start()
        elif event.is_end and self._depth == 0:
            self.periods.append((self._began, time.perf_counter()))
            if self._timer is not None:
                self._timer.cancel()

    def seconds(self, within: float = float("inf")) -> float:
        """How long compiling took, or waiting for it, all in all, within the last so many seconds."""
        first = time.perf_counter() - within
        from dovetail.structures import ahead

        periods = [*self.periods, *ahead.waits]
        return sum(max(end - max(begin, first), 0.0) for begin, end in periods)

    def _tell_once(self) -> None:
        if not self.told:
            self.told = True
            self.tell(NOTICE)


def on_a_terminal(message: str) -> None:
    """Say so where somebody waits; a log need not know."""
    if sys.stderr.isatty():
        say(message)


WATCH = Watch(on_a_terminal)


@cache
def watch() -> None:
    """Listen from now on. It imports numba: call it where that is about to happen."""
    from numba.core import event

    event.Listener.register(Watch)
    event.register("numba:compile", WATCH)  # type: ignore[no-untyped-call]
