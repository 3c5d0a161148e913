"""Posterior probabilities of the parts of a chain, and what follows from them: counts, entropy, samples."""

from __future__ import annotations

import math

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.chain.lanes import layout, states
from dovetail.structures.chain.parts import ChainPotentials, Floats, Integers, Labels, Posterior


@inner
def exp_less(x: float, log_z: float) -> float:
    """``exp(x - log_z)``, and 0 where both are minus infinity."""
    return 0.0 if x == -np.inf else math.exp(x - log_z)


@inner
def first_labels(posterior: Posterior, n: int, out: Floats) -> None:
    """Set ``out[c] = P(the first label of sentence n is c)``; out: [L]."""
    potentials, backward = posterior.potentials, posterior.messages.backward
    first_state = layout(posterior.order, out.size)[2]
    row = posterior.offsets[n] - posterior.messages.base
    for c in range(out.size):
        future = backward[row, first_state + c]
        if posterior.logged[n]:
            out[c] = exp_less(potentials.start[c] + future, posterior.log_z[n])
        else:
            out[c] = posterior.weights.start[c] * future


@inner
def pairs(posterior: Posterior, n: int, token: int, out: Floats, totals: Floats) -> None:
    """Set ``out[s, c] = P(state s at token - 1, label c at token)`` in sentence n; totals[s] is the sum.

    out: [S, L]; totals: [S]; rows of states that cannot be occupied at token - 1 are left alone.
    """
    transition, edge = posterior.potentials.transition, posterior.potentials.edge
    departures, order = posterior.weights.departures, posterior.order
    forward, backward, base_token = posterior.messages
    labels = out.shape[1]
    row = token - base_token
    has_edge = edge.shape[0] > 0
    shift = -np.inf
    if has_edge:
        for b in range(labels):
            for c in range(labels):
                shift = max(shift, edge[token, b, c])
    low, high = states(order, labels, token - 1 - posterior.offsets[n])
    for s in range(low, high):
        base = 0 if order == 1 else s % labels * labels
        total = 0.0
        for c in range(labels):
            if posterior.logged[n]:
                value = forward[row - 1, s] + transition[s, c] + backward[row, base + c]
                if has_edge:
                    value += edge[token, s % labels, c]
                value = exp_less(value, posterior.log_z[n])
            else:
                value = forward[row - 1, s] * departures[s, c] * backward[row, base + c]
                if has_edge and shift > -np.inf:
                    value *= math.exp(edge[token, s % labels, c] - shift)
            out[s, c] = value
            total += value
        totals[s] = total


@kernel
def expectations(posterior: Posterior, sentences: Integers, expected: ChainPotentials) -> None:
    """The expected counts of some sentences: unary and edge are set, the rest is added to."""
    table, labels = posterior.potentials.transition.shape
    probabilities = np.empty(labels)
    joint = np.empty((table, labels))
    totals = np.empty(table)
    for n in sentences:
        first, last = posterior.offsets[n], posterior.offsets[n + 1]
        first_labels(posterior, n, probabilities)
        for c in range(labels):
            expected.unary[first, c] = probabilities[c]
            expected.start[c] += probabilities[c]
        if expected.edge.shape[0] > 0:
            expected.edge[first] = 0.0
        for token in range(first + 1, last):
            pairs(posterior, n, token, joint, totals)
            expected.unary[token] = 0.0
            if expected.edge.shape[0] > 0:
                expected.edge[token] = 0.0
            low, high = states(posterior.order, labels, token - 1 - first)
            for s in range(low, high):
                for c in range(labels):
                    expected.unary[token, c] += joint[s, c]
                    expected.transition[s, c] += joint[s, c]
                    if expected.edge.shape[0] > 0:
                        expected.edge[token, s % labels, c] += joint[s, c]
        for c in range(labels):
            expected.end[c] += expected.unary[last - 1, c]


@kernel
def entropies(posterior: Posterior, low: int, high: int, out: Floats) -> None:
    """The entropy of the labellings of sentences low .. high: ``sum_t H(y[t] | state at t-1)``.

    out: [n], set; 0 for a sentence with no labelling.
    """
    table, labels = posterior.potentials.transition.shape
    probabilities = np.empty(labels)
    joint = np.empty((table, labels))
    totals = np.empty(table)
    for n in range(low, high):
        first, last = posterior.offsets[n], posterior.offsets[n + 1]
        out[n] = 0.0
        if first == last:
            continue
        first_labels(posterior, n, probabilities)
        for p in probabilities:
            out[n] -= p * math.log(p) if p > 0.0 else 0.0
        for token in range(first + 1, last):
            pairs(posterior, n, token, joint, totals)
            first_s, last_s = states(posterior.order, labels, token - 1 - first)
            for s in range(first_s, last_s):
                if totals[s] > 0.0:
                    out[n] += totals[s] * math.log(totals[s])
                for c in range(labels):
                    if joint[s, c] > 0.0:
                        out[n] -= joint[s, c] * math.log(joint[s, c])


@inner
def draw(weights: Floats, row: int, uniform: float) -> int:
    """The column that a uniform number draws in proportion to a row of weights; weights: [rows, columns]."""
    level = 0.0
    for c in range(weights.shape[1]):
        level += weights[row, c]
    level *= uniform
    chosen = 0
    for c in range(weights.shape[1]):
        if weights[row, c] > 0.0:
            chosen = c
            level -= weights[row, c]
            if level < 0.0:
                break
    return chosen


@kernel
def samples(posterior: Posterior, low: int, high: int, uniforms: Floats, out: Labels) -> None:
    """Labellings of sentences low .. high drawn from their exact distribution, token by token from the left.

    uniforms: [samples, N] in [0, 1); out: [samples, N], set.
    """
    table, labels = posterior.potentials.transition.shape
    first_state = layout(posterior.order, labels)[2]
    joint = np.empty((table, labels))
    totals = np.empty(table)
    current = np.empty(out.shape[0], np.int64)
    for n in range(low, high):
        first, last = posterior.offsets[n], posterior.offsets[n + 1]
        if first == last:
            continue
        first_labels(posterior, n, joint[0])
        for i in range(out.shape[0]):
            out[i, first] = draw(joint, 0, uniforms[i, first])
            current[i] = first_state + out[i, first]
        for token in range(first + 1, last):
            pairs(posterior, n, token, joint, totals)
            for i in range(out.shape[0]):
                s = current[i]
                out[i, token] = draw(joint, s, uniforms[i, token])
                current[i] = out[i, token] + (0 if posterior.order == 1 else s % labels * labels)
