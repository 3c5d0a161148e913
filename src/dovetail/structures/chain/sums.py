"""Forward-backward over a ragged batch of chains: log Z, expected counts and messages.

Probabilities are kept in lanes (:mod:`dovetail.structures.lanes`): ``alpha`` is normalised at every step. A lane that
is not exact says so in ``exact`` and is left to log space, at the end of this file: slow, and right however extreme the
potentials are. How states are numbered is told in :mod:`dovetail.structures.chain.parts`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dovetail.kernel import kernel
from dovetail.structures.chain.parts import ChainPotentials, ChainWeights, Messages, layout, predecessors, states
from dovetail.structures.contract import Booleans, Floats, Integers
from dovetail.structures.lanes import FLOOR, exponentiate, inlined, load, mix, mix_edges
from dovetail.structures.loops import log_add

LANES = 32
# The most numbers in one work array, unless one sentence alone needs more.
WORK = 1 << 21


@inlined
def forward(
    unary: Floats, edge: Floats | None, weights: ChainWeights, lengths: Integers, steps: int, order: int, alpha: Floats,
    inverse: Floats, tail: Floats, log_z: Floats, exact: Booleans,
) -> None:  # fmt: skip
    """Normalised forward probabilities, and the log Z of every lane.

    ``alpha[s, t]`` is the probability of state s given the tokens up to t, ``inverse[t]`` is one over the sum
    that normalised it, ``tail`` is one over the sum that the end weights leave.

    unary: [L, >= steps, lanes]; edge: [L * L, >= steps, lanes]; alpha: [S + 1, >= steps, lanes]; inverse:
    [>= steps, lanes]; lengths, tail, exact: [lanes]; log_z: [lanes], with what the weights leave out.
    """
    labels, _, lanes = unary.shape
    groups, stride, start = layout(order, labels)
    zero: Any = np.int64(0)  # a literal would compile mix a second time
    one: Any = np.int64(1)
    total = np.empty(lanes)
    smallest = np.empty(lanes)
    mass = np.empty(lanes)
    for k in range(lanes):
        mass[k] = 1.0
    for t in range(steps):
        for k in range(lanes):
            total[k] = 0.0
            smallest[k] = 1.0
        if t == 0:
            for c in range(labels):
                for k in range(lanes):
                    alpha[start + c, 0, k] = weights.start[c] * unary[c, 0, k]
                    total[k] += alpha[start + c, 0, k]
        else:
            first, last = predecessors(order, labels, t)
            for group in range(groups):
                into = group * labels
                rows = (into, one, zero, labels)
                terms = (group, stride, first, last)
                if edge is None:
                    mix(alpha, t, rows, weights.arrivals, alpha, t - 1, terms)
                else:
                    edge_steps = (zero, one, labels) if order == 1 else (into, one, zero)
                    mix_edges(alpha, t, rows, weights.arrivals, alpha, t - 1, terms, edge, edge_steps, t)
                for c in range(labels):
                    for k in range(lanes):
                        alpha[into + c, t, k] *= unary[c, t, k]
                        total[k] += alpha[into + c, t, k]
        for k in range(lanes):
            inverse[t, k] = 1.0 / total[k] if total[k] >= FLOOR else 0.0
        low, high = states(order, labels, t)
        for s in range(low, high):
            for k in range(lanes):
                value = alpha[s, t, k] * inverse[t, k]
                alpha[s, t, k] = value
                value = value if value > 0.0 else 1.0
                smallest[k] = value if value < smallest[k] else smallest[k]
        for k in range(lanes):
            if t >= lengths[k]:
                continue
            if total[k] < FLOOR or smallest[k] < FLOOR:
                exact[k] = False
            mass[k] *= total[k]
            if t + 1 == lengths[k]:
                leaving = 0.0
                for s in range(low, high):
                    leaving += alpha[s, t, k] * weights.end[s % labels]
                tail[k] = 1.0 / leaving if leaving > 0.0 else 0.0
                exact[k] &= leaving > 0.0
                log_z[k] += math.log(mass[k] * leaving)
            elif mass[k] < FLOOR or mass[k] > 1.0 / FLOOR:
                log_z[k] += math.log(mass[k])
                mass[k] = 1.0


@inlined
def backward(
    unary: Floats, edge: Floats | None, weights: ChainWeights, lengths: Integers, steps: int, order: int, alpha: Floats,
    inverse: Floats, tail: Floats, exact: Booleans, beta: Floats, gamma: Floats,
) -> None:  # fmt: skip
    """Backward messages, and the node marginals in place of the unary weights.

    ``gamma[s, t] = unary[t] * beta[s, t] * inverse[t]``, so that ``alpha[s, t-1] * weight * gamma[s', t]`` is
    the probability of the states s, s' at t - 1, t. It is zero outside a sentence and in lanes not exact.

    Shapes as in :func:`forward`; beta: [S + 1, 1, lanes] scratch; gamma: [S + 1, steps, lanes].
    """
    labels, _, lanes = unary.shape
    groups, stride, _ = layout(order, labels)
    zero: Any = np.int64(0)
    one: Any = np.int64(1)
    for t in range(steps - 1, -1, -1):
        low, high = states(order, labels, t)
        if t == steps - 1:
            for s in range(low, high):
                for k in range(lanes):
                    beta[s, 0, k] = 0.0
        else:
            first, last = predecessors(order, labels, t + 1)
            for group in range(groups):
                into = group * labels
                rows = (group, stride, first, last)
                terms = (into, one, zero, labels)
                if edge is None:
                    mix(beta, zero, rows, weights.departures, gamma, t + 1, terms)
                else:
                    edge_steps = (zero, labels, one) if order == 1 else (into, zero, one)
                    mix_edges(beta, zero, rows, weights.departures, gamma, t + 1, terms, edge, edge_steps, t + 1)
        for k in range(lanes):
            if t + 1 == lengths[k] and exact[k]:
                for s in range(low, high):
                    beta[s, 0, k] = weights.end[s % labels] * tail[k]
        for s in range(low, high):
            c = s % labels
            for k in range(lanes):
                # The future of a state that cannot be reached is of no account, and could overflow.
                future = beta[s, 0, k] if alpha[s, t, k] > 0.0 else 0.0
                gamma[s, t, k] = future * unary[c, t, k] * inverse[t, k]
                beta[s, 0, k] = future * alpha[s, t, k]
        for c in range(labels):
            for k in range(lanes):
                unary[c, t, k] = beta[low + c, 0, k]
        for s in range(low + labels, high):
            for k in range(lanes):
                unary[s % labels, t, k] += beta[s, 0, k]


@inlined
def count(alpha: Floats, gamma: Floats, departures: Floats, steps: int, order: int, transition: Floats) -> None:
    """Add to transition [S, L], of all lanes: ``sum_t alpha[s, t-1] * departures[s, c] * gamma[s', t]``."""
    _, rows, lanes = alpha.shape
    labels = transition.shape[1]
    for s in range(transition.shape[0]):
        base = 0 if order == 1 else s % labels * labels
        # In a chain of order 2 the start states are left once, all others from the second token on.
        first, last = 0, steps - 1
        if order == 2:
            first, last = (0, min(1, steps - 1)) if s >= labels * labels else (1, max(1, steps - 1))
        past = alpha[s].reshape(rows * lanes)[first * lanes : last * lanes]
        for c in range(labels):
            future = gamma[base + c].reshape(rows * lanes)[(first + 1) * lanes : (last + 1) * lanes]
            total = 0.0
            for i in range(past.size):
                total += past[i] * future[i]
            transition[s, c] += departures[s, c] * total


@inlined
def count_edges(
    alpha: Floats, gamma: Floats, edge: Floats, departures: Floats, steps: int, order: int, transition: Floats
) -> None:
    """As :func:`count` where positions have edge weights, which are replaced by the edge marginals."""
    lanes = alpha.shape[2]
    labels = transition.shape[1]
    joint = np.empty(lanes)
    for t in range(1, steps):
        first, last = predecessors(order, labels, t)
        for b in range(labels):
            base = 0 if order == 1 else b * labels
            for c in range(labels):
                for k in range(lanes):
                    joint[k] = 0.0
                # The states with label b.
                for s in range(b, b + 1) if order == 1 else range(b + first * labels, last * labels, labels):
                    total = 0.0
                    for k in range(lanes):
                        value = alpha[s, t - 1, k] * edge[b * labels + c, t, k] * gamma[base + c, t, k]
                        value *= departures[s, c]
                        joint[k] += value
                        total += value
                    transition[s, c] += total
                for k in range(lanes):
                    edge[b * labels + c, t, k] = joint[k]


@kernel
def forward_backward(
    unary: Floats, edge: Floats | None, weights: ChainWeights, offsets: Integers, sentences: Integers, order: int,
    log_z: Floats, expected: ChainPotentials, expected_edge: Floats | None, messages: Messages,
) -> None:  # fmt: skip
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
        forward(unary_weights, edge_weights, weights, lengths, steps, order, alpha, inverse, tail, lane_log_z, exact)
        for k in range(filled):
            log_z[sentences[rank + k]] = lane_log_z[k] if exact[k] else np.nan
        rank += filled
        counting, storing = expected.unary.shape[0] > 0, messages.forward.shape[0] > 0
        if not counting and not storing:
            continue
        backward(unary_weights, edge_weights, weights, lengths, steps, order, alpha, inverse, tail, exact, beta, gamma)
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


@kernel
def log_messages(
    potentials: ChainPotentials, offsets: Integers, sentences: Integers, order: int, log_z: Floats, messages: Messages
) -> None:
    """Log Z [n] and the logarithms of the messages of some sentences, set."""
    unary, transition, start, end, edge = potentials
    past, future, base_token = messages
    labels = unary.shape[1]
    groups, _, first_state = layout(order, labels)
    for n in sentences:
        first, last = offsets[n], offsets[n + 1]
        top = first - base_token
        for row in range(top, top + last - first):
            for s in range(past.shape[1]):
                past[row, s] = -np.inf
                future[row, s] = -np.inf
        for c in range(labels):
            past[top, first_state + c] = start[c] + unary[first, c]
        for token in range(first + 1, last):
            row = token - base_token
            low, high = states(order, labels, token - 1 - first)
            for s in range(low, high):
                base = 0 if order == 1 else s % labels * labels
                for c in range(labels):
                    step = past[row - 1, s] + transition[s, c]
                    if edge.shape[0] > 0:
                        step += edge[token, s % labels, c]
                    past[row, base + c] = log_add(past[row, base + c], step)
            for s in range(groups * labels):
                past[row, s] += unary[token, s % labels]
        log_z[n] = -np.inf
        low, high = states(order, labels, last - 1 - first)
        for s in range(low, high):
            row = last - 1 - base_token
            log_z[n] = log_add(log_z[n], past[row, s] + end[s % labels])
            future[row, s] = end[s % labels] + unary[last - 1, s % labels]
        for token in range(last - 2, first - 1, -1):
            row = token - base_token
            low, high = states(order, labels, token - first)
            for s in range(low, high):
                base = 0 if order == 1 else s % labels * labels
                for c in range(labels):
                    step = transition[s, c] + future[row + 1, base + c]
                    if edge.shape[0] > 0:
                        step += edge[token + 1, s % labels, c]
                    future[row, s] = log_add(future[row, s], step)
                future[row, s] += unary[token, s % labels]
