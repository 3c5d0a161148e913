"""Chains from the scores of tokens and of pairs of neighbours, and from a table of transitions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.scorers.contract import Floats, Items
from dovetail.scorers.parts import Scores, Tables
from dovetail.scorers.transitions import Transitions, state_count
from dovetail.structures.chain import ChainBatch, ChainPotentials

NODE, EDGE, TRANSITION = "node", "edge", "transition"


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


@dataclass(frozen=True)
class ChainForm:
    """Chains of so many ``labels``: scores of nodes [tokens, L] and of edges [tokens, L * L], and transitions.

    ``transitions`` says which of them have parameters, in training.
    """

    labels: int
    order: int
    forbidden: Forbidden
    transitions: Transitions | None = None

    @property
    def shared(self) -> int:
        """The number of parameters of transitions."""
        return self._tying.size

    @property
    def _tying(self) -> Transitions:
        assert self.transitions is not None
        return self.transitions

    def outputs(self, part: str) -> int:
        """A score for every label, or pair of labels."""
        return self.labels**2 if part == EDGE else self.labels

    def places(self, part: str, tokens: Items) -> Items:
        """The tokens themselves."""
        return tokens

    def tables(self, shared: Floats) -> dict[str, Floats]:
        """The table of transitions [S, L]."""
        return {TRANSITION: self._tying.table(shared)}

    def batch(self, scores: Scores, tables: Tables, offsets: Items, threads: int) -> ChainBatch:
        """The chains of sentences with these scores."""
        edge = scores.get(EDGE, np.empty(0)).reshape(-1, self.labels, self.labels)
        transition = tables[TRANSITION] + self.forbidden.transition
        potentials = ChainPotentials(scores[NODE], transition, self.forbidden.start, self.forbidden.end, edge)
        return ChainBatch(potentials, offsets, order=max(self.order, 1), threads=threads)

    def direction(self, scores: Scores, offsets: Items, threads: int) -> ChainPotentials:
        """How the potentials move with the scores; transitions stay."""
        edge = scores.get(EDGE, np.empty(0)).reshape(-1, self.labels, self.labels)
        still = self.forbidden
        tables = (np.zeros_like(still.transition), np.zeros_like(still.start), np.zeros_like(still.end))
        return ChainPotentials(scores[NODE], *tables, edge)

    def slopes(self, slope: ChainPotentials, scores: Scores, offsets: Items, threads: int) -> tuple[Scores, Floats]:
        """The slopes of the scores and of the parameters of transitions."""
        found = {NODE: slope.unary, EDGE: slope.edge.reshape(-1, self.labels**2)}
        return found, self._tying.gradient(slope.transition)
