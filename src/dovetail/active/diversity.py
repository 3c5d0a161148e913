"""Choosing sentences that are unlike each other: cosine similarity of word and shape counts, and a greedy choice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.columns import Column
from dovetail.features.algebra.strings import normalise_digits, shape

Floats = NDArray[np.float64]
Integers = NDArray[Any]


@dataclass(frozen=True)
class TermWeights:
    """Unit vectors of sentences over terms (words and shapes), as sparse rows.

    ``row`` and ``term`` [entries] say where an entry stands, ``weight`` [entries] what it is; ``offsets``
    [sentences + 1] cuts the entries into rows.
    """

    row: Integers
    term: Integers
    weight: Floats
    offsets: Integers
    terms: int

    @classmethod
    def of(cls, sentences: Sequence[Sequence[str]]) -> TermWeights:
        """TF-IDF vectors of n sentences of words: sqrt(count) (log((1 + n) / (1 + sentences with the term)) + 1).

        >>> vectors = TermWeights.of([["Ada", "slept"], ["Ada", "slept"], ["12", "%"]])
        >>> vectors.similarity(0).round(3).tolist()
        [1.0, 1.0, 0.0]
        """
        column = Column.encode(chain.from_iterable(sentences))
        spelt = Column.encode(map(normalise_digits, column.types[1:]))
        shapes = Column.encode(map(shape, column.types[1:]))
        words = column.ids - 1
        lengths = np.array([len(sentence) for sentence in sentences], np.int64)
        terms = len(spelt.types) + len(shapes.types)
        row = np.tile(np.repeat(np.arange(len(lengths)), lengths), 2)
        cell = row * terms + np.concatenate([spelt.ids[words], len(spelt.types) + shapes.ids[words]])
        cells, count = np.unique(cell, return_counts=True)
        row, term = np.divmod(cells, terms)
        rarity = np.log((1 + len(lengths)) / (1 + np.bincount(term, minlength=terms))) + 1
        weight = np.sqrt(count) * rarity[term]
        norm = np.sqrt(np.bincount(row, weight**2, minlength=len(lengths)))
        offsets = np.searchsorted(row, np.arange(len(lengths) + 1))
        return cls(row, term, weight / norm[row], offsets, terms)

    def similarity(self, i: int) -> Floats:
        """The cosine of every sentence with sentence i: [sentences]."""
        one = slice(self.offsets[i], self.offsets[i + 1])
        dense = np.zeros(self.terms)
        dense[self.term[one]] = self.weight[one]
        sums: Any = np.bincount(self.row, self.weight * dense[self.term], minlength=len(self.offsets) - 1)
        return np.asarray(sums, np.float64)


def choose(scores: Floats, number: int, diversity: float, sentences: Sequence[Sequence[str]]) -> list[int]:
    """The indices of ``number`` sentences with high scores that are unlike each other, best first.

    Each choice is the best by (1 - diversity) score / highest score - diversity (highest cosine with one already
    chosen). With diversity 0 the highest scores win; ties go to the sentence that comes first.

    >>> sentences = [["Ada", "slept"], ["Ada", "slept"], ["12", "%"]]
    >>> choose(np.array([1.0, 0.9, 0.8]), 2, 0.0, sentences), choose(np.array([1.0, 0.9, 0.8]), 2, 0.5, sentences)
    ([0, 1], [0, 2])
    """
    number = min(number, len(scores))
    if diversity == 0 or number == 0:
        highest: list[int] = np.argsort(-scores, kind="stable")[:number].tolist()
        return highest
    vectors = TermWeights.of(sentences)
    top = float(scores.max())
    value = (1 - diversity) * (scores / top if top > 0 else scores)
    nearest = np.zeros(len(scores))
    left = np.ones(len(scores), bool)
    chosen: list[int] = []
    for _ in range(number):
        best = int(np.argmax(np.where(left, value - diversity * nearest, -np.inf)))
        chosen.append(best)
        left[best] = False
        np.maximum(nearest, vectors.similarity(best), out=nearest)
    return chosen
