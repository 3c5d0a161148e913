"""The arrays that a batch of segmentations is made of, and complaints where they do not fit together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.kernel import kernel
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.ragged import contiguous


class SemiMarkovPotentials(NamedTuple):
    """One number for every part of a batch of segmentations of N tokens, segments of up to D tokens, L labels.

    As potentials, a segmentation of a sentence into segments with starts ``s``, lengths ``d`` and labels
    ``y`` has the score ``start[y[0]] + sum_i segment[s[i], d[i] - 1, y[i]] + sum_{i>0} transition[y[i-1],
    y[i]] + end[y[-1]]``. As marginals, each entry is the expected count of its part.
    """

    segment: Floats  # [N, D, L]: a segment starts at token t, has d + 1 tokens and label y; not read past the end
    transition: Floats  # [L, L]: label y' is followed by label y; [0, 0] where labels are independent
    start: Floats  # [L]: the label of the first segment
    end: Floats  # [L]: the label of the last segment

    @classmethod
    def of(
        cls, segment: ArrayLike, transition: ArrayLike | None = None, start: ArrayLike | None = None,
        end: ArrayLike | None = None,
    ) -> SemiMarkovPotentials:  # fmt: skip
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

    start: Integers  # [segments]: the first token, counted over the batch
    length: Labels  # [segments]: the number of tokens
    label: Labels  # [segments]
    offsets: Integers  # [n + 1]: the segments of sentence i are offsets[i] .. offsets[i + 1]

    @classmethod
    def of_tokens(cls, length: ArrayLike, label: ArrayLike, offsets: ArrayLike) -> Segments:
        """From the length and label [N] of the segment that starts at each token, 0 long where none does."""
        lengths = np.asarray(length, np.int32)
        starts = np.flatnonzero(lengths).astype(np.int64)
        labels = np.asarray(label, np.int32)[starts]
        return cls(starts, lengths[starts], labels, np.searchsorted(starts, np.asarray(offsets)).astype(np.int64))


class TransitionWeights(NamedTuple):
    """The transition potentials as probabilities: ``exp(potential - shift)``."""

    table: Floats  # [L, L], or ``[0, 0]``
    shift: float  # The largest potential
    safe: bool  # Whether no weight is so small that products could underflow


@kernel
def total_of_segments(segment: Floats, lengths: Labels, offsets: Integers) -> float:
    """The sum over all segments that lie in a sentence and are no longer than their label allows."""
    _, longest, labels = segment.shape
    total = 0.0
    for n in range(offsets.size - 1):
        for token in range(offsets[n], offsets[n + 1]):
            for d in range(min(longest, offsets[n + 1] - token)):
                for y in range(labels):
                    total += segment[token, d, y] if d < lengths[y] else 0.0
    return total


def check_shapes(potentials: SemiMarkovPotentials) -> SemiMarkovPotentials:
    """The potentials as contiguous arrays, or an error that says which does not fit."""
    arrays = contiguous(potentials)
    if arrays.segment.ndim != 3 or 0 in arrays.segment.shape[1:]:
        raise InputError(f"segment has shape {arrays.segment.shape}, expected (tokens, longest, labels)")
    labels = arrays.segment.shape[2]
    square = (labels, labels) if arrays.transition.size else (0, 0)
    for name, shape in (("transition", square), ("start", (labels,)), ("end", (labels,))):
        part = getattr(arrays, name)
        if part.shape != shape:
            raise InputError(f"{name} has shape {part.shape}, expected {shape}")
    return arrays


def check_lengths(lengths: ArrayLike | None, longest: int, labels: int) -> Labels:
    """The longest segment of each label as an array: [labels]; all of them ``longest`` unless given."""
    array = np.full(labels, longest, np.int32) if lengths is None else np.ascontiguousarray(lengths, np.int32)
    if array.shape != (labels,):
        raise InputError(f"lengths have shape {array.shape}, expected ({labels},)")
    if (array < 0).any():
        raise InputError("lengths must not be negative")
    return array


def check_segments(segments: Segments, offsets: Integers, longest: int, labels: int) -> Segments:
    """Segments as arrays that lie end to end in each sentence, or an error that says where they do not."""
    start, length, label, cuts = segments
    arrays = Segments(
        np.ascontiguousarray(start, np.int64),
        np.ascontiguousarray(length, np.int32),
        np.ascontiguousarray(label, np.int32),
        np.ascontiguousarray(cuts, np.int64),
    )
    count = arrays.start.size
    if not arrays.start.shape == arrays.length.shape == arrays.label.shape == (count,):
        raise InputError("start, length and label of segments must have one entry each a segment")
    cuts_fit = arrays.offsets.shape == offsets.shape and arrays.offsets[0] == 0 and arrays.offsets[-1] == count
    if not cuts_fit or (np.diff(arrays.offsets) < 0).any():
        raise InputError(
            f"the offsets of segments must rise from 0 to their number, {count}, one a sentence and one more"
        )
    if count and (arrays.label.min() < 0 or arrays.label.max() >= labels):
        raise InputError(f"labels of segments must be from 0 to {labels - 1}")
    if count and (arrays.length.min() < 1 or arrays.length.max() > longest):
        raise InputError(f"lengths of segments must be from 1 to {longest}")
    _check_tiling(arrays, offsets)
    return arrays


def _check_tiling(segments: Segments, offsets: Integers) -> None:
    filled = np.flatnonzero(np.diff(segments.offsets))
    ends = segments.start + segments.length
    expected_end = np.append(segments.start[1:], 0)
    expected_end[segments.offsets[filled + 1] - 1] = offsets[filled + 1]
    wrong = ends != expected_end
    wrong[segments.offsets[filled]] |= segments.start[segments.offsets[filled]] != offsets[filled]
    if wrong.any():
        where = int(np.argmax(wrong))
        sentence = int(np.searchsorted(segments.offsets, where, side="right")) - 1
        raise InputError(
            f"sentence {sentence}: the segment at token {segments.start[where]} meets neither the next nor the end"
        )
