"""Training a chain model: compile the corpus, choose the parameters, minimise, and export the weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.derived import columns_for
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.algebra.templates import Template
from dovetail.features.compile.design import Compiler, Design, assemble, drop_unknown
from dovetail.features.compile.index import Collector, FeatureIndex, entries_of
from dovetail.features.compile.merge import Merged, merge
from dovetail.features.compile.spread import documents_with
from dovetail.learning.losses import LOSSES
from dovetail.learning.priors import Prior
from dovetail.memory import release_memory
from dovetail.models.tagger.labels import Labels
from dovetail.models.tagger.model import ChainModel, Weights, edge_templates, node_templates
from dovetail.models.tagger.objective import ChainObjective, Forbidden
from dovetail.scorers.linear import LinearScorer, score
from dovetail.scorers.listed import FeatureLists
from dovetail.scorers.transitions import Transitions
from dovetail.text.sentence import Sentence

Floats = NDArray[np.float64]

ROUNDS_TO_ZERO = 1e-3  # what changes the odds by less than a thousandth: half of all weights, and no answer


@dataclass
class Part:
    """Node or edge features of the training corpus: templates, keys, merged design, scorer."""

    templates: list[Template]
    collector: Collector
    merged: Merged
    scorer: LinearScorer

    @classmethod
    def compile(
        cls,
        compiler: Compiler,
        templates: list[Template],
        outputs: NDArray[np.int32],
        size: int,
        *,
        min_count: int,
        bits: int | None,
        full: bool,
        twins: bool,
        threads: int,
        spread: Spread | None = None,
    ) -> Part:
        """Compile templates and lay out parameters for the outputs [tokens] that occur."""
        collector = Collector(bits)
        design = assemble(compiler, templates, collector)
        merged = merge(design, min_count, twins, None if spread is None else spread.wanted(design))
        return cls(templates, collector, merged, LinearScorer.observed(merged, outputs, size, full, threads))

    def lookup(self, compiler: Compiler) -> Design:
        """The design of other sentences over the columns of this corpus."""
        keys = self.collector.keys
        order = np.argsort(keys)
        design = assemble(compiler, self.templates, FeatureIndex(keys[order], self.collector.bits))
        column = np.append(self.merged.column[order], np.int32(-1))  # the last entry serves index -1
        return drop_unknown(
            replace(
                design,
                row_feature=column[design.row_feature],
                feature_index=column[design.feature_index],
                features=len(self.merged.multiplicity),
            )
        )

    def score(self, design: Design, weight: Floats, threads: int) -> Floats:
        """Potentials of a design made by ``lookup``: each feature of a merged column has weight u / sqrt(m)."""
        return score(design, self.scorer.layout, weight / self.scorer.scale, threads)

    def export(self, weight: Floats) -> Weights:
        """The weights of all features, twins spelled out, tiny ones left out, sorted by key."""
        layout = self.scorer.layout
        single = weight / self.scorer.scale
        keys = self.collector.keys
        kept = np.flatnonzero(self.merged.column >= 0)
        kept = kept[np.argsort(keys[kept])]
        where, count = entries_of(layout.ptr, self.merged.column[kept])
        everything = Weights.of(
            keys[kept], count, layout.label[where], single[where], layout.outputs, self.collector.bits
        )
        # A real-valued feature counts by its value, and twins, which fire together, by the weight of their column.
        effect = np.abs(weight) * self.scorer.largest_value()
        return everything.without_zeros((effect >= ROUNDS_TO_ZERO)[where])

    def initial(self, weights: Weights, output_map: NDArray[np.int64]) -> Floats:
        """Start values from another model's weights: the mean over the features of a merged column, times sqrt(m).

        ``output_map`` [outputs] gives the other model's number of each output, -1 for none.
        """
        layout, merged, old = self.scorer.layout, self.merged, weights.layout
        number = weights.index.number(self.collector.keys)
        feature = np.flatnonzero((number >= 0) & (merged.column >= 0))
        place, count = entries_of(layout.ptr, merged.column[feature])
        output = output_map[layout.label[place]]
        # The old parameters are sorted by (feature, output), so a pair can be searched for.
        sorted_pairs = np.repeat(np.arange(old.size), np.diff(old.ptr)) * old.outputs + old.label
        wanted = np.repeat(number[feature].astype(np.int64), count) * old.outputs + output
        found = np.minimum(np.searchsorted(sorted_pairs, wanted), max(len(sorted_pairs) - 1, 0))
        match = (output >= 0) & (sorted_pairs[found] == wanted) if len(sorted_pairs) else np.zeros(len(place), bool)
        total = np.bincount(place[match], weights.weight[found[match]], minlength=layout.parameters)
        return total / self.scorer.scale


@dataclass(frozen=True)
class Spread:
    """How widely a feature must be spread: over ``least`` documents. ``document`` [tokens]: where each token is."""

    document: NDArray[np.int64]
    least: int

    def wanted(self, design: Design) -> NDArray[np.bool_]:
        """Which features of a design are: [features]."""
        lists = FeatureLists.of(design)
        found: NDArray[np.bool_] = documents_with(*lists, self.document, design.features) >= self.least
        return found


@dataclass
class Training:
    """A corpus made ready: the objective, its prior, and the way back to a model."""

    features: FeatureSet
    labels: Labels
    order: int
    constrain: bool
    node: Part
    edge: Part | None
    objective: ChainObjective
    prior: Prior

    @classmethod
    def prepare(
        cls,
        sentences: Sequence[Sentence],
        tags: Sequence[Sequence[str]],
        features: FeatureSet,
        labels: Labels,
        *,
        order: int,
        constrain: bool,
        loss: str,
        l2: float,
        l1: float,
        min_count: int,
        hash_bits: int | None,
        observed_only: bool,
        merge_twins: bool,
        threads: int,
        spread: Spread | None = None,
    ) -> Training:
        """Compile the corpus and set up its objective."""
        gold = labels.encode(tags)
        size = len(labels.names)
        compiler = Compiler(columns_for(sentences, features), sentences)
        offsets = compiler.columns.offsets
        settings: dict[str, Any] = {
            "min_count": min_count, "bits": hash_bits, "full": not observed_only, "twins": merge_twins,
            "threads": threads, "spread": spread,
        }  # fmt: skip
        everywhere = dict(settings, full=settings["full"] or bool((gold < 0).any()))
        node = Part.compile(compiler, node_templates(features), gold, size, **everywhere)
        edge = None
        if edge_templates(features):
            edge = Part.compile(
                compiler, edge_templates(features), _pairs(gold, offsets, size), size * size, **settings
            )
        transitions = Transitions.observed(gold, offsets, size, order, full=not observed_only)
        forbidden = forbidden_in(labels, order, constrain)
        objective = ChainObjective(
            offsets, np.maximum(gold, 0), allowed_labels(gold, size), node.scorer, edge.scorer if edge else None,
            transitions, forbidden, LOSSES[loss], order, threads,
        )  # fmt: skip
        scales = [node.scorer.scale, *([edge.scorer.scale] if edge else []), np.ones(transitions.size)]
        prior = Prior(l2, l1, np.concatenate(scales) if l1 else None)
        del compiler
        release_memory()
        return cls(features, labels, order, constrain, node, edge, objective, prior)

    def dev_potentials(self, sentences: Sequence[Sentence]) -> Callable[[Floats], Any]:
        """A function from weights to the chains of other sentences, compiled once."""
        compiler = Compiler(columns_for(sentences, self.features), sentences)
        node = self.node.lookup(compiler)
        edge = self.edge.lookup(compiler) if self.edge else None
        objective = self.objective
        decoding = Forbidden.pairs(*self.labels.forbidden(), self.order) if self.constrain else objective.forbidden

        def chains(weight: Floats) -> Any:
            unary = self.node.score(node, weight[: objective.after_node], objective.threads)
            pairs = None
            if self.edge is not None and edge is not None:
                pairs = self.edge.score(edge, weight[objective.after_node : objective.after_edge], objective.threads)
            with_scheme = replace(objective, forbidden=decoding)
            return with_scheme.batch(unary, pairs, weight, compiler.columns.offsets, objective.threads)

        return chains

    def curvature(self) -> Floats:
        """A guess at the diagonal of the Hessian, for L-BFGS: ``2 l2 + 0.1 sqrt(tokens where the feature fires)``."""
        objective = self.objective
        fires = [objective.node.firing()]
        if objective.edge is not None:
            fires.append(objective.edge.firing())
        everywhere = np.full(objective.transitions.size, float(len(objective.gold)))
        guess: Floats = 2.0 * self.prior.l2 + 0.1 * np.sqrt(np.concatenate([*fires, everywhere]))
        return guess

    def export(self, weight: Floats) -> ChainModel:
        """The trained model."""
        objective = self.objective
        edge = None
        if self.edge is not None:
            edge = self.edge.export(weight[objective.after_node : objective.after_edge])
        return ChainModel(
            self.features,
            self.labels,
            self.order,
            self.constrain,
            self.node.export(weight[: objective.after_node]),
            edge,
            objective.transitions.table(weight[objective.after_edge :]).astype(np.float32),
        )

    def start(self, init: ChainModel | None) -> Floats:
        """Zeros, or the weights of another model where it has the same features and labels."""
        objective = self.objective
        weight = np.zeros(objective.parameters)
        if init is None:
            return weight
        old = {name: i for i, name in enumerate(init.labels.names)}
        label_map = np.array([old.get(name, -1) for name in self.labels.names])
        weight[: objective.after_node] = self.node.initial(init.node, label_map)
        if self.edge is not None and init.edge is not None:
            pair_map = label_map[:, None] * len(old) + label_map[None, :]
            pair_map[(label_map[:, None] < 0) | (label_map[None, :] < 0)] = -1
            weight[objective.after_node : objective.after_edge] = self.edge.initial(init.edge, pair_map.ravel())
        if init.order == self.order:
            weight[objective.after_edge :] = objective.transitions.initial(init.transition, label_map)
        return weight


def _pairs(gold: NDArray[np.int32], offsets: NDArray[np.int64], size: int) -> NDArray[np.int32]:
    """The number of the pair (previous label, label) at each token, -1 where there is none. Shape [tokens]."""
    previous = np.concatenate([[-1], gold[:-1]]).astype(np.int32)
    previous[offsets[:-1][np.diff(offsets) > 0]] = -1
    return np.where((previous >= 0) & (gold >= 0), previous * np.int32(size) + gold, np.int32(-1)).astype(np.int32)


def allowed_labels(gold: NDArray[np.int32], size: int) -> NDArray[np.bool_] | None:
    """The labels that each token may have in training, [tokens, size]: all where gold is -1. None: all are known."""
    unknown = gold < 0
    if not unknown.any():
        return None
    allowed = np.zeros((len(gold), size), dtype=np.bool_)
    allowed[np.arange(len(gold)), np.maximum(gold, 0)] = True
    allowed[unknown] = True
    return allowed


def forbidden_in(labels: Labels, order: int, constrain: bool) -> Forbidden:
    """What training rules out: ill-formed sequences, where labels see each other."""
    if constrain and order > 0:
        return Forbidden.pairs(*labels.forbidden(), order)
    return Forbidden.nothing(len(labels.names), order)
