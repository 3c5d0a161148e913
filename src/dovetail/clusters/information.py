"""What classes of words tell of the text."""

from __future__ import annotations

import numpy as np

from dovetail.arrays import Floats, Int32s, Int64s
from dovetail.clusters.counts import BigramCounts
from dovetail.errors import DovetailError


def class_pairs(counts: BigramCounts, classes: Int32s, number: int | None = None) -> Int64s:
    """How often a word of one class is followed by one of another. ``classes`` [words], -1 for none; result [k, k]."""
    k = int(classes.max(initial=-1)) + 1 if number is None else number
    first = np.repeat(classes, np.diff(counts.indptr)).astype(np.int64)
    second = classes[counts.follower]
    both = (first >= 0) & (second >= 0)
    cells = first[both] * k + second[both]
    # Sums of whole numbers in double precision are exact up to 2 ** 53.
    return np.bincount(cells, counts.times[both], k * k).astype(np.int64).reshape(k, k)


def mutual_information(counts: BigramCounts, classes: Int32s) -> float:
    """The average mutual information of adjacent classes, in nats. ``classes`` [words].

    >>> from dovetail.clusters.counts import count_bigrams_of
    >>> counts = count_bigrams_of(["abab" "abab" "a"])
    >>> round(mutual_information(counts, np.array([0, 1], dtype=np.int32)), 4)  # log 2: the next class is certain
    0.6931
    """
    if len(classes) != len(counts.words):
        raise DovetailError(f"{len(classes)} classes for {len(counts.words)} words; there must be one for each")
    pairs = class_pairs(counts, classes).astype(np.float64)
    total = max(pairs.sum(), 1.0)
    seen = pairs[pairs > 0]
    return float(_entropy(pairs.sum(0), total) + _entropy(pairs.sum(1), total) - _entropy(seen, total))


def _entropy(times: Floats, total: float) -> float:
    share = times[times > 0] / total
    return float(-(share * np.log(share)).sum())
