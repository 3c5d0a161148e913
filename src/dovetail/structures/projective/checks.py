"""Complaints about arrays of projective trees that do not fit together, before a kernel reads them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.chain.parts import Integers, Labels
from dovetail.structures.projective.parts import Places, ProjectivePotentials


def check_shapes(potentials: ProjectivePotentials) -> ProjectivePotentials:
    """The potentials as contiguous arrays, or an error that says which does not fit."""
    arrays = ProjectivePotentials(*(np.ascontiguousarray(part, np.float64) for part in potentials))
    if arrays.attach.ndim != 2 or arrays.attach.shape[1] != 2:
        raise InputError(f"attach has shape {arrays.attach.shape}, expected (arcs, 2)")
    if arrays.stop.ndim != 3 or arrays.stop.shape[1:] != (2, 2):
        raise InputError(f"stop has shape {arrays.stop.shape}, expected (positions, 2, 2)")
    return arrays


def check_sizes(potentials: ProjectivePotentials, offsets: ArrayLike) -> Places:
    """Where the parts of each sentence lie, or an error where there are too many or too few."""
    array = np.ascontiguousarray(offsets, np.int64)
    if array.ndim != 1 or not array.size or array[0] != 0 or (np.diff(array) < 0).any():
        raise InputError("offsets must rise from 0 to the number of words")
    places = Places.of(array)
    positions = int(array[-1]) + len(array) - 1
    if len(potentials.stop) != positions or len(potentials.attach) != places.arcs[-1]:
        raise InputError(
            f"attach has {len(potentials.attach)} rows and stop {len(potentials.stop)}; sentences of these offsets "
            f"have {places.arcs[-1]} arcs and {positions} positions, their roots included"
        )
    return places


def read_mask(places: Places) -> tuple[np.ndarray, np.ndarray]:
    """Which entries of attach [A] and stop [P, 2] are parts of a sentence: no arc to the root or to itself."""
    sizes = np.diff(places.words) + 1
    square = np.repeat(sizes, sizes**2)
    within = np.arange(places.arcs[-1]) - np.repeat(places.arcs[:-1], sizes**2)
    head, dependent = within // square, within % square
    sides = np.ones((int(sizes.sum()), 2), bool)
    sides[places.words[:-1] + np.arange(len(sizes)), 0] = False
    return (dependent > 0) & (head != dependent), sides


def check_values(potentials: ProjectivePotentials, places: Places) -> None:
    """An error where a potential that will be read is NaN or plus infinity."""
    # Cheaper than a look at each number, and right where nothing unread is odd: NaN makes the sum NaN.
    with np.errstate(invalid="ignore"):
        if potentials.attach.sum() < np.inf and potentials.stop.sum() < np.inf:
            return
    arcs, sides = read_mask(places)
    for name, values in (("attach", potentials.attach[arcs]), ("stop", potentials.stop[sides])):
        if not (values < np.inf).all():
            raise InputError(f"{name} holds NaN or plus infinity; only minus infinity, to forbid, may be infinite")


def check_heads(heads: ArrayLike, offsets: Integers) -> Labels:
    """Heads as an array [N] of positions in their sentences, 0 for the root and -1 for none."""
    array = np.ascontiguousarray(heads, np.int32)
    if array.shape != (int(offsets[-1]),):
        raise InputError(f"heads have shape {array.shape}, expected ({offsets[-1]},)")
    wrong = (array < -1) | (array > np.repeat(np.diff(offsets), np.diff(offsets)))
    if wrong.any():
        word = int(np.argmax(wrong))
        sentence = int(np.searchsorted(offsets, word, side="right")) - 1
        raise InputError(f"sentence {sentence}: head {array[word]} is no position from 0, the root, to the last word")
    return array
