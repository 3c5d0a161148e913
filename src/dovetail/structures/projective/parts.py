"""The arrays that a batch of projective trees is made of, and where the parts of each sentence lie in them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dovetail.structures.chain.parts import Floats, Integers

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

    attach: Floats
    """``[A, 2]``: row ``h * (m + 1) + d`` of a sentence is the arc from h to d, column 1 for a first dependent."""
    stop: Floats
    """``[P, 2, 2]``: by position, side (0 left, 1 right), and whether there is a dependent on that side."""

    @classmethod
    def of(cls, attach: ArrayLike, stop: ArrayLike | None = None) -> ProjectivePotentials:
        """Potentials of one sentence from attach [m + 1, m + 1, 2] and stop [m + 1, 2, 2], zero unless given."""
        table = np.asarray(attach, np.float64)
        positions = len(table) if table.ndim else 0
        ends = np.zeros((positions, 2, 2)) if stop is None else np.asarray(stop, np.float64)
        return cls(table.reshape(-1, 2) if table.shape == (positions, positions, 2) else table, ends)


class Places(NamedTuple):
    """Where the parts of each of n sentences begin."""

    words: Integers
    """``[n + 1]``: its words, counted over the batch."""
    arcs: Integers
    """``[n + 1]``: its rows of attach."""

    @classmethod
    def of(cls, offsets: Integers) -> Places:
        """From the offsets of the words; the positions of sentence i begin at ``offsets[i] + i``.

        >>> Places.of(np.array([0, 2, 3])).arcs
        array([ 0,  9, 13])
        """
        squares = (np.diff(offsets) + 1) ** 2
        return cls(offsets, np.concatenate([[0], np.cumsum(squares)]).astype(np.int64))
