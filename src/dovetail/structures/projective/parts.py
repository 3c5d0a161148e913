"""The arrays that a batch of projective trees is made of, and complaints where they do not fit together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.contract import Booleans, Floats, Integers, Labels
from dovetail.structures.ragged import check_offsets, contiguous

LEFT, RIGHT = 0, 1
"""The sides of a head, as ``stop`` numbers them."""
NONE = -1
"""The head of every word of a sentence that has no allowed tree."""


class ProjectivePotentials(NamedTuple):
    """One number for every part of a batch of trees over n sentences.

    A sentence of m words has the positions 0 to m; 0 is the root, an artificial head to the left of all
    words. As potentials, a tree has the score ``sum over words d of attach[head(d), d, first(d)] + sum over
    positions h and sides s of stop[h, s, has(h, s)]``: first is 1 where no other dependent of the same head
    lies between d and it, has is 1 where the head has a dependent on that side. The root has no left side:
    ``stop`` is not read there. As marginals, each entry is the probability of its part.
    """

    attach: Floats  # [A, 2]: row h * (m + 1) + d of a sentence is the arc from h to d, column 1 for a first dependent
    stop: Floats  # [P, 2, 2]: by position, side (0 left, 1 right), and whether there is a dependent on that side

    @classmethod
    def of(cls, attach: ArrayLike, stop: ArrayLike | None = None) -> ProjectivePotentials:
        """Potentials of one sentence from attach [m + 1, m + 1, 2] and stop [m + 1, 2, 2], zero unless given."""
        table = np.asarray(attach, np.float64)
        positions = len(table) if table.ndim else 0
        ends = np.zeros((positions, 2, 2)) if stop is None else np.asarray(stop, np.float64)
        return cls(table.reshape(-1, 2) if table.shape == (positions, positions, 2) else table, ends)


class Places(NamedTuple):
    """Where the parts of each of n sentences begin."""

    words: Integers  # [n + 1]: its words, counted over the batch
    arcs: Integers  # [n + 1]: its rows of attach

    @classmethod
    def of(cls, offsets: Integers) -> Places:
        """From the offsets of the words; the positions of sentence i begin at ``offsets[i] + i``.

        >>> Places.of(np.array([0, 2, 3])).arcs
        array([ 0,  9, 13])
        """
        squares = (np.diff(offsets) + 1) ** 2
        return cls(offsets, np.concatenate([[0], np.cumsum(squares)]).astype(np.int64))


def check_shapes(potentials: ProjectivePotentials) -> ProjectivePotentials:
    """The potentials as contiguous arrays, or an error that says which does not fit."""
    arrays = contiguous(potentials)
    if arrays.attach.ndim != 2 or arrays.attach.shape[1] != 2:
        raise InputError(f"attach has shape {arrays.attach.shape}, expected (arcs, 2)")
    if arrays.stop.ndim != 3 or arrays.stop.shape[1:] != (2, 2):
        raise InputError(f"stop has shape {arrays.stop.shape}, expected (positions, 2, 2)")
    return arrays


def check_sizes(potentials: ProjectivePotentials, offsets: ArrayLike) -> Places:
    """Where the parts of each sentence lie, or an error where there are too many or too few."""
    array = check_offsets(offsets)
    places = Places.of(array)
    positions = int(array[-1]) + len(array) - 1
    if len(potentials.stop) != positions or len(potentials.attach) != places.arcs[-1]:
        raise InputError(
            f"attach has {len(potentials.attach)} rows and stop {len(potentials.stop)}; sentences of these offsets "
            f"have {places.arcs[-1]} arcs and {positions} positions, their roots included"
        )
    return places


def read_mask(places: Places) -> tuple[Booleans, Booleans]:
    """Which entries of attach [A] and stop [P, 2] are parts of a sentence: no arc to the root or to itself."""
    sizes = np.diff(places.words) + 1
    square = np.repeat(sizes, sizes**2)
    within = np.arange(places.arcs[-1]) - np.repeat(places.arcs[:-1], sizes**2)
    head, dependent = within // square, within % square
    sides = np.ones((int(sizes.sum()), 2), bool)
    sides[places.words[:-1] + np.arange(len(sizes)), 0] = False
    return (dependent > 0) & (head != dependent), sides


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
