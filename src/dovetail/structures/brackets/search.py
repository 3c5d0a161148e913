"""The best bracketing, the parts of a given one, and all of them as a hypergraph."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dovetail.kernel import kernel
from dovetail.structures.brackets.parts import Brackets
from dovetail.structures.contract import Floats, Integers
from dovetail.structures.grammar import cell
from dovetail.structures.hypergraph import Hypergraph
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


@lru_cache(maxsize=16)
def bracket_graph(words: int, labels: int) -> Hypergraph:
    """The bracketings of so many words: a span, the shorter first, is split, unless it is a word, and then labelled."""
    begin, end = (each + add for each, add in zip(np.triu_indices(words), (0, 1), strict=True))
    width = end - begin
    split, labelled = np.zeros((2, words + 1, words + 1), np.int64)
    split[begin, end] = 1 + 2 * np.argsort(np.argsort(width, kind="stable"))
    labelled[begin, end] = split[begin, end] + 1
    c, k = np.nonzero((begin[:, None] < np.arange(words)) & (np.arange(words) < end[:, None]))
    below = np.where(width > 1, split[begin, end], 0)
    part = np.arange(len(begin) * labels).reshape(len(begin), labels)
    splits = (split[begin[c], end[c]], labelled[begin[c], k], labelled[k, end[c]], -1)
    return Hypergraph.of(1 + 2 * len(begin), (splits, (labelled[begin, end][:, None], below[:, None], 0, part)))
