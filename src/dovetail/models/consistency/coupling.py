"""Chains or segmentations of whole documents, coupled by the links between their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dovetail.joint import Graph, Node, Table, Variables
from dovetail.models.consistency.links import KINDS, Links
from dovetail.structures.contract import Structure

Floats = NDArray[np.float64]
Batch = TypeVar("Batch", bound=Structure[Any, Any])

HOW: dict[str, dict[str, Any]] = {
    "bp": {"iterations": 5, "tolerance": 0.02, "damping": 0.1},
    "gibbs": {"samples": 200},
    "dual": {"iterations": 50},
    "ilp": {},
}
"""What each engine is told."""


@dataclass(frozen=True)
class Consistency:
    """What a model knows of linked words.

    table: [kinds, T, T], for the types of the two; strength: what it is multiplied by; engine: what answers the graph.
    """

    table: Floats = field(repr=False)
    strength: float = 0.4
    engine: str = "bp"

    def header(self) -> dict[str, Any]:
        """For the header of a model file."""
        return {"table": self.table.tolist(), "strength": self.strength, "engine": self.engine}

    @classmethod
    def from_header(cls, header: dict[str, Any] | None, types: int) -> Consistency | None:
        """From the header of a model file, if it has any."""
        if header is None:
            return None
        table = np.array(header["table"], np.float64)
        if table.shape != (len(KINDS), types, types) or not np.isfinite(table).all() or header["engine"] not in HOW:
            raise ValueError("the table of linked words does not fit the types")
        return cls(table, float(header["strength"]), str(header["engine"]))

    def coupled(self, batch: Batch, links: Links, of_label: NDArray[np.int64]) -> Batch:
        """The structures with evidence from linked words: each is then a model in its own right.

        of_label: [labels], the type of each label. By belief propagation the evidence is the messages to each word; by
        other engines it is what the table says, given the best answers at the other places.
        """
        if not self.strength or not len(links):
            return batch
        made = CoupledText(batch, links, of_label, self.strength * self.table)
        return batch.plus(*made.evidence(self.engine))

    def with_strength(self, strength: float) -> Consistency:
        """The same, stronger or weaker."""
        return replace(self, strength=strength)


class CoupledText:
    """The graph of linked words: only the sentences that have some are in it."""

    def __init__(self, batch: Structure[Any, Any], links: Links, of_label: NDArray[np.int64], table: Floats) -> None:
        self.batch, self.links = batch, links
        offsets: NDArray[np.int64] = batch.offsets  # type: ignore[attr-defined]
        self.tokens, inverse = np.unique(np.concatenate([links.first, links.second]), return_inverse=True)
        self.sentence = np.searchsorted(offsets, self.tokens, side="right") - 1
        self.position = self.tokens - offsets[self.sentence]
        self.labels = [np.flatnonzero(of_label == k).tolist() for k in range(int(of_label.max()) + 1)]
        some, number = np.unique(self.sentence, return_inverse=True)
        self.graph = Graph()
        self.node: Node = self.graph.add(batch.take(some))
        self.words: Variables = self.node.tokens(number, self.position, self.labels)
        self.first, self.second = inverse[: len(links)], inverse[len(links) :]
        for kind in range(len(KINDS)):
            which = np.flatnonzero(links.kind == kind)
            if which.size and table[kind].any():
                factor = Table(table[kind], name=KINDS[kind])
                self.graph.couple(factor, self.words[self.first[which]], self.words[self.second[which]])

    def evidence(self, engine: str) -> tuple[Any, Floats]:
        """The parts of the linked words in the whole batch, and the evidence for each."""
        if engine == "bp":
            found = self.graph.marginals("bp", **HOW["bp"]).evidence
            assert found is not None
        else:
            found = self.graph.wiring.given(self.graph.solve(engine, **HOW[engine]).all_values)
        whole = Graph().add(self.batch)
        address = whole.tokens(self.sentence, self.position, self.labels)
        parts = whole.graph.wiring.parts[address.group]
        return parts, found - np.repeat(found.reshape(len(self.tokens), -1).mean(axis=1), len(self.labels))


def strengths(best: Sequence[float]) -> tuple[float, ...]:
    """What is tried on held-out text."""
    return tuple(best)
