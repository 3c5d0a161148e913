"""The scores of entities from features of their words, as a sum of what depends on where they begin and end.

An entity of type X over words i to j scores

    start[i, X] + sum of inside[t, X] for t from i to j - 1, + end[j - 1, X]

which is all that a linear chain knows of it. With ``total[j, X]``, the sum of inside[t, X] for t < j, this is a part
that depends on i alone and one that depends on j alone: so it fits into charts and segmentations alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.models.parser_parameters import SentenceLists
from dovetail.scorers.linear import Layout
from dovetail.scorers.listed import add_gradients, add_scores

Floats = NDArray[np.float64]
PARTS = 3  # start, inside and end


@dataclass(frozen=True, eq=False)
class EntityParameters:
    """The parameters of so many ``types``: ``layout`` has ``3 * types`` outputs, of start, inside and end."""

    types: int
    layout: Layout

    @property
    def size(self) -> int:
        """The number of parameters."""
        return self.layout.parameters

    def scores(self, sentence: SentenceLists, weight: NDArray[np.floating[Any]]) -> tuple[Floats, Floats]:
        """What an entity scores by where it begins, and by where it ends: [n + 1, types] each."""
        table = np.zeros((sentence.length, PARTS * self.types))
        add_scores(sentence.lists["entity"], sentence.first, self.layout, weight, table)
        start, inside, end = (table[:, part * self.types : (part + 1) * self.types] for part in range(PARTS))
        total = np.zeros((sentence.length + 1, self.types))
        np.cumsum(inside, axis=0, out=total[1:])
        begins, ends = -total, total
        begins[:-1] += start
        ends[1:] += end
        return begins, ends

    def backward(self, sentence: SentenceLists, begins: Floats, ends: Floats, out: Floats) -> None:
        """The reverse of :meth:`scores`: add to out [parameters] the gradient from slopes of the same shapes."""
        slope = np.empty((sentence.length, PARTS * self.types))
        slope[:, : self.types] = begins[:-1]
        # Of the inside of word t, the sum over all places after it.
        slope[:, self.types : 2 * self.types] = np.cumsum((ends - begins)[:0:-1], axis=0)[::-1]
        slope[:, 2 * self.types :] = ends[1:]
        add_gradients(sentence.lists["entity"], sentence.first, self.layout, slope, out)
