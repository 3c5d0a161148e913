"""The arrays that a batch of segmentations is made of, in log space and as probabilities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dovetail.structures.chain.parts import LOG_FLOOR, Booleans, Floats, Integers, Labels


class SemiMarkovPotentials(NamedTuple):
    """One number for every part of a batch of segmentations of N tokens, segments of up to D tokens, L labels.

    As potentials, a segmentation of a sentence into segments with starts ``s``, lengths ``d`` and labels
    ``y`` has the score ``start[y[0]] + sum_i segment[s[i], d[i] - 1, y[i]] + sum_{i>0} transition[y[i-1],
    y[i]] + end[y[-1]]``. As marginals, each entry is the expected count of its part.
    """

    segment: Floats
    """``[N, D, L]``: a segment starts at token t, has d + 1 tokens and label y; not read past a sentence's end."""
    transition: Floats
    """``[L, L]``: a segment of label y' is followed by one of label y; ``[0, 0]`` where labels are independent."""
    start: Floats
    """``[L]``: the label of the first segment."""
    end: Floats
    """``[L]``: the label of the last segment."""

    @classmethod
    def of(
        cls,
        segment: ArrayLike,
        transition: ArrayLike | None = None,
        start: ArrayLike | None = None,
        end: ArrayLike | None = None,
    ) -> SemiMarkovPotentials:
        """Potentials from whatever is like arrays; without transitions labels are independent."""
        table = np.asarray(segment, np.float64)
        labels = table.shape[-1] if table.ndim else 0
        return cls(
            table,
            np.zeros((0, 0)) if transition is None else np.asarray(transition, np.float64),
            np.zeros(labels) if start is None else np.asarray(start, np.float64),
            np.zeros(labels) if end is None else np.asarray(end, np.float64),
        )


class Segments(NamedTuple):
    """One segmentation of every sentence of a batch: its segments in order, as columns.

    A sentence of tokens without a segment stands for no segmentation at all: its score is minus infinity.

    >>> Segments.of_tokens(length=[2, 0, 1], label=[1, 0, 0], offsets=[0, 2, 3])
    Segments(start=array([0, 2]), length=array([2, 1], dtype=int32), label=array([1, 0], dtype=int32), \
offsets=array([0, 1, 2]))
    """

    start: Integers
    """``[segments]``: the first token, counted over the batch."""
    length: Labels
    """``[segments]``: the number of tokens."""
    label: Labels
    """``[segments]``."""
    offsets: Integers
    """``[n + 1]``: the segments of sentence i are offsets[i] .. offsets[i + 1]."""

    @classmethod
    def of_tokens(cls, length: ArrayLike, label: ArrayLike, offsets: ArrayLike) -> Segments:
        """From the length and label of the segment that starts at each token, 0 long where none does.

        length, label: [N]; offsets: [n + 1], those of the tokens.
        """
        lengths = np.asarray(length, np.int32)
        starts = np.flatnonzero(lengths).astype(np.int64)
        labels = np.asarray(label, np.int32)[starts]
        return cls(starts, lengths[starts], labels, np.searchsorted(starts, np.asarray(offsets)).astype(np.int64))


class TransitionWeights(NamedTuple):
    """The transition potentials as probabilities: ``exp(potential - shift)``."""

    table: Floats
    """``[L, L]``, or ``[0, 0]``."""
    shift: float
    """The largest potential."""
    safe: bool
    """Whether no weight is so small that products could underflow."""


def weigh_transitions(transition: Floats) -> TransitionWeights:
    """The weights of the transition potentials."""
    largest = float(transition.max(initial=-np.inf))
    shift = largest if np.isfinite(largest) else 0.0
    shifted = transition - shift
    return TransitionWeights(np.exp(shifted), shift, not ((shifted < LOG_FLOOR) & (shifted > -np.inf)).any())


class BoundaryMessages(NamedTuple):
    """What the past and the future say of the boundary before every token of a shard."""

    arrive: Floats
    """``[M, L]``: the weight of all that lies before token t, when a segment of label y ends there."""
    depart: Floats
    """``[M, L]``: the weight of all that lies after, when a segment of label y starts at token t."""
    base: int
    """The token of the batch that is row 0."""


class SegmentPosterior(NamedTuple):
    """All that is needed to give the conditional probabilities of a shard, segment after segment.

    ``P(a segment of label y' ends and one of label y starts at t) = arrive[t, y'] * table[y', y] *
    depart[t, y]``. In a ``logged`` sentence the messages are logarithms, and the same holds for the sum
    with the transition potential less the sentence's log Z.
    """

    segment: Floats
    """``[N, D, L]``: the probability of every segment."""
    transition: Floats
    """``[L, L]``, or ``[0, 0]``: the potentials."""
    weights: TransitionWeights
    messages: BoundaryMessages
    offsets: Integers
    """``[n + 1]``: the tokens of sentence i are offsets[i] .. offsets[i + 1]."""
    log_z: Floats
    """``[n]``."""
    logged: Booleans
    """``[n]``: kept as logarithms because probabilities would underflow."""
