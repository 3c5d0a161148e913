"""The best bracketing with rules, the k best, and the parts of a given one."""

from __future__ import annotations

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.brackets.parts import Brackets
from dovetail.structures.brackets.search import NONE
from dovetail.structures.contract import Floats, Integers
from dovetail.structures.grammar import cell
from dovetail.structures.loops import most_tokens
from dovetail.structures.ruled.sums import Items, RuledPotentials, list_items, make_items


@inner
def insert(value: float, score: Floats, way: Integers, a: int, b: int, near: int, far: int) -> None:
    """Put a way where it belongs among ranked ones, the last of which falls out. way: [K, 4]."""
    place = score.size - 1
    while place > 0 and value > score[place - 1]:
        score[place] = score[place - 1]
        way[place] = way[place - 1]
        place -= 1
    score[place] = value
    way[place, 0], way[place, 1], way[place, 2], way[place, 3] = a, b, near, far


@inner
def rank_item(
    q: int, i: int, j: int, n: int, rule: Floats, items: Items, score: Floats, way: Integers, span: Integers
) -> None:
    """The best ways to make one item; score: [items, K], way: [items, K, 4], span: [items, 2], set."""
    k_most, x, ptr, label = score.shape[1], items.label[q], items.ptr, items.label
    score[q] = -np.inf
    span[q, 0], span[q, 1] = i, j
    if j - i == 1:
        score[q, 0] = items.own[q]
    for k in range(i + 1, j):
        left, right = cell(i, k, n), cell(k, j, n)
        for a in range(ptr[left], ptr[left + 1]):
            for b in range(ptr[right], ptr[right + 1]):
                extra = rule[x, label[a], label[b]] + items.own[q]
                for first in range(k_most):
                    for second in range(k_most // (first + 1)):
                        value = score[a, first] + score[b, second] + extra
                        if not value > score[q, k_most - 1]:
                            break
                        insert(value, score[q], way[q], a, b, first, second)


@kernel
def k_best(
    potentials: RuledPotentials, offsets: Integers, rows: Integers, places: Integers, low: int, high: int,
    out: Integers, scores: Floats,
) -> None:  # fmt: skip
    """The k best bracketings of each sentence low .. high, best first.

    places: [n + 1], where the spans of each go in out: [k, 3, spans], set to begin, end and label, -1 where there are
    fewer; scores: [n, k], set, minus infinity there.
    """
    items, k = make_items(offsets, low, high, potentials.span.shape[1]), out.shape[0]
    stack = np.empty((2 * most_tokens(offsets, low, high) + 2, 2), np.int64)
    for s in range(low, high):
        n = offsets[s + 1] - offsets[s]
        count = list_items(potentials.span[rows[s] : rows[s + 1]], items)
        score, way, span = np.empty((count, k)), np.empty((count, k, 4), np.int64), np.empty((count, 2), np.int64)
        for length in range(1, n + 1):
            for i in range(n - length + 1):
                c = cell(i, i + length, n)
                for q in range(items.ptr[c], items.ptr[c + 1]):
                    rank_item(q, i, i + length, n, potentials.rule, items, score, way, span)
        best, which = np.full(k, -np.inf), np.zeros((k, 4), np.int64)
        if n > 0:
            top = cell(0, n, n)
            for q in range(items.ptr[top], items.ptr[top + 1]):
                for rank in range(k):
                    if score[q, rank] > best[k - 1]:
                        insert(score[q, rank], best, which, q, 0, rank, 0)
        else:
            best[0] = 0.0
        for rank in range(k):
            scores[s, rank] = best[rank]
            place = places[s]
            if n == 0 or best[rank] == -np.inf:
                out[rank, 2, place : places[s + 1]] = NONE
                continue
            stack[0, 0], stack[0, 1] = which[rank, 0], which[rank, 2]
            waiting = 1
            while waiting > 0:
                waiting -= 1
                q, r = stack[waiting]
                out[rank, 0, place], out[rank, 1, place] = span[q]
                out[rank, 2, place] = items.label[q]
                place += 1
                if span[q, 1] - span[q, 0] > 1:
                    a, b, near, far = way[q, r]
                    stack[waiting, 0], stack[waiting, 1] = b, far
                    stack[waiting + 1, 0], stack[waiting + 1, 1] = a, near
                    waiting += 2


@kernel
def score_rules(rule: Floats, given: Brackets, scores: Floats) -> None:
    """Add the scores of the rules of given brackets to those [n] of their spans, where they are a bracketing."""
    for s in range(scores.size):
        if scores[s] == -np.inf:
            continue
        for q in range(given.offsets[s], given.offsets[s + 1]):
            if given.end[q] - given.begin[q] > 1:
                right = q + 2 * (given.end[q + 1] - given.begin[q])
                scores[s] += rule[given.label[q], given.label[q + 1], given.label[right]]


@kernel
def count_rules(given: Brackets, amount: float, counts: Floats) -> None:
    """Add an amount to the counts [L, L, L] of the rules of all given brackets, which are bracketings."""
    for s in range(given.offsets.size - 1):
        for q in range(given.offsets[s], given.offsets[s + 1]):
            if given.end[q] - given.begin[q] > 1:
                right = q + 2 * (given.end[q + 1] - given.begin[q])
                counts[given.label[q], given.label[q + 1], given.label[right]] += amount
