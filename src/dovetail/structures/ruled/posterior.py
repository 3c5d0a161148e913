"""What follows from sums over bracketings with rules: samples, entropies, and derivatives of the probabilities."""

from __future__ import annotations

import math

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.brackets.posterior import information
from dovetail.structures.contract import Floats, Integers
from dovetail.structures.grammar import cell
from dovetail.structures.loops import most_tokens
from dovetail.structures.ruled.sums import Items, RuledPotentials, fill, list_items, log_total, make_items


@inner
def draw_way(q: int, i: int, j: int, n: int, rule: Floats, items: Items, uniform: float) -> tuple[int, int, int]:
    """A split of an item and an item of each half, drawn by a uniform number."""
    ptr, label, value = items.ptr, items.label, items.value
    less, x, left_over = value[q] - items.own[q], label[q], uniform
    split, first, second = i + 1, -1, -1
    for k in range(i + 1, j):
        left, right = cell(i, k, n), cell(k, j, n)
        for a in range(ptr[left], ptr[left + 1]):
            for b in range(ptr[right], ptr[right + 1]):
                way = value[a] + value[b] + rule[x, label[a], label[b]]
                p = math.exp(way - less) if way > -np.inf else 0.0
                if p > 0.0 and left_over >= 0.0:
                    split, first, second = k, a, b
                    left_over -= p
    return split, first, second


@kernel
def samples(
    potentials: RuledPotentials, offsets: Integers, rows: Integers, places: Integers, low: int, high: int,
    uniforms: Floats, log_z: Floats, out: Integers,
) -> None:  # fmt: skip
    """Bracketings drawn from the exact distribution of each sentence low .. high; of an impossible one none.

    uniforms: [samples, N], one for every word; log_z: [n], set; out: [samples, 3, spans], set.
    """
    rule, items = potentials.rule, make_items(offsets, low, high, potentials.span.shape[1])
    stack = np.empty((2 * most_tokens(offsets, low, high) + 2, 3), np.int64)
    for s in range(low, high):
        n = offsets[s + 1] - offsets[s]
        list_items(potentials.span[rows[s] : rows[s + 1]], items)
        fill(n, rule, items, True)
        log_z[s] = log_total(n, items)
        if n == 0 or log_z[s] == -np.inf:
            continue
        top = cell(0, n, n)
        for number in range(uniforms.shape[0]):
            place, word, left_over = places[s], offsets[s], uniforms[number, offsets[s]]
            for q in range(items.ptr[top], items.ptr[top + 1]):
                p = math.exp(items.value[q] - log_z[s])
                if p > 0.0 and left_over >= 0.0:
                    stack[0, 0] = q
                    left_over -= p
            stack[0, 1], stack[0, 2] = 0, n
            waiting = 1
            while waiting > 0:
                waiting -= 1
                q, i, j = stack[waiting]
                out[number, 0, place], out[number, 1, place], out[number, 2, place] = i, j, items.label[q]
                place += 1
                if j - i > 1:
                    word += 1
                    k, a, b = draw_way(q, i, j, n, rule, items, uniforms[number, word])
                    stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = b, k, j
                    stack[waiting + 1, 0], stack[waiting + 1, 1], stack[waiting + 1, 2] = a, i, k
                    waiting += 2


@kernel
def entropies(potentials: RuledPotentials, offsets: Integers, rows: Integers, low: int, high: int, out: Floats) -> None:
    """The entropy of each sentence low .. high, [n] set: that of the ways to make an item, and of what they use."""
    rule, items = potentials.rule, make_items(offsets, low, high, potentials.span.shape[1])
    ptr, label, value = items.ptr, items.label, items.value
    below = np.empty(value.size)
    for s in range(low, high):
        n = offsets[s + 1] - offsets[s]
        list_items(potentials.span[rows[s] : rows[s + 1]], items)
        fill(n, rule, items, True)
        whole = log_total(n, items)
        out[s] = 0.0
        if n == 0 or whole == -np.inf:
            continue
        for length in range(1, n + 1):
            for i in range(n - length + 1):
                c = cell(i, i + length, n)
                for q in range(ptr[c], ptr[c + 1]):
                    below[q] = 0.0
                    if value[q] == -np.inf:
                        continue
                    less, total = value[q] - items.own[q], 0.0
                    for k in range(i + 1, i + length):
                        left, right = cell(i, k, n), cell(k, i + length, n)
                        for a in range(ptr[left], ptr[left + 1]):
                            for b in range(ptr[right], ptr[right + 1]):
                                way = value[a] + value[b] + rule[label[q], label[a], label[b]]
                                p = math.exp(way - less) if way > -np.inf else 0.0
                                total += information(p) + p * (below[a] + below[b])
                    below[q] = total
        top = cell(0, n, n)
        for q in range(ptr[top], ptr[top + 1]):
            p = math.exp(value[q] - whole)
            out[s] += information(p) + p * below[q]


@kernel
def tangents(
    potentials: RuledPotentials, offsets: Integers, rows: Integers, low: int, high: int, direction: RuledPotentials,
    out: RuledPotentials,
) -> None:  # fmt: skip
    """The derivative of the expected counts of each sentence low .. high along a direction; out: zero, added to.

    As in ``brackets.posterior.tangents``: ``rise`` of an item is the total of the direction that is expected at and
    below it.
    """
    rule, items = potentials.rule, make_items(offsets, low, high, potentials.span.shape[1])
    ptr, label, value = items.ptr, items.label, items.value
    rise, reach, moved = np.empty(value.size), np.empty(value.size), np.empty(value.size)
    for s in range(low, high):
        n = offsets[s + 1] - offsets[s]
        count = list_items(potentials.span[rows[s] : rows[s + 1]], items)
        fill(n, rule, items, True)
        whole = log_total(n, items)
        if n == 0 or whole == -np.inf:
            continue
        reach[:count] = 0.0
        moved[:count] = 0.0
        for length in range(1, n + 1):
            for i in range(n - length + 1):
                c = cell(i, i + length, n)
                for q in range(ptr[c], ptr[c + 1]):
                    rise[q] = direction.span[rows[s] + c, label[q]]
                    if value[q] == -np.inf:
                        continue
                    less = value[q] - items.own[q]
                    for k in range(i + 1, i + length):
                        left, right = cell(i, k, n), cell(k, i + length, n)
                        for a in range(ptr[left], ptr[left + 1]):
                            for b in range(ptr[right], ptr[right + 1]):
                                x, y, z = label[q], label[a], label[b]
                                way = value[a] + value[b] + rule[x, y, z]
                                if way > -np.inf:
                                    more = direction.rule[x, y, z] + rise[a] + rise[b]
                                    rise[q] += math.exp(way - less) * more
        top, mean = cell(0, n, n), 0.0
        for q in range(ptr[top], ptr[top + 1]):
            reach[q] = math.exp(value[q] - whole)
            mean += reach[q] * rise[q] if reach[q] > 0.0 else 0.0
        for q in range(ptr[top], ptr[top + 1]):
            moved[q] = reach[q] * (rise[q] - mean) if reach[q] > 0.0 else 0.0
        for length in range(n, 0, -1):
            for i in range(n - length + 1):
                c = cell(i, i + length, n)
                for q in range(ptr[c], ptr[c + 1]):
                    if reach[q] == 0.0 and moved[q] == 0.0:
                        continue
                    out.span[rows[s] + c, label[q]] += moved[q]
                    less, within = value[q] - items.own[q], rise[q] - direction.span[rows[s] + c, label[q]]
                    for k in range(i + 1, i + length):
                        left, right = cell(i, k, n), cell(k, i + length, n)
                        for a in range(ptr[left], ptr[left + 1]):
                            for b in range(ptr[right], ptr[right + 1]):
                                x, y, z = label[q], label[a], label[b]
                                way = value[a] + value[b] + rule[x, y, z]
                                if way > -np.inf:
                                    share = math.exp(way - less)
                                    gain = direction.rule[x, y, z] + rise[a] + rise[b] - within
                                    change = share * (moved[q] + reach[q] * gain)
                                    reach[a] += share * reach[q]
                                    reach[b] += share * reach[q]
                                    moved[a] += change
                                    moved[b] += change
                                    out.rule[x, y, z] += change
