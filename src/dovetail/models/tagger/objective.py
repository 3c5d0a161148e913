"""The training objective of a chain model: features to potentials, a loss on the chain, and the gradient back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dovetail.learning.losses import Loss
from dovetail.scorers.linear import LinearScorer
from dovetail.scorers.transitions import Transitions, state_count
from dovetail.sparse import SparseGradient
from dovetail.structures.chain import ChainBatch, ChainPotentials

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Forbidden:
    """Zero or minus infinity, to rule out labels: ``transition`` [S, L], ``start`` [L], ``end`` [L]."""

    transition: Floats
    start: Floats
    end: Floats

    @classmethod
    def nothing(cls, labels: int, order: int) -> Forbidden:
        """Everything is allowed."""
        return cls(np.zeros((state_count(labels, order), labels)), np.zeros(labels), np.zeros(labels))

    @classmethod
    def pairs(cls, pairs: Floats, start: Floats, end: Floats, order: int) -> Forbidden:
        """From pairs of labels [L, L]; in a second-order table they hold whatever came before."""
        return cls(np.tile(pairs, (len(pairs) + 1, 1)) if order == 2 else pairs, start, end)


@dataclass
class ChainObjective:
    """The loss of a corpus as a function of one vector of weights: node features, edge features, transitions."""

    offsets: NDArray[np.int64]
    gold: NDArray[np.int32]
    allowed: NDArray[np.bool_] | None
    node: LinearScorer
    edge: LinearScorer | None
    transitions: Transitions
    forbidden: Forbidden
    loss: Loss
    order: int
    threads: int = 1

    def __post_init__(self) -> None:
        self.items = len(self.offsets) - 1
        self.after_node = self.node.layout.parameters
        self.after_edge = self.after_node + (self.edge.layout.parameters if self.edge else 0)
        self.parameters = self.after_edge + self.transitions.size

    def batch(
        self, unary: Floats, edge: Floats | None, weight: Floats, offsets: NDArray[np.int64], threads: int
    ) -> ChainBatch:
        """The chains of some sentences."""
        labels = unary.shape[1]
        potentials = ChainPotentials(
            unary,
            self.transitions.table(weight[self.after_edge :]) + self.forbidden.transition,
            self.forbidden.start,
            self.forbidden.end,
            np.empty((0, labels, labels)) if edge is None else edge.reshape(-1, labels, labels),
        )
        return ChainBatch(potentials, offsets, order=max(self.order, 1), threads=threads)

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The loss on the whole corpus and its gradient [parameters]."""
        unary = self.node.forward(weight[: self.after_node])
        edge = self.edge.forward(weight[self.after_node : self.after_edge]) if self.edge else None
        chains = self.batch(unary, edge, weight, self.offsets, self.threads)
        value, slope = self.loss(chains, self.gold, self.allowed)
        gradient = np.empty(self.parameters)
        self.node.backward(slope.unary, gradient[: self.after_node])
        if self.edge is not None:
            self.edge.backward(slope.edge.reshape(len(slope.edge), -1), gradient[self.after_node : self.after_edge])
        gradient[self.after_edge :] = self.transitions.gradient(slope.transition)
        return value, gradient

    # The two methods that online optimisers call. A batch is a few sentences.

    def _tokens(self, which: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        lengths = self.offsets[which + 1] - self.offsets[which]
        offsets = np.zeros(len(which) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return np.arange(offsets[-1]) + np.repeat(self.offsets[which] - offsets[:-1], lengths), offsets

    def touch(self, which: NDArray[np.int64], sink: SparseGradient) -> None:
        """List the parameters that these sentences use; transitions are always among them."""
        tokens, _ = self._tokens(which)
        self.node.touch(tokens, 0, sink)
        if self.edge is not None:
            self.edge.touch(tokens, self.after_node, sink)
        sink.items[sink.count : sink.count + self.transitions.size] = np.arange(self.after_edge, self.parameters)
        sink.count += self.transitions.size

    def accumulate(self, weight: Floats, which: NDArray[np.int64], sink: SparseGradient) -> float:
        """The loss on these sentences; its gradient is added to ``sink``."""
        tokens, offsets = self._tokens(which)
        unary = self.node.forward_some(tokens, 0, weight)
        edge = self.edge.forward_some(tokens, self.after_node, weight) if self.edge else None
        chains = self.batch(unary, edge, weight, offsets, 1)
        allowed = None if self.allowed is None else self.allowed[tokens]
        value, slope = self.loss(chains, self.gold[tokens], allowed)
        self.node.backward_some(tokens, 0, slope.unary, sink)
        if self.edge is not None:
            self.edge.backward_some(tokens, self.after_node, slope.edge.reshape(len(tokens), -1), sink)
        sink.value[self.after_edge :] += self.transitions.gradient(slope.transition)
        return value
