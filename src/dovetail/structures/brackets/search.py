"""The best bracketing, the k best, and the parts of a given one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.brackets.parts import Brackets
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.grammar import cell
from dovetail.structures.loops import most_tokens

NONE = -1


@kernel
def best_brackets(
    table: Floats, offsets: Integers, rows: Integers, places: Integers, low: int, high: int, out: Integers
) -> None:
    """The best bracketing of each sentence low .. high; of equal ones, the lowest labels and the leftmost splits.

    places: [n + 1], where its spans go. out: [3, spans], set: begin, end and label, -1 where there is no bracketing.
    """
    most = most_tokens(offsets, low, high)
    score, mirror = np.empty((most, most + 1)), np.empty((most + 1, most))
    split, stack = np.empty((most, most + 1), np.int32), np.empty((2 * most + 2, 2), np.int64)
    label = np.empty(most * (most + 1) // 2, np.int32)
    for s in range(low, high):
        n, row, place = offsets[s + 1] - offsets[s], rows[s], places[s]
        for length in range(1, n + 1):
            for i in range(n - length + 1):
                j, c = i + length, cell(i, i + length, n)
                top = 0
                for x in range(1, table.shape[1]):
                    if table[row + c, x] > table[row + c, top]:
                        top = x
                label[c] = top
                best, at = (0.0, i) if length == 1 else (-np.inf, i + 1)
                for k in range(i + 1, j):
                    value = score[i, k] + mirror[j, k]
                    if value > best:
                        best, at = value, k
                score[i, j] = mirror[j, i] = best + table[row + c, top]
                split[i, j] = at
        if n == 0 or score[0, n] == -np.inf:
            out[2, place : places[s + 1]] = NONE
            continue
        stack[0, 0], stack[0, 1] = 0, n
        waiting = 1
        while waiting > 0:
            waiting -= 1
            i, j = stack[waiting]
            out[0, place], out[1, place], out[2, place] = i, j, label[cell(i, j, n)]
            place += 1
            if j - i > 1:
                stack[waiting, 0], stack[waiting, 1] = split[i, j], j
                stack[waiting + 1, 0], stack[waiting + 1, 1] = i, split[i, j]
                waiting += 2


class Ranked(NamedTuple):
    """The best bracketings of each span, best first; K of them, minus infinity past the last."""

    score: Floats
    """``[n, n + 1, K]``."""
    label: Labels
    """``[n, n + 1, K]``."""
    way: Labels
    """``[n, n + 1, K, 3]``: where it is split, and which of the bracketings of each half."""


class Ways(NamedTuple):
    """Room to rank the ways to split one span, and its labels."""

    score: Floats
    """``[K]``."""
    way: Labels
    """``[K, 3]``."""
    of_label: Floats
    """``[K]``."""
    label: Labels
    """``[K]``."""


@inner
def insert(value: float, score: Floats, way: Labels, split: int, near: int, far: int) -> None:
    """Put a way where it belongs among ranked ones, the last of which falls out."""
    place = score.size - 1
    while place > 0 and value > score[place - 1]:
        score[place] = score[place - 1]
        way[place] = way[place - 1]
        place -= 1
    score[place] = value
    way[place, 0], way[place, 1], way[place, 2] = split, near, far


@inner
def rank_splits(i: int, j: int, ranked: Ranked, ways: Ways) -> None:
    """The best ways to split a span of several words.

    The way made of the a-th and the b-th best is among the k best only if (a + 1) * (b + 1) <= k.
    """
    k_most = ways.score.size
    ways.score[:] = -np.inf
    for k in range(i + 1, j):
        near, far = ranked.score[i, k], ranked.score[k, j]
        for a in range(k_most):
            for b in range(k_most // (a + 1)):
                value = near[a] + far[b]
                if not value > ways.score[k_most - 1]:
                    break
                insert(value, ways.score, ways.way, k, a, b)


@inner
def rank_labels(row: Floats, ways: Ways) -> None:
    """The best labels of a span; row: [L]."""
    score, k_most = ways.of_label, ways.of_label.size
    score[:] = -np.inf
    for x in range(row.size):
        if row[x] > score[k_most - 1]:
            place = k_most - 1
            while place > 0 and row[x] > score[place - 1]:
                score[place] = score[place - 1]
                ways.label[place] = ways.label[place - 1]
                place -= 1
            score[place] = row[x]
            ways.label[place] = x


@inner
def rank_span(i: int, j: int, ways: Ways, ranked: Ranked) -> None:
    """The best pairs of a label and a way to split a span."""
    score, label, way = ranked.score[i, j], ranked.label[i, j], ranked.way[i, j]
    k_most = score.size
    score[:] = -np.inf
    for a in range(k_most):
        for b in range(k_most // (a + 1)):
            value = ways.of_label[a] + ways.score[b]
            if not value > score[k_most - 1]:
                break
            place = k_most - 1
            while place > 0 and value > score[place - 1]:
                score[place] = score[place - 1]
                label[place] = label[place - 1]
                way[place] = way[place - 1]
                place -= 1
            score[place] = value
            label[place] = ways.label[a]
            way[place] = ways.way[b]


@kernel
def k_best(
    table: Floats, offsets: Integers, rows: Integers, places: Integers, low: int, high: int, out: Integers,
    scores: Floats,
) -> None:  # fmt: skip
    """The k best bracketings of each sentence low .. high, best first.

    out: [k, 3, spans], set as by :func:`best_brackets`; scores: [n, k], set, minus infinity where there are fewer.
    """
    k, most = out.shape[0], most_tokens(offsets, low, high)
    shape = (most, most + 1, k)
    ranked = Ranked(np.empty(shape), np.empty(shape, np.int32), np.empty((most, most + 1, k, 3), np.int32))
    ways = Ways(np.empty(k), np.empty((k, 3), np.int32), np.empty(k), np.empty(k, np.int32))
    stack = np.empty((2 * most + 2, 3), np.int64)
    for s in range(low, high):
        n = offsets[s + 1] - offsets[s]
        for length in range(1, n + 1):
            for i in range(n - length + 1):
                if length == 1:
                    ways.score[:] = -np.inf
                    ways.score[0] = 0.0
                else:
                    rank_splits(i, i + length, ranked, ways)
                rank_labels(table[rows[s] + cell(i, i + length, n)], ways)
                rank_span(i, i + length, ways, ranked)
        for rank in range(k):
            place = places[s]
            scores[s, rank] = ranked.score[0, n, rank] if n else (0.0 if rank == 0 else -np.inf)
            if n == 0 or scores[s, rank] == -np.inf:
                out[rank, 2, place : places[s + 1]] = NONE
                continue
            stack[0, 0], stack[0, 1], stack[0, 2] = 0, n, rank
            waiting = 1
            while waiting > 0:
                waiting -= 1
                i, j, r = stack[waiting]
                out[rank, 0, place], out[rank, 1, place], out[rank, 2, place] = i, j, ranked.label[i, j, r]
                place += 1
                if j - i > 1:
                    split, near, far = ranked.way[i, j, r]
                    stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = split, j, far
                    stack[waiting + 1, 0], stack[waiting + 1, 1], stack[waiting + 1, 2] = i, split, near
                    waiting += 2


@kernel
def score_brackets(table: Floats, offsets: Integers, rows: Integers, given: Brackets, scores: Floats) -> None:
    """The scores [n] of given brackets, minus infinity where they are no binary bracketing of all words."""
    stack = np.empty((2 * most_tokens(offsets, 0, scores.size) + 2, 2), np.int64)
    for s in range(scores.size):
        n, total, waiting = offsets[s + 1] - offsets[s], 0.0, 0
        if n > 0:
            stack[0, 0], stack[0, 1] = 0, n
            waiting = 1
        for q in range(given.offsets[s], given.offsets[s + 1]):
            i, j = given.begin[q], given.end[q]
            if waiting == 0 or stack[waiting - 1, 0] != i or stack[waiting - 1, 1] != j:
                total = -np.inf
                break
            total += table[rows[s] + cell(i, j, n), given.label[q]]
            waiting -= 1
            if j - i > 1:  # the next span begins here as well, and says where this one is split
                k = given.end[q + 1] if q + 1 < given.offsets[s + 1] else j
                if k >= j:
                    total = -np.inf
                    break
                stack[waiting, 0], stack[waiting, 1] = k, j
                stack[waiting + 1, 0], stack[waiting + 1, 1] = i, k
                waiting += 2
        scores[s] = total if waiting == 0 else -np.inf


@kernel
def count_brackets(offsets: Integers, rows: Integers, given: Brackets, amount: float, counts: Floats) -> None:
    """Add an amount to the counts [C, L] of all given brackets."""
    for s in range(offsets.size - 1):
        n = offsets[s + 1] - offsets[s]
        for q in range(given.offsets[s], given.offsets[s + 1]):
            counts[rows[s] + cell(given.begin[q], given.end[q], n), given.label[q]] += amount
