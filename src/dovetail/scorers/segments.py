"""Segmentations from scores at the start, at the end, inside and of the whole of segments, and from pairs of labels.

Scores at boundaries may tell segments of one token from longer ones: a row of ``start`` and ``end`` then has the scores
of all labels for single tokens and after them those for longer segments, [2 * labels] in all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dovetail.kernel import kernel
from dovetail.scorers.contract import Floats, Items
from dovetail.scorers.parts import Scores, Tables
from dovetail.structures.semimarkov import SemiMarkovBatch, SemiMarkovPotentials
from dovetail.threads import run_ranges

Integers = NDArray[np.int64]
BOUNDARIES, INSIDE, PHRASE = ("start", "end"), "inside", "phrase"
TRANSITION = "transition"


def candidates(tokens: Items, longest: int) -> Items:
    """The numbers of all stretches of up to so many tokens that begin at some tokens."""
    found: Items = (tokens[:, None] * longest + np.arange(longest)).ravel()
    return found


@dataclass(frozen=True)
class SegmentForm:
    """Segments of up to ``lengths`` [labels] tokens; with ``order`` 0 their labels are independent."""

    lengths: NDArray[np.int32]
    order: int

    @property
    def labels(self) -> int:
        """The number of labels."""
        return len(self.lengths)

    @property
    def longest(self) -> int:
        """The most tokens of any segment."""
        return int(self.lengths.max())

    @property
    def shared(self) -> int:
        """A parameter for every pair of labels."""
        return self.labels**2 if self.order else 0

    def outputs(self, part: str) -> int:
        """A score for every label; where there is one alone, boundaries tell single tokens from longer segments."""
        return 2 if self.labels == 1 and part in BOUNDARIES else self.labels

    def places(self, part: str, tokens: Items) -> Items:
        """The tokens, or the stretches that begin there."""
        return candidates(tokens, self.longest) if part == PHRASE else tokens

    def tables(self, shared: Floats) -> dict[str, Floats]:
        """The potentials of pairs of labels, [labels, labels], or [0, 0] where labels are independent."""
        size = self.labels if self.order else 0
        return {TRANSITION: shared.reshape(size, size)}

    def batch(self, scores: Scores, tables: Tables, offsets: Items, threads: int) -> SemiMarkovBatch:
        """The segmentations of sentences; the scores of phrases are used up."""
        none = np.zeros(self.labels)
        potentials = SemiMarkovPotentials(self._summed(scores, offsets, threads), tables[TRANSITION], none, none)
        return SemiMarkovBatch(potentials, offsets, self.lengths, threads)

    def direction(self, scores: Scores, offsets: Items, threads: int) -> SemiMarkovPotentials:
        """How the potentials move with the scores, of which those of phrases are used up; pairs of labels stay."""
        none, still = np.zeros(self.labels), np.zeros((self.labels if self.order else 0,) * 2)
        return SemiMarkovPotentials(self._summed(scores, offsets, threads), still, none, none)

    def _summed(self, scores: Scores, offsets: Items, threads: int) -> Floats:
        """What every segment scores: [tokens, longest, labels]."""
        start, end, inside = self._at_tokens(scores)
        phrase = scores.get(PHRASE, np.empty((0, self.labels)))
        shape = (int(offsets[-1]), self.longest, self.labels)
        out = phrase.reshape(shape) if PHRASE in scores else np.empty(shape)
        rest = (start, end, inside, phrase, offsets, self.lengths)
        run_ranges(lambda low, high: add_up(*rest, low, high, out), offsets, threads)
        return out

    def slopes(
        self, slope: SemiMarkovPotentials, scores: Scores, offsets: Items, threads: int
    ) -> tuple[Scores, Floats]:
        """The slopes of the scores, in the arrays of these, and of the pairs of labels."""
        start, end, inside = self._at_tokens(scores)
        run_ranges(
            lambda low, high: share_out(slope.segment, offsets, self.lengths, low, high, start, end, inside),
            offsets,
            threads,
        )
        found = {"start": start, "end": end, INSIDE: inside, PHRASE: slope.segment.reshape(-1, self.labels)}
        return found, slope.transition.ravel()

    def _at_tokens(self, scores: Scores) -> tuple[Floats, Floats, Floats]:
        start, end, inside = (scores.get(p, np.empty((0, self.outputs(p)))) for p in (*BOUNDARIES, INSIDE))
        return start, end, inside


@kernel
def add_up(
    start: Floats, end: Floats, inside: Floats, phrase: Floats, offsets: Integers, lengths: NDArray[np.int32], low: int,
    high: int, out: Floats,
) -> None:  # fmt: skip
    """Potentials of all segments of sentences low to high; zero where a segment cannot be. start, end: [tokens, labels]
    or [tokens, 2 * labels]; inside: [tokens, labels]; phrase: [tokens * longest, labels]; each may have no rows, if no
    template looks there. out: [tokens, longest, labels]."""
    longest, labels = out.shape[1], out.shape[2]
    apart = labels if start.shape[1] > labels else 0
    starts, ends, insides, phrases = len(start) > 0, len(end) > 0, len(inside) > 0, len(phrase) > 0
    running = np.empty(labels)
    for i in range(low, high):
        for t in range(offsets[i], offsets[i + 1]):
            running[:] = 0.0
            for d in range(longest):
                shift = apart if d > 0 else 0
                last = t + d
                if last >= offsets[i + 1]:
                    for y in range(labels):
                        out[t, d, y] = 0.0
                    continue
                for y in range(labels):
                    if d >= lengths[y]:
                        out[t, d, y] = 0.0
                        continue
                    total = 0.0
                    if insides:
                        running[y] += inside[last, y]
                        total += running[y]
                    if starts:
                        total += start[t, shift + y]
                    if ends:
                        total += end[last, shift + y]
                    if phrases:
                        total += phrase[t * longest + d, y]
                    out[t, d, y] = total


@kernel
def share_out(
    gradient: Floats, offsets: Integers, lengths: NDArray[np.int32], low: int, high: int, start: Floats, end: Floats,
    inside: Floats,
) -> None:  # fmt: skip
    """The gradient of the potentials [tokens, longest, labels] as that of the scores, for sentences low to high.
    ``gradient`` becomes zero where a segment cannot be; seen as [tokens * longest, labels] it is that of ``phrase``."""
    longest, labels = gradient.shape[1], gradient.shape[2]
    apart = labels if start.shape[1] > labels else 0
    starts, ends, insides = len(start) > 0, len(end) > 0, len(inside) > 0
    for i in range(low, high):
        first, last = offsets[i], offsets[i + 1]
        start[first:last] = 0.0
        end[first:last] = 0.0
        inside[first:last] = 0.0
        for t in range(first, last):
            for d in range(longest):
                shift = apart if d > 0 else 0
                for y in range(labels):
                    if t + d >= last or d >= lengths[y]:
                        gradient[t, d, y] = 0.0
                        continue
                    g = gradient[t, d, y]
                    if starts:
                        start[t, shift + y] += g
                    if ends:
                        end[t + d, shift + y] += g
                    if insides:  # as differences: from t on, up to t + d
                        inside[t, y] += g
                        if t + d + 1 < last:
                            inside[t + d + 1, y] -= g
        if insides:
            for t in range(first + 1, last):
                for y in range(labels):
                    inside[t, y] += inside[t - 1, y]
