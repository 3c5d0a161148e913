"""Exact inference for the arguments of predicates: spans that share no word, with labels, of which some occur once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from dovetail.arrays import taken
from dovetail.errors import InputError
from dovetail.structures.contract import Floats, Integers, Labels, Parts
from dovetail.structures.frames.parts import MOST, FramePotentials, Places
from dovetail.structures.frames.search import list_edges, used_bits, viterbi
from dovetail.structures.frames.sums import forward_backward
from dovetail.structures.hypergraph import Graphed, Hypergraph
from dovetail.structures.ragged import check_offsets, contiguous, within

MISSING = -2
"""What stands for every label of an answer that there is not."""


@dataclass(frozen=True, eq=False)
class FrameBatch(Graphed[FramePotentials, Labels, list[Labels]]):
    """The ways to give labels to some of the candidates of each of n predicates, so that no two share a word.

    potentials: see :class:`FramePotentials`; minus infinity forbids a label. offsets: [n + 1], the candidates of
    predicate i are ``offsets[i] .. offsets[i + 1]``. begin, end: [N], the words of each candidate, in the order of
    their ends. once: [L], for labels that may be used once a number from 0, for others -1; labels of one number
    exclude each other. Answers are labels [N], -1 for candidates that are no argument.

    >>> potentials = FramePotentials(np.log([[2.0, 1.5], [3.0, 1.0], [1.0, 1.0]]))
    >>> batch = FrameBatch(potentials, [0, 3], begin=[0, 1, 0], end=[1, 2, 2], once=[0, -1])
    >>> np.exp(batch.log_partition()).round(2)
    array([18.5])
    >>> batch.best()
    array([ 1,  0, -1], dtype=int32)
    """

    potentials: FramePotentials
    offsets: Integers
    begin: Labels
    end: Labels
    once: Labels
    threads: int | None = 1

    mask_axes: ClassVar[int] = 2
    answers: ClassVar[str] = "set of arguments"

    def __post_init__(self) -> None:
        object.__setattr__(self, "potentials", contiguous(self.potentials))
        object.__setattr__(self, "offsets", check_offsets(self.offsets, len(self.potentials.role)))
        for name in ("begin", "end", "once"):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), np.int32))
        if not len(self.begin) == len(self.end) == len(self.potentials.role):
            raise InputError("begin and end must have a number for every candidate")
        if len(self.once) != self.labels or self.bits > MOST or self.once.min(initial=-1) < -1:
            raise InputError(f"once must have a number for every label, from -1 to {MOST - 1}")
        self._check_values()

    @property
    def labels(self) -> int:
        """The number of labels, L."""
        return int(self.potentials.role.shape[1])

    @property
    def bits(self) -> int:
        """How many labels, or groups of labels, may be used once."""
        return int(self.once.max(initial=-1)) + 1

    @cached_property
    def places(self) -> Places:
        """Where candidates lie between boundaries."""
        return Places.of(self.begin, self.end, self.offsets)

    def best(self) -> Labels:
        """The best labels of all candidates, [N]."""
        out = np.full(self.tokens, -1, np.int32)
        own = self.potentials.role, self.places, self.once, self.bits, self.offsets
        self._map(lambda low, high: viterbi(*own, low, high, out))
        return out

    def kbest(self, k: int) -> tuple[list[Labels], Floats]:
        """The k best answers, best first, and their scores [n, k]; -2 and minus infinity where there are fewer."""
        found, scores = super().kbest(k)
        for rank, answer in enumerate(found):
            answer[np.repeat(scores[:, rank] == -np.inf, np.diff(self.offsets))] = MISSING
        return found, scores

    def score(self, answer: Labels) -> Floats:
        """The score of given labels, [n]; minus infinity where arguments overlap or are repeated that may not be."""
        used = np.flatnonzero(answer >= 0)
        own = np.zeros(self.tokens)
        own[used] = self.potentials.role[used, answer[used]]
        scores = self._by_frame(own)
        frame = np.searchsorted(self.offsets, used, side="right") - 1
        scores[frame[1:][(frame[1:] == frame[:-1]) & (self.begin[used[1:]] < self.end[used[:-1]])]] = -np.inf
        bit = self.once[answer[used]]
        pairs, counts = np.unique(np.stack([frame, bit])[:, bit >= 0], axis=1, return_counts=True)
        scores[pairs[0, counts > 1]] = -np.inf
        scores[np.searchsorted(self.offsets, np.flatnonzero(answer == MISSING), side="right") - 1] = -np.inf
        return scores

    def _by_frame(self, values: Floats) -> Floats:
        """The sums of the values [N] of the candidates of each predicate: [n]."""
        sums = np.zeros(len(self))
        some = np.flatnonzero(np.diff(self.offsets))
        if some.size:
            sums[some] = np.add.reduceat(values, self.offsets[some])
        return sums

    def take(self, which: Integers) -> Self:
        """Only some of the predicates, in the order of their numbers ``which``."""
        some, offsets = taken(self.offsets, within(which, len(self)))
        potentials = FramePotentials(self.potentials.role[some])
        return replace(self, potentials=potentials, offsets=offsets, begin=self.begin[some], end=self.end[some])

    def span(self, sentence: ArrayLike, begin: ArrayLike, end: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "the words from begin up to end are an argument of this predicate so labelled": arrays each."""
        own, label = within(sentence, len(self)), within(label, self.labels)
        outside = (np.asarray(begin) < 0) | (np.asarray(end) > self._lengths[own]) | (np.asarray(begin) >= end)
        if outside.any():
            raise InputError("the words of parts must be of the sentence, counted from 0")
        known = {
            (n, b, e): c
            for n in np.unique(own).tolist()
            for c, b, e in zip(range(*self.offsets[n : n + 2]), *self._words(n), strict=True)
        }
        wanted = zip(own.tolist(), np.asarray(begin).tolist(), np.asarray(end).tolist(), strict=True)
        candidate = np.array([known.get(each, -1) for each in wanted], np.int64)
        return Parts.where("role", (candidate * self.labels + label)[:, None], (candidate >= 0)[:, None])

    @property
    def _lengths(self) -> Integers:
        """Where the last candidate of each predicate ends: [n]."""
        ends = np.append(self.end, 0).astype(np.int64)
        return np.where(np.diff(self.offsets) > 0, ends[np.maximum(self.offsets[1:] - 1, 0)], 0)

    def _words(self, n: int) -> tuple[list[int], list[int]]:
        own = slice(*self.offsets[n : n + 2])
        return self.begin[own].tolist(), self.end[own].tolist()

    def _edges(self, sentence: int) -> int:
        own = slice(*self.offsets[sentence : sentence + 2])
        return int((self.potentials.role[own] > -np.inf).sum()) << self.bits

    def _hypergraph(self, sentence: int) -> Hypergraph:
        own = slice(*self.offsets[sentence : sentence + 2])
        role, (before, after, count) = self.potentials.role[own], self.places
        number = used_bits(role, self.once, self.bits)
        where = role, before[own], after[own], int(count[sentence]), self.once, number
        edges = list_edges(*where, *np.empty((3, 0), np.int32))
        made, left, part = np.empty((3, edges), np.int32)
        list_edges(*where, made, left, part)
        vertices = 2 + (int(count[sentence]) << int(number.max(initial=-1) + 1))
        ptr = np.searchsorted(made, np.arange(vertices + 1))
        return Hypergraph(ptr, left, np.zeros(edges, np.int32), part[:, None])

    def _answers(self, found: Integers) -> list[Labels]:
        out = np.full((len(found), self.tokens), -1, np.int32)
        answer, place = np.nonzero(found >= 0)
        candidate, label = np.divmod(found[answer, place], self.labels)
        out[answer, candidate + np.repeat(self.offsets[:-1], np.diff(self.offsets))[place]] = label
        return list(out)

    def _add(self, answer: Labels, amount: float, counts: FramePotentials) -> None:
        used = np.flatnonzero(answer >= 0)
        counts.role[used, answer[used]] += amount

    def _infer(self, low: int, high: int, log_z: Floats, expected: FramePotentials) -> None:
        own = self.potentials.role, self.places, self.once, self.bits, self.offsets
        forward_backward(*own, low, high, log_z, expected.role)
        self._log_infer((low + np.flatnonzero(np.isnan(log_z[low:high]))).tolist(), log_z, expected)
