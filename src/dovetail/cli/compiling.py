"""Compilation: it happens once on a machine, so the user is told, and it does not count when time is estimated."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from threading import Timer
from typing import Any

from dovetail.cli.console import say

ABOUT = 10
"""Seconds that compiling takes on a usual machine."""
NOTICE = f"compiling, about {ABOUT} s; this happens only the first time on this machine"
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
_watched = False


def watch() -> None:
    """Listen from now on. It imports numba: call it where that is about to happen."""
    global _watched
    if not _watched:
        from numba.core import event

        _watched = True
        event.Listener.register(Watch)
        event.register("numba:compile", WATCH)  # type: ignore[no-untyped-call]
