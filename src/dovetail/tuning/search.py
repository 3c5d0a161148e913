"""Successive halving: many settings are tried on a few parts of the sentences, the better ones on more, and so on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from dovetail.curves.log import Log
from dovetail.curves.work import worked
from dovetail.errors import DovetailError
from dovetail.tuning.space import Dimension, candidates, mixed, space_of
from dovetail.tuning.standing import Gain, Standing, best_first
from dovetail.tuning.trials import Outcome, Trial, TuneData

PARTS = 5
"""Into which each deal of the sentences falls."""
BRED = 3
"""So many of the best after the first rung are mixed with each other."""


class Rung(NamedTuple):
    """What is tried of the settings that have come so far."""

    keep: float
    """How many of them: a share of all candidates, of which at least two stay."""
    deal: int
    parts: tuple[int, ...]


RUNGS = (
    Rung(1.0, 1, (0, 1)),
    Rung(0.35, 1, (2, 3, 4)),
    Rung(0.15, 2, (0, 1, 2, 3, 4)),
)
"""The last ones are tried on a fresh deal: those that were only lucky in the first fall back."""


class Step(NamedTuple):
    """A trial that is done."""

    outcome: Outcome
    was_there: bool
    """In the log already."""
    rung: int
    """From 1."""
    done: int
    of: int
    """Models trained, and to train as far as is known."""
    best: float
    """The best score of those that have come as far as this rung."""


@dataclass(frozen=True)
class Verdict:
    """What a search has found."""

    settings: Mapping[str, Any]
    """What to choose besides what was fixed: nothing where the defaults stay."""
    gain: Gain | None
    """Of these settings over the defaults; of the best others, where the defaults stay; None of none."""
    rival: Mapping[str, Any]
    """The best settings other than the defaults, though they may not be better by more than noise."""
    finalists: tuple[Standing, ...]
    """Those that were tried on everything, best first, the defaults among them."""
    everything: tuple[Standing, ...]
    """All that were tried."""


@dataclass(frozen=True)
class Search:
    """A search of the settings of a model of this kind, ``number`` candidates at first, the defaults among them.

    Each is judged by cross-validation inside the sentences that are given: see ``Trial``. The best settings replace the
    defaults only if they are better by more than the noise of the comparison (``Gain.beyond_noise``).
    """

    data: TuneData
    number: int = 12
    seed: int = 1
    space: Mapping[str, Dimension] | None = None
    """Other choices than the usual ones of the kind: see ``dovetail.tuning.space``."""
    fixed: tuple[str, ...] = ()
    """Settings that are not searched."""
    steps: list[Step] = field(default_factory=list, init=False)

    def run(self, log: Log[Outcome], jobs: int | Literal["ray"] = 1, threads: int | None = None) -> Iterator[Step]:
        """Every trial as it finishes: in this process on so many ``threads``; with more ``jobs`` in so many processes.

        With "ray" trials are shared out over a cluster.
        """
        self.check()
        space = dict(self.space) if self.space is not None else space_of(self.data.model.stored_kind(), self.fixed)
        tried = [one for one in candidates(space, self.number, self.seed) if self._allowed(one)]
        self.steps.clear()
        carry_out = partial(Trial.run, threads=threads if jobs == 1 else 1)
        for number in range(len(RUNGS)):
            trials = self._trials(number, tried)
            yield from self._outcomes(trials, carry_out, log, jobs, number, len(tried))
            if number == 0:
                bred = self._bred(tried)
                tried = tried + bred
                more = self._trials(number, [{}, *bred])[1:]
                yield from self._outcomes(more, carry_out, log, jobs, number, len(tried))

    def verdict(self) -> Verdict:
        """What to choose, once all is done."""
        everything = Standing.of(step.outcome for step in self.steps)
        usual, most = everything[0], max(len(one.counts) for one in everything)
        finalists = best_first([one for one in everything if len(one.counts) == most])
        rival = next((one for one in finalists if one.settings), None)
        gain = None if rival is None else rival.gain(usual, PARTS)
        wins = rival is not None and gain is not None and gain.beyond_noise
        own = {} if rival is None else rival.settings
        return Verdict(own if wins else {}, gain, own, tuple(finalists), tuple(best_first(everything)))

    def check(self) -> None:
        """There is something to search, and enough to judge by."""
        if self.number < 2:
            raise DovetailError(f"{self.number} candidates: choose 2 or more; the first are the defaults")
        if len(self.data.sentences) < 2 * PARTS:
            told = f"{len(self.data.sentences)} sentences are too few to hold some out"
            raise DovetailError(f"{told}: give {2 * PARTS} or more")

    def _allowed(self, settings: Mapping[str, Any]) -> bool:
        """Whether they go with the rest: some are for some models of a kind alone."""
        if not settings:
            return True
        try:
            self.data.variant(settings)
        except DovetailError:
            return False
        return True

    def _trials(self, number: int, tried: Sequence[Mapping[str, Any]]) -> list[Trial]:
        """Those of a rung: all candidates at first, then the best, and always the defaults."""
        rung, kept = RUNGS[number], list(tried)
        if number:
            best = [one.settings for one in best_first(self._at(number - 1)) if one.settings]
            kept = [{}, *best[: self._width(number)]]
        return [Trial(settings, self._deal(rung), rung.parts, PARTS) for settings in kept]

    def _width(self, number: int) -> int:
        return max(2, round(RUNGS[number].keep * self.number))

    def _deal(self, rung: Rung) -> int:
        """Searches with other seeds deal otherwise."""
        return rung.deal + 1000 * (self.seed - 1)

    def _at(self, number: int) -> list[Standing]:
        """How those stand that have been tried on this rung."""
        seen = {(self._deal(rung), part) for rung in RUNGS[: number + 1] for part in rung.parts}
        return [one for one in Standing.of(step.outcome for step in self.steps) if seen <= one.counts.keys()]

    def _bred(self, tried: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The best after the first rung, two together: what helps alone may help more so."""
        usual, *rest = self._at(0)
        best = [one for one in best_first(rest) if one.score > usual.score][:BRED]
        found: list[dict[str, Any]] = []
        for place, first in enumerate(best):
            for second in best[place + 1 :]:
                both = mixed(first.settings, second.settings)
                if both not in [*tried, *found] and self._allowed(both):
                    found.append(both)
        return found

    def _outcomes(
        self,
        trials: Sequence[Trial],
        carry_out: Callable[..., Outcome],
        log: Log[Outcome],
        jobs: int | Literal["ray"],
        rung: int,
        of: int,
    ) -> Iterator[Step]:
        """Those that the log has, then the others as they are done."""
        waiting = []
        for trial in trials:
            if (known := log.runs.get(trial.fingerprint(self.data))) is not None:
                yield self._step(known, True, rung, of)
            else:
                waiting.append(trial)
        for outcome in worked(carry_out, waiting, self.data, jobs, lambda *_: None):
            log.add(outcome)
            yield self._step(outcome, False, rung, of)

    def _step(self, outcome: Outcome, was_there: bool, rung: int, candidates: int) -> Step:
        done = sum(len(step.outcome.parts) for step in self.steps) + len(outcome.parts)
        widths = [candidates, *(1 + self._width(number) for number in range(1, len(RUNGS)))]
        of = sum(width * len(each.parts) for width, each in zip(widths, RUNGS, strict=True))
        self.steps.append(Step(outcome, was_there, rung + 1, done, max(of, done), 0.0))
        best = max((one.score for one in self._at(rung)), default=0.0)
        self.steps[-1] = self.steps[-1]._replace(best=best)
        return self.steps[-1]


def tuning_log(path: str | Path) -> Log[Outcome]:
    """The log of a search, which it goes on from."""
    return Log(Path(path), Outcome, "trial")
