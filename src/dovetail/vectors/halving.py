"""A tree of word classes from vectors: all words are parted in two by direction, each part in two again, and so on.

The paths serve as those of Brown's tree do: a prefix of a path is a coarser class. Parting is by k-means of vectors of
length one with two means, which begin on the two sides of the direction in which the words of a part differ most.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int32s
from dovetail.clusters.clustering import Clustering
from dovetail.kernel import steady
from dovetail.vectors.table import VectorTable

DEPTH = 12
FEWEST = 10
"""A part of fewer words is left whole."""


@steady
def _halve(vectors: NDArray[np.float32], order: Int32s, begin: int, end: int, rounds: int, side: Int32s) -> int:
    """Part the words ``order[begin:end]``; ``side`` [words] of each becomes 0 or 1. How many are on side 1."""
    d = vectors.shape[1]
    mean, axis, moved = np.zeros(d), np.zeros(d), np.zeros(d)
    for i in range(begin, end):
        for k in range(d):
            mean[k] += vectors[order[i], k]
    mean /= end - begin
    for k in range(d):
        axis[k] = 1.0 / (1 + k)  # any direction that no data has by design
    for _ in range(rounds):  # power iteration: towards the direction of the greatest variance
        moved[:] = 0.0
        for i in range(begin, end):
            dot = 0.0
            for k in range(d):
                dot += (vectors[order[i], k] - mean[k]) * axis[k]
            for k in range(d):
                moved[k] += dot * (vectors[order[i], k] - mean[k])
        size = np.sqrt((moved * moved).sum())
        if size == 0.0:
            return 0
        axis[:] = moved / size
    centre = (axis * mean).sum()
    means = np.zeros((2, d))
    total = 0
    for _ in range(rounds):
        means[:] = 0.0
        total = 0
        for i in range(begin, end):
            w = order[i]
            dot = 0.0
            for k in range(d):
                dot += vectors[w, k] * axis[k]
            side[w] = 1 if dot > centre else 0
            total += side[w]
            for k in range(d):
                means[side[w], k] += vectors[w, k]
        for s in range(2):
            means[s] /= max(np.sqrt((means[s] * means[s]).sum()), 1e-30)
        axis[:] = means[1] - means[0]  # nearer by cosine to the second mean
        centre = 0.0
    return total


def halved(table: VectorTable, depth: int = DEPTH, fewest: int = FEWEST, rounds: int = 8) -> Clustering:
    """The tree of the words of a table, with paths of up to ``depth`` bits.

    >>> table = VectorTable(list("abcd"), np.array([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], np.float32))
    >>> made = halved(table, depth=1, fewest=2)
    >>> made.path_of("a") == made.path_of("b") != made.path_of("c") == made.path_of("d")
    True
    """
    norms = np.linalg.norm(table.matrix, axis=1, keepdims=True)
    vectors = np.ascontiguousarray(table.matrix / np.maximum(norms, 1e-30), dtype=np.float32)
    order = np.arange(len(table), dtype=np.int32)
    side = np.zeros(len(table), dtype=np.int32)
    parts = [("", 0, len(table))]
    leaves: list[tuple[str, int, int]] = []
    while parts:
        path, begin, end = parts.pop()
        ones = 0
        if len(path) < depth and end - begin >= fewest:
            ones = _halve(vectors, order, begin, end, rounds, side)
        if not 0 < ones < end - begin:
            leaves.append((path, begin, end))
            continue
        words = order[begin:end]
        order[begin:end] = words[np.argsort(side[words], kind="stable")]
        parts += [(path + "1", end - ones, end), (path + "0", begin, end - ones)]
    classes = np.empty(len(table), dtype=np.int32)
    for number, (_, begin, end) in enumerate(leaves):
        classes[order[begin:end]] = number
    return Clustering(table.words, classes, [path for path, _, _ in leaves], np.zeros(len(table), dtype=np.int64))
