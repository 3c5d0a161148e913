"""Two structures over the same sentences whose spans are coupled, as one structure: what losses and models ask of it.

An answer is one of each. Its score is the sum of theirs, and of a table of every coupled span: an entry for what the
first structure has there and what the second has. Sums over all answers are those of belief propagation: exact where
one span of a sentence is coupled, else as good as Bethe's approximation; and the slope of its log Z are its marginals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from dovetail.errors import InputError
from dovetail.joint.factors import Table
from dovetail.joint.graph import Graph, Variables
from dovetail.joint.result import Beliefs
from dovetail.structures.contract import Floats, Integers, Structure

ROUNDS = 5
"""Rounds of messages at most, as many as published (Naradowsky, Vieira and Smith 2012)."""
CALM = 1e-3
"""Messages that change by less are left as they are."""
Labels = tuple[tuple[int, ...], ...]


class CoupledPotentials(NamedTuple):
    """The potentials of two structures, and of what they have at coupled spans."""

    first: Any
    second: Any
    table: Floats
    """``[m, values of the first, values of the second]``."""


class Both(NamedTuple):
    """An answer of each of two structures."""

    first: Any
    second: Any


class Links(NamedTuple):
    """The m spans that are coupled: in which sentence, from which word up to which; and what values stand for.

    Value 0 of either structure says that the span is there with none of the labels of the others, or not there.
    """

    sentence: Integers
    begin: Integers
    end: Integers
    first: Labels
    second: Labels

    def some(self, which: Integers, sentences: int) -> tuple[Links, Integers]:
        """Those of some of so many sentences, which are numbered anew, and their numbers here."""
        number = np.full(sentences, -1, np.int64)
        number[which] = np.arange(len(which))
        rows = np.flatnonzero(number[self[0]] >= 0)
        rows = rows[np.argsort(number[self[0][rows]], kind="stable")]
        places = [part[rows] for part in self[1:3]]
        return Links(number[self[0][rows]], places[0], places[1], self.first, self.second), rows

    def told(self, structure: Structure[Any, Any], labels: Labels, evidence: Floats) -> Structure[Any, Any]:
        """One of the structures with evidence [m * values] for what its spans have, each less that for value 0."""
        own = evidence.reshape(len(self.sentence), 1 + len(labels))
        value, label = np.array([(v, label) for v, each in enumerate(labels, 1) for label in each], np.int64).T
        sentence, begin, end = (np.repeat(place, len(label)) for place in self[:3])
        parts = structure.span(sentence, begin, end, np.tile(label, len(self.sentence)))
        return structure.plus(parts, (own[:, value] - own[:, :1]).ravel())


@dataclass(frozen=True, eq=False)
class CoupledBatch:
    """Two structures of the same sentences, coupled at some spans; ``engine`` finds the best answers.

    It has what losses ask of a structure.
    """

    first: Structure[Any, Any]
    second: Structure[Any, Any]
    links: Links
    table: Floats
    engine: str = "bp"

    def __post_init__(self) -> None:
        shape = (len(self.links.sentence), len(self.links.first) + 1, len(self.links.second) + 1)
        if len(self.first) != len(self.second) or self.table.shape != shape:
            raise InputError(
                f"{len(self.first)} and {len(self.second)} sentences are coupled by tables of shape "
                f"{self.table.shape}, expected as many of each, and {shape}"
            )

    @property
    def potentials(self) -> CoupledPotentials:
        """Those of both, and the tables."""
        return CoupledPotentials(self.first.potentials, self.second.potentials, self.table)

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def graph(self) -> Graph:
        """The same as a graph."""
        return self._made[0]

    @cached_property
    def _made(self) -> tuple[Graph, Variables | None, Variables | None]:
        graph, links = Graph(), self.links
        one, two = graph.add(self.first), graph.add(self.second)
        if not len(links.sentence):
            return graph, None, None
        left = one.spans(links.sentence, links.begin, links.end, links.first)
        right = two.spans(links.sentence, links.begin, links.end, links.second)
        graph.couple(Table(self.table, own=True, name="span"), left, right)
        return graph, left, right

    @cached_property
    def beliefs(self) -> Beliefs:
        """What belief propagation makes of it."""
        return self.graph.marginals(engine="bp", iterations=ROUNDS, tolerance=CALM)

    @cached_property
    def _linked(self) -> Self:
        """The sentences that have coupled spans: the others need no messages."""
        which = np.unique(self.links.sentence)
        if len(which) == len(self):
            return self
        links = self.links._replace(sentence=np.searchsorted(which, self.links.sentence))
        return replace(self, first=self.first.take(which), second=self.second.take(which), links=links)

    def log_partition(self) -> Floats:
        """log Z of every sentence as Bethe has it: [n]."""
        if not len(self.links.sentence):
            return self.first.log_partition() + self.second.log_partition()
        linked, which = self._linked, np.unique(self.links.sentence)
        rest = np.setdiff1d(np.arange(len(self)), which)
        log_z = np.zeros(len(self))
        log_z[which] = linked._by_sentence(linked.beliefs.log_z)
        if len(rest):
            log_z[rest] = self.first.take(rest).log_partition() + self.second.take(rest).log_partition()
        return log_z

    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[Floats, CoupledPotentials]:
        """log Z of every sentence [n] as Bethe has it, and the expected counts of all parts."""
        if not len(self.links.sentence):
            (log_z, first), (more, second) = (s.log_partition_and_marginals() for s in (self.first, self.second))
            return log_z + more, CoupledPotentials(first, second, np.zeros_like(self.table))
        found = self.beliefs
        first, second = found.counts
        return self._by_sentence(found.log_z), CoupledPotentials(first, second, found.factors[0])

    def best(self) -> Both:
        """The best pairs that the engine finds."""
        if not len(self.links.sentence):
            return Both(self.first.best(), self.second.best())
        return Both(*self.graph.solve(engine=self.engine).answers)

    def score(self, answer: Both) -> Floats:
        """The score of a pair, [n]."""
        total = self.first.score(answer.first) + self.second.score(answer.second)
        if not len(self.links.sentence):
            return total
        return total + np.bincount(
            self.links.sentence, self.table[np.arange(len(self.table)), *self._values(answer)], len(self)
        )

    def indicator(self, answer: Both) -> CoupledPotentials:
        """The counts of the parts of a pair."""
        used = np.zeros_like(self.table)
        if len(used):
            used[np.arange(len(used)), *self._values(answer)] = 1.0
        return CoupledPotentials(self.first.indicator(answer.first), self.second.indicator(answer.second), used)

    def with_cost(self, answer: Both, cost: float) -> Self:
        """The same with the costs of both structures."""
        first, second = self.first.with_cost(answer.first, cost), self.second.with_cost(answer.second, cost)
        return replace(self, first=first, second=second)

    def subtract(self, counts: CoupledPotentials, answer: Both) -> CoupledPotentials:
        """Counts less those of a pair, in place."""
        self.first.subtract(counts.first, answer.first)
        return self.subtract_rest(counts, answer)

    def subtract_rest(self, counts: CoupledPotentials, answer: Both) -> CoupledPotentials:
        """The same without the parts of the first structure."""
        self.second.subtract(counts.second, answer.second)
        if len(self.table):
            counts.table[np.arange(len(self.table)), *self._values(answer)] -= 1.0
        return counts

    def take(self, which: Integers) -> Self:
        """Only some of the sentences."""
        links, rows = self.links.some(which, len(self))
        return replace(
            self, first=self.first.take(which), second=self.second.take(which), links=links, table=self.table[rows]
        )

    @cached_property
    def informed(self) -> tuple[Structure[Any, Any], Structure[Any, Any]]:
        """Both structures with what bp has to say of their parts as evidence: each by itself has bp's marginals."""
        if not len(self.links.sentence):
            return self.first, self.second
        links, evidence = self.links, self._linked.beliefs.evidence
        assert evidence is not None
        one, two = np.split(evidence, [len(self.table) * (1 + len(links.first))])
        return links.told(self.first, links.first, one), links.told(self.second, links.second, two)

    def given(self, one: Any) -> Structure[Any, Any]:
        """The second structure when the answer of the first is known: no approximation."""
        if not len(self.links.sentence):
            return self.second
        right = self._made[2]
        assert right is not None
        wiring = self.graph.wiring
        at = wiring.values_of([one, self.second.best()])[: len(self.table)]
        rows = self.table[np.arange(len(self.table)), at]
        evidence = np.zeros(wiring.states)
        evidence[wiring.ptr[right.index][:, None] + np.arange(right.values)] = rows
        return wiring.informed(evidence)[0][1]

    def _values(self, answer: Both) -> tuple[Integers, Integers]:
        """What both structures have at coupled spans: [m] each."""
        values = self.graph.wiring.values_of([answer.first, answer.second])
        m = len(self.table)
        return values[:m], values[m:]

    def _by_sentence(self, of_components: Floats) -> Floats:
        """The sums over the components that a sentence is made of: one, or one of each structure."""
        component, n = self.graph.wiring.component, len(self)
        one, two = component[:n], component[n : 2 * n]
        return of_components[one] + np.where(one == two, 0.0, of_components[two])
