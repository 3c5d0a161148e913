"""Sums over binary bracketings: the labels of a span first, then the splits of spans.

``weight[c]`` is the sum over the labels of a span; ``inside[i, j] = weight[i, j] * sum over k of inside[i, k] *
inside[k, j]``, and ``inside[i, i + 1] = weight[i, i + 1]``. So labels cost their number times the square of the length,
and brackets its cube, whatever the number of labels.

The true value is ``2 ** scale * stored``, with a whole scale for every span and stored values between a half and one:
nothing overflows, and what underflows beside a larger term of the same sum is nothing beside it. On the way down, the
probability of a span is shared among its splits; no number there exceeds 1.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dovetail.kernel import steady, steady_inner
from dovetail.structures.contract import Floats, Integers
from dovetail.structures.grammar import cell
from dovetail.structures.loops import most_tokens
from dovetail.structures.nested.sums import LOG_TWO, NEVER, POWERS, scale_of


class Chart(NamedTuple):
    """Sums of a sentence of up to n words; the mirrors have begin and end the other way round."""

    inside: Floats
    """``[n, n + 1]``."""
    mirror: Floats
    """``[n + 1, n]``."""
    scale: Integers
    """``[n, n + 1]``."""
    scale_mirror: Integers
    """``[n + 1, n]``."""
    terms: Floats
    """``[n]``: the shares of the splits of one span."""
    weight: Floats
    """``[cells]``: the sums over labels."""
    weight_scale: Integers
    """``[cells]``."""


@steady_inner
def make_chart(offsets: Integers, low: int, high: int) -> Chart:
    """Room for the sentences low .. high, one at a time."""
    n = most_tokens(offsets, low, high)
    cells = n * (n + 1) // 2
    return Chart(
        np.zeros((n, n + 1)), np.zeros((n + 1, n)), np.zeros((n, n + 1), np.int64), np.zeros((n + 1, n), np.int64),
        np.zeros(n + 1), np.zeros(cells), np.zeros(cells, np.int64),
    )  # fmt: skip


@steady
def weigh(table: Floats, chart: Chart, shares: Floats) -> None:
    """Sum up the labels of every span; table: [cells, L] of potentials.

    shares: set to the share of each label in its span, and may be the table; with no rows none are made.
    """
    for c in range(table.shape[0]):
        top = -np.inf
        for x in range(table.shape[1]):
            top = max(top, table[c, x])
        if top == -np.inf:
            chart.weight[c], chart.weight_scale[c] = 0.0, NEVER
            if shares.shape[0] > 0:
                shares[c] = 0.0
            continue
        scale, total = scale_of(top), 0.0
        less = scale * LOG_TWO
        if shares.shape[0] == 0:
            for x in range(table.shape[1]):
                total += math.exp(table[c, x] - less)
        else:
            for x in range(table.shape[1]):
                shares[c, x] = math.exp(table[c, x] - less)
                total += shares[c, x]
            for x in range(table.shape[1]):
                shares[c, x] /= total
        chart.weight[c] = total
        chart.weight_scale[c] = scale


@steady_inner
def largest_scale(i: int, j: int, chart: Chart) -> int:
    """The scale of the largest of the splits of a span, but for a factor of 4."""
    base = 2 * NEVER
    for k in range(i + 1, j):
        base = max(base, chart.scale[i, k] + chart.scale_mirror[j, k])
    return base


@steady
def fill(n: int, chart: Chart) -> float:
    """Sum up the bracketings of every span of n words from the weights of spans; log Z."""
    if n == 0:
        return 0.0
    inside, mirror, scales, scale_mirror = chart.inside, chart.mirror, chart.scale, chart.scale_mirror
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j, c = i + length, cell(i, i + length, n)
            total, base = 1.0, 0
            if length > 1:
                total, base = 0.0, largest_scale(i, j, chart)
                for k in range(i + 1, j):
                    less = min(base - scales[i, k] - scale_mirror[j, k], 1079)
                    total += inside[i, k] * mirror[j, k] * POWERS[less]
            value, exponent = math.frexp(total * chart.weight[c])
            inside[i, j] = mirror[j, i] = value
            scales[i, j] = scale_mirror[j, i] = base + chart.weight_scale[c] + exponent if value > 0.0 else NEVER
    return math.log(inside[0, n]) + scales[0, n] * LOG_TWO if inside[0, n] > 0.0 else -np.inf


@steady_inner
def split_shares(i: int, j: int, chart: Chart) -> int:
    """Set ``chart.terms`` to the share of each split of a span that has bracketings; how many there are."""
    base, total = largest_scale(i, j, chart), 0.0
    for k in range(i + 1, j):
        less = min(base - chart.scale[i, k] - chart.scale_mirror[j, k], 1079)
        term = chart.inside[i, k] * chart.mirror[j, k] * POWERS[less]
        chart.terms[k - i - 1] = term
        total += term
    for k in range(j - i - 1):
        chart.terms[k] /= total
    return j - i - 1


@steady_inner
def share_out(n: int, chart: Chart, reach: Floats, mirror: Floats) -> None:
    """The probability of every span, of those n words that have bracketings.

    reach: [n, n + 1] and mirror: [n + 1, n], set; it is their sum, begin and end the other way round in the second.
    """
    reach[:n, : n + 1] = 0.0
    mirror[: n + 1, :n] = 0.0
    reach[0, n] = 1.0
    for length in range(n, 1, -1):
        for i in range(n - length + 1):
            j = i + length
            p = reach[i, j] + mirror[j, i]
            if p > 0.0:
                split_shares(i, j, chart)
                for k in range(i + 1, j):
                    own = p * chart.terms[k - i - 1]
                    reach[i, k] += own
                    mirror[j, k] += own


@steady
def inside_outside(
    table: Floats, offsets: Integers, rows: Integers, low: int, high: int, log_z: Floats, expected: Floats
) -> None:
    """Log Z [n] and probabilities of the sentences low .. high; rows: [n + 1], where the spans of each begin.

    expected: [C, L], set, and may be the table; with no rows none are made.
    """
    chart = make_chart(offsets, low, high)
    most = chart.inside.shape[0]
    reach, mirror = np.zeros((most, most + 1)), np.zeros((most + 1, most))
    for s in range(low, high):
        n = offsets[s + 1] - offsets[s]
        shares = expected[rows[s] : rows[s + 1]] if expected.shape[0] else expected
        weigh(table[rows[s] : rows[s + 1]], chart, shares)
        log_z[s] = fill(n, chart)
        if shares.shape[0] == 0:
            continue
        if log_z[s] == -np.inf:
            shares[:] = 0.0
            continue
        share_out(n, chart, reach, mirror)
        for i in range(n):
            for j in range(i + 1, n + 1):
                c, p = cell(i, j, n), reach[i, j] + mirror[j, i]
                for x in range(shares.shape[1]):
                    shares[c, x] *= p
