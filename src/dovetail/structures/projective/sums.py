"""Sums over projective trees with weights: log Z and the probability of every part (Eisner 1996).

The charts hold, for a head h and a fence b between words (fence b lies before word b), the weight of all ways
to fill the side of h up to there:

- ``inc[h, b]``: h may take more dependents; for b <= h on its left, for b > h on its right.
- ``comp[h, b]``: it may not; ``comp = inc * stop``.
- ``trap[h, d]``: d has just become the outermost dependent of h, and its side towards h is complete.

Then ``trap[h, d] = sum over fences b between them of attach * inc[h, b] * comp[d, b]`` and ``inc[h, b] = sum over
words d up to b of trap[h, d] * comp[d, b]``: both are dot products of rows, with ``comp`` kept transposed as well.
Only the fence next to h leaves d the first dependent, so that needs no state of its own.

The weights of the heads of each word are divided by their sum, so that no sum over trees exceeds 1. What
underflows beside a Z of at least ``LEAST`` has no probability to speak of; a sentence with a smaller Z is left
to log space, at the end of this file: the same charts as logarithms, with sums or with maxima.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.contract import Floats
from dovetail.structures.loops import log_sum, most_tokens
from dovetail.structures.projective.parts import LEFT, RIGHT, Places, ProjectivePotentials

LEAST = 1e-200


class Work(NamedTuple):
    """Room for the charts of a sentence of up to M positions."""

    first: Floats  # [M, M]: the weight of a first dependent, by head and dependent
    later: Floats  # [M, M]: the weight of another
    stop: Floats  # [M, 2, 2]
    inc: Floats  # [M, M + 1]
    comp: Floats  # [M, M + 1]
    across: Floats  # [M + 1, M]: comp, transposed
    trap: Floats  # [M, M]
    rest: Floats  # [M, M]: the part of trap in which the dependent is not the first
    d_inc: Floats  # The derivatives of Z by the charts, divided by Z
    d_comp: Floats
    d_across: Floats
    d_trap: Floats


@inner
def make_work(positions: int) -> Work:
    """Room for sentences of up to so many positions."""
    m, f = positions, positions + 1
    return Work(
        np.empty((m, m)), np.empty((m, m)), np.empty((m, 2, 2)),
        np.empty((m, f)), np.empty((m, f)), np.empty((f, m)), np.empty((m, m)), np.empty((m, m)),
        np.empty((m, f)), np.empty((m, f)), np.empty((f, m)), np.empty((m, m)),
    )  # fmt: skip


@kernel
def weigh(attach: Floats, stop: Floats, several: bool, work: Work) -> float:
    """Set the weights of one sentence; what they leave out of log Z, NaN where all heads of a word are forbidden."""
    m = stop.shape[0]
    shift = 0.0
    for h in range(m):
        for s in range(2):
            high = max(stop[h, s, 0], stop[h, s, 1])
            alone = h == 0 and s == LEFT
            if alone or high == -np.inf:
                high = 0.0
            for has in range(2):
                work.stop[h, s, has] = 1.0 if alone else math.exp(stop[h, s, has] - high)
            shift += high
    if not several:
        work.stop[0, RIGHT, 0] = 0.0
    for d in range(1, m):
        high = -np.inf
        for h in range(m):
            if h != d:
                high = max(high, attach[h * m + d, 1])
                if h > 0 or several:
                    high = max(high, attach[h * m + d, 0])
        if high == -np.inf:
            return np.nan
        total = 0.0
        for h in range(m):
            if h != d:
                first = math.exp(attach[h * m + d, 1] - high)
                later = math.exp(attach[h * m + d, 0] - high) if h > 0 or several else 0.0
                work.first[h, d] = first
                work.later[h, d] = later
                total += max(first, later)
        for h in range(m):
            work.first[h, d] /= total
            work.later[h, d] /= total
        shift += high + math.log(total)
    return shift


@kernel
def inside(m: int, several: bool, work: Work) -> float:
    """Fill the charts of a sentence of m positions from its weights; Z of the weights."""
    first, later, stop, inc, comp, across, trap, rest = work[:8]
    for h in range(m):
        for side in range(2):
            inc[h, h + side] = 1.0
            comp[h, h + side] = across[h + side, h] = stop[h, side, 0]
    for length in range(1, m):
        for i in range(m - length):
            j = i + length
            total = 0.0
            if i > 0 or several:
                for b in range(i + 2, j + 1):
                    total += inc[i, b] * comp[j, b]
            rest[i, j] = later[i, j] * total
            trap[i, j] = rest[i, j] + first[i, j] * comp[j, i + 1]
            total = 0.0
            for d in range(i + 1, j + 1):
                total += trap[i, d] * across[j + 1, d]
            inc[i, j + 1] = total
            comp[i, j + 1] = across[j + 1, i] = total * stop[i, RIGHT, 1]
            if i == 0:
                continue  # the root depends on nothing
            total = 0.0
            for b in range(i + 1, j):
                total += inc[j, b] * comp[i, b]
            rest[j, i] = later[j, i] * total
            trap[j, i] = rest[j, i] + first[j, i] * comp[i, j]
            total = 0.0
            for d in range(i, j):
                total += trap[j, d] * across[i, d]
            inc[j, i] = total
            comp[j, i] = across[i, j] = total * stop[j, LEFT, 1]
    return float(comp[0, m])


@kernel
def outside(m: int, several: bool, z: float, work: Work, attach: Floats, stop: Floats) -> None:
    """Set the probabilities attach [m * m, 2] and stop [m, 2, 2]: inside, differentiated backwards."""
    first, later, ends, inc, comp, across, trap, rest, d_inc, d_comp, d_across, d_trap = work
    attach[:] = 0.0
    stop[:] = 0.0
    d_inc[:m, : m + 1] = 0.0
    d_comp[:m, : m + 1] = 0.0
    d_across[: m + 1, :m] = 0.0
    d_trap[:m, :m] = 0.0
    d_comp[0, m] = 1.0 / z
    for length in range(m - 1, 0, -1):
        for i in range(m - length):
            j = i + length
            slope = d_comp[i, j + 1] + d_across[j + 1, i]
            stop[i, RIGHT, 1] += slope * comp[i, j + 1]
            slope = d_inc[i, j + 1] + slope * ends[i, RIGHT, 1]
            for d in range(i + 1, j + 1):
                d_trap[i, d] += slope * across[j + 1, d]
                d_across[j + 1, d] += slope * trap[i, d]
            slope = d_trap[i, j]
            attach[i * m + j, 0] = slope * rest[i, j]
            attach[i * m + j, 1] = slope * first[i, j] * comp[j, i + 1]
            d_comp[j, i + 1] += slope * first[i, j]
            if i > 0 or several:
                slope *= later[i, j]
                for b in range(i + 2, j + 1):
                    d_inc[i, b] += slope * comp[j, b]
                    d_comp[j, b] += slope * inc[i, b]
            if i == 0:
                continue
            slope = d_comp[j, i] + d_across[i, j]
            stop[j, LEFT, 1] += slope * comp[j, i]
            slope = d_inc[j, i] + slope * ends[j, LEFT, 1]
            for d in range(i, j):
                d_trap[j, d] += slope * across[i, d]
                d_across[i, d] += slope * trap[j, d]
            slope = d_trap[j, i]
            attach[j * m + i, 0] = slope * rest[j, i]
            attach[j * m + i, 1] = slope * first[j, i] * comp[i, j]
            d_comp[i, j] += slope * first[j, i]
            slope *= later[j, i]
            for b in range(i + 1, j):
                d_inc[j, b] += slope * comp[i, b]
                d_comp[i, b] += slope * inc[j, b]
    for h in range(m):
        for side in range(2):
            if h > 0 or side == RIGHT:
                stop[h, side, 0] = (d_comp[h, h + side] + d_across[h + side, h]) * comp[h, h + side]


@kernel
def inside_outside(
    potentials: ProjectivePotentials, places: Places, several: bool, low: int, high: int, log_z: Floats,
    expected: ProjectivePotentials,
) -> None:  # fmt: skip
    """Log Z and probabilities of sentences low .. high. log_z: [n], set, to NaN where a sentence needs log space;
    nothing else is then done for it. expected: set, and may be the arrays given; with no rows in expected.attach none
    are made."""
    longest = most_tokens(places.words, low, high)
    work = make_work(longest + 1)
    for n in range(low, high):
        m = places.words[n + 1] - places.words[n] + 1
        first, row = places.words[n] + n, places.arcs[n]
        stop = potentials.stop[first : first + m]
        if m == 1:
            log_z[n] = 0.0
            if expected.attach.shape[0] > 0:
                expected.attach[row] = 0.0
                expected.stop[first] = 0.0
            continue
        shift = weigh(potentials.attach[row : row + m * m], stop, several, work)
        z = inside(m, several, work) if shift == shift else 0.0
        log_z[n] = math.log(z) + shift if z > LEAST else np.nan
        if z > LEAST and expected.attach.shape[0] > 0:
            rows = expected.attach[row : row + m * m]
            outside(m, several, z, work, rows, expected.stop[first : first + m])


class LogCharts(NamedTuple):
    """Room for the charts of a sentence of up to M positions."""

    inc: Floats  # [M, M + 1]
    comp: Floats  # [M, M + 1]
    across: Floats  # [M + 1, M]: comp, transposed
    trap: Floats  # [M, M]
    terms: Floats  # [M + 1]: the ways to make one entry, by fence or by word


@inner
def make_charts(places: Places, low: int, high: int) -> LogCharts:
    """Room for the sentences low .. high, one at a time."""
    m = most_tokens(places.words, low, high) + 1
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
    """Fill the charts of one sentence with log sums or with maxima; log Z or the best score."""
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
    """As :func:`inside_outside` for those sentences whose log_z is NaN. The probability of an entry of a chart is
    shared among the ways to make it, from the widest spans to the words."""
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
