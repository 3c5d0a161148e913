"""Potentials from the linear scores of named parts, such as nodes and edges of a chain, and from tables for all text.

A *form* says how: what a word, a pair of labels or a whole segment scores is linear in features whatever the structure
is, and each structure puts those scores together in its own way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import taken
from dovetail.scorers.contract import Floats, Items, Scorer
from dovetail.scorers.linear import LinearScorer
from dovetail.sparse import SparseGradient

Scores = dict[str, Floats]
Tables = Mapping[str, Floats]


class Form(Protocol):
    """How the scores of parts become the potentials of a structure."""

    @property
    def shared(self) -> int:
        """The number of parameters that are the same everywhere."""

    def outputs(self, part: str) -> int:
        """How many scores a part has at each of its places."""

    def places(self, part: str, tokens: Items) -> Items:
        """The places of a part that belong to some tokens: the tokens themselves, or what begins there."""

    def tables(self, shared: Floats) -> dict[str, Floats]:
        """The tables that are the same everywhere, from their parameters [shared]."""

    def batch(self, scores: Scores, tables: Tables, offsets: Items, threads: int) -> Any:
        """The structures of sentences with these scores, which may be used up."""

    def slopes(self, slope: Any, scores: Scores, offsets: Items, threads: int) -> tuple[Scores, Floats]:
        """From the slope of the potentials those of the scores, and of the shared parameters [shared].

        ``scores`` are those that ``batch`` was given: space to work in.
        """


@dataclass
class PartsScorer(Scorer[Any]):
    """A corpus with compiled features: the weights of its parts in order, then those of the tables."""

    form: Form
    offsets: Items
    parts: Mapping[str, LinearScorer]
    threads: int = 1
    begin: dict[str, int] = field(default_factory=dict, init=False)
    _latest: tuple[Scores, Items] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.items = len(self.offsets) - 1
        place = 0
        for part, scorer in self.parts.items():
            self.begin[part] = place
            place += scorer.layout.parameters
        self.after_parts = place
        self.parameters = place + self.form.shared

    def of_part(self, part: str, weight: Floats) -> Floats:
        """The weights, or the gradient, of one part."""
        return weight[self.begin[part] : self.begin[part] + self.parts[part].layout.parameters]

    def batch(self, weight: Floats, which: Items | None = None) -> Any:
        """The structures of all sentences, or of some, with their potentials under ``weight`` [parameters]."""
        if which is None:
            offsets, threads = self.offsets, self.threads
            scores = {part: scorer.forward(self.of_part(part, weight)) for part, scorer in self.parts.items()}
        else:
            (tokens, offsets), threads = taken(self.offsets, which), 1
            scores = {
                part: scorer.forward_some(self.form.places(part, tokens), self.begin[part], weight)
                for part, scorer in self.parts.items()
            }
        self._latest = scores, offsets
        return self.form.batch(scores, self.form.tables(weight[self.after_parts :]), offsets, threads)

    def backward(self, slope: Any, out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [parameters] the gradient, from the slope of the potentials that ``batch`` gave last."""
        scores, offsets = self._latest
        slopes, shared = self.form.slopes(slope, scores, offsets, self.threads if which is None else 1)
        if which is None:
            for part, scorer in self.parts.items():
                scorer.backward(slopes[part], self.of_part(part, out))
        else:
            tokens, _ = taken(self.offsets, which)
            for part, scorer in self.parts.items():
                scorer.backward_some(self.form.places(part, tokens), self.begin[part], slopes[part], out)
        out[self.after_parts :] += shared

    def touch(self, which: Items, sink: SparseGradient) -> None:
        """List the parameters that some sentences use; those of the tables are always among them."""
        tokens, _ = taken(self.offsets, which)
        for part, scorer in self.parts.items():
            scorer.touch(self.form.places(part, tokens), self.begin[part], sink)
        rest = self.parameters - self.after_parts
        sink.items[sink.count : sink.count + rest] = np.arange(self.after_parts, self.parameters)
        sink.count += rest

    def scale(self) -> Floats:
        """The value of the feature of each parameter, [parameters]: what an L1 penalty is multiplied by."""
        return np.concatenate([*(s.scale for s in self.parts.values()), np.ones(self.form.shared)])

    def firing(self) -> NDArray[np.float64]:
        """At how many places the feature of each parameter fires, [parameters]: tables are used by every token."""
        everywhere = np.full(self.form.shared, float(self.offsets[-1]))
        return np.concatenate([*(s.firing() for s in self.parts.values()), everywhere])
