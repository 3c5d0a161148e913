"""What the parts of words say of their translations: of rare words it is more than their own few sentences do.

A part of a Chinese or Japanese word is one of its characters, of any other word its first letters, of a short word the
word. With n(u, v) the expected number of links between words with the parts u and v, less those of the pair of words
itself, and n(u) that of all with u::

    q(t | s) = mean over u in s of  sum over v in t of  n(u, v) / (n(u) + 1) * count(t) / count(v)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dovetail.arrays import Floats, Int32s, Int64s, Integers, pointers, taken
from dovetail.models.aligner.lexicon_kernels import Singles

LETTERS = 4
NEGLIGIBLE = 0.01
"""Pairs of words that are expected to be linked less often do not count for their parts."""


class Parts(NamedTuple):
    """The parts of the words of a vocabulary: those of word w are ``part[begin[w] : begin[w + 1]]``."""

    begin: Int64s  # [words + 1]
    part: Int32s
    names: list[str]


class PartCounts(NamedTuple):
    """Expected links between parts: ``key`` is ``u * targets + v``, in order."""

    key: Int64s
    links: Floats
    targets: int
    of_source: Floats  # [source parts]
    of_target: Floats  # [target parts]


def parts_of(word: str, letters: int = LETTERS) -> list[str]:
    """The parts of a word, each once.

    >>> parts_of("土卫六"), parts_of("houses"), parts_of("is")
    (['土', '卫', '六'], ['hous'], ['is'])
    """
    if any("\u3400" <= c <= "\u9fff" for c in word):
        return list(dict.fromkeys(word))
    return [word[:letters]]


def parts(words: Sequence[str]) -> Parts:
    """The parts of all words, numbered."""
    number: dict[str, int] = {}
    each = [parts_of(word) for word in words]
    found = [number.setdefault(part, len(number)) for some in each for part in some]
    return Parts(pointers([len(some) for some in each]), np.array(found, np.int32), list(number))


def count_parts(source: Int32s, target: Int32s, count: Singles, of_source: Parts, of_target: Parts) -> PartCounts:
    """Add up the expected links of pairs of words (``source``, ``target``, ``count``, [pairs] each) by their parts."""
    some = np.flatnonzero(count > NEGLIGIBLE)
    keys, which = _keys(source[some], target[some], of_source, of_target, len(of_target.names))
    key, inverse = np.unique(keys, return_inverse=True)
    return PartCounts(
        key,
        _sums(inverse, count[some][which], len(key)),
        len(of_target.names),
        _totals(of_source, source, count),
        _totals(of_target, target, count),
    )


def _sums(which: Integers, weight: Singles, size: int) -> Floats:
    """The sum of the weights of each of ``size`` numbers."""
    return np.bincount(which, weight, size).astype(np.float64)  # with weights it counts in these anyway


def _totals(of: Parts, word: Int32s, count: Singles) -> Floats:
    places, begin = taken(of.begin, word)
    return _sums(of.part[places], np.repeat(count, np.diff(begin)), len(of.names))


def _keys(source: Int32s, target: Int32s, of_source: Parts, of_target: Parts, targets: int) -> tuple[Int64s, Int32s]:
    """A key for each part of the source with each part of the target of each pair, and which pair it is of."""
    places, begin = taken(of_source.begin, source)
    pair = np.repeat(np.arange(len(source), dtype=np.int32), np.diff(begin))
    u = of_source.part[places].astype(np.int64)
    places, begin = taken(of_target.begin, target[pair])
    again = np.repeat(np.arange(len(pair), dtype=np.int32), np.diff(begin))
    return u[again] * targets + of_target.part[places], pair[again]


def likenesses(
    source: Int32s, target: Int32s, own: tuple[Singles, Floats, Floats], counts: PartCounts,
    sides: tuple[Parts, Parts], seen: tuple[Int64s, Int64s],
) -> tuple[Singles, Singles]:  # fmt: skip
    """``q(t | s)`` and ``q(s | t)`` of pairs of words: [pairs] each.

    ``own`` is what the pair itself [pairs], its source word [source words] and its target word [target words] have
    given to ``counts``; ``seen`` is how often the words of each side occur.
    """
    keys, which = _keys(source, target, *sides, counts.targets)
    at = np.minimum(np.searchsorted(counts.key, keys), max(len(counts.key) - 1, 0))
    both = np.where(counts.key[at] == keys, counts.links[at], 0.0) if len(counts.key) else np.zeros(len(keys))
    both = np.maximum(both - own[0][which], 0.0)
    u, v = keys // counts.targets, keys % counts.targets
    forward = _share(both, counts.of_source[u] - own[1][source[which]], target[which], v, sides[1], seen[1])
    backward = _share(both, counts.of_target[v] - own[2][target[which]], source[which], u, sides[0], seen[0])
    parts_s, parts_t = np.diff(sides[0].begin)[source], np.diff(sides[1].begin)[target]
    return (
        (np.bincount(which, forward, len(source)) / np.maximum(parts_s, 1)).astype(np.float32),
        (np.bincount(which, backward, len(source)) / np.maximum(parts_t, 1)).astype(np.float32),
    )


def _share(both: Floats, others: Floats, word: Int32s, part: Int64s, of: Parts, seen: Int64s) -> Floats:
    """``n(u, v) / (n(u) + 1) * count(word) / count(v)``."""
    of_part = np.bincount(of.part, np.repeat(seen, np.diff(of.begin)), len(of.names))
    return both / (np.maximum(others, 0.0) + 1.0) * seen[word] / np.maximum(of_part[part], 1.0)
