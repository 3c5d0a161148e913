"""Derivatives of the marginals of first-order chains along a direction, from messages that are probabilities.

With D the total of the direction over the parts of a labelling, the derivative of the probability of a part is its
covariance with D: ``P(part) * (E[D | part] - E[D])``. What the past is expected to bring given a label, and what the
future is, are sums over the label before or after: a vector times a matrix each, as forward and backward messages are.
Sentences that need log space, and chains of order 2, are left to ``posterior.tangents``.
"""

from __future__ import annotations

import math

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.chain.parts import ChainPotentials, Posterior
from dovetail.structures.contract import Floats
from dovetail.structures.loops import most_tokens


@inner
def step_weights(posterior: Posterior, token: int, out: Floats) -> None:
    """Set ``out[b, c]`` to the weight of the labels b, c at token - 1, token: [L, L]; without edges it is the same for
    all tokens."""
    departures, edge = posterior.weights.departures, posterior.potentials.edge
    labels = out.shape[1]
    largest = -np.inf
    for b in range(labels):
        for c in range(labels):
            largest = max(largest, edge[token, b, c])
    for b in range(labels):
        for c in range(labels):
            out[b, c] = departures[b, c] * math.exp(edge[token, b, c] - largest) if largest > -np.inf else 0.0


@kernel
def first_order_tangents(
    posterior: Posterior, node: Floats, low: int, high: int, direction: ChainPotentials, out: ChainPotentials
) -> None:
    """The derivative of the expected counts of sentences low .. high along a direction, but for those in log space.

    node: the marginals of labels, [N, L]. direction, out: shaped like the potentials; in out, unary and edge are set,
    the rest is added to.
    """
    forward, backward, base = posterior.messages
    labels = posterior.potentials.start.size
    has_edge = posterior.potentials.edge.shape[0] > 0
    turned = has_edge  # whether the direction has anything to say of pairs
    for b in range(labels):
        for c in range(labels):
            turned |= direction.transition[b, c] != 0.0
    longest = most_tokens(posterior.offsets, low, high)
    past = np.empty((longest, labels))  # E[D up to t | label at t], later less E[D]
    future = np.empty(labels)  # E[D after t | label at t]
    ahead = np.empty(labels)  # backward message, times what D is expected to be from t on
    behind = np.empty(labels)  # past, times the weight of what leads to a label
    pairs = np.zeros((labels, labels))
    weight = posterior.weights.departures[:labels].copy()
    for n in range(low, high):
        first, length = posterior.offsets[n], posterior.offsets[n + 1] - posterior.offsets[n]
        if length == 0 or posterior.logged[n]:
            continue
        row = first - base
        for c in range(labels):
            past[0, c] = direction.start[c] + direction.unary[first, c]
        for t in range(1, length):
            if has_edge:
                step_weights(posterior, first + t, weight)
            for c in range(labels):
                behind[c] = 0.0
            for b in range(labels):
                alpha = forward[row + t - 1, b]
                brought = alpha * past[t - 1, b]
                for c in range(labels):
                    behind[c] += weight[b, c] * brought
                if turned:
                    for c in range(labels):
                        turn = direction.transition[b, c]
                        if has_edge:
                            turn += direction.edge[first + t, b, c]
                        behind[c] += weight[b, c] * alpha * turn
            for c in range(labels):
                probability = node[first + t, c]  # the sum of weight * alpha, times the backward message
                brought = behind[c] * backward[row + t, c] / probability if probability > 0.0 else 0.0
                past[t, c] = brought + direction.unary[first + t, c]
        mean = 0.0
        for c in range(labels):
            future[c] = direction.end[c]
            mean += node[first + length - 1, c] * (past[length - 1, c] + direction.end[c])
        for t in range(length):
            for c in range(labels):
                past[t, c] -= mean
        for t in range(length - 1, -1, -1):
            token = first + t
            for c in range(labels):
                out.unary[token, c] = node[token, c] * (past[t, c] + future[c])
            if t == 0:
                break
            if has_edge:
                step_weights(posterior, token, weight)
            for c in range(labels):
                ahead[c] = backward[row + t, c] * (future[c] + direction.unary[token, c])
            for b in range(labels):
                alpha = forward[row + t - 1, b]
                brought = alpha * past[t - 1, b]
                later = 0.0
                for c in range(labels):
                    later += weight[b, c] * ahead[c]
                if not turned:
                    for c in range(labels):
                        pairs[b, c] += brought * backward[row + t, c] + alpha * ahead[c]
                else:
                    for c in range(labels):
                        turn = direction.transition[b, c]
                        if has_edge:
                            turn += direction.edge[token, b, c]
                        turn *= backward[row + t, c]
                        later += weight[b, c] * turn
                        change = weight[b, c] * (brought * backward[row + t, c] + alpha * (ahead[c] + turn))
                        out.transition[b, c] += change
                        if has_edge:
                            out.edge[token, b, c] = change
                probability = node[token - 1, b]
                future[b] = later * alpha / probability if probability > 0.0 else 0.0
        if has_edge:
            out.edge[first] = 0.0
        for c in range(labels):
            out.start[c] += out.unary[first, c]
            out.end[c] += out.unary[first + length - 1, c]
    for b in range(labels):
        for c in range(labels):
            out.transition[b, c] += weight[b, c] * pairs[b, c] if not turned else 0.0
