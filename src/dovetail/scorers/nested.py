"""Nested segments from the scores of words, of where segments start and end, of their insides, and of short phrases.

Parts of speech may be found beside them: the tag of a word sees the innermost segment that the word lies in. Tags do
not see each other, so that they are summed out word by word: in context p, word t adds to its own potential
``log sum over k of exp(tag[t, k] + joint[t, p, k])``, and the trees of segments are summed as ever.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.kernel import kernel
from dovetail.scorers.contract import Floats, Items
from dovetail.scorers.parts import Scores, Tables
from dovetail.scorers.segments import candidates
from dovetail.structures.nested import TABLES, NestedBatch, NestedPotentials, NestedSegments

SEGMENT_PARTS = ("start", "end", "inside", "phrase")
WORD, TAG, JOINT, PHRASE = "word", "tag", "joint", "phrase"
Numbers = NDArray[np.int32]


class TaggedSegments(NamedTuple):
    """Segments, the tag of every word, and the context it lies in: 0 for no segment, x + 1 for one of label x."""

    segments: NestedSegments
    tag: Numbers
    context: Numbers


class TaggedPotentials(NamedTuple):
    """Those of segments, and of every tag of a word in every context: ``tag`` [tokens, contexts, tags]."""

    segments: NestedPotentials
    tag: Floats


@dataclass(frozen=True, eq=False)
class TaggedBatch:
    """Nested segments with a tag for every word: what losses ask of a structure.

    ``segments``: with the tags of each word summed out in its potentials; ``tag`` [tokens, contexts, tags] has their
    scores, and ``sums`` [tokens, contexts] the logs of their sums.
    """

    segments: NestedBatch
    tag: Floats
    sums: Floats

    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[Floats, TaggedPotentials]:
        """log Z and the marginals of all parts."""
        log_z, expected = self.segments.log_partition_and_marginals()
        tag = np.empty_like(self.tag)
        tag_marginals(self.tag, self.sums, expected.word, tag)
        return log_z, TaggedPotentials(expected, tag)

    def best(self) -> TaggedSegments:
        """The best segments when tags are summed out, and the best tags given them."""
        found = self.segments.best()
        context = contexts(found, self.segments.offsets)
        return TaggedSegments(found, self.tags_in(context), context)

    def tags_in(self, context: Numbers) -> Numbers:
        """The best tag of every word that lies in this context, [tokens]."""
        best: Numbers = self.tag[np.arange(len(self.tag)), context].argmax(axis=1).astype(np.int32)
        return best

    def score(self, answer: TaggedSegments) -> Floats:
        """The scores of segments with tags, [n]."""
        rows = np.arange(len(self.tag))
        own = self.tag[rows, answer.context, answer.tag] - self.sums[rows, answer.context]
        total = np.concatenate([[0.0], np.cumsum(own)])
        return self.segments.score(answer.segments) + np.diff(total[self.segments.offsets])

    def indicator(self, answer: TaggedSegments) -> TaggedPotentials:
        """The counts of the parts of an answer."""
        tag = np.zeros_like(self.tag)
        tag[np.arange(len(tag)), answer.context, answer.tag] = 1.0
        return TaggedPotentials(self.segments.indicator(answer.segments), tag)

    def subtract(self, counts: TaggedPotentials, answer: TaggedSegments) -> TaggedPotentials:
        """Counts less those of an answer, in place."""
        counts.tag[np.arange(len(counts.tag)), answer.context, answer.tag] -= 1.0
        self.segments.subtract(counts.segments, answer.segments)
        return counts

    def with_cost(self, answer: TaggedSegments, cost: float) -> TaggedBatch:
        """The same with a cost for every segment that disagrees."""
        return replace(self, segments=self.segments.with_cost(answer.segments, cost))


def contexts(segments: NestedSegments, offsets: Items) -> Numbers:
    """The innermost segment that each word lies in, [tokens]: 0 for none, x + 1 for one of label x.

    >>> contexts(NestedSegments.of([[(0, 3, 1), (2, 3, 0)]]), np.array([0, 4]))
    array([2, 2, 1, 0], dtype=int32)
    """
    found = np.zeros(int(offsets[-1]), np.int32)
    first = np.repeat(offsets[:-1], np.diff(segments.offsets))
    for begin, end, label in zip(first + segments.start, first + segments.end, segments.label, strict=True):
        found[begin:end] = 1 + label
    return found


@dataclass(frozen=True)
class NestedForm:
    """Nested segments of so many ``labels``, of up to ``longest`` tokens, scored as phrases up to ``phrases`` tokens.

    ``flat``: no segment lies in another. ``tags``: how many parts of speech are found, too.
    """

    labels: int
    phrases: int
    longest: int
    flat: bool = False
    tags: int = 0

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of the tables of potentials that are the same everywhere."""
        empty = NestedPotentials.zeros(0, self.labels)
        return {name: getattr(empty, name).shape for name in TABLES}

    @property
    def shared(self) -> int:
        """The number of entries of all tables."""
        return sum(int(np.prod(shape)) for shape in self.shapes.values())

    def outputs(self, part: str) -> int:
        """Of a word in no segment; of its tags; of segments in no other and in others."""
        return {WORD: 1, TAG: self.tags, JOINT: (self.labels + 1) * self.tags}.get(part, 2 * self.labels)

    def places(self, part: str, tokens: Items) -> Items:
        """The tokens, or the phrases that begin there."""
        return candidates(tokens, self.phrases) if part == PHRASE else tokens

    def tables(self, shared: Floats) -> dict[str, Floats]:
        """The tables, which lie end to end; where segments are flat, none may lie in another."""
        found, place = {}, 0
        for name, shape in self.shapes.items():
            size = int(np.prod(shape))
            found[name] = shared[place : place + size].reshape(shape)
            place += size
        if self.flat:
            found["nest"] = found["nest"].copy()
            found["nest"][1:] = -np.inf
        return found

    def batch(self, scores: Scores, tables: Tables, offsets: Items, threads: int) -> NestedBatch | TaggedBatch:
        """The nested segmentations of sentences, with their tags if there are any.

        What speaks for a segment of some label does so wherever it lies, and what is learnt from segments within
        others comes on top: their scores are sums, so that the few there are lean on the many that lie in none.
        """
        tokens, labels = int(offsets[-1]), self.labels
        own = self._of_segments(scores, tokens)
        word = np.zeros((tokens, labels + 1))
        tag, sums = np.empty((0, 0, 0)), np.empty((tokens, labels + 1))
        if TAG in scores:
            tag = np.repeat(scores[TAG][:, None, :], labels + 1, axis=1)
            if JOINT in scores:
                tag += scores[JOINT].reshape(tag.shape)
            log_sums(tag, sums)
            word += sums
        if WORD in scores:
            word[:, :1] += scores[WORD]
        batch = NestedBatch(NestedPotentials(word, **own, **tables), offsets, self.longest, threads)
        return TaggedBatch(batch, tag, sums) if TAG in scores else batch

    def direction(self, scores: Scores, offsets: Items, threads: int) -> NestedPotentials:
        """How the potentials move with the scores, where there are no tags; the tables stay."""
        tokens = int(offsets[-1])
        word = np.zeros((tokens, self.labels + 1))
        if WORD in scores:
            word[:, :1] += scores[WORD]
        still = {name: np.zeros(shape) for name, shape in self.shapes.items()}
        return NestedPotentials(word, **self._of_segments(scores, tokens), **still)

    def _of_segments(self, scores: Scores, tokens: int) -> Scores:
        """The scores of segments in no other and in others, by part; those given are used up."""
        labels = self.labels
        for part in SEGMENT_PARTS:
            if part in scores:
                scores[part][:, labels:] += scores[part][:, :labels]
        missing = {part: np.zeros((0 if part == PHRASE else tokens, 2 * labels)) for part in SEGMENT_PARTS}
        return {part: scores.get(part, missing[part]) for part in SEGMENT_PARTS}

    def slopes(
        self, slope: NestedPotentials | TaggedPotentials, scores: Scores, offsets: Items, threads: int
    ) -> tuple[Scores, Floats]:
        """The slopes of the scores, from those of the potentials, which are used up, and of the tables."""
        found: Scores = {}
        if isinstance(slope, TaggedPotentials):
            found = {TAG: slope.tag.sum(axis=1), JOINT: slope.tag.reshape(len(slope.tag), -1)}
            slope = slope.segments
        tokens, wide = len(slope.word), len(slope.phrase) // max(len(slope.word), 1)  # a cost may be for longer phrases
        phrase = slope.phrase.reshape(tokens, wide, 2 * self.labels)[:, : self.phrases].reshape(-1, 2 * self.labels)
        slope = slope._replace(phrase=phrase)
        for part in SEGMENT_PARTS:
            table = getattr(slope, part)
            table[:, : self.labels] += table[:, self.labels :]
            found[part] = table
        found[WORD] = np.ascontiguousarray(slope.word[:, :1])
        return found, np.concatenate([getattr(slope, name).ravel() for name in TABLES])


@kernel
def log_sums(score: Floats, out: Floats) -> None:
    """The log of the sum over tags. score: [tokens, contexts, tags]; out: [tokens, contexts]."""
    for t in range(score.shape[0]):
        for p in range(score.shape[1]):
            largest = -np.inf
            for k in range(score.shape[2]):
                largest = max(largest, score[t, p, k])
            total = 0.0
            for k in range(score.shape[2]):
                total += np.exp(score[t, p, k] - largest)
            out[t, p] = largest + np.log(total)


@kernel
def tag_marginals(score: Floats, sums: Floats, expected: Floats, out: Floats) -> None:
    """The probability of every tag of a word in every context, [tokens, contexts, tags]. expected: [tokens, contexts],
    the probability of every context of a word."""
    for t in range(score.shape[0]):
        for p in range(score.shape[1]):
            for k in range(score.shape[2]):
                out[t, p, k] = expected[t, p] * np.exp(score[t, p, k] - sums[t, p])
