"""The graph of two taggers and the links between their words: chains, and factors of links and of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dovetail.columns import Columns
from dovetail.joint import Graph, Table
from dovetail.joint.graph import Variables
from dovetail.joint.result import Beliefs
from dovetail.models.consistency.links import KINDS, links_of
from dovetail.models.consistency.links import Links as WordLinks
from dovetail.models.pair.linking import Linking, decided_links
from dovetail.models.tagger.estimator import Tagger
from dovetail.structures.chain import ChainBatch
from dovetail.structures.contract import Booleans, Floats, Integers, Labels
from dovetail.text.sentence import Sentence

if TYPE_CHECKING:
    from dovetail.models.pair.agreement import PairTagger

SURE = 0.01
"""Where both words of a link are O but for so much, the link changes nothing for its words."""
HOW: dict[str, dict[str, Any]] = {"bp": {"iterations": 20, "tolerance": 1e-3, "damping": 0.2}}
"""What engines are told, if not what is usual."""
CHAINED: dict[str, dict[str, Any]] = {"dual": {"iterations": 60}}
"""What they are told of graphs with an aligner, which prove nearly all answers in few rounds or not at all."""


class Within(NamedTuple):
    """The sentences of one language before any of their documents is thought of, and the links of these."""

    batch: ChainBatch
    links: WordLinks
    table: Floats
    """[kinds, K, K]: what types count at both ends of a link."""

    @classmethod
    def of(cls, tagger: Tagger, sentences: Sequence[Sentence]) -> Within:
        """As a tagger has learnt it; one that has not, or agrees in two passes, has no links."""
        model = tagger._model()
        known = model.consistency
        batch = replace(model, consistency=None).structures(sentences, tagger._threads())
        if known is None or not known.strength:
            none = np.zeros(0, np.int64)
            return cls(batch, WordLinks(none, none, none), np.zeros((0, 0, 0)))
        return cls(batch, links_of(Columns.of(sentences, ())), known.strength * known.table)

    def of_names(self, chance: Floats) -> Within:
        """The links of which a word may be a name; chance: [N]."""
        if not len(self.links):
            return self
        kept = np.flatnonzero((chance[self.links.first] > SURE) | (chance[self.links.second] > SURE))
        return self._replace(links=WordLinks(*(column[kept] for column in self.links)))


@dataclass(eq=False)
class Coupled:
    """The graph of some pairs: the chains of those that have links that matter, and a factor for each link."""

    graph: Graph
    batches: tuple[ChainBatch, ChainBatch]
    """Of all pairs."""
    pairs: Integers
    """Those in the graph."""
    kept: Integers
    """The links in the graph."""
    nodes: list[Any]
    tokens: list[Integers]
    """The words of each side that links speak of, counted through."""
    labels: list[list[list[int]]]
    threshold: float | None = None
    """The least probability of a link by bp, where an aligner is in the graph."""
    links: Variables | None = None
    """Whether each link is there, for ``joint``."""

    @classmethod
    def of(
        cls,
        owner: PairTagger,
        linking: Linking,
        kept: Integers,
        matters: Booleans,
        batches: tuple[ChainBatch, ChainBatch],
        within: tuple[Within, Within] | None = None,
    ) -> Coupled:
        """From the links that are kept, and whether names may be at their ends, [kept]: else types say nothing."""
        graph, some, named = Graph(), linking.some, kept[matters]
        nodes, tokens, labels, ends = [], [], [], []
        sides = ((owner.source, owner._left, some.source), (owner.target, owner._right, some.target))
        inner = [] if within is None else [np.concatenate([each.links.first, each.links.second]) for each in within]
        there = [np.searchsorted(b.offsets, own, "right") - 1 for b, own in zip(batches, inner, strict=False)]
        pairs = np.unique(np.concatenate([some.pair[kept], *there]))
        for side, ((tagger, types, word), batch) in enumerate(zip(sides, batches, strict=True)):
            node = graph.add(biased(tagger, batch.take(pairs)))
            own, place = np.unique(np.concatenate([word[named], *inner[side : side + 1]]), return_inverse=True)
            sentence = np.searchsorted(batch.offsets, own, side="right") - 1
            number = np.searchsorted(pairs, sentence)
            variables = node.tokens(number, own - batch.offsets[sentence], types.labels)
            nodes.append(node)
            tokens.append(own)
            labels.append(types.labels)
            ends.append(variables[place[: len(named)]])
            if within is not None:
                couple_documents(graph, within[side], variables[place[len(named) :]])
        found = cls(graph, batches, pairs, kept, nodes, tokens, labels)
        if not len(kept):
            return found
        if owner.agreement == "joint":
            found.links = decided_links(graph, linking, kept)
            found.threshold = linking.threshold if linking.chained.any() else None
            table = owner.log_table()
            if len(named):
                each = Table(np.stack([np.zeros_like(table), table]), name="joint")
                graph.couple(each, found.links[np.flatnonzero(matters)], *ends)
            return found
        weight = some.probability[kept] if owner.agreement == "soft-align" else None
        graph.couple(Table(owner.log_table(), weight=weight, name=owner.agreement), *ends)
        return found

    def solve(self, engine: str, best: list[Labels], told: Mapping[str, Any]) -> Any:
        """Put the best labels of the pairs in the graph into ``best``; whether each of all pairs is certain: [n]."""
        usual = {} if self.threshold is None else CHAINED.get(engine, {})
        self.result = self.graph.solve(engine, **{**usual, **told})
        for node, batch, own in zip(self.nodes, self.batches, best, strict=True):
            words = np.concatenate([np.arange(*batch.offsets[[i, i + 1]]) for i in self.pairs])
            own[words] = self.result[node]
        certain = np.ones(len(self.batches[0]), bool)
        component = self.graph.wiring.component[: len(self.pairs)]
        certain[self.pairs] = self.result.certain[component]
        return certain

    @cached_property
    def beliefs(self) -> Beliefs:
        """What belief propagation makes of it."""
        return self.graph.marginals("bp", **HOW["bp"])

    def decided(self, engine: str, probability: Floats) -> Booleans:
        """Which links are there; by bp with an aligner their ``probability`` [kept] becomes that of the graph."""
        assert self.links is not None
        if engine != "bp" or self.threshold is None:
            found: Booleans = self.result.values(self.links) == 1
            return found
        probability[self.kept] = self.beliefs.of(self.links)[:, 1]
        return probability[self.kept] >= self.threshold

    def evident(self, engine: str) -> tuple[ChainBatch, ChainBatch]:
        """The chains of all pairs with what links say of their words: each is then a model in its own right.

        By bp these are its messages, else what the table says given the best tags at the other ends.
        """
        if engine == "bp":
            evidence = self.beliefs.evidence
            assert evidence is not None
        else:
            evidence = self.graph.wiring.given(self.result.all_values)
        evidence, found, begin = np.maximum(evidence, -50.0), [], 0
        for batch, own, labels in zip(self.batches, self.tokens, self.labels, strict=True):
            end = begin + len(own) * len(labels)
            unary = batch.potentials.unary.copy()
            told = evidence[begin:end].reshape(len(own), len(labels))
            for k, each in enumerate(labels):
                unary[own[:, None], np.array(each)] += told[:, [k]]
            found.append(replace(batch, potentials=batch.potentials._replace(unary=unary)))
            begin = end
        return found[0], found[1]


def couple_documents(graph: Graph, within: Within, ends: Variables) -> None:
    """A factor for each link within a document; ends: the first words of all links, then the second ones."""
    count = len(within.links)
    for kind, table in enumerate(within.table):
        which = np.flatnonzero(within.links.kind == kind)
        if which.size and table.any():
            graph.couple(Table(table, name=KINDS[kind]), ends[which], ends[count + which])


def biased(tagger: Tagger, batch: ChainBatch) -> ChainBatch:
    """The chains with what the tagger adds to O for the best answers."""
    model = tagger._model()
    if not model.outside:
        return batch
    unary = batch.potentials.unary.copy()
    unary[:, model.labels.names.index("O")] += model.outside
    return replace(batch, potentials=batch.potentials._replace(unary=unary))
