"""Sums over all sets of spans without overlap, by the labels that have been used up.

State (j, m): all that ends up to boundary j is decided, and of the labels that may be used once those of the bits m
have been. A candidate leads from the boundary before it to the one after it; without one, j - 1 leads to j.
"""

from __future__ import annotations

import math

import numpy as np

from dovetail.kernel import steady, steady_inner
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.frames.parts import Places


@steady_inner
def gather(role: Floats, c: int, once: Labels, weight: Floats) -> None:
    """The sum of exp(potential) of a candidate by bit, that of labels without one last; weight: [bits + 1], set."""
    weight[:] = 0.0
    for y in range(once.size):
        if role[c, y] > -np.inf:
            weight[once[y]] += math.exp(role[c, y])  # -1 is the last


@steady
def forward_backward(
    role: Floats, places: Places, once: Labels, bits: int, offsets: Integers, low: int, high: int, log_z: Floats,
    expected: Floats,
) -> None:  # fmt: skip
    """Set log Z [n] of the frames low .. high, NaN where a sum overflows; and the marginals [N, L], unless there are
    none to set. once: [L], the bit of each label, -1 for those that may be used again."""
    before, after, count = places
    sets = 1 << bits
    for n in range(low, high):
        first, last, boundaries = offsets[n], offsets[n + 1], count[n]
        weight = np.empty((last - first, bits + 1))
        alpha = np.zeros((boundaries + 1, sets))
        alpha[0, 0] = 1.0
        c = first
        for j in range(1, boundaries + 1):
            alpha[j] = alpha[j - 1]
            while c < last and after[c] == j:
                own = weight[c - first]
                gather(role, c, once, own)
                for m in range(sets):
                    came = alpha[before[c], m]
                    if came > 0.0:
                        alpha[j, m] += came * own[bits]
                        for b in range(bits):
                            if own[b] > 0.0 and not m >> b & 1:
                                alpha[j, m | 1 << b] += came * own[b]
                c += 1
        z = alpha[boundaries].sum()
        log_z[n] = math.log(z) if z < np.inf else np.nan
        if expected.shape[0] == 0 or not z < np.inf:
            continue
        beta = np.zeros((boundaries + 1, sets))
        beta[boundaries] = 1.0
        share = np.empty(bits + 1)
        c = last - 1
        for j in range(boundaries, 0, -1):
            beta[j - 1] += beta[j]
            while c >= first and after[c] == j:
                own = weight[c - first]
                share[:] = 0.0
                for m in range(sets):
                    came = alpha[before[c], m]
                    below = own[bits] * beta[j, m]
                    share[bits] += came * beta[j, m]
                    for b in range(bits):
                        if not m >> b & 1:
                            below += own[b] * beta[j, m | 1 << b]
                            share[b] += came * beta[j, m | 1 << b]
                    beta[before[c], m] += below
                for y in range(once.size):
                    expected[c, y] = math.exp(role[c, y]) * (share[once[y]] / z) if role[c, y] > -np.inf else 0.0
                c -= 1
