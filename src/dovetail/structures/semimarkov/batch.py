"""Many segmentations at once: flat arrays of potentials, cut into sentences, worked on by several threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.chain.batch import SHARD_TOKENS, SHARDS
from dovetail.structures.chain.checks import check_offsets
from dovetail.structures.chain.parts import Floats, Integers, Labels
from dovetail.structures.semimarkov.checks import (
    check_lengths,
    check_segments,
    check_shapes,
    check_values,
    total_of_segments,
)
from dovetail.structures.semimarkov.log import log_forward_backward
from dovetail.structures.semimarkov.parts import (
    BoundaryMessages,
    SegmentPosterior,
    Segments,
    SemiMarkovPotentials,
    TransitionWeights,
    weigh_transitions,
)
from dovetail.structures.semimarkov.posterior import entropies, samples
from dovetail.structures.semimarkov.search import count_segments, k_best, score_segments, viterbi
from dovetail.structures.semimarkov.sums import forward_backward
from dovetail.structures.semimarkov.tangent import tangents
from dovetail.threads import run_shards, sentence_shards

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class SemiMarkovBatch:
    """Segmentations that share their transition potentials: flat arrays of tokens, cut into sentences by offsets.

    potentials: see :class:`SemiMarkovPotentials`; minus infinity forbids a part. offsets: [n + 1], the
    tokens of sentence i are ``offsets[i] .. offsets[i + 1]``. lengths: [L], the most tokens of a segment of
    each label, all as long as the potentials go unless given. threads: None means all processors; the
    results are the same bits for any number of them.

    A sentence whose every segmentation is forbidden has log Z of minus infinity and marginals of zero.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "potentials", check_shapes(self.potentials))
        object.__setattr__(self, "offsets", check_offsets(self.offsets, self.tokens))
        object.__setattr__(self, "lengths", check_lengths(self.lengths, self.longest, self.labels))
        check_values(self.potentials, self._lengths, self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def tokens(self) -> int:
        """The number of tokens, N."""
        return int(self.potentials.segment.shape[0])

    @property
    def longest(self) -> int:
        """The most tokens of any segment, D."""
        return int(self.potentials.segment.shape[1])

    @property
    def labels(self) -> int:
        """The number of labels, L."""
        return int(self.potentials.segment.shape[2])

    def log_partition(self) -> Floats:
        """The log of the sum of exp(score) over all segmentations, by sentence: [n]."""
        log_z = np.zeros(len(self))
        self._map(lambda low, high: self._infer(low, high, log_z, self._zeros(0), keep=False))
        return log_z

    def marginals(self) -> SemiMarkovPotentials:
        """The expected counts of all parts, shaped like the potentials; the shared tables over the batch."""
        return self.log_partition_and_marginals()[1]

    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[Floats, SemiMarkovPotentials]:
        """Both :meth:`log_partition` and :meth:`marginals` in one pass, the step of training.

        in_place: write the marginals over the segment potentials, which spares the memory; the batch is
        then of no further use.
        """
        log_z = np.zeros(len(self))
        segment = self.potentials.segment if in_place else np.empty_like(self.potentials.segment)

        def count(low: int, high: int) -> SemiMarkovPotentials:
            expected = self._zeros(0)._replace(segment=segment)
            self._infer(low, high, log_z, expected, keep=False)
            return expected

        return log_z, self._total(self._map(count), segment)

    def best(self) -> Segments:
        """The best segmentation of every sentence, none where all are forbidden.

        Ties go to the lowest label, then to the shortest segment, from the last segment to the first.
        """
        lengths, labels = np.zeros((2, self.tokens), np.int32)
        self._map(lambda low, high: viterbi(*self._span(low, high), lengths, labels))
        return Segments.of_tokens(lengths, labels, self.offsets)

    def kbest(self, k: int) -> tuple[list[Segments], Floats]:
        """The k best segmentations of every sentence, best first: k of :class:`Segments`, and scores [n, k].

        Where a sentence has fewer than k allowed segmentations, the scores of the rest are minus infinity,
        and it has no segments in those.
        """
        lengths, labels = np.zeros((2, k, self.tokens), np.int32)
        scores = np.zeros((len(self), k))
        self._map(lambda low, high: k_best(*self._span(low, high), lengths, labels, scores))
        return self._lists(lengths, labels), scores

    def score(self, segments: Segments) -> Floats:
        """The score of the given segments, by sentence: [n]. Less log Z, it is their log-probability.

        Minus infinity where a segment is longer than its label allows, and where a sentence has none.
        """
        given, scores = self._check(segments), np.zeros(len(self))
        self._map(lambda low, high: score_segments(*self._span(low, high), given, scores))
        return scores

    def indicator(self, segments: Segments) -> SemiMarkovPotentials:
        """The counts of the parts of the given segments, shaped like the potentials."""
        counts = self._zeros(self.tokens)
        count_segments(self._check(segments), 1.0, counts)
        return counts

    def subtract(self, counts: SemiMarkovPotentials, segments: Segments) -> SemiMarkovPotentials:
        """Counts less those of the given segments, in place: from marginals, the slope of a log-likelihood."""
        count_segments(self._check(segments), -1.0, counts)
        return counts

    def with_cost(self, segments: Segments, cost: float) -> SemiMarkovBatch:
        """The same with a cost for every token that lies in another segment than in the given segmentation.

        That is, ``cost * length`` is added to the potential of every segment but the given ones: a
        segmentation pays for the tokens whose segment is wrong in extent or label.
        """
        given = self._check(segments)
        right = given.start, given.length - 1, given.label
        segment = self.potentials.segment + cost * np.arange(1, self.longest + 1)[:, None]
        segment[right] = self.potentials.segment[right]
        return replace(self, potentials=self.potentials._replace(segment=segment))

    def sample(self, n: int, rng: np.random.Generator) -> list[Segments]:
        """Segmentations drawn from the exact distribution: n of :class:`Segments`."""
        uniforms = rng.random((n, self.tokens, 2))
        lengths, labels = np.zeros((2, n, self.tokens), np.int32)
        probabilities = np.empty_like(self.potentials.segment)

        def draw(low: int, high: int) -> None:
            posterior = self._posterior(low, high, probabilities)
            impossible = np.flatnonzero(posterior.log_z[low:high] == -np.inf)
            if impossible.size:
                raise InputError(f"sentence {low + impossible[0]}: every segmentation is forbidden")
            samples(posterior, low, high, uniforms, lengths, labels)

        self._map(draw)
        return self._lists(lengths, labels)

    def entropy(self) -> Floats:
        """The entropy of the segmentations of each sentence, in nats: [n]."""
        out, probabilities = np.zeros(len(self)), np.empty_like(self.potentials.segment)
        self._map(lambda low, high: entropies(self._posterior(low, high, probabilities), low, high, out))
        return out

    def jvp(self, direction: SemiMarkovPotentials) -> SemiMarkovPotentials:
        """The derivative of the marginals when the potentials move along a direction, shaped like both.

        Parts of the direction that are no parts of the sentences, as segments past the end, are not read.
        """
        direction = check_shapes(direction)
        if [part.shape for part in direction] != [part.shape for part in self.potentials]:
            raise InputError("the direction must have the shapes of the potentials")
        # A sum that is not finite may be of finite numbers, but of none that a derivative could bear.
        total = total_of_segments(direction.segment, self._lengths, self.offsets)
        if not np.isfinite([total, *(part.sum() for part in direction[1:])]).all():
            raise InputError("the direction must be finite; use 0 for parts that stay as they are")
        segment, probabilities = np.zeros_like(self.potentials.segment), np.empty_like(self.potentials.segment)

        def move(low: int, high: int) -> SemiMarkovPotentials:
            change = self._zeros(0)._replace(segment=segment)
            tangents(self._posterior(low, high, probabilities), low, high, direction, change)
            return change

        return self._total(self._map(move), segment)

    def restrict(self, allowed: ArrayLike) -> SemiMarkovBatch:
        """The same where only the allowed segments may be used: [N, D, L] of booleans.

        The log Z of the restricted batch less that of the free one is the log-probability of what was
        allowed.
        """
        permitted = np.asarray(allowed, bool)
        if permitted.shape != self.potentials.segment.shape:
            raise InputError(f"allowed has shape {permitted.shape}, expected {self.potentials.segment.shape}")
        segment = np.where(permitted, self.potentials.segment, -np.inf)
        return replace(self, potentials=self.potentials._replace(segment=segment))

    @property
    def _lengths(self) -> Labels:
        assert self.lengths is not None  # filled in by __post_init__
        return self.lengths

    @cached_property
    def _weights(self) -> TransitionWeights:
        return weigh_transitions(self.potentials.transition)

    @cached_property
    def _shards(self) -> list[tuple[int, int]]:
        return sentence_shards(self.offsets, SHARDS, SHARD_TOKENS)

    def _map(self, function: Callable[[int, int], Result]) -> list[Result]:
        return run_shards(lambda shard: function(*shard), self._shards, self.threads)

    def _span(self, low: int, high: int) -> tuple[SemiMarkovPotentials, Labels, Integers, int, int]:
        return self.potentials, self._lengths, self.offsets, low, high

    def _check(self, segments: Segments) -> Segments:
        return check_segments(segments, self.offsets, self.longest, self.labels)

    def _lists(self, lengths: Labels, labels: Labels) -> list[Segments]:
        return [Segments.of_tokens(*row, self.offsets) for row in zip(lengths, labels, strict=True)]

    def _zeros(self, tokens: int) -> SemiMarkovPotentials:
        """Counts of zero over a number of tokens."""
        _, longest, labels = self.potentials.segment.shape
        shared = (np.zeros_like(part) for part in self.potentials[1:])
        return SemiMarkovPotentials(np.zeros((tokens, longest, labels)), *shared)

    def _total(self, shards: list[SemiMarkovPotentials], segment: Floats) -> SemiMarkovPotentials:
        """The shared counts of all shards, added in order, beside those of the segments."""
        total = self._zeros(0)._replace(segment=segment)
        for shard in shards:
            for sum_, part in zip(total[1:], shard[1:], strict=True):
                sum_ += part
        return total

    def _posterior(self, low: int, high: int, probabilities: Floats) -> SegmentPosterior:
        """The posterior of a shard; probabilities: [N, D, L], its rows are set to those of the segments."""
        expected = self._zeros(0)._replace(segment=probabilities)
        return self._infer(low, high, np.zeros(len(self)), expected, keep=True)

    def _infer(
        self, low: int, high: int, log_z: Floats, expected: SemiMarkovPotentials, keep: bool
    ) -> SegmentPosterior:
        """Forward-backward over a shard: by probabilities, and in log space where they are too extreme."""
        first, last = int(self.offsets[low]), int(self.offsets[high])
        rows = np.empty((2, last - first if keep else 0, self.labels))
        messages = BoundaryMessages(rows[0], rows[1], first)
        potentials, lengths, offsets = self.potentials, self._lengths, self.offsets
        longest_first = low + np.argsort(-np.diff(offsets[low : high + 1]), kind="stable")
        forward_backward(potentials, lengths, self._weights, offsets, longest_first, log_z, expected, messages)
        logged = np.isnan(log_z)
        failed = low + np.flatnonzero(logged[low:high])
        if failed.size:
            log_forward_backward(potentials, lengths, offsets, failed, log_z, expected, messages)
        return SegmentPosterior(
            expected.segment, potentials.transition, self._weights, messages, offsets, log_z, logged
        )
