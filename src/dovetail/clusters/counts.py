"""How often each word is followed by each other: all that a class-based bigram model needs to know of a text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np

from dovetail.arrays import Int32s, Int64s, Integers
from dovetail.errors import DovetailError, InputError
from dovetail.text.documents import blocks
from dovetail.text.files import Source, open_text, source_names

PAIRS_HELD = 1 << 22
"""So many pairs of neighbours are gathered before they are sorted and added to the counts."""
LONGEST_WORD = 1 << 20
"""A longer run without white space means that this text is not split into words; it would fill the memory."""


class Neighbours(NamedTuple):
    """The words on one side of each word w: ``other[start[w]:start[w + 1]]``, in order, each so many ``times``."""

    start: Int64s  # [words + 1]
    other: Int32s  # [bigrams]
    times: Int64s  # [bigrams]


class Bigrams(NamedTuple):
    """Who stands beside whom: the words that follow each word, and those that precede it."""

    after: Neighbours
    before: Neighbours


@dataclass(frozen=True)
class BigramCounts:
    """Words, most frequent first (equals by first appearance), and how often one follows another.

    ``count`` [words]; the words that follow word w are ``follower[indptr[w]:indptr[w + 1]]`` [pairs], each ``times``
    [pairs] often. ``tokens`` is the length of the text, words that were left out included: a pair is counted only
    where both words are kept, side by side.

    >>> counts = count_bigrams_of([["a", "b"], ["a", "b", "a"]])
    >>> counts.words, counts.count.tolist(), counts.tokens
    (['a', 'b'], [3, 2], 5)
    >>> counts.indptr.tolist(), counts.follower.tolist(), counts.times.tolist()
    ([0, 1, 2], [1, 0], [2, 2])
    """

    words: list[str]
    count: Int64s
    indptr: Int64s
    follower: Int32s
    times: Int64s
    tokens: int

    @classmethod
    def of_pairs(
        cls, words: list[str], count: Int64s, pairs: tuple[Int64s, Integers, Integers], tokens: int
    ) -> BigramCounts:
        """From pairs in order of their first words: the first words, the second ones, and how often each comes."""
        first, second, times = pairs
        indptr = np.searchsorted(first, np.arange(len(words) + 1)).astype(np.int64)
        return cls(words, count, indptr, second.astype(np.int32), times.astype(np.int64), tokens)

    def both_ways(self) -> Bigrams:
        """The words that follow each word, as they are, and likewise those that precede it.

        >>> count_bigrams_of([["a", "b", "c", "b"]]).both_ways().before.other.tolist()
        [1, 2, 0]
        """
        # The pairs are in order of the first word, so a stable sort by the second leaves each group in order.
        order = np.argsort(self.follower, kind="stable")
        first = np.repeat(np.arange(len(self.words), dtype=np.int32), np.diff(self.indptr))
        start = np.searchsorted(self.follower[order], np.arange(len(self.words) + 1)).astype(np.int64)
        after = Neighbours(self.indptr, self.follower, self.times)
        return Bigrams(after, Neighbours(start, first[order], self.times[order]))


def count_bigrams(
    paths: Source | list[Source] | tuple[Source, ...], *, sentences: Iterable[Sequence[str]] = (), min_count: int = 1,
    max_types: int | None = None, encoding: str = "utf-8", progress: Callable[[int], None] | None = None,
) -> BigramCounts:  # fmt: skip
    """Count words and neighbours in one or several texts, read as one running text, words separated by white space.

    ``sentences`` are more text, read after the files. Words seen fewer than ``min_count`` times are left out, and
    beyond ``max_types`` the rarest. ``progress`` is told the number of words read so far. The text is read in
    pieces: memory is for the types (about 150 bytes each) and the distinct pairs of neighbours (about 60 bytes each
    while they are merged and sorted), not for the text.

    >>> import io
    >>> count_bigrams(io.StringIO("a rose is a rose")).words
    ['a', 'rose', 'is']
    """
    sources = paths if isinstance(paths, (list, tuple)) else [paths]
    counter = _Counter()
    for source in sources:
        _count_text(counter, source, encoding, progress)
    for piece in blocks(chain.from_iterable(sentences), 1 << 16):
        counter.add(piece)
    if not counter.tokens:
        raise InputError("no words in this text; give one of words separated by white space", source_names(sources))
    return counter.result(min_count, max_types)


def count_bigrams_of(
    sentences: Iterable[Sequence[str]], *, min_count: int = 1, max_types: int | None = None
) -> BigramCounts:
    """Count words and neighbours in sentences, read as one running text.

    >>> count_bigrams_of([["a", "b"], ["a"]]).times.tolist()
    [1, 1]
    """
    return count_bigrams([], sentences=sentences, min_count=min_count, max_types=max_types)


def _count_text(counter: _Counter, source: Source, encoding: str, progress: Callable[[int], None] | None) -> None:
    for words in words_of(source, encoding):
        counter.add(words)
        if progress is not None:
            progress(counter.tokens)


def words_of(source: Source, encoding: str = "utf-8", line_end: str = " ") -> Iterator[list[str]]:
    """The words of a text, separated by white space, in pieces; ``line_end`` stands in the place of a line's end."""
    held = ""  # a word whose end is not yet read
    with open_text(source, encoding) as reader:
        for block in reader.blocks():
            text = held + block
            words = (text if line_end == " " else text.replace("\n", f" {line_end} ")).split()
            held = words.pop() if words and not text[-1].isspace() else ""
            if len(held) > LONGEST_WORD:
                raise InputError(
                    f"a word of over {LONGEST_WORD:,} characters; words must be separated by white space", reader.name
                )
            yield words
    if held:
        yield [held]


class Tally:
    """How often each of some 64-bit keys was given: gathered, and now and then sorted and merged.

    ``keys`` [distinct] in order and ``times`` [distinct], once ``merge`` was called.

    >>> tally = Tally()
    >>> tally.add(np.array([7, 3, 7]))
    >>> tally.merge()
    >>> tally.keys.tolist(), tally.times.tolist()
    ([3, 7], [1, 2])
    """

    def __init__(self) -> None:
        self.keys = np.empty(0, dtype=np.int64)
        self.times = np.empty(0, dtype=np.int64)
        self._held: list[Int64s] = []
        self._held_size = 0

    def add(self, keys: Int64s) -> None:
        """Count some more."""
        self._held.append(keys)
        self._held_size += len(keys)
        if self._held_size >= max(PAIRS_HELD, len(self.keys)):  # so that merging costs no more than sorting
            self.merge()

    def merge(self) -> None:
        """Add what was gathered to the counts."""
        keys, times = np.unique(np.concatenate([*self._held, np.empty(0, np.int64)]), return_counts=True)
        self._held, self._held_size = [], 0
        self.keys, self.times = _summed(np.concatenate([self.keys, keys]), np.concatenate([self.times, times]))


class Numbers(defaultdict[str, int]):
    """Words numbered by first appearance."""

    def __init__(self) -> None:
        super().__init__()
        self.default_factory = self.__len__

    def of(self, words: Sequence[str]) -> Int64s:
        """The number of each word, new ones among them. Shape [words]."""
        return np.fromiter(map(self.__getitem__, words), dtype=np.int64, count=len(words))


class _Counter:
    """Words as they come, numbered by first appearance, and pairs of neighbours."""

    def __init__(self) -> None:
        self.number = Numbers()
        self.tokens = 0
        self.last = np.empty(0, dtype=np.int64)
        self.pairs = Tally()

    def add(self, words: list[str]) -> None:
        """The next words of the text."""
        if not words:
            return
        numbers = self.number.of(words)
        self.tokens += len(words)
        run = np.concatenate([self.last, numbers])
        self.last = numbers[-1:].copy()
        self.pairs.add(run[:-1] << 32 | run[1:])

    def result(self, min_count: int, max_types: int | None) -> BigramCounts:
        """The counts, words by frequency; the counter is used up."""
        self.pairs.merge()
        first, second, times = self.pairs.keys >> 32, self.pairs.keys & 0xFFFFFFFF, self.pairs.times
        count = np.zeros(len(self.number), dtype=np.int64)
        np.add.at(count, second, times)
        count[0] += 1  # the text's first word follows none, and it has the first number
        order = np.argsort(-count, kind="stable")
        kept = order[: np.searchsorted(-count[order], -min_count, side="right")][:max_types]
        if not len(kept):
            raise DovetailError(f"no word is seen {min_count:,} times or more; give a lower min_count")
        rank = np.full(len(count), -1, dtype=np.int64)
        rank[kept] = np.arange(len(kept))
        first, second = rank[first], rank[second]
        both = (first >= 0) & (second >= 0)
        first, second, times = first[both], second[both], times[both]
        by_row = np.argsort(first << 32 | second)
        names = list(self.number)
        pairs = first[by_row], second[by_row], times[by_row]
        return BigramCounts.of_pairs([names[number] for number in kept.tolist()], count[kept], pairs, self.tokens)


def _summed(keys: Int64s, times: Int64s) -> tuple[Int64s, Int64s]:
    """The distinct keys in order, with the sum of the times of each."""
    order = np.argsort(keys, kind="stable")  # two sorted runs: the stable sort merges them
    keys, times = keys[order], times[order]
    start = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[start], np.add.reduceat(times, start)
