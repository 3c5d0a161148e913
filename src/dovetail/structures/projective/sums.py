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
to :mod:`dovetail.structures.projective.log`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.chain.parts import Floats
from dovetail.structures.projective.parts import LEFT, RIGHT, Places, ProjectivePotentials

LEAST = 1e-200


class Work(NamedTuple):
    """Room for the charts of a sentence of up to M positions."""

    first: Floats
    """``[M, M]``: the weight of a first dependent, by head and dependent."""
    later: Floats
    """``[M, M]``: the weight of another."""
    stop: Floats
    """``[M, 2, 2]``."""
    inc: Floats
    """``[M, M + 1]``."""
    comp: Floats
    """``[M, M + 1]``."""
    across: Floats
    """``[M + 1, M]``: comp, transposed."""
    trap: Floats
    """``[M, M]``."""
    rest: Floats
    """``[M, M]``: the part of trap in which the dependent is not the first."""
    d_inc: Floats
    """The derivatives of Z by the charts, divided by Z."""
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
    """Set the weights of one sentence; what they leave out of its log Z, NaN where all heads of a word are forbidden.

    attach: [m * m, 2]; stop: [m, 2, 2].
    """
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
    """Probabilities from full charts, from the widest spans to the words: inside, differentiated backwards.

    attach: [m * m, 2], stop: [m, 2, 2], set.
    """
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
    """Log Z and probabilities of sentences low .. high.

    log_z: [n], set, to NaN where a sentence needs log space; nothing else is then done for it. expected: set, and may
    be the arrays given; with no rows in expected.attach none are made.
    """
    longest = 0
    for n in range(low, high):
        longest = max(longest, places.words[n + 1] - places.words[n])
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
