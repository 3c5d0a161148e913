"""Exact inference for a sequence cut into labelled segments, each scored as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dovetail.structures.chain.parts import Floats, Labels
from dovetail.structures.semimarkov.batch import SemiMarkovBatch
from dovetail.structures.semimarkov.parts import Segments, SemiMarkovPotentials

__all__ = ["Segments", "SemiMarkov", "SemiMarkovBatch", "SemiMarkovPotentials"]


@dataclass(frozen=True, eq=False)
class SemiMarkov:
    """One sequence of n tokens in segments of up to D tokens with L labels; minus infinity forbids a part.

    segment: [n, D, L], the log potential of the segment that starts at token t, has d + 1 tokens and label
    y; segments that would cross the end are not read. transition: [L, L], from a segment's label to the
    next's; none unless given, which makes labels independent. start, end: [L], zero unless given. lengths:
    [L], the most tokens of a segment of each label, D unless given.

    >>> words = SemiMarkov(segment=np.log([[[0.2], [0.9]], [[0.5], [0.1]], [[0.7], [1.0]]]))
    >>> words.best()
    Segments(start=array([0, 2]), length=array([2, 1], dtype=int32), label=array([0, 0], dtype=int32), \
offsets=array([0, 2]))
    >>> [(cut.length.tolist(), round(log_probability, 2)) for cut, log_probability in words.kbest(2)]
    [([2, 1], -0.13), ([1, 1, 1], -2.33)]
    """

    segment: Floats
    transition: Floats | None = None
    start: Floats | None = None
    end: Floats | None = None
    lengths: Labels | None = None

    @cached_property
    def batch(self) -> SemiMarkovBatch:
        """The same as a batch of one."""
        potentials = SemiMarkovPotentials.of(self.segment, self.transition, self.start, self.end)
        return SemiMarkovBatch(potentials, np.array([0, len(potentials.segment)]), self.lengths, threads=1)

    def __post_init__(self) -> None:
        _ = self.batch  # complain of wrong shapes at once

    def log_partition(self) -> float:
        """The log of the sum of exp(score) over all segmentations; 0 for an empty sequence."""
        return float(self.batch.log_partition()[0])

    def marginals(self) -> SemiMarkovPotentials:
        """The probability of every part; transition holds expected counts over the sequence."""
        return self.batch.marginals()

    def best(self) -> Segments:
        """The best segmentation; ties go to the lowest label, then the shortest segment, from the last on."""
        return self.batch.best()

    def kbest(self, k: int) -> list[tuple[Segments, float]]:
        """The k best segmentations (fewer if there are fewer) and their log-probabilities, best first."""
        found, scores = self.batch.kbest(k)
        log_probabilities = (scores[0, scores[0] > -np.inf] - self.log_partition()).tolist()
        return list(zip(found, log_probabilities, strict=False))

    def sample(self, n: int, rng: np.random.Generator) -> list[Segments]:
        """Segmentations drawn from the exact distribution."""
        return self.batch.sample(n, rng)

    def score(self, segments: Segments) -> float:
        """The score of the given segments; less log Z, it is their log-probability."""
        return float(self.batch.score(segments)[0])

    def entropy(self) -> float:
        """The entropy of the segmentation, in nats."""
        return float(self.batch.entropy()[0])

    def jvp(self, direction: SemiMarkovPotentials) -> SemiMarkovPotentials:
        """The derivative of the marginals when the potentials move along a direction."""
        return self.batch.jvp(direction)

    def restrict(self, allowed: ArrayLike) -> SemiMarkov:
        """The same where only the allowed segments may be used: [n, D, L] of booleans."""
        return SemiMarkov(*self.batch.restrict(allowed).potentials, lengths=self.lengths)
