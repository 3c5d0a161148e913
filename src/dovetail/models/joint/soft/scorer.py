"""Coupled bracketings and segmentations as a function of weights: of their couplings, of trees, of entities.

What has no weights to learn is ``Fixed``. ``Summed`` adds up several objectives, each of some of the weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.joint.coupled import CoupledPotentials, Links
from dovetail.learning.losses import Loss
from dovetail.learning.objective import Objective
from dovetail.models.joint.soft.couplings import Couplings
from dovetail.models.joint.soft.pair import Pair
from dovetail.scorers.contract import Floats, Items, Scorer
from dovetail.sparse import SparseGradient
from dovetail.structures.contract import mapped, tables

CHUNK = 64
"""Sentences that are looked at together."""


@dataclass(eq=False)
class Fixed(Scorer[Any]):
    """Structures that are as they are."""

    structures: Any

    def __post_init__(self) -> None:
        self.items, self.parameters = len(self.structures), 0

    def batch(self, weight: NDArray[Any], which: Items | None = None) -> Any:
        """All of them, or some."""
        return self.structures if which is None else self.structures.take(which)

    def backward(self, slope: Any, out: Floats, which: Items | None = None) -> None:
        """Nothing is learnt."""


@dataclass(eq=False)
class PairScorer(Scorer[Pair]):
    """Sentences whose trees and entities are coupled. Weights: of couplings, then of trees, then of entities.

    The first weight, plus one, is what the scores of entities are multiplied by: a model is too sure of itself on text
    that it has not seen. ``seen``: what is seen at each of the links, [m, features]. ``group``: the class of every
    label of brackets. ``of_trees``, ``of_entities``: which sentence of either scorer each sentence is.
    """

    trees: Scorer[Any]
    entities: Scorer[Any]
    links: Links
    seen: Floats = field(repr=False)
    couplings: Couplings
    group: NDArray[np.int64] = field(repr=False)
    of_trees: Items = field(repr=False)
    of_entities: Items = field(repr=False)
    _latest: tuple[Any, float, Floats] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.items = len(self.of_trees)
        self.own = 1 + self.couplings.size
        self.parameters = self.own + self.trees.parameters + self.entities.parameters

    def batch(self, weight: NDArray[Any], which: Items | None = None) -> Pair:
        """The coupled structures of all sentences, or of some."""
        which = np.arange(self.items) if which is None else np.asarray(which)
        links, rows = self.links.some(which, self.items)
        couplings, trees, entities = self._parts(weight)
        whole = self.trees.batch(trees, self.of_trees[which])
        second, factor = self.entities.batch(entities, self.of_entities[which]), 1.0 + float(couplings[0])
        self._latest = second, factor, self.seen[rows]
        table = self.couplings.tables(self.seen[rows], couplings[1:])
        return Pair.of(whole, second.scaled(factor), links, table, self.group)

    def backward(self, slope: CoupledPotentials, out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [parameters] the gradient, from the slope of the potentials that ``batch`` gave last."""
        which = np.arange(self.items) if which is None else np.asarray(which)
        second, factor, seen = self._latest
        couplings, trees, entities = self._parts(out)
        pairs = zip(tables(second.potentials), tables(slope.second), strict=True)
        couplings[0] += sum(float((own * moved).sum()) for own, moved in pairs)
        self.couplings.backward(seen, slope.table, couplings[1:])
        self.trees.backward(slope.first, trees, self.of_trees[which])
        self.entities.backward(mapped(lambda own: factor * own, slope.second), entities, self.of_entities[which])

    def _parts(self, weight: NDArray[Any]) -> list[NDArray[Any]]:
        """The weights of couplings, of trees and of entities, or their gradient, as views."""
        return np.split(weight, [self.own, self.own + self.trees.parameters])


class Term(NamedTuple):
    """An objective of some of the weights, stretch by stretch, and which of its sentences count."""

    objective: Objective
    weights: tuple[slice, ...]
    which: Items


@dataclass(eq=False)
class Summed:
    """A sum of objectives that share weights, all with the same loss: what optimisers ask for."""

    terms: Sequence[Term]
    parameters: int
    loss: Loss

    def __post_init__(self) -> None:
        self.terms = [term._replace(objective=replace(term.objective, loss=self.loss)) for term in self.terms]
        self.edges = np.cumsum([0, *(len(term.which) for term in self.terms)])
        self.items = int(self.edges[-1])

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The loss on all sentences and its gradient [parameters]."""
        out = np.zeros(self.parameters)
        each = (np.arange(low, min(low + CHUNK, self.items)) for low in range(0, self.items, CHUNK))
        return sum(self._add(weight, which, out) for which in each), out

    def touch(self, which: Items, sink: SparseGradient) -> None:
        """All weights."""
        sink.list_all()

    def accumulate(self, weight: Floats, which: Items, sink: SparseGradient) -> float:
        """The loss on some sentences; its gradient is added to ``sink``."""
        return self._add(weight, which, sink.value)

    def _add(self, weight: Floats, which: Items, out: Floats) -> float:
        total = 0.0
        of = np.searchsorted(self.edges, which, side="right") - 1
        for number, (objective, stretches, numbers) in enumerate(self.terms):
            own = numbers[which[of == number] - self.edges[number]]
            if len(own):
                sink = SparseGradient(np.zeros(objective.parameters), np.empty(0, np.int64), np.empty(0, np.int64))
                total += objective.accumulate(np.concatenate([weight[s] for s in stretches]), own, sink)
                place = 0
                for s in stretches:
                    out[s] += sink.value[place : place + s.stop - s.start]
                    place += s.stop - s.start
        return total
