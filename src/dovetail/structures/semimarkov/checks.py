"""Complaints about arrays of segmentations that do not fit together, before a kernel reads them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.kernel import kernel
from dovetail.structures.chain.parts import Floats, Integers, Labels
from dovetail.structures.semimarkov.parts import Segments, SemiMarkovPotentials


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
    arrays = SemiMarkovPotentials(*(np.ascontiguousarray(part, np.float64) for part in potentials))
    if arrays.segment.ndim != 3 or 0 in arrays.segment.shape[1:]:
        raise InputError(f"segment has shape {arrays.segment.shape}, expected (tokens, longest, labels)")
    labels = arrays.segment.shape[2]
    square = (labels, labels) if arrays.transition.size else (0, 0)
    for name, shape in (("transition", square), ("start", (labels,)), ("end", (labels,))):
        part = getattr(arrays, name)
        if part.shape != shape:
            raise InputError(f"{name} has shape {part.shape}, expected {shape}")
    return arrays


def check_values(potentials: SemiMarkovPotentials, lengths: Labels, offsets: Integers) -> None:
    """An error where a potential that will be read is NaN or plus infinity."""
    # Cheaper than a look at each number: NaN makes the sum NaN; plus infinity makes it that or itself.
    with np.errstate(invalid="ignore"):
        totals = [total_of_segments(potentials.segment, lengths, offsets), *(part.sum() for part in potentials[1:])]
    for name, total in zip(potentials._fields, totals, strict=True):
        if not total < np.inf:
            raise InputError(f"{name} holds NaN or plus infinity; only minus infinity, to forbid, may be infinite")


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
