"""What the vector of an unseen word may be, from words that are spelled alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Floats, Int32s
from dovetail.features.algebra.strings import short_type
from dovetail.features.compile import hashing
from dovetail.features.compile.hashing import Keys
from dovetail.features.compile.index import FeatureIndex

LONGEST = 6
"""Prefixes and suffixes of so many characters are learnt."""
RESERVE = 20.0
"""So many words without a deviation are added to those that share an affix."""
MOST = 100_000
"""More words than these teach nothing new, and take time."""

Spelling = Callable[[Sequence[str]], Keys]
"""From words to a key for each, 0 for none."""


@dataclass(frozen=True)
class Step:
    """How words with each of some spellings differ from what shorter spellings say: ``deviation`` [spellings, D]."""

    spelling: Spelling
    index: FeatureIndex
    deviation: NDArray[np.float32]

    def add(self, words: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Move the vectors of words [words, D] by the deviations of their spellings."""
        number = self.index.number(self.spelling(words))
        known = number >= 0
        vectors[known] += self.deviation[number[known]]


@dataclass(frozen=True)
class Subwords:
    """The mean vector of words of one shape, moved by how words with longer and longer affixes differ from that.

    The two ways, by prefixes and by suffixes, are averaged. A deviation is shrunk towards none by ``RESERVE`` words,
    so that what few words share says little.

    >>> words = [f"{stem}{end}" for stem in "abcdefghij" for end in ("ing", "ed")]
    >>> made = Subwords.of(words, np.array([[1.0, 0.0], [0.0, 1.0]] * 10))
    >>> made.of_words(["zing", "zed"]).argmax(axis=1).tolist()
    [0, 1]
    """

    mean: NDArray[np.float32]
    shapes: Step
    prefixes: tuple[Step, ...]
    suffixes: tuple[Step, ...]

    @classmethod
    def of(cls, words: Sequence[str], matrix: NDArray[Any]) -> Subwords:
        """Learn from words and their vectors [words, D]."""
        if len(words) > MOST:
            some = np.linspace(0, len(words) - 1, MOST).astype(np.int64)
            words, matrix = [words[i] for i in some.tolist()], matrix[some]
        matrix = matrix.astype(np.float32)
        mean = matrix.mean(axis=0, dtype=np.float64).astype(np.float32)
        shapes, unlike = _fitted(_shapes, words, matrix - mean)
        steps = []
        for affix in (hashing.prefix_keys, hashing.suffix_keys):
            left, made = unlike, []
            for length in range(1, LONGEST + 1):
                step, left = _fitted(partial(_affixes, affix, length), words, left)
                made.append(step)
            steps.append(tuple(made))
        return cls(mean, shapes, *steps)

    def of_words(self, words: Sequence[str]) -> Floats:
        """What the vectors of these words may be: [words, D]."""
        found = np.tile(self.mean, (len(words), 1))
        self.shapes.add(words, found)
        found *= 2
        for step in (*self.prefixes, *self.suffixes):
            step.add(words, found)
        return found.astype(np.float64) / 2


def _shapes(words: Sequence[str]) -> Keys:
    return hashing.string_keys(list(map(short_type, words)))


def _affixes(affix: Callable[..., hashing.KeyRows], length: int, words: Sequence[str]) -> Keys:
    rows = affix(hashing.pack(words), length, length, hashing.BASIS)
    keys = np.zeros(len(words), dtype=np.uint64)
    keys[np.diff(rows.indptr) > 0] = rows.keys
    return keys


def _fitted(spelling: Spelling, words: Sequence[str], left: NDArray[np.float32]) -> tuple[Step, NDArray[np.float32]]:
    """The mean of what is left to explain [words, D] by spellings that two words share; what is left then."""
    distinct, which, count = np.unique(spelling(words), return_inverse=True, return_counts=True)
    shared = (count > 1) & (distinct != 0)
    place = np.full(len(distinct), -1, dtype=np.int32)
    place[shared] = np.arange(np.count_nonzero(shared), dtype=np.int32)
    deviation = _means(place[which], count[shared], left)
    explained = np.concatenate([deviation, np.zeros((1, left.shape[1]), np.float32)])[place[which]]  # -1 is the zeros
    return Step(spelling, FeatureIndex(distinct[shared]), deviation), left - explained


def _means(place: Int32s, count: NDArray[np.integer], left: NDArray[np.float32]) -> NDArray[np.float32]:
    order = np.argsort(place, kind="stable")
    order = order[np.searchsorted(place[order], 0) :]
    if not len(order):
        return np.empty((0, left.shape[1]), dtype=np.float32)
    begin = np.searchsorted(place[order], np.arange(len(count)))
    total = np.add.reduceat(left[order], begin, axis=0, dtype=np.float64)
    return np.asarray(total / (count + RESERVE)[:, None], dtype=np.float32)
