"""How well the types of two linked words suit each other, counted in text whose types are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dovetail.models.consistency.links import KINDS, Links

Floats = NDArray[np.float64]
MOST = 1.0  # what comes together gains no more than that: rare types would gain by far the most
FEWEST = 20  # links of a kind in training, or it is left alone
TWO_WAY = (0, 2, 3)  # kinds of links that have no direction


def counted(links: Links, types: NDArray[np.int64], count: int) -> Floats:
    """How often the types of linked words come together, [kinds, T, T]; types: [N], -1 where unknown."""
    counts = np.zeros((len(KINDS), count, count))
    left, right = types[links.first], types[links.second]
    known = (left >= 0) & (right >= 0)
    np.add.at(counts, (links.kind[known], left[known], right[known]), 1.0)
    for kind in TWO_WAY:
        counts[kind] += counts[kind].T
    return counts


def association(counts: Floats, smoothing: float = 0.5) -> Floats:
    """``log p(a, b) / (p(a) p(b))``: above zero for what comes together, below for what does not. [kinds, T, T].

    Kinds of links with few examples say nothing. Gains are cut at ``MOST``: without it, forms of seminars found fewer
    of their rooms, and newspapers gained nothing by more.
    """
    p = counts + smoothing
    p /= p.sum(axis=(1, 2), keepdims=True)
    table: Floats = np.log(p) - np.log(p.sum(axis=2, keepdims=True)) - np.log(p.sum(axis=1, keepdims=True))
    table[counts.sum(axis=(1, 2)) < FEWEST] = 0.0
    return np.minimum(table, MOST)


def penalties(counts: Floats, outside: int, reward: float = 0.0) -> Floats:
    """Penalties as in Finkel, Grenager and Manning (2005), for pairs of types that differ; O never has one.

    For the same phrase the square root of p(b | a) p(a | b), for parts of phrases p(part | phrase); counts of zero are
    taken for one. ``reward`` is added for the same type (Wang 2014: log 2).
    """
    table = np.zeros_like(counts)
    names = np.delete(np.arange(counts.shape[1]), outside)
    inner = np.ix_(names, names)
    for kind in range(len(counts)):
        if counts[kind].sum() < FEWEST:
            continue
        own = np.maximum(counts[kind][inner], 1.0)
        forth = np.log(own / own.sum(axis=1, keepdims=True))
        back = np.log(own / own.sum(axis=0, keepdims=True))
        both = (forth + back) / 2 if kind in TWO_WAY else forth
        table[kind][inner] = np.where(np.eye(len(names), dtype=bool), reward, both)
    return table
