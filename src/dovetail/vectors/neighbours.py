"""How often each word stands so many places before another: what word vectors are made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dovetail.arrays import Int64s
from dovetail.clusters.counts import Numbers, Tally, words_of
from dovetail.errors import InputError
from dovetail.text.files import Source, source_names

EDGE = "\0"
"""What stands between two lines: a neighbour like words, that no window looks past."""


@dataclass(frozen=True)
class NeighbourCounts:
    """Words by first appearance, the edge of a line the first of them, and pairs of them by their distance.

    ``count`` [words], 0 for the edge; ``pairs[d]`` has the keys ``first << 32 | second`` [pairs] in order, of words
    d + 1 places apart, and how ``times`` [pairs] often each comes.

    >>> counts = count_neighbours_of([["a", "b"], ["a"]], window=1)
    >>> counts.words[1:], counts.count.tolist()
    (['a', 'b'], [0, 2, 1])
    >>> [(int(key) >> 32, int(key) & 0xFFFF) for key in counts.pairs[0].keys]
    [(0, 1), (1, 0), (1, 2), (2, 0)]
    """

    words: list[str]
    count: Int64s
    pairs: list[Tally]

    @property
    def tokens(self) -> int:
        """The number of words of the text."""
        return int(self.count.sum())


def count_neighbours(
    paths: Sequence[Source], window: int = 2, encoding: str = "utf-8", progress: Callable[[int], None] | None = None
) -> NeighbourCounts:
    """Count words and their neighbours up to ``window`` places away in plain or gzip texts; lines are sentences.

    The text is read in pieces: memory is for the types and the distinct pairs, about 16 bytes each. ``progress`` is
    told the number of words read so far.
    """
    counter = _Counter(window)
    for path in paths:
        counter.add([EDGE])
        for words in words_of(path, encoding, line_end=EDGE):
            counter.add(words)
            if progress is not None:
                progress(int(counter.count[1:].sum()))
    counter.add([EDGE])
    found = counter.result()
    if len(found.words) < 2:
        raise InputError("no words in this text; give one of words separated by white space", source_names(paths))
    return found


def count_neighbours_of(sentences: Iterable[Sequence[str]], window: int = 2) -> NeighbourCounts:
    """The same for sentences."""
    counter = _Counter(window)
    for sentence in sentences:
        counter.add([EDGE, *sentence])
    counter.add([EDGE])
    return counter.result()


class _Counter:
    def __init__(self, window: int) -> None:
        self.number = Numbers()
        self.number.of([EDGE])
        self.count = np.zeros(1, dtype=np.int64)
        self.last = np.empty(0, dtype=np.int64)
        self.pairs = [Tally() for _ in range(window)]

    def add(self, words: Sequence[str]) -> None:
        """The next words of the text."""
        new = self.number.of(words)
        counts = np.bincount(new, minlength=len(self.count))
        counts[: len(self.count)] += self.count
        self.count = counts
        run = np.concatenate([self.last, new])
        edges = np.concatenate([[0], np.cumsum(run == 0)])  # how many there are before each place
        for gap, tally in enumerate(self.pairs, 1):
            # Pairs whose second word is new; those before were counted with it.
            second = np.arange(max(len(self.last), gap), len(run))
            first = second - gap
            seen = edges[second] == edges[first + 1]  # no edge in between
            seen &= (run[first] != 0) | (run[second] != 0)
            first, second = first[seen], second[seen]
            tally.add(run[first] << 32 | run[second])
        self.last = run[len(run) - min(len(run), len(self.pairs)) :].copy()

    def result(self) -> NeighbourCounts:
        """The counts; the counter is used up."""
        for tally in self.pairs:
            tally.merge()
        self.count[0] = 0
        return NeighbourCounts(list(self.number), self.count, self.pairs)
