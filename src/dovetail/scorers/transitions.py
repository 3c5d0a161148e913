"""The parameters of label sequences: one for each pair, and for order two each triple, of labels in a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import InputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def state_count(labels: int, order: int) -> int:
    """How many states a chain has: labels, or pairs of labels and one start state for each label."""
    return labels * labels + labels if order == 2 else labels


def states_within(kept: Integers, labels: int, order: int) -> Integers:
    """The states of some of the labels [kept], by their numbers among the states of all labels."""
    return (np.append(kept, labels)[:, None] * labels + kept).ravel() if order == 2 else kept


@dataclass(frozen=True)
class Transitions:
    """A linear map from parameters to the table [states, labels] of transition potentials.

    Parameter ``parameter[i]`` is added to cell ``cell[i]`` of the flat table: a pair of labels fills many cells of a
    second-order table, a triple fills one, and tied transitions are whatever a function of the labels makes the same.
    """

    labels: int
    order: int
    cell: Integers
    parameter: Integers
    size: int

    @classmethod
    def observed(
        cls, gold: NDArray[np.int32], offsets: Integers, labels: int, order: int, full: bool = False
    ) -> Transitions:
        """The pairs and triples that occur in the gold labels (or all of them)."""
        none = np.empty(0, dtype=np.int64)
        if order == 0:
            return cls(labels, 0, none, none, 0)
        if full:
            pairs = np.arange(labels * labels)
        else:
            position = np.arange(len(gold)) - np.repeat(offsets[:-1], np.diff(offsets))
            here = np.flatnonzero(position >= 1)
            a, b = gold[here - 1].astype(np.int64), gold[here].astype(np.int64)
            pairs = np.unique((a * labels + b)[(a >= 0) & (b >= 0)])
        if order == 1:
            return cls(labels, 1, pairs, np.arange(len(pairs)), len(pairs))
        before = np.append(np.arange(labels), labels)  # any label, or the start
        cell = ((before[:, None] * labels + pairs // labels) * labels + pairs % labels).ravel()
        parameter = np.tile(np.arange(len(pairs)), labels + 1)
        if full:
            triples = np.arange(state_count(labels, 2) * labels)
        else:
            long = here[position[here] >= 2]
            first = np.concatenate([gold[long - 2], np.full((position == 1).sum(), labels)]).astype(np.int64)
            where = np.concatenate([long, np.flatnonzero(position == 1)])
            second, third = gold[where - 1], gold[where]
            known = (first >= 0) & (second >= 0) & (third >= 0)
            triples = np.unique(((first * labels + second) * labels + third)[known])
        numbers = np.concatenate([parameter, len(pairs) + np.arange(len(triples))])
        return cls(labels, 2, np.concatenate([cell, triples]), numbers, len(pairs) + len(triples))

    @classmethod
    def tied(
        cls, labels: int, function: Callable[[Integers, Integers], Integers], size: int | None = None
    ) -> Transitions:
        """A parameter for each value of a function of a label and the next, for a chain of order 1.

        function: from arrays of labels to numbers of parameters, negative for none. size: how many parameters there
        are, those that only larger label sets use included; one more than the largest number unless given.

        >>> jumps = Transitions.tied(3, lambda before, after: after - before + 2)
        >>> jumps.table(np.array([-2.0, -1.0, 0.0, 1.0, 2.0]))
        array([[ 0.,  1.,  2.],
               [-1.,  0.,  1.],
               [-2., -1.,  0.]])
        """
        cell = np.arange(labels * labels)
        parameter = np.asarray(function(cell // labels, cell % labels), dtype=np.int64)
        used = parameter >= 0
        most = int(parameter.max(initial=-1)) + 1
        if size is not None and most > size:
            raise InputError(f"the function of labels numbers {most} parameters, more than {size}")
        return cls(labels, 1, cell[used], parameter[used], most if size is None else size)

    def initial(self, table: NDArray[np.floating], label_map: Integers) -> Floats:
        """Start values [size] from another model's table of the same order.

        ``label_map`` [labels] gives the other model's number of each label, -1 for none. A second-order table is taken
        over by the triples alone, each of which has one cell of its own.
        """
        labels, others = self.labels, table.shape[1]
        mapped = np.append(label_map, others)  # the start stands after the labels
        state, label = self.cell // labels, label_map[self.cell % labels]
        first, second = (
            (mapped[state // labels], label_map[state % labels]) if self.order == 2 else (0, label_map[state])
        )
        known = (np.asarray(first) >= 0) & (second >= 0) & (label >= 0)
        if self.order == 2:
            known &= np.bincount(self.parameter, minlength=self.size)[self.parameter] == 1
        weight = np.zeros(self.size)
        row = np.asarray(first) * others + second
        weight[self.parameter[known]] = table[np.broadcast_to(row, known.shape)[known], label[known]]
        return weight

    def within(self, kept: Integers) -> tuple[Transitions, Integers]:
        """The transitions between some labels, and the numbers of their parameters among these, [parameters]."""
        states = states_within(kept, self.labels, self.order)
        place = np.full(state_count(self.labels, self.order) * self.labels, -1, dtype=np.int64)
        place[(states[:, None] * self.labels + kept).ravel()] = np.arange(len(states) * len(kept))
        stays = place[self.cell] >= 0
        share, parameter = np.unique(self.parameter[stays], return_inverse=True)
        return Transitions(len(kept), self.order, place[self.cell[stays]], parameter, len(share)), share

    def table(self, weight: Floats) -> Floats:
        """Potentials [states, labels] under ``weight`` [size]."""
        states = state_count(self.labels, self.order)
        flat = np.bincount(self.cell, weight[self.parameter], minlength=states * self.labels)
        return flat.reshape(states, self.labels).astype(np.float64)

    def gradient(self, table: Floats) -> Floats:
        """The gradient [size] from that of the table."""
        return np.bincount(self.parameter, table.ravel()[self.cell], minlength=self.size).astype(np.float64)
