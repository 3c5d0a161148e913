"""Exact inference for a sequence whose labels depend on the one or two labels before."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dovetail.structures.chain.batch import ChainBatch
from dovetail.structures.chain.parts import ChainPotentials, Floats, Labels

__all__ = ["Chain", "ChainBatch", "ChainPotentials"]


@dataclass(frozen=True, eq=False)
class Chain:
    """One sequence of n tokens with L labels, given by log potentials; minus infinity forbids a part.

    unary: [n, L]. transition: [L, L], or [L * L + L, L] in order 2, where row ``a * L + b`` holds for
    labels a, b before, and row ``L * L + b`` for the first label b. start, end: [L], zero unless given.
    edge: [n, L, L], added to the transition into each token, none unless given.

    >>> chain = Chain(unary=np.log([[0.9, 0.1], [0.5, 0.5]]), transition=[[1.0, 0.0], [0.0, 1.0]])
    >>> chain.best()
    array([0, 0], dtype=int32)
    >>> [(labels.tolist(), round(log_probability, 2)) for labels, log_probability in chain.kbest(2)]
    [([0, 0], -0.42), ([0, 1], -1.42)]
    """

    unary: Floats
    transition: Floats
    start: Floats | None = None
    end: Floats | None = None
    edge: Floats | None = None
    order: int = 1

    @cached_property
    def batch(self) -> ChainBatch:
        """The same as a batch of one."""
        potentials = ChainPotentials.of(self.unary, self.transition, self.start, self.end, self.edge)
        return ChainBatch(potentials, np.array([0, len(potentials.unary)]), self.order, threads=1)

    def __post_init__(self) -> None:
        _ = self.batch  # complain of wrong shapes at once

    def log_partition(self) -> float:
        """The log of the sum of exp(score) over all labellings; 0 for an empty sequence."""
        return float(self.batch.log_partition()[0])

    def marginals(self) -> ChainPotentials:
        """The probability of every part; transition holds expected counts over the sequence."""
        return self.batch.marginals()

    def best(self) -> Labels:
        """The best labels: [n]; ties go to the lowest label where they part last."""
        return self.batch.best()

    def kbest(self, k: int) -> list[tuple[Labels, float]]:
        """The k best labellings (fewer if there are fewer) and their log-probabilities, best first."""
        labels, scores = self.batch.kbest(k)
        found = scores[0] > -np.inf
        return list(zip(labels[found], (scores[0, found] - self.log_partition()).tolist(), strict=True))

    def sample(self, n: int, rng: np.random.Generator) -> Labels:
        """Labellings drawn from the exact distribution: [samples, n]."""
        return self.batch.sample(n, rng)

    def score(self, labels: ArrayLike) -> float:
        """The score of the given labels; less log Z, it is their log-probability."""
        return float(self.batch.score(labels)[0])

    def entropy(self) -> float:
        """The entropy of the labelling, in nats."""
        return float(self.batch.entropy()[0])

    def jvp(self, direction: ChainPotentials) -> ChainPotentials:
        """The derivative of the marginals when the potentials move along a direction."""
        return self.batch.jvp(direction)

    def path_probability(
        self,
        start: int,
        path: Sequence[int],
        not_before: Collection[int] = (),
        not_after: Collection[int] = (),
    ) -> float:
        """The probability that tokens from start on take these labels and their neighbours none forbidden."""
        labels = np.arange(self.batch.labels)
        before, after = (np.isin(labels, list(mask))[None] for mask in (not_before, not_after))
        return float(self.batch.path_probabilities([0], [start], [path], before, after)[0])
