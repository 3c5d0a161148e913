"""How the marginals of a chain move with its potentials: covariances with a direction, in linear time."""

from __future__ import annotations

import numpy as np

from dovetail.kernel import kernel
from dovetail.structures.chain.lanes import layout, states
from dovetail.structures.chain.parts import ChainPotentials, Posterior
from dovetail.structures.chain.posterior import first_labels, pairs


@kernel
def tangents(posterior: Posterior, low: int, high: int, direction: ChainPotentials, out: ChainPotentials) -> None:
    """The derivative of the expected counts of sentences low .. high along a direction.

    With D the total of the direction over the parts of a labelling, the derivative of the probability of
    a part is its covariance with D: ``P(part) * (E[D | part] - E[D])``, and E[D | part] is the sum of
    what the past is expected to bring given the part, the part's own, and what the future is expected to
    bring.

    direction, out: shaped like the potentials; in out, unary and edge are set, the rest is added to.
    """
    table, labels = posterior.potentials.transition.shape
    order, has_edge = posterior.order, posterior.potentials.edge.shape[0] > 0
    first_state = layout(order, labels)[2]
    longest = 0
    for n in range(low, high):
        longest = max(longest, posterior.offsets[n + 1] - posterior.offsets[n])
    probabilities = np.empty(labels)
    joint = np.empty((table, labels))
    totals = np.empty(table)
    past = np.empty((longest, table))  # E[D up to t | state at t]
    node = np.empty((longest, table))  # P(state at t)
    future = np.empty((2, table))  # E[D after t | state at t]
    for n in range(low, high):
        first, length = posterior.offsets[n], posterior.offsets[n + 1] - posterior.offsets[n]
        if length == 0:
            continue
        past[:length] = 0.0
        node[:length] = 0.0
        first_labels(posterior, n, probabilities)
        for c in range(labels):
            past[0, first_state + c] = direction.start[c] + direction.unary[first, c]
            node[0, first_state + c] = probabilities[c]
        for t in range(1, length):
            token = first + t
            pairs(posterior, n, token, joint, totals)
            low_s, high_s = states(order, labels, t - 1)
            for s in range(low_s, high_s):
                base = 0 if order == 1 else s % labels * labels
                for c in range(labels):
                    step = past[t - 1, s] + direction.transition[s, c]
                    if has_edge:
                        step += direction.edge[token, s % labels, c]
                    past[t, base + c] += joint[s, c] * step
                    node[t, base + c] += joint[s, c]
            low_s, high_s = states(order, labels, t)
            for s in range(low_s, high_s):
                if node[t, s] > 0.0:
                    past[t, s] = past[t, s] / node[t, s] + direction.unary[token, s % labels]
        low_s, high_s = states(order, labels, length - 1)
        mean = 0.0
        for s in range(low_s, high_s):
            future[(length - 1) % 2, s] = direction.end[s % labels]
            mean += node[length - 1, s] * (past[length - 1, s] + direction.end[s % labels])
        for t in range(length - 1, -1, -1):
            token = first + t
            out.unary[token] = 0.0
            if has_edge:
                out.edge[token] = 0.0
            low_s, high_s = states(order, labels, t)
            for s in range(low_s, high_s):
                out.unary[token, s % labels] += node[t, s] * (past[t, s] + future[t % 2, s] - mean)
            if t == 0:
                break
            pairs(posterior, n, token, joint, totals)
            low_s, high_s = states(order, labels, t - 1)
            for s in range(low_s, high_s):
                base = 0 if order == 1 else s % labels * labels
                later = 0.0
                for c in range(labels):
                    step = direction.transition[s, c] + direction.unary[token, c] + future[t % 2, base + c]
                    if has_edge:
                        step += direction.edge[token, s % labels, c]
                    later += joint[s, c] * step
                    change = joint[s, c] * (past[t - 1, s] + step - mean)
                    out.transition[s, c] += change
                    if has_edge:
                        out.edge[token, s % labels, c] += change
                future[(t - 1) % 2, s] = later / totals[s] if totals[s] > 0.0 else 0.0
        for c in range(labels):
            out.start[c] += out.unary[first, c]
            out.end[c] += out.unary[first + length - 1, c]
