"""Which sentences of two documents are translations: all ways to cut both into beads, summed and searched."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Floats, Int32s, Int64s, Integers
from dovetail.kernel import inner, kernel

KINDS = 6
"""Beads have (1, 1), (1, 0), (0, 1), (2, 1), (1, 2) or (2, 2) sentences."""
VARIANCE = 6.8  # of the difference of lengths, for each character (Gale and Church 1993)


@kernel
def shared_words(
    begin: Int64s, word: Int32s, first: Int64s, translation: Int32s, others_begin: Int64s, others: Int32s, words: int,
    out: NDArray[np.float32],
) -> None:  # fmt: skip
    """How many words of each target sentence have a translation in each source sentence: ``out`` [n, m].

    The translations of source word s are ``translation[first[s] : first[s + 1]]``, of ``words`` target words.
    """
    mark = np.full(words, -1, np.int32)
    for i in range(len(begin) - 1):
        for x in range(begin[i], begin[i + 1]):
            for y in range(first[word[x]], first[word[x] + 1]):
                mark[translation[y]] = i
        for j in range(len(others_begin) - 1):
            found = 0
            for x in range(others_begin[j], others_begin[j + 1]):
                found += mark[others[x]] == i
            out[i, j] = found


@kernel
def shared_of_pairs(
    place: Int64s, begin: Int64s, word: Int32s, first: Int64s, translation: Int32s, others_begin: Int64s,
    others: Int32s, words: int,
) -> int:  # fmt: skip
    """The same of some pairs of sentences, ``place`` [pairs, 2], added up."""
    mark, found = np.full(words, -1, np.int32), 0
    for k in range(len(place)):
        i, j = place[k]
        for x in range(begin[i], begin[i + 1]):
            for y in range(first[word[x]], first[word[x] + 1]):
                mark[translation[y]] = k
        for x in range(others_begin[j], others_begin[j + 1]):
            found += mark[others[x]] == k
    return found


@inner
def by_length(a: float, b: float, ratio: float) -> Any:
    """The log of how likely lengths, in characters, differ as much as these or more."""
    scale = math.sqrt(max((a + b / ratio) / 2, 1.0) * VARIANCE)
    return math.log(max(math.erfc(abs(b - a * ratio) / scale / math.sqrt(2.0)), 1e-12))


@inner
def evidence(found: float, size: float, rates: Floats) -> Any:
    """The log ratio of so many words with translations among so many, at their rates in translations and elsewhere."""
    found = min(found, size)
    return found * math.log(rates[0] / rates[1]) + (size - found) * math.log((1.0 - rates[0]) / (1.0 - rates[1]))


@inner
def bead_score(
    kind: int, i: int, j: int, length: Integers, other: Integers, size: Integers, shared: NDArray[np.float32],
    rates: Floats, ratio: float, prior: Floats,
) -> Any:  # fmt: skip
    """The log score of the bead of a kind that begins at sentences i and j.

    ``rates`` [2, 2] are those of `evidence`, with one source sentence and with two.
    """
    if kind == 1 or kind == 2:
        return prior[kind]
    a, b = 1.0 * length[i], 1.0 * other[j]
    found, words = 0.0, 1.0 * size[j]
    if shared.shape[0]:
        found = shared[i, j]
    if kind == 3 or kind == 5:
        a += length[i + 1]
        if shared.shape[0]:
            found = max(found, shared[i + 1, j]) + 0.5 * min(found, shared[i + 1, j])
    if kind == 4 or kind == 5:
        b += other[j + 1]
        words += size[j + 1]
        if shared.shape[0]:
            more = shared[i, j + 1]
            if kind == 5:
                more = max(more, shared[i + 1, j + 1]) + 0.5 * min(more, shared[i + 1, j + 1])
            found += more
    score = prior[kind] + by_length(a, b, ratio)
    return score + evidence(found, words, rates[1 if kind == 3 or kind == 5 else 0]) if shared.shape[0] else score


@kernel
def beads(
    length: Integers, other: Integers, size: Integers, shared: NDArray[np.float32], rates: Floats, ratio: float,
    prior: Floats, free: bool,
) -> tuple[NDArray[np.int8], Floats, Floats, tuple[int, int]]:  # fmt: skip
    """The best last bead [n + 1, m + 1], log sums to and from each place, and where the best path ends.

    ``length`` [n], ``other`` [m] are lengths in characters, ``size`` [m] in words, ``prior`` [KINDS] logs. Paths end
    with both sides; or, where that is ``free``, as soon as one of them ends.
    """
    n, m = len(length), len(other)
    high = np.array([1, 1, 0, 2, 1, 2])
    wide = np.array([1, 0, 1, 1, 2, 2])
    best = np.full((n + 1, m + 1), -np.inf)
    total = np.full((n + 1, m + 1), -np.inf)
    kinds = np.full((n + 1, m + 1), -1, np.int8)
    best[0, 0] = total[0, 0] = 0.0
    for i in range(n + 1):
        for j in range(m + 1):
            for kind in range(KINDS):
                a, b = i - high[kind], j - wide[kind]
                if a < 0 or b < 0 or (free and (a == n or b == m)):
                    continue
                score = bead_score(kind, a, b, length, other, size, shared, rates, ratio, prior)
                if best[a, b] + score > best[i, j]:
                    best[i, j] = best[a, b] + score
                    kinds[i, j] = kind
                total[i, j] = np.logaddexp(total[i, j], total[a, b] + score)
    after = np.full((n + 1, m + 1), -np.inf)
    after[n, m] = 0.0
    end = (n, m)
    for i in range(n + 1 if free else 0):
        after[i, m] = 0.0
        if best[i, m] > best[end]:
            end = (i, m)
    for j in range(m + 1 if free else 0):
        after[n, j] = 0.0
        if best[n, j] > best[end]:
            end = (n, j)
    for i in range(n, -1, -1):
        for j in range(m, -1, -1):
            if free and (i == n or j == m):
                continue
            for kind in range(KINDS):
                a, b = i + high[kind], j + wide[kind]
                if a <= n and b <= m:
                    score = bead_score(kind, i, j, length, other, size, shared, rates, ratio, prior)
                    after[i, j] = np.logaddexp(after[i, j], score + after[a, b])
    return kinds, total, after, end


@kernel
def bead_scores(
    places: Int64s, length: Integers, other: Integers, size: Integers, shared: NDArray[np.float32], rates: Floats,
    ratio: float, prior: Floats,
) -> Floats:  # fmt: skip
    """The log score of each bead of ``places`` [beads, 3]: its kind, and the sentences where it begins."""
    found = np.empty(len(places))
    for x in range(len(places)):
        found[x] = bead_score(
            places[x, 0], places[x, 1], places[x, 2], length, other, size, shared, rates, ratio, prior
        )
    return found
