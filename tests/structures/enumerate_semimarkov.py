"""The brute-force twin of a semi-Markov sequence: every segmentation is written out, every answer sums over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.structures.semimarkov import SemiMarkovPotentials
from tests.structures.enumerate_chain import dot


def segmentations(tokens, lengths, start=0):
    """All ways to cut tokens into labelled segments, as tuples of (start, length, label)."""
    if start == tokens:
        yield ()
    for label, longest in enumerate(lengths):
        for length in range(1, min(longest, tokens - start) + 1):
            for rest in segmentations(tokens, lengths, start + length):
                yield ((start, length, label), *rest)


def parts(segmentation, potentials):
    """The counts of the parts of one segmentation, shaped like the potentials of its sentence."""
    counts = SemiMarkovPotentials(*(np.zeros_like(part) for part in potentials))
    for i, (start, length, label) in enumerate(segmentation):
        counts.segment[start, length - 1, label] += 1
        if i > 0 and counts.transition.size:
            counts.transition[segmentation[i - 1][2], label] += 1
    if segmentation:
        counts.start[segmentation[0][2]] += 1
        counts.end[segmentation[-1][2]] += 1
    return counts


@dataclass
class EnumeratedSemiMarkov:
    """All segmentations of one sentence with their scores."""

    potentials: SemiMarkovPotentials
    lengths: np.ndarray

    def __post_init__(self):
        tokens, longest, _ = self.potentials.segment.shape
        self.segmentations = list(segmentations(tokens, np.minimum(self.lengths, longest)))
        self.counts = [parts(segmentation, self.potentials) for segmentation in self.segmentations]
        self.scores = np.array([dot(counts, self.potentials) for counts in self.counts])

    def log_partition(self):
        return float(np.logaddexp.reduce(self.scores, initial=-np.inf))

    def probabilities(self):
        log_z = self.log_partition()
        return np.zeros(len(self.scores)) if log_z == -np.inf else np.exp(self.scores - log_z)

    def expectation(self, weights):
        """The sum of the counts of all segmentations, each with its weight."""
        total = SemiMarkovPotentials(*(np.zeros_like(part) for part in self.potentials))
        for weight, counts in zip(weights, self.counts, strict=True):
            for sum_, part in zip(total, counts, strict=True):
                sum_ += weight * part
        return total

    def marginals(self):
        return self.expectation(self.probabilities())

    def entropy(self):
        p = self.probabilities()
        return float(-(p[p > 0] * np.log(p[p > 0])).sum())

    def covariance(self, direction):
        """The covariance of every part's count with the total of the direction."""
        p = self.probabilities()
        totals = np.array([dot(counts, direction) for counts in self.counts])
        return self.expectation(p * (totals - p @ totals))
