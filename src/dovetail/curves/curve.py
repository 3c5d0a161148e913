"""A learning curve: every configuration on every draw of every size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dovetail.curves.configurations import Configuration
from dovetail.curves.data import CurveData, draw_order
from dovetail.curves.runs import Run, RunLog, Task, finished_runs
from dovetail.errors import DovetailError


@dataclass(frozen=True)
class LearningCurve:
    """Which runs make a curve: ``sizes`` in sentences (None for all), each drawn ``draws`` times.

    Draw d is a random order of the pool by (seed, d), and its sentences are the first n: larger sizes contain the
    smaller ones, and all configurations train on the same sentences. The whole pool is drawn once.
    """

    configurations: Sequence[Configuration]
    sizes: Sequence[int | None]
    draws: int = 3
    seed: int = 1

    def tasks(self, data: CurveData) -> list[Task]:
        """The runs to be done, small ones first, so that an interrupted curve is whole as far as it goes."""
        self._check(data)
        pool = len(data.train)
        orders = {draw: draw_order(pool, draw, self.seed) for draw in range(1, self.draws + 1)}
        sizes = sorted({min(size or pool, pool) for size in self.sizes})
        return [
            Task(configuration, draw, tuple(orders[draw][:size]))
            for size in sizes
            for draw in (orders if size < pool else [1])
            for configuration in self.configurations
        ]

    def runs(self, data: CurveData, log: RunLog, jobs: int = 1) -> Iterator[tuple[Run, bool]]:
        """Every run as it finishes, each with whether the log had it already."""
        return finished_runs(self.tasks(data), data, log, jobs)

    def _check(self, data: CurveData) -> None:
        names = [configuration.name for configuration in self.configurations]
        if len(set(names)) < len(names):
            raise DovetailError(f"two configurations have one name: {', '.join(names)}")
        if any(size is not None and size < 1 for size in self.sizes) or not self.sizes:
            raise DovetailError("a size is a number of sentences, 1 or more, or all")
        if self.draws < 1:
            raise DovetailError(f"{self.draws} draws: choose 1 or more")
        if not data.train or not data.scored:
            raise DovetailError("there are no sentences to train on or to score; check the files and their format")
        for configuration in self.configurations:
            configuration.build()
