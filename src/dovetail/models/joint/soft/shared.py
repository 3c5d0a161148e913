"""What all types of entities have in common: every feature has a weight for each type, and one for all of them.

A type with few examples then learns from the others what an entity looks like. It is a prior and no other model: the
two weights of a feature are added up when they are learnt.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dovetail.learning.objective import AnyObjective
from dovetail.scorers.contract import Floats, Items
from dovetail.scorers.linear import LinearScorer
from dovetail.scorers.parts import PartsScorer
from dovetail.sparse import SparseGradient


@dataclass(eq=False)
class SharedTypes:
    """An objective of the weights of features and types, as one of these and of a weight for all types after them.

    ``feature`` [parameters]: the number of the feature of each weight, -1 of those of no type; label 0 is none.
    """

    whole: AnyObjective
    feature: Items = field(repr=False)

    def __post_init__(self) -> None:
        self.some = np.flatnonzero(self.feature >= 0)
        self.features = int(self.feature.max(initial=-1)) + 1
        self.items, self.parameters = self.whole.items, self.whole.parameters + self.features

    @classmethod
    def of(cls, objective: AnyObjective, scorer: PartsScorer) -> SharedTypes:
        """That of the objective of a scorer of segments."""
        found, count = [], 0
        for part in scorer.parts.values():
            assert isinstance(part, LinearScorer)
            feature = np.repeat(np.arange(count, count + part.layout.size), np.diff(part.layout.ptr))
            found.append(np.where(part.layout.label > 0, feature, -1))
            count += part.layout.size
        rest = np.full(scorer.parameters - scorer.after_parts, -1)
        return cls(objective, np.concatenate([*found, rest]).astype(np.int64))

    def added(self, weight: Floats) -> Floats:
        """The weights of features and types, each with what is for all types."""
        found = weight[: self.whole.parameters].copy()
        found[self.some] += weight[self.whole.parameters :][self.feature[self.some]]
        return found

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The loss on all sentences and its gradient [parameters]."""
        value, own = self.whole(self.added(weight))
        return value, np.concatenate([own, self._summed(own)])

    def touch(self, which: Items, sink: SparseGradient) -> None:
        """All weights."""
        sink.list_all()

    def accumulate(self, weight: Floats, which: Items, sink: SparseGradient) -> float:
        """The loss on some sentences; its gradient is added to ``sink``."""
        own = SparseGradient.of_size(self.whole.parameters)
        loss = self.whole.accumulate(self.added(weight), which, own)
        sink.value[: self.whole.parameters] += own.value
        sink.value[self.whole.parameters :] += self._summed(own.value)
        return loss

    def curvature(self, own: Floats) -> Floats:
        """A guess at the diagonal of the Hessian, from one for the weights of features and types."""
        count = np.bincount(self.feature[self.some], minlength=self.features)
        return np.concatenate([own, np.where(count, self._summed(own) / np.maximum(count, 1), 1.0)])

    def _summed(self, own: Floats) -> Floats:
        return np.bincount(self.feature[self.some], own[self.some], self.features).astype(np.float64)
