"""Single choices from real-valued features that nearly all are there: a weight for every feature with every label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.scorers.contract import Floats, Items, Scorer
from dovetail.structures.chain import ChainBatch
from dovetail.structures.chain.parts import ChainPotentials


@dataclass(eq=False)
class DenseScorer(Scorer[ChainBatch]):
    """``score[i, y] = sum over f of value[i, f] * weight[f, y]``: logistic regression, as chains of one token each.

    ``value`` [items, features].
    """

    value: Floats
    labels: int
    threads: int = 1

    def __post_init__(self) -> None:
        self.items = len(self.value)
        self.parameters = self.value.shape[1] * self.labels

    def batch(self, weight: Floats, which: Items | None = None) -> ChainBatch:
        """The choices of all items, or of some, with their potentials under ``weight`` [parameters]."""
        return choices(self._values(which) @ weight.reshape(-1, self.labels), self.threads)

    def backward(self, slope: ChainPotentials, out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [parameters] the gradient, from the slope of the potentials that ``batch`` gave last."""
        out += (self._values(which).T @ slope.unary).ravel()

    def _values(self, which: Items | None) -> Floats:
        return self.value if which is None else self.value[which]


def choices(score: Floats, threads: int = 1) -> ChainBatch:
    """Single choices among labels with these scores [items, labels].

    >>> choices(np.log([[0.9, 0.1], [0.2, 0.8]])).best()
    array([0, 1], dtype=int32)
    """
    labels = score.shape[1]
    potentials = ChainPotentials.of(score, np.zeros((labels, labels)))
    return ChainBatch(potentials, np.arange(len(score) + 1), threads=threads)
