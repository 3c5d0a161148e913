"""Sums over bracketings with rules, in log space, over the labels that are left at each span.

An item is a label over a span that is not forbidden; a way to make it is a split, and an item of each half. Where
pruning has left two or three labels at a span there are few ways, and nothing is approximate.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.contract import Floats, Integers
from dovetail.structures.grammar import cell
from dovetail.structures.loops import most_tokens


class RuledPotentials(NamedTuple):
    """One number for every label of every span, and one for every label above two others.

    The score of a bracketing is the sum of ``span[c, label]`` over its spans (see ``BracketPotentials``), and of
    ``rule[label, label of the left half, label of the right half]`` over those of several words.
    """

    span: Floats
    """``[C, L]``."""
    rule: Floats
    """``[L, L, L]``."""


class Items(NamedTuple):
    """The labels that are left over each span of a sentence, and what is known of each."""

    ptr: Integers
    """``[cells + 1]``: the items of span c are ``ptr[c] .. ptr[c + 1]``."""
    label: Integers
    """``[items]``."""
    own: Floats
    """``[items]``: the potential of the span."""
    value: Floats
    """``[items]``: the log sum over all that is at and below it, or the best of it."""


@inner
def make_items(offsets: Integers, low: int, high: int, labels: int) -> Items:
    """Room for the sentences low .. high, one at a time."""
    n = most_tokens(offsets, low, high)
    cells = n * (n + 1) // 2
    return Items(
        np.zeros(cells + 1, np.int64), np.empty(cells * labels, np.int64), np.empty(cells * labels),
        np.empty(cells * labels),
    )  # fmt: skip


@inner
def list_items(table: Floats, items: Items) -> int:
    """List what is not forbidden in the rows of one sentence; how many items there are."""
    count = 0
    for c in range(table.shape[0]):
        for x in range(table.shape[1]):
            if table[c, x] > -np.inf:
                items.label[count] = x
                items.own[count] = table[c, x]
                count += 1
        items.ptr[c + 1] = count
    return count


@kernel
def fill(n: int, rule: Floats, items: Items, summed: bool) -> None:
    """Sum up all that is below every item, or find the best of it."""
    ptr, label, value = items.ptr, items.label, items.value
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            c = cell(i, i + length, n)
            for q in range(ptr[c], ptr[c + 1]):
                if length == 1:
                    value[q] = items.own[q]
                    continue
                top, total, x = -np.inf, 0.0, label[q]
                for k in range(i + 1, i + length):
                    left, right = cell(i, k, n), cell(k, i + length, n)
                    for a in range(ptr[left], ptr[left + 1]):
                        for b in range(ptr[right], ptr[right + 1]):
                            way = value[a] + value[b] + rule[x, label[a], label[b]]
                            if way > top:
                                total = total * math.exp(top - way) + 1.0 if summed and total > 0.0 else 1.0
                                top = way
                            elif summed and way > -np.inf:
                                total += math.exp(way - top)
                value[q] = top + items.own[q] + (math.log(total) if summed and top > -np.inf else 0.0)


@kernel
def log_total(n: int, items: Items) -> float:
    """The log sum over the items of the whole sentence, 0 of an empty one."""
    if n == 0:
        return 0.0
    c, top, total = cell(0, n, n), -np.inf, 0.0
    for q in range(items.ptr[c], items.ptr[c + 1]):
        top = max(top, items.value[q])
    if top == -np.inf:
        return top
    for q in range(items.ptr[c], items.ptr[c + 1]):
        total += math.exp(items.value[q] - top)
    return top + math.log(total)


@kernel
def inside_outside(
    potentials: RuledPotentials, offsets: Integers, rows: Integers, low: int, high: int, log_z: Floats,
    expected: RuledPotentials,
) -> None:  # fmt: skip
    """Log Z [n] and expected counts of the sentences low .. high; rows: [n + 1], where the spans of each begin.

    expected.span: [C, L], set, and may be the table; with no rows none are made. expected.rule: added to.
    """
    rule, items = potentials.rule, make_items(offsets, low, high, potentials.span.shape[1])
    ptr, label, value = items.ptr, items.label, items.value
    reach = np.empty(items.value.size)
    for s in range(low, high):
        n = offsets[s + 1] - offsets[s]
        count = list_items(potentials.span[rows[s] : rows[s + 1]], items)
        fill(n, rule, items, True)
        log_z[s] = log_total(n, items)
        if expected.span.shape[0] == 0:
            continue
        out = expected.span[rows[s] : rows[s + 1]]
        out[:] = 0.0
        if n == 0 or log_z[s] == -np.inf:
            continue
        reach[:count] = 0.0
        top = cell(0, n, n)
        for q in range(ptr[top], ptr[top + 1]):
            reach[q] = math.exp(value[q] - log_z[s])
        for length in range(n, 0, -1):
            for i in range(n - length + 1):
                c = cell(i, i + length, n)
                for q in range(ptr[c], ptr[c + 1]):
                    p, x = reach[q], label[q]
                    out[c, x] = p
                    if p == 0.0:
                        continue
                    less = value[q] - items.own[q]
                    for k in range(i + 1, i + length):
                        left, right = cell(i, k, n), cell(k, i + length, n)
                        for a in range(ptr[left], ptr[left + 1]):
                            for b in range(ptr[right], ptr[right + 1]):
                                way = value[a] + value[b] + rule[x, label[a], label[b]] - less
                                if way > -50.0:
                                    own = p * math.exp(way)
                                    reach[a] += own
                                    reach[b] += own
                                    expected.rule[x, label[a], label[b]] += own
