"""A trial of active learning on a pool that is labelled already: how far chosen sentences go, beside random ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any, Literal

from dovetail.active.selection import select
from dovetail.active.uncertainty import RANDOM, check_measure
from dovetail.curves.configurations import Configuration
from dovetail.curves.data import CurveData, draw_order
from dovetail.curves.runs import Run, RunLog, Task, finished_runs
from dovetail.errors import DovetailError


@dataclass(frozen=True)
class Strategy:
    """How sentences are chosen: the arguments of ``select``."""

    by: str
    discount: float = 0.0
    diversity: float = 0.0

    @property
    def name(self) -> str:
        """The measure, with what is not as usual.

        >>> Strategy("sequence-entropy", diversity=0.2).name
        'sequence-entropy, diversity 0.2'
        """
        discount = f", discount {self.discount:g}" if self.discount else ""
        return self.by + discount + (f", diversity {self.diversity:g}" if self.diversity else "")


@dataclass(frozen=True)
class Round(Task):
    """Train on what is labelled so far, score, and choose what to label next; ``until`` sentences at most."""

    strategy: Strategy
    step: int
    until: int
    seed: int

    @property
    def series(self) -> str:
        """The name of the strategy."""
        return self.strategy.name

    @property
    def wanted(self) -> int:
        """How many sentences to choose after this round."""
        return min(self.step, self.until - self.size)

    def choosing(self) -> list[Any]:
        """The way the next sentences are chosen."""
        return [[*astuple(self.strategy), self.wanted, self.seed, self.draw]]

    def choose(self, model: Any, data: CurveData) -> list[int]:
        """The sentences to label next."""
        if self.strategy.by == RANDOM:
            order = draw_order(len(data.train), self.draw, self.seed)
            return order[self.size : self.size + self.wanted]
        if self.wanted == 0:
            return []
        known = set(self.indices)
        rest = [i for i in range(len(data.train)) if i not in known]
        pool, labelled = ([data.train[i] for i in some] for some in (rest, self.indices))
        choices = select(model, pool, self.wanted, **asdict(self.strategy), labelled=labelled)
        return [rest[choice.position] for choice in choices]

    def after(self, run: Run) -> Round | None:
        """The next round, with what the last one chose; None when enough is labelled, or nothing is left."""
        return replace(self, indices=(*self.indices, *run.chosen)) if run.chosen else None


@dataclass(frozen=True)
class Simulation:
    """Rounds of labelling from ``start`` sentences by ``step`` until ``until``, by every strategy and at random.

    All strategies of a draw begin with the same random sentences, the first of ``curves.data.draw_order``; random
    choice goes on in that order.
    """

    configuration: Configuration
    strategies: Sequence[Strategy]
    start: int = 100
    step: int = 100
    until: int = 1000
    draws: int = 3
    seed: int = 1

    def tasks(self, data: CurveData) -> list[Round]:
        """The first round of every strategy and draw."""
        self._check(data)
        ways = [*(way for way in self.strategies if way.by != RANDOM), Strategy(RANDOM)]
        until = min(self.until, len(data.train))
        first = []
        for draw in range(1, self.draws + 1):
            start = tuple(draw_order(len(data.train), draw, self.seed)[: self.start])
            first += [Round(self.configuration, draw, start, way, self.step, until, self.seed) for way in ways]
        return first

    def runs(self, data: CurveData, log: RunLog, jobs: int | Literal["ray"] = 1) -> Iterator[tuple[Run, bool]]:
        """Every run as it finishes, each with whether the log had it already."""
        return finished_runs(self.tasks(data), data, log, jobs, Round.after)

    def sizes_of_runs(self, data: CurveData) -> list[int]:
        """How many sentences are labelled at each round of every strategy and draw."""
        until = min(self.until, len(data.train))
        return [*range(self.start, until, self.step), until] * len(self.tasks(data))

    def _check(self, data: CurveData) -> None:
        if self.configuration.kind != "tagger":
            raise DovetailError(f"only a tagger can be asked how sure it is, not a {self.configuration.kind}")
        for way in self.strategies:
            check_measure(way.by, way.discount)
        least = min(self.start, self.step, self.draws)
        if least < 1 or self.until < self.start:
            raise DovetailError("start, step and draws are 1 or more, and until is no less than start")
        if len(data.train) < self.start or not data.scored:
            raise DovetailError(f"{len(data.train)} labelled sentences are too few to start with {self.start}")
        self.configuration.build()
