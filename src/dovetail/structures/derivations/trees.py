"""The hypergraphs of dependency trees and of bracketings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dovetail.structures.contract import Integers
from dovetail.structures.derivations.hypergraph import NONE, Hypergraph, check_edges, empty

if TYPE_CHECKING:
    from dovetail.structures.projective import ProjectiveBatch


def projective(batch: ProjectiveBatch, sentence: int, most: int | None = None) -> Hypergraph:
    """The projective trees of a sentence, by the items of ``projective/sums.py``: trap, inc and comp.

    ``inc[h, b]`` and ``comp[h, b]`` are the sides of head h up to fence b, open and closed; ``trap[h, d]`` has d as the
    outermost dependent of h.
    """
    words = int(np.diff(batch.offsets)[sentence])
    if words == 0:
        return empty()
    m = words + 1
    check_edges(m**3 // 2, most)
    row = int(batch.places.arcs[sentence])
    attach = batch.potentials.attach[row : row + m * m].reshape(m, m, 2)
    stop = batch.potentials.stop[batch.offsets[sentence] + sentence :][:m]
    trap, inc, comp = 0, m * m, m * m + m * (m + 1)
    head, fence = np.divmod(np.arange(m * (m + 1)), m + 1)
    width = np.where(fence > head, fence - head - 1, head - fence)
    above, below = np.divmod(np.arange(m * m), m)
    level = np.concatenate([3 * np.abs(above - below), 3 * width + 1, 3 * width + 2])
    level[comp + m] = 3 * m  # the root with all words on its right: the last fence is m

    def sides(h: Integers, b: Integers) -> Integers:
        return h * (m + 1) + b

    # A word becomes a dependent: the fence between them may be any up to the dependent.
    h, d, b = (each.ravel() for each in np.meshgrid(np.arange(m), np.arange(1, m), np.arange(1, m), indexing="ij"))
    real = ((h < b) & (b <= d)) | ((d < b) & (b <= h))
    nearest = np.where(d > h, b == h + 1, b == h)
    real &= nearest | (h > 0) | batch.several
    h, d, b, nearest = h[real], d[real], b[real], nearest[real].astype(np.int64)
    heads, tails = [trap + h * m + d], [(inc + sides(h, b), comp + sides(d, b))]
    weights = [attach[h, d, nearest]]
    uses = np.arange(len(h)), 2 * (row + h * m + d) + nearest
    # The outermost dependent is filled up to the fence.
    h, d, b = (each.ravel() for each in np.meshgrid(np.arange(m), np.arange(1, m), np.arange(1, m + 1), indexing="ij"))
    real = ((h < d) & (d < b)) | ((b <= d) & (d < h))
    h, d, b = h[real], d[real], b[real]
    heads.append(inc + sides(h, b))
    tails.append((trap + h * m + d, comp + sides(d, b)))
    weights.append(np.zeros(len(h)))
    # Sides begin empty, and are closed.
    h = np.arange(m)
    for b in (h, h + 1):
        heads.append(inc + sides(h, b))
        tails.append((np.full(m, NONE), np.full(m, NONE)))
        weights.append(np.zeros(m))
    real = (head > 0) | (fence == m)
    h, b = head[real], fence[real]
    heads.append(comp + sides(h, b))
    tails.append((inc + sides(h, b), np.full(len(h), NONE)))
    weights.append(stop[h, (b > h).astype(np.int64), ((b != h) & (b != h + 1)).astype(np.int64)])
    left, right = (np.concatenate([pair[a] for pair in tails]) for a in range(2))
    return Hypergraph.of(level, np.concatenate(heads), (left, right), np.concatenate(weights), {"attach": uses})


def brackets(batch: Any, sentence: int, most: int | None = None) -> Hypergraph:
    """The labelled binary bracketings of a sentence: a span is split, and then labelled."""
    n, labels = int(np.diff(batch.offsets)[sentence]), batch.labels
    if n == 0:
        return empty()
    check_edges(n * (n + 1) // 2 * labels + n**3 // 6, most)
    row = int(batch.rows[sentence])
    begin, end = (each + add for each, add in zip(np.triu_indices(n), (0, 1), strict=True))
    number = np.full((n + 1, n + 1), NONE)
    number[begin, end] = cell = np.arange(len(begin))
    cells, level = len(cell), 2 * (end - begin)
    c, k = (each.ravel() for each in np.meshgrid(cell, np.arange(n), indexing="ij"))
    real = (begin[c] < k) & (k < end[c])
    c, k = c[real], k[real]
    word = cell[end - begin == 1]
    spans, label = (each.ravel() for each in np.meshgrid(cell, np.arange(labels), indexing="ij"))
    table = batch.potentials.span[row : row + cells]
    none = np.full(len(spans), NONE)
    return Hypergraph.of(
        np.concatenate([level, level + 1]),
        np.concatenate([cells + spans, c, word]),
        (
            np.concatenate([spans, cells + number[begin[c], k], none[: len(word)]]),
            np.concatenate([none, cells + number[k, end[c]], none[: len(word)]]),
        ),
        np.concatenate([table.ravel(), np.zeros(len(c) + len(word))]),
        {"span": (np.arange(len(spans)), (row + spans) * labels + label)},
    )
