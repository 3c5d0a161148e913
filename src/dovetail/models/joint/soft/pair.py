"""Bracketings with all their labels, coupled to entities by classes of these: one structure, as far as losses ask."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.joint.coupled import Both, CoupledBatch, CoupledPotentials, Links
from dovetail.models.joint.soft.couplings import collapsed
from dovetail.structures.brackets import BracketBatch, BracketPotentials, Brackets
from dovetail.structures.grammar import cells
from dovetail.structures.semimarkov import SemiMarkovBatch

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pair:
    """The bracketings of some sentences with all their labels, and with classes of these coupled to entities.

    No label knows of another, so log Z is that of classes, and what a class is worth is shared out among its labels.
    """

    whole: BracketBatch
    coupled: CoupledBatch
    group: Integers
    """The class of every label: [labels]."""

    @classmethod
    def of(cls, whole: BracketBatch, second: SemiMarkovBatch, links: Links, table: Floats, group: Integers) -> Self:
        """Couple classes of the labels of brackets to entities."""
        first = collapsed(whole, group, len(links.first))
        return cls(whole, CoupledBatch(first, second, links, table), group)

    def __len__(self) -> int:
        return len(self.whole)

    @property
    def potentials(self) -> CoupledPotentials:
        """Those of all labels, of entities, and the tables."""
        return self.coupled.potentials._replace(first=self.whole.potentials)

    def log_partition(self) -> Floats:
        """log Z of every sentence [n] as Bethe has it."""
        return self.coupled.log_partition()

    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[Floats, CoupledPotentials]:
        """log Z of every sentence [n] as Bethe has it, and the expected counts of all parts."""
        log_z, counts = self.coupled.log_partition_and_marginals()
        own, classes = self.whole.potentials.span, self.coupled.first.potentials.span[:, self.group]
        share = np.zeros_like(own)
        some = own > -np.inf
        np.exp(np.subtract(own, classes, out=share, where=some), out=share, where=some)
        share *= counts.first.span[:, self.group]
        return log_z, counts._replace(first=BracketPotentials(share))

    def score(self, answer: Both) -> Floats:
        """The score of a tree with entities, [n]."""
        classes, own = self.in_classes(answer), self.whole.score(answer.first)
        less = self.coupled.first.score(classes.first)
        own = np.subtract(own, less, out=np.full_like(own, -np.inf), where=own > -np.inf)
        return own + self.coupled.score(classes)

    def indicator(self, answer: Both) -> CoupledPotentials:
        """The counts of the parts of an answer."""
        counts = self.coupled.indicator(self.in_classes(answer))
        return counts._replace(first=self.whole.indicator(answer.first))

    def subtract(self, counts: CoupledPotentials, answer: Both) -> CoupledPotentials:
        """Counts less those of an answer, in place."""
        self.whole.subtract(counts.first, answer.first)
        self.coupled.subtract_rest(counts, self.in_classes(answer))
        return counts

    def with_cost(self, answer: Both, cost: float) -> Self:
        """The same with the costs of both structures."""
        whole, second = self.whole.with_cost(answer.first, cost), self.coupled.second.with_cost(answer.second, cost)
        assert isinstance(second, SemiMarkovBatch)
        return self.of(whole, second, self.coupled.links, self.coupled.table, self.group)

    def best(self) -> Both:
        """The best pairs that belief propagation finds."""
        return self.solved("bp", self.coupled.second)

    def solved(self, engine: str, second: Any) -> Both:
        """The best pairs that an engine finds, every class with its best label, with other scores of entities."""
        first = collapsed(self.whole, self.group, len(self.coupled.links.first), best=True)
        one, two = replace(self.coupled, first=first, second=second, engine=engine).best()
        lengths = np.repeat(np.diff(self.whole.offsets), np.diff(one.offsets))
        rows = np.repeat(self.whole.rows[:-1], np.diff(one.offsets)) + cells(lengths, one.begin, one.end)
        own = np.where(self.group == one.label[:, None], self.whole.potentials.span[rows], -np.inf)
        return Both(one._replace(label=own.argmax(axis=1).astype(np.int32)), two)

    @property
    def informed(self) -> BracketBatch:
        """The bracketings with what couplings have to say of them."""
        own, told = self.coupled.first.potentials.span, self.coupled.informed[0].potentials.span
        evidence = np.subtract(told, own, out=np.zeros_like(own), where=own > -np.inf)
        span, rows = self.whole.potentials.span.copy(), np.flatnonzero(evidence.any(axis=1))
        span[rows] += evidence[np.ix_(rows, self.group)]
        return replace(self.whole, potentials=BracketPotentials(span))

    def given(self, one: Brackets) -> Any:
        """The entities when the tree is known: no approximation."""
        return self.coupled.given(self._classes(one))

    def in_classes(self, answer: Both) -> Both:
        """An answer with classes for labels."""
        return Both(self._classes(answer.first), answer.second)

    def _classes(self, found: Brackets) -> Brackets:
        return found._replace(label=self.group[found.label].astype(np.int32))

    def take(self, which: Integers) -> Self:
        """Only some of the sentences."""
        return replace(self, whole=self.whole.take(which), coupled=self.coupled.take(which))
