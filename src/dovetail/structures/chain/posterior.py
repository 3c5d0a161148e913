"""Posterior probabilities of the parts of a chain, and what follows: counts, entropy, samples, paths, derivatives."""

from __future__ import annotations

import math

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.chain.parts import ChainPotentials, PathQueries, Posterior, layout, states
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.loops import draw, exp_less, most_tokens


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
    """Set ``out[s, c] = P(state s at token - 1, label c at token)`` in sentence n; totals[s] is the sum. out: [S, L];
    totals: [S]; rows of states that cannot be occupied at token - 1 are left alone."""
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
    """The entropy of the labellings of sentences low .. high: ``sum_t H(y[t] | state at t-1)``; out: [n], set."""
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


@kernel
def samples(posterior: Posterior, low: int, high: int, uniforms: Floats, out: Labels) -> None:
    """Labellings of sentences low .. high drawn token by token from the left; uniforms, out: [samples, N]."""
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


@kernel
def path_probabilities(posterior: Posterior, queries: PathQueries, low: int, high: int, out: Floats) -> None:
    """The probability of each of the queries low .. high; out: [queries], set. The probability mass of the path so far
    is kept by state, and moves on by ``P(next label | state)``."""
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


@kernel
def tangents(posterior: Posterior, low: int, high: int, direction: ChainPotentials, out: ChainPotentials) -> None:
    """The derivative of the expected counts of sentences low .. high along a direction, but for first-order chains
    whose messages are probabilities.

    With D the total of the direction over the parts of a labelling, the derivative of the probability of a part is its
    covariance with D: ``P(part) * (E[D | part] - E[D])``, and E[D | part] is the sum of what the past is expected to
    bring given the part, the part's own, and what the future is expected to bring.

    direction, out: shaped like the potentials; in out, unary and edge are set, the rest is added to.
    """
    table, labels = posterior.potentials.transition.shape
    order, has_edge = posterior.order, posterior.potentials.edge.shape[0] > 0
    first_state = layout(order, labels)[2]
    longest = most_tokens(posterior.offsets, low, high)
    probabilities = np.empty(labels)
    joint = np.empty((table, labels))
    totals = np.empty(table)
    past = np.empty((longest, table))  # E[D up to t | state at t]
    node = np.empty((longest, table))  # P(state at t)
    future = np.empty((2, table))  # E[D after t | state at t]
    for n in range(low, high):
        first, length = posterior.offsets[n], posterior.offsets[n + 1] - posterior.offsets[n]
        if length == 0 or (order == 1 and not posterior.logged[n]):
            continue  # first-order chains are quicker in tangents.first_order_tangents
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
