"""Vectors of the words of a text: what stands beside them, by pointwise mutual information, in few dimensions.

The matrix has a row for every word and a column for every neighbour at every distance, left and right apart::

    M[w, (c, d)] = max(0, log P(w, c, d) / (P(w) P_s(c, d)) - log shift)     P_s(c, d) ~ count(c, d) ** smoothing

Its first left singular vectors, each times its singular value to the power ``weight``, are the vectors (Levy, Goldberg
and Dagan 2015).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dovetail.arrays import Int64s
from dovetail.errors import DovetailError
from dovetail.vectors.neighbours import NeighbourCounts
from dovetail.vectors.svd import Sparse, truncated_svd
from dovetail.vectors.table import VectorTable


def embed(
    counts: NeighbourCounts, dimensions: int = 50, *, min_count: int = 3, contexts: int = 20_000,
    smoothing: float = 0.75, shift: float = 1.0, weight: float = 0.5, seed: int = 0, threads: int = 1,
    bag: bool = False, told: Callable[[str], None] | None = None,
) -> VectorTable:  # fmt: skip
    """The vectors of the words seen ``min_count`` times or more, most frequent first.

    Neighbours are the ``contexts`` most frequent words, and the edge of a line.
    """
    tell = told or (lambda _: None)
    order = np.argsort(-counts.count, kind="stable")
    kept = order[: np.searchsorted(-counts.count[order], -min_count, side="right")]
    if not len(kept):
        raise DovetailError(f"no word is seen {min_count:,} times or more; give a lower --min-count")
    tell("weighing neighbours")
    matrix = information(counts, kept, order[:contexts], smoothing, shift, bag)
    tell(f"finding {dimensions} dimensions of {len(kept):,} words")
    vectors, values = truncated_svd(matrix, dimensions, seed, threads=threads)
    return VectorTable([counts.words[w] for w in kept.tolist()], (vectors * values**weight).astype(np.float32))


def information(
    counts: NeighbourCounts, words: Int64s, neighbours: Int64s, smoothing: float, shift: float, bag: bool = False
) -> Sparse:
    """Positive pointwise mutual information of words [rows] with their neighbours at each place [columns].

    The columns are those of the edge and of ``neighbours``, one place before the word, one after it, two before it, ...
    """
    row = _ranks(words, len(counts.words))
    column = _ranks(np.concatenate([[0], neighbours]), len(counts.words))
    width = len(neighbours) + 1
    rows, columns, values = [], [], []
    for gap, pairs in enumerate(counts.pairs):
        first, second = pairs.keys >> 32, pairs.keys & 0xFFFFFFFF
        for side, (word, other) in enumerate([(second, first), (first, second)]):
            r, c = row[word], column[other]
            seen = (r >= 0) & (c >= 0)
            times = pairs.times[seen].astype(np.float64)
            r, c = r[seen], c[seen]
            rows.append(r)
            columns.append(c + (0 if bag else (2 * gap + side) * width))
            values.append(times)
    r, c, n = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    places = 1 if bag else 2 * len(counts.pairs)
    if bag:
        key = r << 32 | c
        key, inverse = np.unique(key, return_inverse=True)
        n = np.bincount(inverse, n)
        r, c = key >> 32, key & 0xFFFFFFFF
    total = np.bincount(c, n, minlength=width * places)
    smooth = total**smoothing
    share = smooth / np.repeat(np.maximum(smooth.reshape(places, width).sum(axis=1), 1e-300), width)
    of_word = counts.count[words].astype(np.float64) * (2 * len(counts.pairs) if bag else 1)
    value = np.log(n / (of_word[r] * share[c])) - np.log(shift)
    some = value > 0
    return Sparse.of(r[some], c[some], value[some], (len(words), width * places))


def _ranks(which: Int64s, size: int) -> Int64s:
    """The place of each number in ``which``, -1 for those that are not there. Shape [size]."""
    rank = np.full(size, -1, dtype=np.int64)
    rank[which] = np.arange(len(which))
    return rank
