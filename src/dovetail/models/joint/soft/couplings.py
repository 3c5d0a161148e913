"""Couplings of brackets and entities: which spans have one, what is seen there, and their potentials from weights.

A span that may be an entity has a table: for every class of constituents, the sum of the weights of what is seen at the
span. Zero where it is not both. More was tried, and made entities worse on text held back: weights for types of
entities, and for tags.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.grammars.brackets import JOINT, PARTIAL, BracketLabels
from dovetail.joint.coupled import Links
from dovetail.structures.brackets import BracketBatch, BracketPotentials
from dovetail.structures.semimarkov import SemiMarkovBatch

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

POSSIBLE = 2e-3
"""The least probability, by entities alone, of a span that is coupled."""
CLASSES = 2
"""Labels of constituents that are told apart: those that most often have an entity."""
PART, OTHER = "@", "*"
LONG = 5
LENGTH = "length "
SEEN = ("any", *(f"{LENGTH}{n}" for n in range(1, LONG + 1)))
"""What is seen at spans: that there is one, and how long it is."""


@dataclass(frozen=True)
class Couplings:
    """What is told apart: classes of constituents, and what is seen at spans."""

    classes: tuple[str, ...]
    """Labels, then parts of constituents, and all others."""
    features: tuple[str, ...] = SEEN

    @classmethod
    def of(cls, tops: Iterable[str]) -> Couplings:
        """From the labels of the brackets that have entities."""
        counts = Counter(top for top in tops if top not in ("", PART, OTHER))
        return cls((*sorted(counts, key=lambda top: (-counts[top], top))[:CLASSES], PART, OTHER))

    @property
    def shape(self) -> tuple[int, int]:
        """What is seen, and classes: of the weights."""
        return len(self.features), len(self.classes)

    @property
    def size(self) -> int:
        """The number of weights."""
        return len(self.features) * len(self.classes)

    def class_of(self, label: str) -> int:
        """The class of a label of brackets, from 1; 0 of words that are no constituents."""
        top = top_of(label)
        return self.classes.index(top if top in self.classes else OTHER) + 1 if top else 0

    def group(self, labels: BracketLabels) -> Integers:
        """The class of every label: [labels]."""
        return np.array([self.class_of(name) for name in labels.names], np.int64)

    def seen(self, links: Links) -> Floats:
        """What is seen at each of m spans: [m, features]."""
        length = np.minimum(links.end - links.begin, LONG)
        names = np.array([int(name.removeprefix(LENGTH)) if name.startswith(LENGTH) else 0 for name in self.features])
        found: Floats = ((names == 0) | (length[:, None] == names)).astype(np.float64)
        return found

    def tables(self, seen: Floats, weight: NDArray[Any]) -> Floats:
        """The potentials of spans, [m, classes + 1, 2], from weights [size]."""
        out = np.zeros((len(seen), len(self.classes) + 1, 2))
        out[:, 1:, 1] = seen @ weight.astype(np.float64).reshape(self.shape)
        return out

    def backward(self, seen: Floats, slope: Floats, out: Floats) -> None:
        """Add to out [size] the gradient from the slope of the potentials."""
        out += (seen.T @ slope[:, 1:, 1]).ravel()

    def links(self, second: SemiMarkovBatch) -> Links:
        """The spans to be coupled: those that may be an entity, by entities alone."""
        chance = second.marginals().segment[:, :, 1:].sum(axis=2)
        token, depth = np.nonzero(chance >= POSSIBLE)
        sentence = np.searchsorted(second.offsets, token, side="right") - 1
        begin = token - second.offsets[sentence]
        end = begin + depth + 1
        inside = end <= np.diff(second.offsets)[sentence]
        classes = tuple((i + 1,) for i in range(len(self.classes)))
        return Links(sentence[inside], begin[inside], end[inside], classes, (tuple(range(1, second.labels)),))


def top_of(label: str) -> str:
    """The label on top of a chain; that of parts of constituents; nothing of what is no constituent.

    >>> top_of("NP NNP"), top_of("@ NP"), top_of("")
    ('NP', '@', '')
    """
    return PART if label.startswith(PARTIAL) else label.split(JOINT)[0]


def collapsed(batch: BracketBatch, group: Integers, classes: int, best: bool = False) -> BracketBatch:
    """Bracketings with classes for labels: each scores the log sum over its labels, or the ``best`` of them.

    No label knows of another, so log Z and the probabilities of classes are as they were.
    """
    table = batch.potentials.span
    some = np.flatnonzero((table > -np.inf).any(axis=1))
    own = table[some]
    out = np.full((len(table), classes + 1), -np.inf)
    for number in range(classes + 1):
        mine = own[:, group == number]
        if mine.shape[1]:
            out[some, number] = mine.max(axis=1) if best else np.logaddexp.reduce(mine, axis=1)
    return BracketBatch(BracketPotentials(out), batch.offsets, batch.threads)
