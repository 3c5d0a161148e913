"""Many sentences abreast: the inner loops that make sums fast, whatever the structure.

Sentences of like length lie side by side in *lanes*, the last axis of every work array, so that each inner loop is a
plain elementwise loop over lanes. Probabilities are kept, not logarithms. This is exact as long as no factor is smaller
than ``FLOOR``, because then no product of four factors underflows and no path is lost; a lane where that fails is left
to log space.
"""

from __future__ import annotations

import math
from typing import TypeAlias, cast

import numpy as np
from numba import njit

from dovetail.kernel import Function, inner
from dovetail.structures.contract import Booleans, Floats, Integers

# Weights below exp(LOG_FLOOR) are left to log space: a product of four others cannot underflow.
LOG_FLOOR = -160.0
FLOOR = math.exp(LOG_FLOOR)

Run: TypeAlias = tuple[int, int, int, int]
"""Base, stride, first, last: the rows ``base + i * stride`` for i from first to last."""


def inlined(function: Function) -> Function:
    """Compile a function only as a part of the kernel that calls it, which takes less time than as both."""
    return cast(Function, njit(inline="always")(function))


def as_weights(table: Floats) -> tuple[Floats, float, bool]:
    """Potentials as weights ``exp(potential - shift)``; the shift; whether none is so small that products underflow."""
    largest = float(table.max(initial=-np.inf))
    shift = largest if np.isfinite(largest) else 0.0
    shifted = table - shift
    return np.exp(shifted), shift, not ((shifted < LOG_FLOOR) & (shifted > -np.inf)).any()


@inlined
def load(
    rows: Floats, first: Integers, lengths: Integers, steps: int, lead: int, out: Floats, shift: Floats, exact: Booleans
) -> None:
    """Bring rows of log potentials into lanes, less the largest of each row, which is added to ``shift``. rows: [N, C];
    first, lengths, shift, exact: [lanes]; lead: how many first tokens of a sentence to pass over; out: [C, >= steps,
    lanes], zero where a lane has no token."""
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

    The standard ``exp`` is a call per number, and numba's vectors of it need a library of Intel's that it does not
    bring and other processors cannot use. This loop is compiled to vector instructions anywhere: with
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
    out: Floats, t: int, rows: Run, weights: Floats, source: Floats, at: int, terms: Run, edge: Floats,
    edge_steps: tuple[int, int, int], position: int,
) -> None:  # fmt: skip
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
