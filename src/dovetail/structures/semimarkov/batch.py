"""Exact inference for sequences cut into labelled segments, each scored as a whole: many of them at once, or one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from dovetail.structures.contract import Floats, Integers, Labels, Parts
from dovetail.structures.hypergraph import Graphed, Hypergraph
from dovetail.structures.lanes import as_weights
from dovetail.structures.ragged import check_offsets, within
from dovetail.structures.semimarkov.parts import (
    Segments,
    SemiMarkovPotentials,
    TransitionWeights,
    check_lengths,
    check_segments,
    check_shapes,
    total_of_segments,
)
from dovetail.structures.semimarkov.search import count_segments, score_segments, segment_graph, viterbi
from dovetail.structures.semimarkov.sums import forward_backward
from dovetail.structures.single import Single


@dataclass(frozen=True, eq=False)
class SemiMarkovBatch(Graphed[SemiMarkovPotentials, Segments, list[Segments]]):
    """Segmentations that share their transition potentials: flat arrays of tokens, cut into sentences by offsets.

    potentials: see :class:`SemiMarkovPotentials`; minus infinity forbids a part. offsets: [n + 1], the
    tokens of sentence i are ``offsets[i] .. offsets[i + 1]``. lengths: [L], the most tokens of a segment of
    each label, all as long as the potentials go unless given. threads: None means all processors; the
    results are the same bits for any number of them.

    Answers are :class:`Segments`; a sentence whose every segmentation is forbidden has none.

    >>> segment = np.log([[[3.0], [1.0]], [[1.0], [1.0]], [[1.0], [1.0]]])
    >>> batch = SemiMarkovBatch(SemiMarkovPotentials.of(segment), offsets=[0, 2, 3])
    >>> np.exp(batch.log_partition()).round(2)
    array([4., 1.])
    >>> batch.marginals().segment[:, :, 0].round(2)
    array([[0.75, 0.25],
           [0.75, 0.  ],
           [1.  , 0.  ]])
    >>> batch.best().start
    array([0, 1, 2])
    """

    potentials: SemiMarkovPotentials
    offsets: Integers
    lengths: Labels | None = None
    threads: int | None = 1

    shared: ClassVar[tuple[str, ...]] = ("transition", "start", "end")
    mask_axes: ClassVar[int] = 3
    answers: ClassVar[str] = "segmentation"

    def __post_init__(self) -> None:
        object.__setattr__(self, "potentials", check_shapes(self.potentials))
        object.__setattr__(self, "offsets", check_offsets(self.offsets, len(self.potentials[0])))
        object.__setattr__(self, "lengths", check_lengths(self.lengths, self.longest, self.labels))
        self._check_values()

    @property
    def longest(self) -> int:
        """The most tokens of any segment, D."""
        return int(self.potentials.segment.shape[1])

    @property
    def labels(self) -> int:
        """The number of labels, L."""
        return int(self.potentials.segment.shape[2])

    def best(self) -> Segments:
        """The best segmentation of every sentence; ties go to the lowest last label, then the shortest segment."""
        lengths, labels = np.zeros((2, self.tokens), np.int32)
        self._map(lambda low, high: viterbi(*self._span(low, high), lengths, labels))
        return Segments.of_tokens(lengths, labels, self.offsets)

    def score(self, segments: Segments) -> Floats:
        """The score of given segments, [n]; minus infinity of none, and of any longer than its label allows."""
        given, scores = self._check(segments), np.zeros(len(self))
        self._map(lambda low, high: score_segments(*self._span(low, high), given, scores))
        return scores

    def with_cost(self, segments: Segments, cost: float) -> Self:
        """The same with a cost for every token that lies in another segment than in the given segmentation.

        That is, ``cost * length`` is added to the potential of every segment but the given ones: a
        segmentation pays for the tokens whose segment is wrong in extent or label.
        """
        given = self._check(segments)
        right = given.start, given.length - 1, given.label
        segment = self.potentials.segment + cost * np.arange(1, self.longest + 1)[:, None]
        segment[right] = self.potentials.segment[right]
        return self.with_potentials(self.potentials._replace(segment=segment))

    def span(self, sentence: ArrayLike, begin: ArrayLike, end: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "the words from begin up to end of this sentence are one segment of this label": arrays each."""
        first, label = self._tokens(sentence, begin), within(label, self.labels)
        depth = self._tokens(sentence, np.asarray(end) - 1) - first
        valid = (depth >= 0) & (depth < np.minimum(self._lengths, self.longest)[label])
        return Parts.where("segment", ((first * self.longest + depth) * self.labels + label)[:, None], valid[:, None])

    def token(self, sentence: ArrayLike, position: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "the word at this position of this sentence is in a segment of this label": arrays each."""
        token, label = self._tokens(sentence, position)[:, None], within(label, self.labels)[:, None]
        depth, back = np.tril_indices(self.longest)  # segments by length and by words before this one
        begin, own = token - back, np.asarray(sentence)[:, None]
        valid = (begin >= self.offsets[own]) & (begin + depth < self.offsets[own + 1]) & (depth < self._lengths[label])
        return Parts.where("segment", (begin * self.longest + depth) * self.labels + label, valid)

    @property
    def _lengths(self) -> Labels:
        assert self.lengths is not None  # filled in by __post_init__
        return self.lengths

    @cached_property
    def _weights(self) -> TransitionWeights:
        return TransitionWeights(*as_weights(self.potentials.transition))

    def _span(self, low: int, high: int) -> tuple[SemiMarkovPotentials, Labels, Integers, int, int]:
        return self.potentials, self._lengths, self.offsets, low, high

    def _check(self, segments: Segments) -> Segments:
        return check_segments(segments, self.offsets, self.longest, self.labels)

    def _edges(self, sentence: int) -> int:
        tokens, size = int(np.diff(self.offsets)[sentence]), self.labels
        longest = np.minimum(self._lengths, self.longest).clip(max=tokens)
        return tokens * (int(longest.sum()) + size * (size if self.potentials.transition.size else 1))

    def _hypergraph(self, sentence: int) -> Hypergraph:
        tokens = int(np.diff(self.offsets)[sentence])
        return segment_graph(tokens, self.longest, tuple(self._lengths.tolist()), len(self.potentials.transition) > 0)

    def _answers(self, found: Integers) -> list[Segments]:
        lengths, labels = np.zeros((2, *found.shape), np.int32)
        answer, place = np.nonzero(found >= 0)
        own, label = np.divmod(found[answer, place], self.labels)
        token, depth = np.divmod(own, self.longest)
        token += np.repeat(self.offsets[:-1], np.diff(self.offsets))[place]
        lengths[answer, token], labels[answer, token] = depth + 1, label
        return [Segments.of_tokens(*row, self.offsets) for row in zip(lengths, labels, strict=True)]

    def _sums(self, parts: SemiMarkovPotentials) -> list[float]:
        return [total_of_segments(parts.segment, self._lengths, self.offsets), *(part.sum() for part in parts[1:])]

    def _add(self, answer: Segments, amount: float, counts: SemiMarkovPotentials) -> None:
        count_segments(self._check(answer), amount, counts)

    def _infer(self, low: int, high: int, log_z: Floats, expected: SemiMarkovPotentials) -> None:
        """Forward-backward over a shard: by probabilities, and in log space where they are too extreme."""
        longest_first = low + np.argsort(-np.diff(self.offsets[low : high + 1]), kind="stable")
        forward_backward(self.potentials, self._lengths, self._weights, self.offsets, longest_first, log_z, expected)
        self._log_infer((low + np.flatnonzero(np.isnan(log_z[low:high]))).tolist(), log_z, expected)


@dataclass(frozen=True, eq=False)
class SemiMarkov(Single[SemiMarkovPotentials, Segments]):
    """One sequence of n tokens in segments of up to D tokens with L labels; minus infinity forbids a part.

    segment: [n, D, L], the log potential of the segment that starts at token t, has d + 1 tokens and label
    y; segments that would cross the end are not read. transition: [L, L], from a segment's label to the
    next's; none unless given, which makes labels independent. start, end: [L], zero unless given. lengths:
    [L], the most tokens of a segment of each label, D unless given.

    >>> words = SemiMarkov(segment=np.log([[[0.2], [0.9]], [[0.5], [0.1]], [[0.7], [1.0]]]))
    >>> words.best()
    Segments(start=array([0, 2]), length=array([2, 1], dtype=int32), label=array([0, 0], dtype=int32), \
offsets=array([0, 2]))
    >>> [(cut.length.tolist(), round(log_probability, 2)) for cut, log_probability in words.kbest(2)]
    [([2, 1], -0.13), ([1, 1, 1], -2.33)]
    """

    segment: Floats
    transition: Floats | None = None
    start: Floats | None = None
    end: Floats | None = None
    lengths: Labels | None = None

    @cached_property
    def batch(self) -> SemiMarkovBatch:
        """The same as a batch of one."""
        potentials = SemiMarkovPotentials.of(self.segment, self.transition, self.start, self.end)
        return SemiMarkovBatch(potentials, np.array([0, len(potentials.segment)]), self.lengths, threads=1)
