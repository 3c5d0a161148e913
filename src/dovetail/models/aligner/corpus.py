"""A bitext as numbers: a vocabulary for each side, and the words of each sentence."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dovetail.arrays import Int32s, Int64s
from dovetail.text.bitext import Pair

LONGEST = 5000
"""A sentence with more words is not aligned: the cells of a pair are the product of both lengths."""


class Side(NamedTuple):
    """The sentences of one language: words ``word[begin[k] : begin[k + 1]]`` are those of sentence k."""

    word: Int32s  # [tokens]
    begin: Int64s  # [sentences + 1]


@dataclass
class Vocabulary:
    """Words and their numbers, in the order in which they were first met."""

    number: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, words: Sequence[str]) -> Vocabulary:
        """The vocabulary of these words."""
        return cls({word: i for i, word in enumerate(words)})

    def __len__(self) -> int:
        return len(self.number)

    @property
    def words(self) -> list[str]:
        """The words, by number."""
        return list(self.number)

    def copy(self) -> Vocabulary:
        """One that may grow without this one growing."""
        return Vocabulary(dict(self.number))


class Bitext(NamedTuple):
    """Both sides, and the places of pairs with a side of over ``LONGEST`` words, which count as empty here."""

    source: Side
    target: Side
    too_long: list[int]

    def __len__(self) -> int:
        return len(self.source.begin) - 1


def numbered(pairs: Iterable[Pair], source: Vocabulary, target: Vocabulary, lowercase: bool = True) -> Bitext:
    """The pairs as numbers; new words are added to the vocabularies.

    >>> source, target = Vocabulary(), Vocabulary()
    >>> text = numbered([Pair(("Das", "Haus"), ("the", "house")), Pair(("das",), ())], source, target)
    >>> text.source.word.tolist(), text.source.begin.tolist(), target.words
    ([0, 1, 0], [0, 2, 3], ['the', 'house'])
    """
    sides = _Numbers(source, lowercase), _Numbers(target, lowercase)
    too_long = []
    for k, pair in enumerate(pairs):
        if max(len(pair.source), len(pair.target)) > LONGEST:
            too_long.append(k)
            pair = Pair((), ())
        for side, words in zip(sides, pair, strict=True):
            side.add(words)
    return Bitext(sides[0].side(), sides[1].side(), too_long)


class _Numbers:
    """The words of one side on their way into arrays."""

    def __init__(self, vocabulary: Vocabulary, lowercase: bool) -> None:
        self.known, self.lowercase = vocabulary.number, lowercase
        self.word, self.begin = array("i"), array("q", [0])

    def add(self, words: Sequence[str]) -> None:
        known: dict[str, int] = self.known
        each = [word.lower() for word in words] if self.lowercase else words
        self.word.extend([known.setdefault(word, len(known)) for word in each])
        self.begin.append(len(self.word))

    def side(self) -> Side:
        return Side(np.array(self.word, np.int32), np.array(self.begin, np.int64))


def frequencies(side: Side, words: int) -> Int64s:
    """How often each word occurs: [words]."""
    return np.bincount(side.word, minlength=words)


Told = Callable[[str, int, int], None]
"""Told what is being done, and how much of it is done, of how much (of 0 where that is not known)."""


def silent(what: str, done: int = 0, of: int = 0) -> None:
    """Tell nobody."""
