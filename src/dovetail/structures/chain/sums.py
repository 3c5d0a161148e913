"""Forward-backward over a ragged batch of chains: log Z, expected counts and messages."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail.kernel import kernel
from dovetail.structures.chain.lanes import backward, count, count_edges, exponentiate, forward, load, states
from dovetail.structures.chain.parts import ChainPotentials, ChainWeights, Floats, Integers, Messages

LANES = 32
# The most numbers in one work array, unless one sentence alone needs more.
WORK = 1 << 21


@kernel
def forward_backward(
    unary: Floats,
    edge: Floats | None,
    weights: ChainWeights,
    offsets: Integers,
    sentences: Integers,
    order: int,
    log_z: Floats,
    expected: ChainPotentials,
    expected_edge: Floats | None,
    messages: Messages,
) -> None:
    """Log Z, expected counts and messages of some sentences, given from the longest to the shortest.

    unary: [N, L]; edge, expected_edge: [N, L * L] or None; sentences: indices into offsets [n + 1].
    log_z: [n], set, to NaN where a sentence needs log space; nothing else is then done for that sentence.
    expected.unary and expected_edge are set, and may be the arrays given; the rest of expected is added to.
    Without rows in expected.unary no count is made, without rows in messages they are not stored.
    """
    labels = unary.shape[1]
    # One row more than there are states: mix wants a spare.
    table = weights.departures.shape[0]
    longest = offsets[sentences[0] + 1] - offsets[sentences[0]]
    lanes = min(LANES, sentences.size, max(1, WORK // (table * (longest + 1))))
    # An odd number of steps keeps the rows of different states out of each other's cache lines.
    steps = longest | 1
    unary_weights = np.empty((labels, steps, lanes))
    unary_bits = unary_weights.view(np.int64)
    alpha = np.zeros((table, steps, lanes))
    gamma = np.zeros((table, steps, lanes))
    beta = np.zeros((table, 1, lanes))
    inverse = np.empty((steps, lanes))
    edge_weights: Any
    if edge is not None:
        edge_weights = np.empty((labels * labels, steps, lanes))
        edge_bits = edge_weights.view(np.int64)
    else:
        edge_weights = None
    power = np.empty(lanes, np.int64)
    first = np.empty(lanes, np.int64)
    lengths = np.empty(lanes, np.int64)
    tail = np.empty(lanes)
    lane_log_z = np.empty(lanes)
    exact = np.empty(lanes, np.bool_)
    rank = 0
    while rank < sentences.size:
        steps = offsets[sentences[rank] + 1] - offsets[sentences[rank]]
        if steps == 0:
            log_z[sentences[rank]] = 0.0
            rank += 1
            continue
        filled = 0
        for k in range(lanes):
            lengths[k] = 0
            lane_log_z[k] = 0.0
            exact[k] = weights.safe
            if filled == k and rank + k < sentences.size:
                n = sentences[rank + k]
                length = offsets[n + 1] - offsets[n]
                # Much shorter sentences wait for a group of their own.
                if 2 * length > steps:
                    first[k] = offsets[n]
                    lengths[k] = length
                    lane_log_z[k] = weights.once + weights.each * (length - 1)
                    filled += 1
        load(unary, first, lengths, steps, 0, unary_weights, lane_log_z, exact)
        exponentiate(unary_weights, steps, power, unary_bits)
        if edge is not None:
            load(edge, first, lengths, steps, 1, edge_weights, lane_log_z, exact)
            exponentiate(edge_weights, steps, power, edge_bits)
        forward(
            unary_weights,
            edge_weights,
            weights,
            lengths,
            steps,
            order,
            alpha,
            inverse,
            tail,
            lane_log_z,
            exact,
        )
        for k in range(filled):
            log_z[sentences[rank + k]] = lane_log_z[k] if exact[k] else np.nan
        rank += filled
        counting, storing = expected.unary.shape[0] > 0, messages.forward.shape[0] > 0
        if not counting and not storing:
            continue
        backward(
            unary_weights,
            edge_weights,
            weights,
            lengths,
            steps,
            order,
            alpha,
            inverse,
            tail,
            exact,
            beta,
            gamma,
        )
        if counting:
            if edge is None:
                count(alpha, gamma, weights.departures, steps, order, expected.transition)
            else:
                count_edges(alpha, gamma, edge_weights, weights.departures, steps, order, expected.transition)
        for k in range(filled):
            if not exact[k]:
                continue
            if counting:
                for t in range(lengths[k]):
                    for c in range(labels):
                        expected.unary[first[k] + t, c] = unary_weights[c, t, k]
                    if expected_edge is not None:
                        for e in range(labels * labels):
                            expected_edge[first[k] + t, e] = edge_weights[e, t, k] if t > 0 else 0.0
                for c in range(labels):
                    expected.start[c] += unary_weights[c, 0, k]
                    expected.end[c] += unary_weights[c, lengths[k] - 1, k]
            if storing:
                for t in range(lengths[k]):
                    row = first[k] + t - messages.base
                    low, high = states(order, labels, t)
                    for s in range(low, high):
                        messages.forward[row, s] = alpha[s, t, k]
                        messages.backward[row, s] = gamma[s, t, k]
