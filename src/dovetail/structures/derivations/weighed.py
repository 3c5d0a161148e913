"""All answers to one sentence: what is put together from what, and at what gain."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.kernel import kernel
from dovetail.structures.contract import Floats, Integers, Parts
from dovetail.structures.hypergraph import Hypergraph
from dovetail.structures.ragged import Ragged

NONE = -1
"""Stands for a tail that an edge has not."""
Uses = dict[str, tuple[Integers, Integers]]
"""For each table of potentials that addresses speak of: edges, and the entries that they use, counted flat."""


class Derivations(NamedTuple):
    """A hypergraph and the scores of its edges: an answer is a derivation of the root, its score the sum of its edges.

    An item is derived by one edge into it, together with derivations of the tails of that edge. Tails have lower
    numbers than heads, edges are sorted by head, and the last item is the root. No derivation has an item twice, so
    ``x[e] >= 0``, an in-flow of 1 for the root, and for any other item one like the flow of the edges that have it as a
    tail, describe a polytope whose corners are the answers (Martin, Rardin and Campbell 1990).
    """

    items: int
    head: Integers
    """``[E]``."""
    tails: Integers
    """``[E, 2]``, -1 for none."""
    weight: Floats
    """``[E]``, finite."""
    uses: Uses

    @classmethod
    def of(
        cls, level: ArrayLike, head: ArrayLike, tails: tuple[ArrayLike, ArrayLike], weight: ArrayLike, uses: Uses
    ) -> Derivations:
        """From items that are numbered anyhow: edges of minus infinity are left out, and all is put in order.

        level: [items], higher for heads than for tails, highest for the root. The rest: [E] each.
        """
        order = np.argsort(np.asarray(level), kind="stable")
        rank = np.empty(len(order) + 1, np.int64)
        rank[order], rank[NONE] = np.arange(len(order)), NONE
        heads, weights = rank[np.asarray(head, np.int64)], np.asarray(weight, np.float64)
        both = rank[np.stack([np.asarray(tail, np.int64) for tail in tails], axis=1)]
        whole = cls(len(order), heads, both, weights, uses)
        by_head = np.argsort(heads, kind="stable")
        return whole.some(by_head[weights[by_head] > -np.inf])

    @classmethod
    def weighed(cls, graph: Hypergraph, batch: Ragged[Any, Any], sentence: int) -> Derivations:
        """From a hypergraph and the potentials of its sentence. Its vertex 0, nothing, is no item."""
        parts = np.ascontiguousarray(graph.parts.T)
        weight = batch._flat(sentence, batch.potentials)[parts].sum(axis=0)
        uses, place = Uses(), 0
        for name, own in zip(batch.potentials._fields, batch._own(sentence, batch.potentials), strict=True):
            if name not in batch.shared and own.size:
                used = np.flatnonzero((parts >= place) & (parts < place + own.size))
                before = int(batch._cuts(name)[sentence]) * (own.size // len(own))
                uses[name] = used % len(weight), parts.ravel()[used].astype(np.int64) + (before - place)
            place += own.size
        head = np.repeat(np.arange(len(graph.ptr) - 1), np.diff(graph.ptr)) - 1
        tails = np.stack([graph.left, graph.right], axis=1).astype(np.int64) - 1
        whole, possible = cls(len(graph.ptr) - 2, head, tails, weight, uses), weight > -np.inf
        return whole if possible.all() else whole.some(np.flatnonzero(possible))

    @property
    def edges(self) -> int:
        """The number of edges, E."""
        return len(self.head)

    def some(self, which: Integers) -> Derivations:
        """Only some of the edges, in this order."""
        place = np.full(self.edges, NONE, np.int64)
        place[which] = np.arange(len(which))
        uses = {}
        for table, (edge, entry) in self.uses.items():
            kept = place[edge] >= 0
            uses[table] = place[edge[kept]], entry[kept]
        return Derivations(self.items, self.head[which], self.tails[which], self.weight[which], uses)

    def inside(self) -> Floats:
        """The best score of a derivation of every item, minus infinity where there is none: [items]."""
        best = np.full(self.items, -np.inf)
        _inside(self.head, self.tails, self.weight, best)
        return best

    def through(self, inside: Floats) -> Floats:
        """The best score of an answer that uses each edge: [E]."""
        found, outside = np.empty(self.edges), np.full(self.items, -np.inf)
        outside[-1] = 0.0
        _outside(self.head, self.tails, self.weight, inside, outside, found)
        return found

    def using(self, parts: Parts) -> tuple[Integers, Integers]:
        """Which edges have which parts: parts and edges, [pairs] each."""
        edge, entry = self.uses.get(parts.table, (np.zeros(0, np.int64),) * 2)
        order = np.argsort(entry, kind="stable")
        low, high = (np.searchsorted(entry[order], parts.entry, side) for side in ("left", "right"))
        count = high - low
        start = np.repeat(low - np.concatenate([[0], np.cumsum(count)[:-1]]), count) if len(count) else low
        owner = np.repeat(np.arange(len(parts)), np.diff(parts.ptr))
        return np.repeat(owner, count), edge[order[start + np.arange(len(start))]]


def empty() -> Derivations:
    """The one answer to a sentence without words, of score zero."""
    return Derivations.of([0], [0], ([NONE], [NONE]), [0.0], {})


def check_edges(count: int, most: int | None) -> None:
    """An error where a sentence has too many edges."""
    if most is not None and count > most:
        raise InputError(
            f"a sentence has at least {count:,} ways to put its parts together; at most {most:,} are possible"
        )


@kernel
def _inside(head: Integers, tails: Integers, weight: Floats, best: Floats) -> None:
    for e in range(head.size):
        total = weight[e]
        for a in range(2):
            if tails[e, a] >= 0:
                total += best[tails[e, a]]
        best[head[e]] = max(best[head[e]], total)


@kernel
def _outside(head: Integers, tails: Integers, weight: Floats, inside: Floats, outside: Floats, through: Floats) -> None:
    for e in range(head.size - 1, -1, -1):
        total = weight[e] + outside[head[e]]
        for a in range(2):
            if tails[e, a] >= 0:
                total += inside[tails[e, a]]
        through[e] = total
        if total > -np.inf:
            for a in range(2):
                if tails[e, a] >= 0:
                    outside[tails[e, a]] = max(outside[tails[e, a]], total - inside[tails[e, a]])
