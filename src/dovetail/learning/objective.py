"""One objective for every model: a scorer makes potentials, a loss looks at the structure, the slope goes back.

It has two faces: a function of the weights with its gradient, for batch optimisers, and sums over a few sentences at a
time, for online ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import taken
from dovetail.errors import InputError
from dovetail.learning.losses import Loss
from dovetail.learning.noise import Noising
from dovetail.scorers.contract import Scorer
from dovetail.sparse import SparseGradient
from dovetail.structures.contract import Booleans, Floats, Integers
from dovetail.threads import run_shards

Gold = Callable[[Integers | None], tuple[Any, Any]]
"""The right answers to all sentences, or to some, and what is allowed where an answer is only partly known."""

SHARDS = 4  # of sentences that come one by one, each with its own sum: the same bits for any number of threads


def of_tokens(answers: NDArray[Any], offsets: Integers, allowed: Booleans | None = None) -> Gold:
    """Right answers that have a number for every token [N], and what is allowed [N, ...] where some are not known."""

    def of(which: Integers | None) -> tuple[Any, Any]:
        if which is None:
            return answers, allowed
        tokens, _ = taken(offsets, which)
        return answers[tokens], None if allowed is None else allowed[tokens]

    return of


class AnyObjective(Protocol):
    """A loss that is a sum over items: what optimisers and hierarchies ask for."""

    @property
    def items(self) -> int:
        """The number of sentences."""

    @property
    def parameters(self) -> int:
        """The number of weights."""

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The loss on all sentences and its gradient [parameters]."""

    def touch(self, which: Integers, sink: SparseGradient) -> None:
        """List in ``sink`` the parameters that some sentences use."""

    def accumulate(self, weight: Floats, which: Integers, sink: SparseGradient) -> float:
        """The loss on some sentences; its gradient is added to ``sink``."""


@dataclass(eq=False)
class Objective:
    """The loss of a corpus as a function of one vector of weights."""

    scorer: Scorer[Any]
    gold: Gold
    loss: Loss
    noise: Noising | None = None
    _sums: list[Floats] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        lacks = [name for name in ("items", "parameters", "batch", "backward") if not hasattr(self.scorer, name)]
        if lacks or not callable(self.loss) or not callable(self.gold):
            what = f"{type(self.scorer).__name__} without {lacks[0]}" if lacks else "gold or loss that is no function"
            raise InputError(f"an objective of a {what}: see dovetail.learning.objective and dovetail.scorers.contract")

    @property
    def items(self) -> int:
        """The number of sentences."""
        return self.scorer.items

    @property
    def parameters(self) -> int:
        """The number of weights."""
        return self.scorer.parameters

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The loss on all sentences and its gradient [parameters]."""
        gradient = np.zeros(self.parameters)
        return self._add(weight, None, gradient), gradient

    def touch(self, which: Integers, sink: SparseGradient) -> None:
        """List in ``sink`` the parameters that some sentences use."""
        self.scorer.touch(which, sink)
        if self.noise is not None:
            self.noise.touch(self.items, which, sink)

    def accumulate(self, weight: Floats, which: Integers, sink: SparseGradient) -> float:
        """The loss on some sentences; its gradient is added to ``sink``."""
        return self._add(weight, which, sink.value)

    def _add(self, weight: Floats, which: Integers | None, out: Floats) -> float:
        """The loss on some sentences, or on all; its gradient is added to out [parameters]."""
        if self.scorer.one_by_one:
            return self._dealt(weight, np.arange(self.items) if which is None else which, out)
        if self.noise is not None:
            return self.noise.noised(self.scorer, self._lost, self.gold(which), weight, which, out)
        if which is None and self.scorer.stretches:
            return self._by_stretches(weight, out)
        value, slope = self._lost(self.scorer.batch(weight, which), *self.gold(which))
        self.scorer.backward(slope, out, which)
        return value

    def _lost(self, *of: Any) -> tuple[float, Any]:
        """The loss of a batch, with its slope, if these are what a loss gives."""
        found = self.loss(*of)
        if not isinstance(found, tuple) or len(found) != 2:
            raise InputError(f"the loss {self.loss!r} must give a number and the slope of the potentials")
        return found

    def _by_stretches(self, weight: Floats, out: Floats) -> float:
        """The same for all sentences, stretch by stretch: with the scores of one at a time."""
        scorer, total = self.scorer, 0.0
        sums = scorer.begin_stretches(weight, out)
        for stretch in scorer.stretches:
            value, slope = self._lost(scorer.stretch(weight, stretch), *self.gold(np.arange(*stretch)))
            scorer.add_stretch(slope, stretch, sums)
            total += value
        scorer.end_stretches(sums)
        return total

    def _dealt(self, weight: Floats, which: Integers, out: Floats) -> float:
        """The same for sentences that come one by one, dealt out in turn, on several threads."""
        if not self._sums:
            self._sums = [np.zeros(self.parameters) for _ in range(SHARDS)]

        def work(shard: int) -> float:
            self._sums[shard][:] = 0.0
            return self.one_by_one(weight, shard_of(self.scorer, which, shard), self._sums[shard])

        loss = sum(run_shards(work, range(SHARDS), self.scorer.threads))
        for part in self._sums:
            out += part
        return loss

    def one_by_one(self, weight: Floats, which: Integers, out: Floats) -> float:
        """The loss on some sentences, one after the other; its gradient is added to out [parameters]."""
        total = 0.0
        for i in which.tolist():
            one = np.array([i])
            value, slope = self._lost(self.scorer.batch(weight, one), *self.gold(one))
            self.scorer.backward(slope, out, one)
            total += value
        return total


def shard_of(scorer: Scorer[Any], which: Integers, shard: int) -> Integers:
    """One of the shards that sentences are dealt out to, long ones first."""
    order = sorted(which.tolist(), key=lambda i: (-scorer.work(i), i))
    return np.array(order[shard::SHARDS], dtype=np.int64)


@dataclass(eq=False)
class Share:
    """An objective as a function of some of its weights, ``share`` [parameters]; the others stay zero."""

    whole: AnyObjective
    share: Integers

    def __post_init__(self) -> None:
        self._weight = np.zeros(self.whole.parameters)
        self._sink = SparseGradient.of_size(self.whole.parameters)
        self._place = np.full(self.whole.parameters, -1, np.int64)
        self._place[self.share] = np.arange(len(self.share))

    @classmethod
    def used(cls, objective: AnyObjective, start: Floats) -> Share:
        """That of the weights which have a gradient where training starts."""
        return cls(objective, np.flatnonzero(objective(start)[1]))

    @property
    def items(self) -> int:
        """The number of sentences."""
        return self.whole.items

    @property
    def parameters(self) -> int:
        """How many weights there are."""
        return len(self.share)

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The loss on all sentences and its gradient [parameters]."""
        self._weight[self.share] = weight
        value, gradient = self.whole(self._weight)
        return value, gradient[self.share]

    def touch(self, which: Integers, sink: SparseGradient) -> None:
        """Those of the share that some sentences use."""
        self._sink.clear()
        self.whole.touch(which, self._sink)
        if self._sink.is_whole:
            sink.list_all()
            return
        listed = self._place[self._sink.items[: self._sink.count]]
        listed = listed[listed >= 0]
        sink.items[sink.count : sink.count + len(listed)] = listed
        sink.count += len(listed)

    def accumulate(self, weight: Floats, which: Integers, sink: SparseGradient) -> float:
        """The loss on some sentences, which ``touch`` has listed; its gradient is added to ``sink``."""
        listed = sink.listed
        own = self.share[listed]
        self._weight[own] = weight[listed]
        self._sink.value[self._sink.listed] = 0.0
        loss = self.whole.accumulate(self._weight, which, self._sink)
        sink.value[listed] += self._sink.value[own]
        return loss
