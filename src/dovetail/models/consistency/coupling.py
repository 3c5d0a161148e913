"""Chains or segmentations of whole documents, coupled by the links between their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dovetail.columns import Columns
from dovetail.joint import Graph, Node, Table, Variables
from dovetail.joint.graph import Address
from dovetail.models.consistency.links import KINDS, Links, links_of
from dovetail.models.consistency.tables import association, counted
from dovetail.structures.contract import Parts, Structure

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Batch = TypeVar("Batch", bound=Structure[Any, Any])

HOW: dict[str, dict[str, Any]] = {
    "bp": {"iterations": 5, "tolerance": 0.02, "damping": 0.1},
    "gibbs": {"samples": 200},
    "dual": {"iterations": 50},
    "ilp": {},
}
"""What each engine is told."""


STRENGTHS = (0.0, 0.2, 0.4, 0.6, 0.8)
"""Of which held-out text chooses."""
USUAL = 0.4
"""Where there is no held-out text."""
USUAL_AGREEMENT = 0.6
"""In two passes, where too little is known of linked words."""


@dataclass(frozen=True)
class Consistency:
    """What a model knows of linked words.

    table: [kinds, T, T], for the types of the two; strength: what it is multiplied by; engine: what answers the graph.
    """

    table: Floats = field(repr=False)
    strength: float = USUAL
    engine: str = "bp"

    @classmethod
    def learnt(cls, columns: Columns, types: Integers, count: int, engine: str) -> Consistency | None:
        """From text whose words have known types, [N] below ``count``; None where no words are linked."""
        table = association(counted(links_of(columns), types, count))
        return cls(table, USUAL, engine) if table.any() else None

    def header(self) -> dict[str, Any]:
        """For the header of a model file."""
        return {"table": self.table.tolist(), "strength": self.strength, "engine": self.engine}

    @classmethod
    def from_header(cls, header: dict[str, Any] | None, count: int) -> Consistency | None:
        """From the header of a model file, if it has any; ``count`` is the number of types."""
        if header is None:
            return None
        table = np.array(header["table"], np.float64)
        if table.shape != (len(KINDS), count, count) or not np.isfinite(table).all() or header["engine"] not in HOW:
            raise ValueError("the table of linked words does not fit the types")
        return cls(table, float(header["strength"]), str(header["engine"]))

    def coupled(self, batch: Batch, columns: Columns, of_label: Integers) -> Batch:
        """The structures with evidence from linked words: each is then a model in its own right.

        of_label: [labels], the type of each label. By belief propagation the evidence is the messages to each word; by
        other engines it is what the table says, given the best answers at the other places.
        """
        made = self.text(batch, columns, of_label)
        return batch if made is None else batch.plus(*made.evidence(self.engine))

    def text(self, batch: Structure[Any, Any], columns: Columns, of_label: Integers) -> CoupledText | None:
        """The graph of linked words, if there are any that matter; sentences that stand alone are left alone."""
        together = columns.documents is not None and (np.diff(columns.documents) == 0).any()
        if not self.strength or not together:
            return None
        links = links_of(columns)
        if not len(links):
            return None
        return CoupledText(batch, links, of_label, self.strength * self.table)


class CoupledText:
    """The graph of linked words: only the sentences that have some are in it."""

    def __init__(self, batch: Structure[Any, Any], links: Links, of_label: Integers, table: Floats) -> None:
        self.batch, self.links = batch, links
        offsets: Integers = batch.offsets  # type: ignore[attr-defined]
        self.tokens, inverse = np.unique(np.concatenate([links.first, links.second]), return_inverse=True)
        self.sentence = np.searchsorted(offsets, self.tokens, side="right") - 1
        self.position = self.tokens - offsets[self.sentence]
        self.labels = labels_of_types(of_label)
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

    def evidence(self, engine: str) -> tuple[Parts, Floats]:
        """The parts of the linked words in the whole batch, and the evidence for each."""
        if engine == "bp":
            found = self.graph.marginals("bp", **HOW["bp"]).evidence
            assert found is not None
        else:
            found = self.graph.wiring.given(self.graph.solve(engine, **HOW[engine]).all_values)
        return type_parts(self.batch, self.tokens, self.labels), found


def type_parts(batch: Structure[Any, Any], tokens: Integers, labels: Sequence[Sequence[int]]) -> Parts:
    """The parts "this word has a label of this type", for some words of a batch and all types: words by types."""
    offsets: Integers = batch.offsets  # type: ignore[attr-defined]
    sentence = np.searchsorted(offsets, tokens, side="right") - 1
    groups = tuple(tuple(own) for own in labels)
    return Address("token", sentence, (tokens - offsets[sentence],), groups).parts(batch)


def labels_of_types(of_label: Integers) -> list[list[int]]:
    """The labels of each type."""
    return [np.flatnonzero(of_label == k).tolist() for k in range(int(of_label.max()) + 1)]
