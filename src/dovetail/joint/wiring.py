"""A graph as index arrays, compiled once: what every engine works on.

Every value of every variable is a *state*; states are numbered through, variable by variable. What couplings say of
variables is a number for each state, [states], and reaches structures as evidence for their parts; what structures say
comes back so, too. A *block* is one sentence of a structure, or one variable of none. Blocks that couplings connect
make up a *component*: a problem of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dovetail.joint.graph import Coupling, Group
from dovetail.structures.contract import Booleans, Floats, Integers, Parts, Structure

HARD = 1e8
"""Stands for infinity where a sum must stay finite."""
Messages = list[list[Floats]]
"""For every coupling and each of its arguments, numbers [m, values]."""


class Wiring:
    """The states, blocks and components of a graph, and what passes between its structures and its couplings."""

    def __init__(
        self, structures: Sequence[Structure[Any, Any]], groups: Sequence[Group], couplings: Sequence[Coupling]
    ) -> None:
        self.structures, self.groups, self.couplings = list(structures), list(groups), list(couplings)
        for group in groups:  # tables that are one row for many parts are spread out now
            if group.address is not None:
                own = self.structures[group.node]
                parts = group.address.parts(own)
                self.structures[group.node] = own.plus(parts, np.zeros(len(parts)))
        sizes = np.concatenate([np.full(g.count, g.values) for g in groups] or [np.zeros(0)]).astype(np.int64)
        self.sizes: Integers = sizes
        """How many values each variable has: [variables]."""
        self.ptr: Integers = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        """The states of variable v are ``ptr[v] .. ptr[v + 1]``."""
        self.places = [
            [self.ptr[v][:, None] + np.arange(k) for v, k in zip(c.arguments, c.sizes, strict=True)] for c in couplings
        ]
        """The states of the arguments of each coupling: [m, values] each."""
        counts = [len(s) for s in self.structures]
        self.block_ptr: Integers = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.block_of: Integers = self._blocks_of_variables()
        """The block of each variable: [variables]."""
        self.blocks = int(self.block_ptr[-1]) + sum(g.count for g in groups if g.node < 0)
        self.components, self.component = self._components()
        """How many problems there are, and that of each block: [blocks]."""

    @property
    def states(self) -> int:
        """The number of states."""
        return int(self.ptr[-1])

    @cached_property
    def of_coupling(self) -> list[Integers]:
        """The component of each factor, [m], for every coupling."""
        return [self.component[self.block_of[c.arguments[0]]] for c in self.couplings]

    @cached_property
    def loops(self) -> Booleans:
        """Whether a component has loops: [components]. Where it has none, messages are exact."""
        variables = np.bincount(self.component[self.block_of], minlength=self.components) if len(self.block_of) else 0
        factors, edges = np.zeros((2, self.components), np.int64)
        for own, coupling in zip(self.of_coupling, self.couplings, strict=True):
            count = np.bincount(own, minlength=self.components)
            factors += count
            edges += count * len(coupling.arguments)
        # A forest of blocks, variables and factors has one edge fewer than nodes; each variable has one to its block.
        blocks = np.bincount(self.component, minlength=self.components)
        found: Booleans = edges + variables > blocks + variables + factors - 1
        return found

    def zeros(self) -> Messages:
        """Messages of zero."""
        return [[np.zeros(place.shape) for place in places] for places in self.places]

    def total(self, messages: Messages) -> Floats:
        """The sum of all messages at each state: [states]."""
        total = np.zeros(self.states)
        for places, own in zip(self.places, messages, strict=True):
            for place, message in zip(places, own, strict=True):
                np.add.at(total, place, message)
        return total

    def informed(self, evidence: Floats) -> tuple[list[Structure[Any, Any]], Floats]:
        """The structures with evidence [states] for their parts, and what is left to add to their scores: [blocks].

        Evidence that none of some parts is there is given as evidence against all of them.
        """
        found, constant = list(self.structures), np.zeros(self.blocks)
        for g, group in enumerate(self.groups):
            if group.node < 0:
                continue
            own = self.of_group(g, evidence)
            if group.rest:
                none = np.maximum(own[:, :1], own[:, 1:].max(axis=1, keepdims=True) - HARD)
                none = np.where(np.isfinite(none), none, 0.0)
                constant += np.bincount(self.block_of[self._index(g)], none[:, 0], self.blocks)
                own = own[:, 1:] - none
            found[group.node] = found[group.node].plus(self.parts[g], own.ravel())
        return found, constant

    def sums(self, evidence: Floats, temperature: float = 1.0) -> tuple[Floats, Floats, list[tuple[Any, ...]]]:
        """Probabilities of states [states], log Z of blocks [blocks], and the expected counts of every structure."""
        informed, log_z = self.informed(evidence)
        probability, counts = np.zeros(self.states), []
        for i, structure in enumerate(informed):
            scaled = structure if temperature == 1.0 else structure.scaled(1.0 / temperature)
            logs, expected = scaled.log_partition_and_marginals()
            log_z[self.block_ptr[i] : self.block_ptr[i + 1]] += temperature * logs
            counts.append(expected)
        for g, group in enumerate(self.groups):
            out = self.of_group(g, probability)
            if group.node >= 0:
                self._read(g, informed[group.node], counts[group.node], out)
            else:
                assert group.potentials is not None
                joint = (group.potentials + self.of_group(g, evidence)) / temperature
                top = joint.max(axis=1, keepdims=True)
                top = np.where(np.isfinite(top), top, 0.0)
                weight = np.exp(joint - top)
                total = weight.sum(axis=1, keepdims=True)
                out[:] = weight / np.maximum(total, 1e-300)
                with np.errstate(divide="ignore"):
                    log_z[self.block_of[self._index(g)]] = temperature * (top + np.log(total))[:, 0]
        return probability, log_z, counts

    def best(self, evidence: Floats) -> tuple[list[Any], Integers, Floats]:
        """The best answer of every structure under evidence, the values of variables, and the scores of blocks."""
        informed, score = self.informed(evidence)
        answers = [structure.best() for structure in informed]
        for i, (structure, answer) in enumerate(zip(informed, answers, strict=True)):
            score[self.block_ptr[i] : self.block_ptr[i + 1]] += structure.score(answer)
        values = self.values_of(answers)
        for g, group in enumerate(self.groups):
            if group.potentials is not None:
                joint = group.potentials + self.of_group(g, evidence)
                values[self._index(g)] = joint.argmax(axis=1)
                score[self.block_of[self._index(g)]] = joint.max(axis=1)
        return answers, values, score

    def values_of(self, answers: Sequence[Any]) -> Integers:
        """The value of every variable of a structure, from answers of the structures: [variables]."""
        values = np.zeros(len(self.sizes), np.int64)
        counts = [s.indicator(answer) for s, answer in zip(self.structures, answers, strict=True)]
        for g, group in enumerate(self.groups):
            if group.node >= 0:
                on = np.zeros((group.count, group.values))
                self._read(g, self.structures[group.node], counts[group.node], on)
                values[self._index(g)] = on.argmax(axis=1)
        return values

    def with_values(self, values: Integers) -> list[Any]:
        """The best answers of the structures in which variables have given values."""
        evidence = np.full(self.states, -HARD)
        evidence[self.ptr[:-1] + values] = 0.0
        return [structure.best() for structure in self.informed(evidence)[0]]

    def scores(self, values: Integers, answers: Sequence[Any] | None = None) -> Floats:
        """The scores of components, couplings and all, [components]: of answers, or of the best with these values."""
        given = self.with_values(values) if answers is None else answers
        score = np.zeros(self.blocks)
        for i, (structure, answer) in enumerate(zip(self.structures, given, strict=True)):
            score[self.block_ptr[i] : self.block_ptr[i + 1]] = structure.score(answer)
        for g, group in enumerate(self.groups):
            if group.potentials is not None:
                own = self._index(g)
                score[self.block_of[own]] = group.potentials[np.arange(group.count), values[own]]
        return self.by_component(score) + self.coupled(values)

    def coupled(self, values: Integers) -> Floats:
        """The scores of the couplings of each component, when variables have these values: [components]."""
        score = np.zeros(self.components)
        for own, coupling in zip(self.of_coupling, self.couplings, strict=True):
            score += np.bincount(own, coupling.factor.scores(self._joint(coupling, values)), self.components)
        return score

    def given(self, values: Integers) -> Floats:
        """What the couplings say of each state when all other variables have these values: [states]."""
        evidence = np.zeros(self.states)
        for coupling, places in zip(self.couplings, self.places, strict=True):
            joint = self._joint(coupling, values)
            for a, place in enumerate(places):
                np.add.at(evidence, place, coupling.factor.given(a, joint))
        return evidence

    def by_component(self, score: Floats) -> Floats:
        """The sums of what is said of blocks: [components]."""
        return np.bincount(self.component, score, self.components).astype(np.float64)

    def of_group(self, g: int, states: Any) -> Any:
        """The states of a group in an array [states], as a view [k, values]."""
        group = self.groups[g]
        first = self.ptr[group.first]
        return states[first : first + group.count * group.values].reshape(group.count, group.values)

    @cached_property
    def parts(self) -> dict[int, Parts]:
        """Where the parts of the values of each group lie in its structure, if it is of one."""
        found = {g: group.address for g, group in enumerate(self.groups)}
        return {g: a.parts(self.structures[self.groups[g].node]) for g, a in found.items() if a is not None}

    def within(self, components: Booleans) -> tuple[Wiring, Integers]:
        """Only some components, and the numbers of the variables that are left."""
        kept = components[self.component]
        structures: list[Structure[Any, Any]] = []
        renumbered = np.zeros(self.blocks, np.int64)
        numbers: dict[int, int] = {}
        for i, structure in enumerate(self.structures):
            mine = slice(self.block_ptr[i], self.block_ptr[i + 1])
            which = np.flatnonzero(kept[mine])
            renumbered[mine][which] = np.arange(len(which))
            if which.size:
                numbers[i] = len(structures)
                structures.append(structure.take(which) if which.size < len(structure) else structure)
        groups, variables, first = [], [], 0
        for g, group in enumerate(self.groups):
            rows = np.flatnonzero(kept[self.block_of[self._index(g)]])
            if not rows.size:
                continue
            variables.append(group.first + rows)
            block = self.block_of[variables[-1]]
            made = Group(first, len(rows), group.values, numbers.get(group.node, -1), rest=group.rest)
            if group.address is not None:
                made.address = group.address.some(rows, renumbered[block])
            if group.potentials is not None:
                made.potentials = group.potentials[rows]
            groups.append(made)
            first += len(rows)
        index = np.concatenate(variables) if variables else np.zeros(0, np.int64)
        renamed = np.full(len(self.sizes), -1, np.int64)
        renamed[index] = np.arange(len(index))
        couplings = []
        for own, coupling in zip(self.of_coupling, self.couplings, strict=True):
            which = np.flatnonzero(components[own])
            if which.size:
                arguments = [renamed[argument[which]] for argument in coupling.arguments]
                couplings.append(Coupling(coupling.factor.some(which), arguments))
        return Wiring(structures, groups, couplings), index

    def _index(self, g: int) -> slice:
        return slice(self.groups[g].first, self.groups[g].first + self.groups[g].count)

    def _joint(self, coupling: Coupling, values: Integers) -> Integers:
        return np.stack([values[argument] for argument in coupling.arguments], axis=1)

    def _read(self, g: int, structure: Structure[Any, Any], counts: Any, out: Floats) -> None:
        """The probabilities of the values of a group, from the counts of its structure, into [k, values]."""
        group = self.groups[g]
        found = structure.read(counts, self.parts[g]).reshape(group.count, group.values - group.rest)
        if group.rest:
            out[:, 1:] = found
            out[:, 0] = np.maximum(1.0 - found.sum(axis=1), 0.0)
        else:
            out[:] = found

    def _blocks_of_variables(self) -> Integers:
        found, free = [], int(self.block_ptr[-1])
        for group in self.groups:
            if group.address is not None:
                found.append(self.block_ptr[group.node] + group.address.sentence)
            else:
                found.append(np.arange(free, free + group.count))
                free += group.count
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    def _components(self) -> tuple[int, Integers]:
        from scipy.sparse import coo_matrix  # a fifth of a second, which text without links need not wait for
        from scipy.sparse.csgraph import connected_components

        left, right = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for coupling in self.couplings:
            for argument in coupling.arguments[1:]:
                left.append(self.block_of[coupling.arguments[0]])
                right.append(self.block_of[argument])
        rows, columns = np.concatenate(left), np.concatenate(right)
        links = coo_matrix((np.ones(len(rows)), (rows, columns)), (self.blocks, self.blocks))
        count, component = connected_components(links, directed=False)
        return int(count), component.astype(np.int64)
