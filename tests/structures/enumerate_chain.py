"""The brute-force twin of a chain: the parts of a labelling."""

from __future__ import annotations

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
