"""The brute-force twin of a chain: every labelling is written out, and every answer is a sum over them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from dovetail.structures.chain import ChainPotentials


def parts(labels, potentials, order):
    """The counts of the parts of one labelling, shaped like the potentials of its sentence."""
    count = potentials.unary.shape[1]
    counts = ChainPotentials(*(np.zeros_like(part) for part in potentials))
    for t, label in enumerate(labels):
        counts.unary[t, label] += 1
        if t == 0:
            continue
        before = labels[t - 1]
        if order == 1:
            state = before
        else:
            state = count * count + before if t == 1 else labels[t - 2] * count + before
        counts.transition[state, label] += 1
        if counts.edge.size:
            counts.edge[t, before, label] += 1
    if labels:
        counts.start[labels[0]] += 1
        counts.end[labels[-1]] += 1
    return counts


def dot(counts, potentials):
    """The sum of potentials over counted parts; what is not counted may be minus infinity."""
    return sum(
        float((count[count > 0] * part[count > 0]).sum()) for count, part in zip(counts, potentials, strict=True)
    )


@dataclass
class EnumeratedChain:
    """All labellings of one sentence with their scores."""

    potentials: ChainPotentials
    order: int

    def __post_init__(self):
        tokens, labels = self.potentials.unary.shape
        self.labellings = list(product(range(labels), repeat=tokens))
        self.counts = [parts(labelling, self.potentials, self.order) for labelling in self.labellings]
        self.scores = np.array([dot(counts, self.potentials) for counts in self.counts])

    def log_partition(self):
        return float(np.logaddexp.reduce(self.scores))

    def probabilities(self):
        log_z = self.log_partition()
        return np.zeros(len(self.scores)) if log_z == -np.inf else np.exp(self.scores - log_z)

    def expectation(self, weights):
        """The sum of the counts of all labellings, each with its weight."""
        return ChainPotentials(
            *(
                sum(weight * part for weight, part in zip(weights, column, strict=True))
                for column in zip(*self.counts, strict=True)
            )
        )

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

    def path_probability(self, start, path, not_before, not_after):
        end = start + len(path)
        total = 0.0
        for labelling, p in zip(self.labellings, self.probabilities(), strict=True):
            before_ok = start == 0 or not not_before[labelling[start - 1]]
            after_ok = end == len(labelling) or not not_after[labelling[end]]
            if labelling[start:end] == tuple(path) and before_ok and after_ok:
                total += p
        return total
