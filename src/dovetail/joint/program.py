"""Components of a graph as integer programs: columns for edges, states and joint values; rows that tie them together.

The answers to a sentence are the corners of a polytope over the edges of its hypergraph
(``dovetail.structures.derivations``). A state of a variable is the sum of the edges that use one of its parts; a factor
has a column for every joint value that it does not forbid, whose sums are the states again. Where all states are whole
numbers, all else can be; so only they are asked to be.

Gains are relative: with ``best(i)`` the best score of a derivation of item i, an edge gains ``weight + best(tails) -
best(head)``, and a joint value its potential less that of the best one, neither more than zero. So the sum of all that
is best bounds every answer, and what alone loses more than that bound is above the score of an answer that is already
known is in no better one, and is left out. Prices, as dual decomposition finds them, move potentials from couplings to
structures: no score changes, but the bound falls, and with it the number of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from dovetail.arrays import taken
from dovetail.errors import InputError
from dovetail.joint.factors import LARGEST, AtMostOne, Factor, Incoming
from dovetail.joint.wiring import Messages, Wiring
from dovetail.structures.contract import Booleans, Floats, Integers, Parts
from dovetail.structures.derivations import derivations

EDGES = 10
"""So many times as many edges as columns may be looked at, before those are left out that lose too much."""
ABSENT = -1
"""The column of a state that cannot be."""


class Outcome(NamedTuple):
    """What became of a program: proved to be the best, or to have no answer; its columns; and what none exceeds."""

    proved: bool
    possible: bool
    columns: Floats | None
    bound: float
    nodes: int


class Program:
    """Columns from 0 to 1 with gains, some of them whole numbers, and rows with bounds."""

    def __init__(self, most: int) -> None:
        self.most, self.columns, self.height, self.constant = most, 0, 0, 0.0
        self._more: list[tuple[Integers, Floats]] = []
        self._gains: list[Floats] = []
        self._whole: list[Booleans] = []
        self._rows: list[tuple[Integers, Integers, Floats]] = []
        self._limits: list[tuple[Floats, Floats]] = []

    def add(self, gains: Floats, whole: bool = False) -> Integers:
        """New columns: their numbers."""
        found = np.arange(self.columns, self.columns + len(gains))
        self.columns += len(gains)
        self._gains.append(gains)
        self._whole.append(np.full(len(gains), whole))
        if self.columns > self.most:
            raise InputError(
                f"a program of more than {self.most:,} columns is too large; take the engine dual or bp, forbid parts "
                "that are improbable, or ask for more by most_columns"
            )
        return found

    def more(self, columns: Integers, gains: Floats) -> None:
        """More gains for columns that are there already."""
        self._more.append((columns, gains))

    def rows(self, row: Integers, column: Integers, value: Any, low: Any, high: Any, count: int) -> None:
        """New rows: entries by row from 0 to count, column and value; and their bounds, one or one each."""
        self._rows.append((row + self.height, column, np.broadcast_to(np.asarray(value, np.float64), row.shape)))
        low, high = (np.broadcast_to(np.asarray(each, np.float64), count) for each in (low, high))
        self._limits.append((low, high))
        self.height += count

    def solve(self, time_limit: float, gap: float) -> Outcome:
        """The best columns that HiGHS finds."""
        from scipy.optimize import Bounds, LinearConstraint, milp  # slow to load, and most models never solve one
        from scipy.sparse import csr_matrix

        row, column, value = (np.concatenate(each) for each in zip(*self._rows, strict=True))
        matrix = csr_matrix((value, (row, column)), (self.height, self.columns))
        low, high = (np.concatenate(each) for each in zip(*self._limits, strict=True))
        gains, whole = np.concatenate(self._gains), np.concatenate(self._whole)
        for columns, more in self._more:
            np.add.at(gains, columns, more)
        for presolve in (True, False):
            found = milp(
                -gains,
                integrality=whole,
                bounds=Bounds(0.0, 1.0),
                constraints=LinearConstraint(matrix, low, high),
                options={"time_limit": max(time_limit, 1e-3), "mip_rel_gap": gap, "presolve": presolve},
            )
            if found.status != 4:  # else it could not tell
                break
        bound = 0.0 if found.mip_dual_bound is None else min(self.constant - found.mip_dual_bound, 0.0)
        nodes = int(found.mip_node_count or 0)
        return Outcome(found.status in (0, 2), found.status != 2, found.x, bound, nodes)


class Components:
    """The blocks, variables and factors of each component, and the program of it, under prices if given."""

    def __init__(self, wiring: Wiring, most: int, prices: Messages | None = None) -> None:
        self.wiring, self.most = wiring, most
        self.prices = wiring.zeros() if prices is None else prices
        self.evidence = wiring.total(self.prices)
        self.structures = wiring.informed(self.evidence)[0]
        self.column = np.full(wiring.states, ABSENT, np.int64)
        """The column of each state in the program of its component: [states]."""
        self.coupled = np.zeros(len(wiring.sizes), bool)
        """Whether a variable has couplings: [variables]."""
        for coupling in wiring.couplings:
            for argument in coupling.arguments:
                self.coupled[argument] = True
        self._blocks = _sorted(wiring.component, wiring.components)
        self._variables = _sorted(wiring.block_of, wiring.blocks)
        self._factors = [_sorted(own, wiring.components) for own in wiring.of_coupling]

    def variables(self, component: int) -> Integers:
        """The coupled variables of a component."""
        order, ptr = self._variables
        found: Integers = np.concatenate([order[ptr[b] : ptr[b + 1]] for b in self._of(self._blocks, component)])
        return found[self.coupled[found]]

    def factors(self, component: int) -> list[Integers]:
        """Of each coupling the factors that are in a component."""
        return [self._of(each, component) for each in self._factors]

    def program(self, component: int, slack: float = np.inf, factors: Sequence[Integers] | None = None) -> Program:
        """The program of a component, without what loses more than ``slack``; with some of the factors, or all."""
        made = Program(self.most)
        for block in self._of(self._blocks, component).tolist():
            order, ptr = self._variables
            own = order[ptr[block] : ptr[block + 1]]
            own = own[self.coupled[own]]
            if block >= self.wiring.block_ptr[-1]:
                self._free(made, int(own[0]), slack)
            else:
                self._sentence(made, block, own, slack)
        chosen = self.factors(component) if factors is None else factors
        each = zip(chosen, self.wiring.couplings, self.wiring.places, self.prices, strict=True)
        for which, coupling, places, prices in each:
            if which.size:
                columns = [self.column[place[which]] for place in places]
                export(coupling.factor.some(which), made, columns, [-price[which] for price in prices], slack)
        return made

    def values(self, component: int, columns: Floats) -> tuple[Integers, Integers]:
        """The coupled variables of a component, and their values in a solution."""
        variables, w = self.variables(component), self.wiring
        values = np.zeros(len(variables), np.int64)
        for i, v in enumerate(variables.tolist()):
            own = self.column[w.ptr[v] : w.ptr[v + 1]]
            values[i] = np.where(own >= 0, columns[own], -1.0).argmax()
        return variables, values

    @staticmethod
    def _of(sorted_: tuple[Integers, Integers], number: int) -> Integers:
        order, ptr = sorted_
        return order[ptr[number] : ptr[number + 1]]

    def _free(self, made: Program, variable: int, slack: float) -> None:
        """The values of a variable of no structure."""
        w = self.wiring
        group = next(g for g in w.groups if g.first <= variable < g.first + g.count)
        assert group.potentials is not None
        own = group.potentials[variable - group.first] + self.evidence[w.ptr[variable] : w.ptr[variable + 1]]
        self._states(made, variable, _kept(own - own.max(), slack), own - own.max())

    def _states(self, made: Program, variable: int, present: Booleans, gains: Floats) -> None:
        """Columns for the values that a variable can have, of which it has one."""
        states = self.wiring.ptr[variable] + np.arange(len(present))
        self.column[states] = ABSENT
        columns = self.column[states[present]] = made.add(gains[present], whole=True)
        made.rows(np.zeros(len(columns), np.int64), columns, 1.0, 1.0, 1.0, 1)

    def _sentence(self, made: Program, block: int, variables: Integers, slack: float) -> None:
        """The edges of a sentence, and the states that are sums of them."""
        w = self.wiring
        node = int(np.searchsorted(w.block_ptr, block, "right")) - 1
        sentence = block - int(w.block_ptr[node])
        try:
            graph = derivations(self.structures[node], sentence, EDGES * self.most)
        except InputError as error:
            raise InputError(f"{error}; take the engine dual or bp") from None
        inside = graph.inside()
        graph = graph.some(np.flatnonzero(_kept(graph.through(inside) - inside[-1], slack)))
        below = np.where(graph.tails >= 0, inside[graph.tails], 0.0).sum(axis=1)
        edges = made.add(graph.weight + below - inside[graph.head])
        owner, which = np.nonzero(graph.tails >= 0)
        items, row = np.unique(np.concatenate([graph.head, graph.tails[owner, which]]), return_inverse=True)
        sign = np.repeat([1.0, -1.0], [len(edges), len(owner)])
        flow = (items == graph.items - 1).astype(np.float64)
        made.rows(row.astype(np.int64), np.concatenate([edges, edges[owner]]), sign, flow, flow, len(items))
        for g, group in enumerate(w.groups):
            mine = variables[(variables >= group.first) & (variables < group.first + group.count)]
            if not mine.size:
                continue
            width = group.values - group.rest
            rows = ((mine - group.first)[:, None] * width + np.arange(width)).ravel()
            entry, ptr = taken(w.parts[g].ptr, rows)
            part, edge = graph.using(Parts(w.parts[g].table, w.parts[g].entry[entry], ptr))
            present = np.bincount(part, minlength=len(rows)).reshape(len(mine), width) > 0
            for i, v in enumerate(mine.tolist()):
                # Value 0 is what is left: none of the parts of the others.
                here = np.concatenate([[True], present[i, 1 - group.rest :]])
                self._states(made, v, here, np.zeros(group.values))
            state = w.ptr[mine[part // width]] + part % width + group.rest
            linked = part % width + group.rest > 0
            columns = np.unique(self.column[state[linked]])
            of = np.searchsorted(columns, self.column[state[linked]])
            both = np.concatenate([np.arange(len(columns)), of]), np.concatenate([columns, edges[edge[linked]]])
            made.rows(*both, np.repeat([1.0, -1.0], [len(columns), len(of)]), 0.0, 0.0, len(columns))


@singledispatch
def export(factor: Factor, program: Program, columns: list[Integers], incoming: Incoming, slack: float) -> None:
    """Put m factors of a kind into a program: the next best thing for any kind, a column for every joint value.

    columns: [m, values] of each variable, the columns of its states, or ``ABSENT``. incoming: what is added to the
    potentials for each value, in the same shapes. A kind that can be said in fewer rows registers a function here.
    """
    sizes = tuple(each.shape[1] for each in columns)
    if np.prod([float(size) for size in sizes]) > LARGEST:
        raise InputError(f"{factor.name}: the engine ilp writes out joint values, at most {LARGEST}; take dual or bp")
    joint = np.stack(np.unravel_index(np.arange(int(np.prod(sizes))), sizes), axis=1)
    m = len(columns[0])
    scores = np.stack([factor.scores(np.tile(each, (m, 1))) for each in joint], axis=1)
    for added, value in zip(incoming, joint.T, strict=True):
        scores = scores + added[:, value]
    top = scores.max(axis=1, keepdims=True)
    loss = np.where(scores > -np.inf, scores - np.where(top > -np.inf, top, 0.0), -np.inf)
    valid = _kept(loss, slack)
    for own, value in zip(columns, joint.T, strict=True):
        valid &= own[:, value] >= 0
    f, j = np.nonzero(valid)
    made = program.add(loss[f, j])
    for own, value in zip(columns, joint.T, strict=True):
        number = np.full(own.size, ABSENT)
        real = np.flatnonzero(own.ravel() >= 0)
        number[real] = np.arange(len(real))
        row = np.concatenate([number[real], number[f * own.shape[1] + value[j]]])
        column = np.concatenate([own.ravel()[real], made])
        program.rows(row, column, np.repeat([-1.0, 1.0], [len(real), len(made)]), 0.0, 0.0, len(real))


@export.register
def _(factor: AtMostOne, program: Program, columns: list[Integers], incoming: Incoming, slack: float) -> None:
    program.constant -= float(factor.best(incoming)[1].sum())
    for own, gains in zip(columns, incoming, strict=True):
        program.more(own[own >= 0], gains[own >= 0])
    on = np.stack([each[:, 1] for each in columns], axis=1)
    f, a = np.nonzero(on >= 0)
    program.rows(f, on[f, a], 1.0, 1.0 if factor.required else 0.0, 1.0, len(on))


def _kept(loss: Floats, slack: float) -> Booleans:
    """What may be part of an answer that is good enough, from what it loses against the best: negative numbers."""
    found: Booleans = (loss > -np.inf) & (loss >= -slack)
    return found


def _sorted(owner: Integers, count: int) -> tuple[Integers, Integers]:
    """Things by owner: their numbers, and where those of each owner begin, [count + 1]."""
    return np.argsort(owner, kind="stable"), np.searchsorted(np.sort(owner), np.arange(count + 1))
