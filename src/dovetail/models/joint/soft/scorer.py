"""Coupled bracketings and segmentations as a function of the weights of their couplings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.joint.coupled import CoupledBatch, CoupledPotentials, Links
from dovetail.models.joint.soft.couplings import Couplings
from dovetail.scorers.contract import Floats, Items, Scorer
from dovetail.structures.brackets import BracketBatch
from dovetail.structures.contract import tables
from dovetail.structures.semimarkov import SemiMarkovBatch


@dataclass(eq=False)
class CoupledScorer(Scorer[CoupledBatch]):
    """Sentences whose structures are as their own models have them; weights [parameters] are those of couplings.

    The first weight, plus one, is what the scores of entities are multiplied by: a model is too sure of itself on text
    that it has not seen. seen: what is seen at each of the links, [m, features].
    """

    first: BracketBatch
    second: SemiMarkovBatch
    links: Links
    seen: Floats = field(repr=False)
    couplings: Couplings
    threads: int = 1

    def __post_init__(self) -> None:
        self.items, self.parameters = len(self.first), 1 + self.couplings.size

    def batch(self, weight: NDArray[Any], which: Items | None = None) -> CoupledBatch:
        """The coupled structures of all sentences, or of some."""
        first, second, links, seen = self._some(which)
        table = self.couplings.tables(seen, weight[1:])
        return CoupledBatch(first, second.scaled(1.0 + float(weight[0])), links, table)

    def backward(self, slope: CoupledPotentials, out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [parameters] the gradient from the slope of the potentials."""
        _, second, _, seen = self._some(which)
        pairs = zip(tables(second.potentials), tables(slope.second), strict=True)
        out[0] += sum(float((own * moved).sum()) for own, moved in pairs)
        self.couplings.backward(seen, slope.table, out[1:])

    def _some(self, which: Items | None) -> tuple[BracketBatch, SemiMarkovBatch, Links, Floats]:
        if which is None:
            return self.first, self.second, self.links, self.seen
        which = np.asarray(which)
        links, rows = self.links.some(which, self.items)
        return self.first.take(which), self.second.take(which), links, self.seen[rows]
