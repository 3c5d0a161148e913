"""Long documents sentence by sentence: anchors that are sure, and windows between them, so that memory is bounded.

An anchor is a word that stands once in either document and is the same in both, or known to be a translation. Those
that rise in both documents, and have others close by, are kept (their longest rising row). A window begins where the
last one was cut, and ends at the furthest anchor that it has room for; without one its end is free. It is cut where its
beads are surest, well before its end, and the next one begins there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from dovetail.arrays import Int32s, Int64s
from dovetail.models.aligner.corpus import Bitext, Side, frequencies
from dovetail.text.bitext import Pair

MOST = 1_500_000
"""The product of the numbers of sentences of both sides of a window."""
SMALL = 40_000
"""The same of a window that ends at an anchor, if there is one so near."""
CLOSE, ASIDE = 30, 10
"""Anchors support each other that are so many sentences apart, and differ by so few in how far they have come."""
STEADY = 5
"""A window is cut where so many beads on either side are surest together."""


class Bead(NamedTuple):
    """Sentences that are translations of each other: none, one or two of each side, as ranges ``[begin, end)``."""

    source: tuple[int, int]
    target: tuple[int, int]
    confidence: float
    """The probability that just these sentences are each other's translation."""

    def pair(self, source: Sequence[tuple[str, ...]], target: Sequence[tuple[str, ...]]) -> Pair:
        """The words of both sides."""
        return Pair(sum(source[slice(*self.source)], ()), sum(target[slice(*self.target)], ()))

    def moved(self, source: int, target: int) -> Bead:
        """The same so many sentences further on."""
        (a, b), (c, d) = self.source, self.target
        return Bead((a + source, b + source), (c + target, d + target), self.confidence)


class Window(NamedTuple):
    """Sentences ``[begin, end)`` of both sides, and whether beads may stop before one of the ends."""

    source: tuple[int, int]
    target: tuple[int, int]
    free: bool


def anchors(text: Bitext, source: Int32s, target: Int32s) -> Int64s:
    """Sentences that surely belong together, rising on both sides: [anchors, 2].

    source, target: pairs of words that are translations, or the same, by their numbers: [pairs] each.
    """
    once = [frequencies(side, int(max(side.word.max(initial=0), words.max(initial=0))) + 1) == 1
            for side, words in zip(text[:2], (source, target), strict=True)]  # fmt: skip
    both = once[0][source] & once[1][target]
    places = [_sentences(side, len(known))[words[both]]
              for side, known, words in zip(text[:2], once, (source, target), strict=True)]  # fmt: skip
    points = np.unique(np.stack(places, axis=1), axis=0)
    kept = points[_rising(points[:, 1].tolist())]
    return kept[_supported(kept)]


def _sentences(side: Side, words: int) -> Int64s:
    """A sentence that each word stands in: [words]."""
    found = np.zeros(words, np.int64)
    found[side.word] = np.repeat(np.arange(len(side.begin) - 1), np.diff(side.begin))
    return found


def _rising(values: list[int]) -> list[int]:
    """The places of the longest row of values that never falls.

    >>> _rising([5, 1, 2, 9, 3])
    [1, 2, 4]
    """
    ends: list[int] = []
    last: list[int] = []
    before = []
    for place, value in enumerate(values):
        at = bisect_right(ends, value)
        before.append(last[at - 1] if at else -1)
        ends[at : at + 1], last[at : at + 1] = [value], [place]
    found, place = [], last[-1] if last else -1
    while place >= 0:
        found.append(place)
        place = before[place]
    return found[::-1]


def _supported(points: Int64s) -> Int64s:
    """The places of points that have two others of the three on either side close by."""
    support = np.zeros(len(points), np.int64)
    for step in (1, 2, 3):
        apart = np.abs(points[step:] - points[:-step])
        close = (apart.max(axis=1, initial=0) <= CLOSE) & (np.abs(apart[:, 0] - apart[:, 1]) <= ASIDE)
        support[:-step] += close
        support[step:] += close
    return np.flatnonzero(support >= 2)


def in_windows(sizes: tuple[int, int], sure: Int64s, paired: Callable[[Window], list[Bead]]) -> Iterator[Bead]:
    """The beads of documents of so many sentences, window by window; ``paired`` finds those of one, from 0 on."""
    i = j = 0
    while (i, j) != sizes:
        window = _next(i, j, sizes, sure)
        beads = [bead.moved(i, j) for bead in paired(window)]
        if (window.source[1], window.target[1]) != sizes:
            beads = beads[: _cut(beads)]
        yield from beads
        i, j = beads[-1].source[1], beads[-1].target[1]


def _next(i: int, j: int, sizes: tuple[int, int], sure: Int64s) -> Window:
    """The window that begins with sentences i and j."""
    n, m = sizes[0] - i, sizes[1] - j
    way = sure[np.searchsorted(sure[:, 0], i, "right") :] - [i, j]
    way = way[(way.min(axis=1, initial=n + m) > 4 * STEADY) & (way.prod(axis=1) <= MOST)]
    if n * m > min(SMALL, MOST) and len(way):
        near = way[way.prod(axis=1) <= SMALL]
        reached = near[-1] if len(near) else way[0]
        return Window((i, i + int(reached[0])), (j, j + int(reached[1])), False)
    if n * m <= MOST:
        return Window((i, sizes[0]), (j, sizes[1]), False)
    share = np.sqrt(MOST / (n * m))
    return Window((i, i + max(int(n * share), 1)), (j, j + max(int(m * share), 1)), True)


def _cut(beads: list[Bead]) -> int:
    """How many beads to keep: up to where they are surest, between a half and three quarters of them."""
    low, high = len(beads) // 2, max(3 * len(beads) // 4, len(beads) // 2 + 1)
    sure = np.array([bead.confidence * (bead.source[0] < bead.source[1] and bead.target[0] < bead.target[1])
                     for bead in beads])  # fmt: skip
    around = [sure[max(at - STEADY, 0) : at + STEADY].mean() for at in range(low, high)]
    return max(low + int(np.argmax(around)), 1)
