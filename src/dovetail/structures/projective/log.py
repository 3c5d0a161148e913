"""Charts of projective trees in log space, with sums or with maxima: slower, and right however extreme they are.

The charts are those of :mod:`dovetail.structures.projective.sums`, as logarithms.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.chain.parts import Floats
from dovetail.structures.projective.parts import LEFT, RIGHT, Places, ProjectivePotentials
from dovetail.structures.semimarkov.log import log_sum


class LogCharts(NamedTuple):
    """Room for the charts of a sentence of up to M positions."""

    inc: Floats
    """``[M, M + 1]``."""
    comp: Floats
    """``[M, M + 1]``."""
    across: Floats
    """``[M + 1, M]``: comp, transposed."""
    trap: Floats
    """``[M, M]``."""
    terms: Floats
    """``[M + 1]``: the ways to make one entry, by fence or by word."""


@inner
def make_charts(places: Places, low: int, high: int) -> LogCharts:
    """Room for the sentences low .. high, one at a time."""
    m = 1
    for n in range(low, high):
        m = max(m, places.words[n + 1] - places.words[n] + 1)
    return LogCharts(
        np.empty((m, m + 1)), np.empty((m, m + 1)), np.empty((m + 1, m)), np.empty((m, m)), np.empty(m + 1)
    )


@inner
def attachment(attach: Floats, m: int, several: bool, h: int, d: int, first: int) -> float:
    """The potential of an arc; a root with one child only has no later dependents."""
    return attach[h * m + d, first] if first or h > 0 or several else -np.inf


@inner
def trap_terms(attach: Floats, m: int, several: bool, h: int, d: int, charts: LogCharts) -> int:
    """The ways to attach d to h, one for each fence between them, from the left; how many."""
    low, high = (h + 1, d) if h < d else (d + 1, h)
    near = low if h < d else high
    later, first = attachment(attach, m, several, h, d, 0), attachment(attach, m, several, h, d, 1)
    for b in range(low, high + 1):
        charts.terms[b - low] = charts.inc[h, b] + charts.comp[d, b] + (first if b == near else later)
    return high + 1 - low


@inner
def inc_terms(h: int, b: int, charts: LogCharts) -> int:
    """The ways to fill a side of h up to a fence, one for each outermost dependent, from the left; how many."""
    low, high = (h + 1, b) if b > h else (b, h)
    for d in range(low, high):
        charts.terms[d - low] = charts.trap[h, d] + charts.across[b, d]
    return high - low


@kernel
def largest(values: Floats, count: int) -> float:
    """The largest of the first values, minus infinity of none."""
    top = -np.inf
    for i in range(count):
        top = max(top, values[i])
    return top


@kernel
def fill(attach: Floats, stop: Floats, several: bool, summed: bool, charts: LogCharts) -> float:
    """Fill the charts of one sentence with log sums or with maxima; log Z or the best score.

    attach: [m * m, 2]; stop: [m, 2, 2].
    """
    m = stop.shape[0]
    inc, comp, across, trap, terms = charts
    for h in range(m):
        for side in range(2):
            inc[h, h + side] = 0.0
            empty = -np.inf if h == 0 and not several else stop[h, side, 0]
            comp[h, h + side] = across[h + side, h] = empty
    for length in range(1, m):
        for i in range(m - length):
            for side in range(2):
                if i == 0 and side == LEFT:
                    continue
                h, d = (i, i + length) if side == RIGHT else (i + length, i)
                b = d + side
                count = trap_terms(attach, m, several, h, d, charts)
                trap[h, d] = log_sum(terms, count) if summed else largest(terms, count)
                count = inc_terms(h, b, charts)
                inc[h, b] = log_sum(terms, count) if summed else largest(terms, count)
                comp[h, b] = across[b, h] = inc[h, b] + stop[h, side, 1]
    return comp[0, m] if m > 1 else 0.0


@kernel
def shares(terms: Floats, count: int, total: float) -> None:
    """From logarithms to parts of their sum, in place; of nothing, nothing."""
    for i in range(count):
        terms[i] = math.exp(terms[i] - total) if total > -np.inf else 0.0


@kernel
def log_inside_outside(
    potentials: ProjectivePotentials, places: Places, several: bool, low: int, high: int, log_z: Floats,
    expected: ProjectivePotentials,
) -> None:  # fmt: skip
    """Log Z and probabilities of those sentences low .. high whose log_z is NaN.

    As :func:`~dovetail.structures.projective.sums.inside_outside`, which see. The probability of an entry of a
    chart is shared among the ways to make it, from the widest spans to the words.
    """
    charts = make_charts(places, low, high)
    m = charts.trap.shape[0]
    p_inc, p_comp, p_trap = np.empty((m, m + 1)), np.empty((m, m + 1)), np.empty((m, m))
    for n in range(low, high):
        if log_z[n] == log_z[n]:
            continue
        m = places.words[n + 1] - places.words[n] + 1
        first, row = places.words[n] + n, places.arcs[n]
        attach = potentials.attach[row : row + m * m].copy()
        log_z[n] = fill(attach, potentials.stop[first : first + m], several, True, charts)
        if expected.attach.shape[0] == 0:
            continue
        attached, stopped = expected.attach[row : row + m * m], expected.stop[first : first + m]
        attached[:] = 0.0
        stopped[:] = 0.0
        p_inc[:m, : m + 1] = 0.0
        p_comp[:m, : m + 1] = 0.0
        p_trap[:m, :m] = 0.0
        p_comp[0, m] = 1.0 if log_z[n] > -np.inf else 0.0
        for length in range(m - 1, 0, -1):
            for i in range(m - length):
                for side in range(2):
                    if i == 0 and side == LEFT:
                        continue
                    h, d = (i, i + length) if side == RIGHT else (i + length, i)
                    b = d + side
                    stopped[h, side, 1] += p_comp[h, b]
                    p = p_inc[h, b] + p_comp[h, b]
                    if p > 0.0:
                        count, least = inc_terms(h, b, charts), min(h + 1, b)
                        shares(charts.terms, count, charts.inc[h, b])
                        for k in range(count):
                            p_trap[h, least + k] += p * charts.terms[k]
                            p_comp[least + k, b] += p * charts.terms[k]
                    p = p_trap[h, d]
                    if p > 0.0:
                        count, least = trap_terms(attach, m, several, h, d, charts), min(h, d) + 1
                        near = 0 if side == RIGHT else count - 1
                        shares(charts.terms, count, charts.trap[h, d])
                        for k in range(count):
                            attached[h * m + d, 1 if k == near else 0] += p * charts.terms[k]
                            p_inc[h, least + k] += p * charts.terms[k]
                            p_comp[d, least + k] += p * charts.terms[k]
        for h in range(m):
            for side in range(2):
                if h > 0 or side == RIGHT:
                    stopped[h, side, 0] = p_comp[h, h + side]
