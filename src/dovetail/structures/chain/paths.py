"""The probability that a stretch of a chain takes a given path: exact probabilities of entities."""

from __future__ import annotations

import numpy as np

from dovetail.kernel import kernel
from dovetail.structures.chain.lanes import layout, states
from dovetail.structures.chain.parts import Floats, PathQueries, Posterior
from dovetail.structures.chain.posterior import first_labels, pairs


@kernel
def path_probabilities(posterior: Posterior, queries: PathQueries, low: int, high: int, out: Floats) -> None:
    """The probability of each of the queries low .. high; out: [queries], set.

    The probability mass of the path so far is kept by state, and moves on by ``P(next label | state)``.
    """
    table, labels = posterior.potentials.transition.shape
    order = posterior.order
    probabilities = np.empty(labels)
    joint = np.empty((table, labels))
    totals = np.empty(table)
    mass = np.empty((2, table))
    for q in range(low, high):
        n, token = queries.sentence[q], queries.token[q]
        first, last = posterior.offsets[n], posterior.offsets[n + 1]
        begin, end = queries.offsets[q], queries.offsets[q + 1]
        label = queries.labels[begin]
        now = 0
        for s in range(table):
            mass[0, s] = 0.0
        if token == first:
            first_labels(posterior, n, probabilities)
            mass[0, layout(order, labels)[2] + label] = probabilities[label]
        else:
            pairs(posterior, n, token, joint, totals)
            low_s, high_s = states(order, labels, token - 1 - first)
            for s in range(low_s, high_s):
                if not queries.not_before[q, s % labels]:
                    mass[0, label + (0 if order == 1 else s % labels * labels)] += joint[s, label]
        for i in range(begin + 1, end + 1):
            token += 1
            if token == last:
                break
            pairs(posterior, n, token, joint, totals)
            for s in range(table):
                mass[1 - now, s] = 0.0
            low_s, high_s = states(order, labels, token - 1 - first)
            for s in range(low_s + label, high_s, labels):
                base = 0 if order == 1 else label * labels
                for c in range(labels):
                    on_path = c == queries.labels[i] if i < end else not queries.not_after[q, c]
                    if on_path and totals[s] > 0.0:
                        mass[1 - now, base + c] += mass[now, s] * joint[s, c] / totals[s]
            now = 1 - now
            if i < end:
                label = queries.labels[i]
        out[q] = 0.0
        for s in range(table):
            out[q] += mass[now, s]
