"""The scores of entities from features of their words, as a sum of what depends on where they begin and end.

An entity of type X over words i to j scores

    start[i, X] + sum of inside[t, X] for t from i + 1 to j - 1, + end[j - 1, X]

which is all that a linear chain knows of it, with B and I of each type; the last word also counts as such. Each of the
three is a score of the type plus one of entities of any type, so that what speaks for a name is learnt from all of
them, however few there are of each. With ``total[j, X]``, the sum of inside[t, X] for t < j, this is a part that
depends on i alone and one that depends on j alone, fit for charts and for segmentations alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.kernel import kernel
from dovetail.scorers.contract import Floats, Items, Scorer
from dovetail.scorers.linear import Layout
from dovetail.scorers.listed import SentenceLists, add_gradients, add_scores, observed_layout, of_features
from dovetail.structures.semimarkov import SemiMarkovBatch, SemiMarkovPotentials

PARTS = 3  # start, inside and end


def entity_outputs(types: int) -> int:
    """How many scores a word has: of each part, one for every type and one for all of them."""
    return PARTS * (types + 1)


def entity_layout(
    sentences: Sequence[SentenceLists], entities: Sequence[Sequence[tuple[int, int, int]]], features: int, types: int,
    often: NDArray[np.bool_],
) -> Layout:  # fmt: skip
    """The parameters of some features: those of all types together, and those of types seen there. ``entities``: of
    each sentence, ``(begin, end, type)``. ``often`` [features]: the features that have any. A feature has parameters of
    a type if some word with it is in an entity of that type; what speaks against entities is in those of all types,
    which every feature has."""
    lists = sentences[0].lists["entity"]
    words = np.concatenate([np.arange(s.first, s.first + s.length) for s in sentences])
    named = [
        (s.first + t, kind)
        for s, each in zip(sentences, entities, strict=True)
        for begin, end, kind in each
        for t in range(begin, end)
    ]
    inside, kinds = np.array(named, np.int64).reshape(-1, 2).T
    positions = np.concatenate([words, inside])
    outputs = np.concatenate([np.full(len(words), types), kinds])
    parts = np.arange(PARTS) * (types + 1)
    repeated, wanted = np.repeat(positions, PARTS), (outputs[:, None] + parts).ravel()
    return of_features(observed_layout(lists, repeated, wanted, features, entity_outputs(types)), often)


@dataclass(frozen=True, eq=False)
class EntityParameters:
    """The parameters of so many ``types``: ``layout`` has the outputs of ``entity_outputs``."""

    types: int
    layout: Layout

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.layout.parameters

    def scores(self, sentence: SentenceLists, weight: NDArray[np.floating[Any]]) -> tuple[Floats, Floats]:
        """What an entity scores by where it begins, and by where it ends: [n + 1, types] each."""
        table = np.zeros((sentence.length, PARTS, self.types + 1))
        add_scores(sentence.lists["entity"], sentence.first, self.layout, weight, table.reshape(sentence.length, -1))
        start, inside, end = (table[:, :, :-1] + table[:, :, -1:]).transpose(1, 0, 2)
        total = np.zeros((sentence.length + 1, self.types))
        np.cumsum(inside, axis=0, out=total[1:])
        begins, ends = -total, total
        begins[:-1] += start - inside
        ends[1:] += end
        return begins, ends

    def backward(self, sentence: SentenceLists, begins: Floats, ends: Floats, out: Floats) -> None:
        """The reverse of :meth:`scores`: add to out [parameters] the gradient from slopes of the same shapes."""
        slope = np.empty((sentence.length, PARTS, self.types + 1))
        slope[:, 0, :-1] = begins[:-1]
        # Of the inside of word t, the sum over all places after it, but for entities that begin with it.
        slope[:, 1, :-1] = np.cumsum((ends - begins)[:0:-1], axis=0)[::-1] - begins[:-1]
        slope[:, 2, :-1] = ends[1:]
        slope[:, :, -1] = slope[:, :, :-1].sum(axis=2)
        add_gradients(sentence.lists["entity"], sentence.first, self.layout, slope.reshape(sentence.length, -1), out)


@dataclass(eq=False)
class EntityScorer(Scorer[SemiMarkovBatch]):
    """The entities of some sentences as segments, of label 0 outside entities, else of the type plus one.

    A word in no entity scores nothing. ``longest``: the most words of an entity.
    """

    made: EntityParameters
    sentences: Sequence[SentenceLists] = field(repr=False)
    longest: int
    threads: int = 1

    def __post_init__(self) -> None:
        self.parameters = self.made.size
        self.items = len(self.sentences)

    def batch(self, weight: Floats, which: Items | None = None) -> SemiMarkovBatch:
        """All segmentations of the sentences, or of some."""
        some = self._chosen(which)
        offsets = np.cumsum([0, *(s.length for s in some)])
        segment = np.zeros((int(offsets[-1]), self.longest, self.made.types + 1))
        places = iter(offsets.tolist())
        for run in in_runs(some):
            begins, ends = self.made.scores(whole(run), weight)
            for sentence, first in zip(run, places, strict=False):
                here = within(sentence, run)
                join_ends(begins[here], ends[here], segment[first : first + sentence.length])
        lengths = np.array([1] + [self.longest] * self.made.types, np.int32)
        return SemiMarkovBatch(SemiMarkovPotentials.of(segment), offsets, lengths, self.threads)

    def backward(self, slope: SemiMarkovPotentials, out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [parameters] the gradient from the slope of the potentials."""
        some = self._chosen(which)
        places = iter(np.cumsum([0, *(s.length for s in some)]).tolist())
        for run in in_runs(some):
            begins, ends = np.zeros((2, whole(run).length + 1, self.made.types))
            for sentence, first in zip(run, places, strict=False):
                here = within(sentence, run)
                share_ends(slope.segment[first : first + sentence.length], begins[here], ends[here])
            self.made.backward(whole(run), begins, ends, out)

    def _chosen(self, which: Items | None) -> Sequence[SentenceLists]:
        return self.sentences if which is None else [self.sentences[i] for i in which.tolist()]


def in_runs(sentences: Sequence[SentenceLists]) -> list[list[SentenceLists]]:
    """The sentences, those together whose features follow each other in the same lists."""
    runs: list[list[SentenceLists]] = []
    for sentence in sentences:
        last = runs[-1][-1] if runs else None
        if last is not None and last.lists is sentence.lists and last.first + last.length + 1 == sentence.first:
            runs[-1].append(sentence)
        else:
            runs.append([sentence])
    return runs


def whole(run: Sequence[SentenceLists]) -> SentenceLists:
    """A run as one sentence: what its words outside a segment score cancels out."""
    return SentenceLists(run[0].lists, run[0].first, run[-1].first + run[-1].length - run[0].first)


def within(sentence: SentenceLists, run: Sequence[SentenceLists]) -> slice:
    """The places of a sentence in a run that it is of, before each word and after the last."""
    first = sentence.first - run[0].first
    return slice(first, first + sentence.length + 1)


@kernel
def join_ends(begins: Floats, ends: Floats, segment: Floats) -> None:
    """segment[t, d, X + 1] = begins[t, X] + ends[t + d + 1, X]. Shapes: [n + 1, types] and [n, longest, types + 1]."""
    n = segment.shape[0]
    for t in range(n):
        for d in range(min(segment.shape[1], n - t)):
            for x in range(begins.shape[1]):
                segment[t, d, x + 1] = begins[t, x] + ends[t + d + 1, x]


@kernel
def share_ends(segment: Floats, begins: Floats, ends: Floats) -> None:
    """The reverse of :func:`join_ends`."""
    n = segment.shape[0]
    for t in range(n):
        for d in range(min(segment.shape[1], n - t)):
            for x in range(begins.shape[1]):
                begins[t, x] += segment[t, d, x + 1]
                ends[t + d + 1, x] += segment[t, d, x + 1]
