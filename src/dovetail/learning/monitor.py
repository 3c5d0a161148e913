"""Watching a training run: progress, the best weights so far, early stopping, checkpoints and Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dovetail.spellings import known
from dovetail.structures.contract import Floats


@dataclass(frozen=True)
class Progress:
    """Where a run stands after one pass: ``dev`` is the score on held-out data when it was measured.

    ``part`` is (number, of how many) of the model in training while several are, each without a part of the data.
    """

    iteration: int
    limit: int
    objective: float
    seconds: float
    dev: float | None = None
    best_dev: float | None = None
    resumed_at: int = 0
    part: tuple[int, int] | None = None

    @property
    def seconds_left(self) -> float:
        """How long the run takes if it goes on to its limit."""
        return self.seconds / max(self.iteration - self.resumed_at, 1) * (self.limit - self.iteration)


@dataclass
class Monitor:
    """Called after every pass; answers whether to stop.

    ``dev_score`` (weights to score, higher is better) is asked every ``dev_every`` passes; training stops when it has
    not risen for ``patience`` askings. ``save`` gets the optimiser's state every ``save_every`` passes, and
    after ``save_seconds`` without. One that is not ``watched``, because nobody asks how the run ended, leaves Ctrl-C to
    the program.
    """

    report: Callable[[Progress], None] | None = None
    dev_score: Callable[[Floats], float] | None = None
    dev_every: int = 10
    patience: int = 3
    save: Callable[[dict[str, Any]], None] | None = None
    save_every: int = 25
    save_seconds: float = 60.0
    watched: bool = True
    interrupted: bool = False
    reason: str = "limit"
    best: Floats | None = None
    best_dev: float = -np.inf
    since_best: int = 0
    started: float = field(default_factory=time.perf_counter)
    saved: float = field(default_factory=time.perf_counter)
    resumed_at: int | None = None
    restored: dict[str, Any] = field(default_factory=dict)

    def after_pass(
        self,
        iteration: int,
        limit: int,
        objective: float,
        weights: Callable[[], Floats],
        state: Callable[[], dict[str, Any]],
    ) -> bool:
        """Report, score, save; True means stop."""
        if self.resumed_at is None:
            self.resumed_at = iteration - 1
            known("state", self.restored, [*(state() if self.restored else ()), *self.arrays()], "the checkpoint")
        dev = None
        stop = self.interrupted
        if self.dev_score is not None and (iteration % self.dev_every == 0 or iteration == limit or stop):
            dev = self.dev_score(weights())
            if dev > self.best_dev:
                self.best, self.best_dev, self.since_best = weights().copy(), dev, 0
            else:
                self.since_best += 1
                if self.since_best >= self.patience:
                    self.reason, stop = "dev", True
        if self.report is not None:
            seconds = time.perf_counter() - self.started
            best = self.best_dev if np.isfinite(self.best_dev) else None
            self.report(Progress(iteration, limit, objective, seconds, dev, best, self.resumed_at))
        waited = time.perf_counter() - self.saved
        if self.save is not None and (iteration % self.save_every == 0 or waited > self.save_seconds or stop):
            self.save(state() | self.arrays())
            self.saved = time.perf_counter()
        if self.interrupted:
            self.reason = "interrupted"
        return stop

    def arrays(self) -> dict[str, Any]:
        """What must outlast an interruption: the best weights so far."""
        best = {} if self.best is None else {"monitor.best": self.best}
        return best | {"monitor.best_dev": np.array(self.best_dev), "monitor.since_best": np.array(self.since_best)}

    def restore(self, arrays: dict[str, Any]) -> None:
        """Take up a run where a checkpoint left it."""
        self.restored, self.best = dict.fromkeys(arrays), arrays.get("monitor.best")
        self.best_dev, self.since_best = float(arrays["monitor.best_dev"]), int(arrays["monitor.since_best"])

    def result(self, weights: Floats) -> Floats:
        """The best weights by the dev score, or the last ones."""
        return weights if self.best is None else self.best

    @contextmanager
    def catching_interrupt(self) -> Iterator[None]:
        """The first Ctrl-C ends training after the current pass; a second one ends the program."""
        if not self.watched or threading.current_thread() is not threading.main_thread():
            yield
            return

        def note(signum: int, frame: Any) -> None:
            if self.interrupted:
                raise KeyboardInterrupt
            self.interrupted = True

        previous = signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)
