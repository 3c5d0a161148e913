"""Pairs of sentences with their links, some at a time, as flat arrays."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from dovetail.arrays import offsets_of
from dovetail.errors import InputError
from dovetail.structures.contract import Floats, Integers
from dovetail.text.bitext import Pair
from dovetail.text.links import Link, check_within

WORDS = 100_000
"""So many words of both languages at once."""
MISSING = object()
EACH = "tell the document of each pair"


class Linked(NamedTuple):
    """Some pairs of sentences, whose words are counted through on each side, and C links between them."""

    pairs: list[Pair]
    source_offsets: Integers
    """[n + 1]."""
    target_offsets: Integers
    """[n + 1]."""
    pair: Integers
    """[C]: the pair that a link is in."""
    source: Integers
    """[C]: a word of the source, counted through."""
    target: Integers
    """[C]: a word of the target, counted through."""
    probability: Floats
    """[C]."""
    documents: list[int | None]
    """[n]: the number of the document that a pair is in."""

    @classmethod
    def of(
        cls, pairs: Sequence[Pair], links: Sequence[Sequence[Link]], documents: Sequence[int | None] | None = None
    ) -> Linked:
        """Pairs and the links of each, which must be within them."""
        left, right = (offsets_of([pair[side] for pair in pairs]) for side in (0, 1))
        flat = [(i, *link[:3]) for i, some in enumerate(links) for link in some]
        columns = np.array(flat, np.float64).reshape(len(flat), 4)
        pair, source, target = (columns[:, j].astype(np.int64) for j in range(3))
        ends = left[pair] + source, right[pair] + target
        told: list[int | None] = [None] * len(pairs) if documents is None else list(documents)
        return cls(list(pairs), left, right, pair, *ends, columns[:, 3].copy(), told)

    def likely(self, least: float) -> Linked:
        """Only the links that are at least so probable."""
        kept = np.flatnonzero(self.probability >= least)
        ends = self.pair[kept], self.source[kept], self.target[kept]
        rest = self.probability[kept], self.documents
        return Linked(self.pairs, self.source_offsets, self.target_offsets, *ends, *rest)


def linked_batches(
    pairs: Iterable[Pair],
    links: Iterable[Sequence[Link]],
    words: int = WORDS,
    documents: Iterable[Hashable] | None = None,
) -> Iterator[Linked]:
    """A bitext and its links, some at a time; an error where one has more lines, or a link leaves its pair.

    Where ``links`` have a ``name``, messages tell it. documents: what tells the document of each pair; None for pairs
    that stand alone. Neighbours in the same one come together, however many they are.
    """
    name = getattr(links, "name", "links")
    some: list[Pair] = []
    own: list[Sequence[Link]] = []
    told: list[int | None] = []
    size, number, number_of = 0, 0, 0
    last: object = None
    of_document = iter(()) if documents is None else iter(documents)
    for number, (pair, found) in enumerate(zip_longest(pairs, links), 1):
        if pair is None or found is None:
            short, long = ("the bitext", "the links") if pair is None else ("the links", "the bitext")
            raise InputError(
                f"{short} end here, and {long} go on: there must be a line of links for each pair", name, number
            )
        check_within(found, len(pair[0]), len(pair[1]), name, number)
        document = next(of_document, MISSING) if documents is not None else None
        if document is MISSING:
            raise InputError(f"the documents end here, and the bitext goes on: {EACH}", "documents", number)
        goes_on = document is not None and document == last
        if size >= words and not goes_on:
            yield Linked.of(some, own, told)
            some, own, told, size = [], [], [], 0
        number_of += not goes_on
        last = document
        some.append(pair)
        own.append(found)
        told.append(None if document is None else number_of)
        size += len(pair[0]) + len(pair[1])
    if next(of_document, MISSING) is not MISSING:
        raise InputError(f"the bitext has ended, and the documents go on: {EACH}", "documents", number + 1)
    if some:
        yield Linked.of(some, own, told)
