"""The best set of spans without overlap, and all of them as a hypergraph."""

from __future__ import annotations

import numpy as np

from dovetail.kernel import kernel, steady
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.frames.parts import Places


@steady
def viterbi(
    role: Floats, places: Places, once: Labels, bits: int, offsets: Integers, low: int, high: int, out: Labels
) -> None:
    """Set the label of every candidate of the frames low .. high, -1 for none: out [N]. Fewer arguments win ties."""
    before, after, count = places
    sets = 1 << bits
    for n in range(low, high):
        first, last, boundaries = offsets[n], offsets[n + 1], count[n]
        best = np.full((boundaries + 1, sets), -np.inf)
        way = np.full((boundaries + 1, sets, 2), -1, np.int32)  # candidate and label, -1 where there is none
        best[0, 0] = 0.0
        top, label = np.empty(bits + 1), np.empty(bits + 1, np.int32)
        c = first
        for j in range(1, boundaries + 1):
            best[j] = best[j - 1]
            while c < last and after[c] == j:
                top[:] = -np.inf
                for y in range(once.size):
                    b = once[y] if once[y] >= 0 else bits
                    if role[c, y] > top[b]:
                        top[b], label[b] = role[c, y], y
                for m in range(sets):
                    came = best[before[c], m]
                    for b in range(bits + 1):
                        to = m if b == bits else m | 1 << b
                        if (b == bits or to != m) and came + top[b] > best[j, to]:
                            best[j, to] = came + top[b]
                            way[j, to, 0], way[j, to, 1] = c, label[b]
                c += 1
        m = 0
        for other in range(1, sets):
            if best[boundaries, other] > best[boundaries, m]:
                m = other
        j = boundaries
        while j > 0:
            c, y = way[j, m]
            if c < 0:
                j -= 1
            else:
                out[c] = y
                j = before[c]
                m = m if once[y] < 0 else m & ~(1 << once[y])


@kernel
def used_bits(role: Floats, once: Labels, bits: int) -> Labels:
    """For each bit a number among those that any candidate [candidates, L] can use, -1 where none can."""
    found = np.full(bits, -1, np.int32)
    for y in range(once.size):
        if once[y] >= 0:
            for c in range(role.shape[0]):
                if role[c, y] > -np.inf:
                    found[once[y]] = 0
                    break
    number = 0
    for b in range(bits):
        if found[b] >= 0:
            found[b] = number
            number += 1
    return found


@kernel
def list_edges(
    role: Floats, before: Labels, after: Labels, boundaries: int, once: Labels, number: Labels, made: Labels,
    left: Labels, part: Labels,
) -> int:  # fmt: skip
    """How many edges the hypergraph of a frame has: from vertex ``left`` to ``made`` by a part, in order of ``made``;
    they are set, unless there is no room for any. number: [bits], as ``used_bits`` tells.

    Vertex 0 is boundary 0; ``1 + (j - 1) * sets + m`` is the state (j, m); the last one is everything.
    """
    bits = 0
    for b in range(number.size):
        bits = max(bits, number[b] + 1)
    sets, labels, found = 1 << bits, role.shape[1], 0
    write = made.size > 0
    low = 0
    for j in range(1, boundaries + 1):
        high = low
        while high < after.size and after[high] == j:
            high += 1
        for m in range(sets):
            if j > 1 or m == 0:
                if write:
                    made[found], part[found] = 1 + (j - 1) * sets + m, -1
                    left[found] = 0 if j == 1 else 1 + (j - 2) * sets + m
                found += 1
            for c in range(low, high):
                for y in range(labels):
                    b = number[once[y]] if once[y] >= 0 else -1
                    if role[c, y] == -np.inf or (b >= 0 and not m >> b & 1):
                        continue
                    came = m if b < 0 else m & ~(1 << b)
                    if before[c] == 0 and came != 0:
                        continue
                    if write:
                        made[found], part[found] = 1 + (j - 1) * sets + m, c * labels + y
                        left[found] = 0 if before[c] == 0 else 1 + (before[c] - 1) * sets + came
                    found += 1
        low = high
    for m in range(sets):
        if write:
            made[found], left[found], part[found] = 1 + boundaries * sets, 1 + (boundaries - 1) * sets + m, -1
        found += 1
    return found
