"""Scaled sums over chains, many sentences abreast: the inner loops that make training fast.

Sentences of like length lie side by side in *lanes*, the last axis of every work array, so that each
inner loop is a plain elementwise loop over lanes, whatever the number of labels. Probabilities are kept,
not logarithms: ``alpha`` is normalised at every step. This is exact as long as no factor is smaller than
``FLOOR``, because then no product of four factors underflows and no path is lost; a lane where that fails
says so in ``exact`` and is left to :mod:`dovetail.structures.chain.log`.

States, in both orders: ``label(s) = s % L``; from state ``s`` label ``c`` leads to state ``base(s) + c``.
Order 1: ``s = y[t]``, ``base = 0``. Order 2: ``s = y[t-1] * L + y[t]``, ``base = label(s) * L``, and the
first position enters the states ``L * L + y[0]``. So the states entered come in ``groups`` of L that
share their predecessors, which lie ``stride`` apart.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias, cast

import numpy as np
from numba import njit

from dovetail.kernel import Function, inner
from dovetail.structures.chain.parts import LOG_FLOOR, Booleans, ChainWeights, Floats, Integers

FLOOR = math.exp(LOG_FLOOR)

Run: TypeAlias = tuple[int, int, int, int]
"""Base, stride, first, last: the rows ``base + i * stride`` for i from first to last."""


def inlined(function: Function) -> Function:
    """Compile a function only as a part of the kernel that calls it, which takes less time than as both."""
    return cast(Function, njit(inline="always")(function))


@inner
def layout(order: int, labels: int) -> tuple[int, int, int]:
    """How states are numbered: groups of states entered, stride of their predecessors, first start state."""
    if order == 1:
        return 1, 1, 0
    return labels, labels, labels * labels


@inner
def predecessors(order: int, labels: int, t: int) -> tuple[int, int]:
    """The predecessors of a group that can be occupied before t: ``group + i * stride`` for i in a range."""
    if order == 1:
        return 0, labels
    return (labels, labels + 1) if t == 1 else (0, labels)


@inner
def states(order: int, labels: int, t: int) -> tuple[int, int]:
    """The range of states that can be occupied at position t."""
    if order == 1:
        return 0, labels
    return (labels * labels, labels * labels + labels) if t == 0 else (0, labels * labels)


@inlined
def load(
    rows: Floats,
    first: Integers,
    lengths: Integers,
    steps: int,
    lead: int,
    out: Floats,
    shift: Floats,
    exact: Booleans,
) -> None:
    """Bring rows of log potentials into lanes, less the largest of each row, which is added to ``shift``.

    rows: [N, C]; first, lengths, shift, exact: [lanes]; lead: how many first tokens of a sentence to pass
    over; out: [C, >= steps, lanes], zero where a lane has no token.
    """
    columns, _, lanes = out.shape
    for k in range(lanes):
        for t in range(steps):
            if t < lead or t >= lengths[k]:
                for c in range(columns):
                    out[c, t, k] = 0.0
                continue
            token = first[k] + t
            largest = -np.inf
            for c in range(columns):
                largest = rows[token, c] if rows[token, c] > largest else largest
            if largest == -np.inf:
                largest = 0.0
            shift[k] += largest
            smallest = 0.0
            for c in range(columns):
                value = rows[token, c] - largest
                out[c, t, k] = value
                smallest = value if value < smallest and value != -np.inf else smallest
            exact[k] &= smallest >= LOG_FLOOR


@inlined
def exponentiate(x: Floats, steps: int, power: Integers, bits: Integers) -> None:
    """Replace x by exp(x), for x <= 0; below LOG_FLOOR the result is 0.

    The standard ``exp`` is a call per number; this loop is compiled to vector instructions: with
    ``x = k log 2 + r``, ``exp(x) = 2**k exp(r)``, a Taylor polynomial and an addition to the exponent bits.

    x: [C, >= steps, lanes]; bits: the same memory as integers; power: [lanes] scratch.
    """
    columns, _, lanes = x.shape
    for c in range(columns):
        for t in range(steps):
            for i in range(lanes):
                inside = x[c, t, i] >= LOG_FLOOR
                value = x[c, t, i] if inside else 0.0
                k = np.int64(value * 1.4426950408889634 - 0.5)
                r = (value - k * 0.693145751953125) - k * 1.42860682030941723212e-6
                p = 1.0 / 479001600
                p = p * r + 1.0 / 39916800
                p = p * r + 1.0 / 3628800
                p = p * r + 1.0 / 362880
                p = p * r + 1.0 / 40320
                p = p * r + 1.0 / 5040
                p = p * r + 1.0 / 720
                p = p * r + 1.0 / 120
                p = p * r + 1.0 / 24
                p = p * r + 1.0 / 6
                p = p * r + 0.5
                p = p * r + 1.0
                p = p * r + 1.0
                x[c, t, i] = p if inside else 0.0
                power[i] = k << 52
            for i in range(lanes):
                bits[c, t, i] += power[i]


@inner
def mix(out: Floats, t: int, rows: Run, weights: Floats, source: Floats, at: int, terms: Run) -> None:
    """Set ``out[r, t] = sum_i weights[r, i] * source[term i, at]`` in every lane, for a run of rows r.

    Three rows by three terms at a time, so that each number loaded is used three times. What is left over
    of a tile has weight 0, and its row is the last of ``out``, which is spare.

    out, source: [rows, steps, lanes]; weights: [rows, terms].
    """
    lanes = out.shape[2]
    spare = out.shape[0] - 1
    row_base, row_stride, row_first, row_last = rows
    base, stride, first, last = terms
    for j in range(row_first, row_last, 3):
        r0 = row_base + j * row_stride
        r1 = r0 + row_stride if j + 1 < row_last else spare
        r2 = r0 + 2 * row_stride if j + 2 < row_last else spare
        for k in range(lanes):
            out[r0, t, k] = 0.0
            out[r1, t, k] = 0.0
            out[r2, t, k] = 0.0
        for i in range(first, last, 3):
            i1, on1 = (i + 1, 1.0) if i + 1 < last else (i, 0.0)
            i2, on2 = (i + 2, 1.0) if i + 2 < last else (i, 0.0)
            s0 = base + i * stride
            s1 = base + i1 * stride
            s2 = base + i2 * stride
            w00, w01, w02 = weights[r0, i], on1 * weights[r0, i1], on2 * weights[r0, i2]
            w10, w11, w12 = weights[r1, i], on1 * weights[r1, i1], on2 * weights[r1, i2]
            w20, w21, w22 = weights[r2, i], on1 * weights[r2, i1], on2 * weights[r2, i2]
            for k in range(lanes):
                x0, x1, x2 = source[s0, at, k], source[s1, at, k], source[s2, at, k]
                out[r0, t, k] += w00 * x0 + w01 * x1 + w02 * x2
                out[r1, t, k] += w10 * x0 + w11 * x1 + w12 * x2
                out[r2, t, k] += w20 * x0 + w21 * x1 + w22 * x2


@inner
def mix_edges(
    out: Floats,
    t: int,
    rows: Run,
    weights: Floats,
    source: Floats,
    at: int,
    terms: Run,
    edge: Floats,
    edge_steps: tuple[int, int, int],
    position: int,
) -> None:
    """As :func:`mix`, each term also times ``edge[edge_base + j * row_step + i * term_step, position]``."""
    lanes = out.shape[2]
    row_base, row_stride, row_first, row_last = rows
    base, stride, first, last = terms
    edge_base, row_step, term_step = edge_steps
    for j in range(row_first, row_last):
        r = row_base + j * row_stride
        for k in range(lanes):
            out[r, t, k] = 0.0
        for i in range(first, last):
            s = base + i * stride
            e = edge_base + j * row_step + i * term_step
            weight = weights[r, i]
            for k in range(lanes):
                out[r, t, k] += weight * edge[e, position, k] * source[s, at, k]


@inlined
def forward(
    unary: Floats,
    edge: Floats | None,
    weights: ChainWeights,
    lengths: Integers,
    steps: int,
    order: int,
    alpha: Floats,
    inverse: Floats,
    tail: Floats,
    log_z: Floats,
    exact: Booleans,
) -> None:
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
    unary: Floats,
    edge: Floats | None,
    weights: ChainWeights,
    lengths: Integers,
    steps: int,
    order: int,
    alpha: Floats,
    inverse: Floats,
    tail: Floats,
    exact: Booleans,
    beta: Floats,
    gamma: Floats,
) -> None:
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
    """Add the expected transitions of all lanes: ``sum_t alpha[s, t-1] * departures[s, c] * gamma[s', t]``.

    alpha, gamma: [S + 1, >= steps, lanes]; transition: [S, L], added to.
    """
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
