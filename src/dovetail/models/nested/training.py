"""Training a model of nested segments: compile the corpus, set up the objective, export the weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.nested_sets import NestedFeatures
from dovetail.features.compile.documents import nothing_left
from dovetail.learning.priors import Prior
from dovetail.models.nested.gold import has_nested, numbered
from dovetail.models.nested.model import NestedModel, compilers, token_offsets
from dovetail.models.nested.objective import NestedObjective, outputs_of
from dovetail.models.nested.tags import GoldTags, innermost
from dovetail.models.tagger.training import Part
from dovetail.structures.nested import NestedBatch
from dovetail.text.sentence import Sentence, Span

Floats = NDArray[np.float64]


@dataclass
class NestedTraining:
    """A corpus made ready: the objective, its prior, and the way back to a model."""

    features: NestedFeatures
    labels: tuple[str, ...]
    tags: tuple[str, ...]
    parts: dict[str, Part]
    objective: NestedObjective
    prior: Prior

    @classmethod
    def prepare(
        cls,
        sentences: Sequence[Sentence],
        trees: Sequence[Sequence[Span]],
        features: NestedFeatures,
        labels: tuple[str, ...],
        *,
        phrases: int,
        longest: int,
        l2: float,
        l1: float,
        min_count: int,
        hash_bits: int | None,
        threads: int,
        tags: Sequence[Sequence[str]] | None = None,
    ) -> NestedTraining:
        """Compile the corpus and set up its objective; ``tags`` are the parts of speech to learn as well."""
        settings: dict[str, Any] = {
            "min_count": min_count, "bits": hash_bits, "twins": True, "threads": threads,
        }  # fmt: skip
        numbers = {label: i for i, label in enumerate(labels)}
        names = tuple(sorted({tag for each in tags or () for tag in each}))
        gold_tags = None if tags is None else _gold_tags(tags, names, trees, numbers)
        compiled = compilers(sentences, features, phrases)
        parts = {}
        for part, templates in features.parts.items():
            observed, size = np.empty(0, np.int32), outputs_of(part, len(labels), len(names))
            if gold_tags is not None and part in ("tag", "joint"):  # many tags: weights for what occurs
                observed = gold_tags.tag + (gold_tags.context * len(names) if part == "joint" else 0)
            full = part not in ("tag", "joint")
            parts[part] = Part.compile(compiled[part], list(templates), observed, size, full=full, **settings)
        gold = numbered(trees, numbers)
        scorers = {part: made.scorer for part, made in parts.items()}
        bound = phrases if "phrase" in parts else 0
        flat = not any(map(has_nested, trees))
        sizes = (len(labels), bound, longest)
        objective = NestedObjective(token_offsets(sentences), gold, *sizes, scorers, flat, gold_tags, threads)
        if not objective.after_parts:
            raise nothing_left("feature", ("min_count", min_count))
        scales = [
            *(made.scorer.scale for made in parts.values()),
            np.ones(objective.parameters - objective.after_parts),
        ]
        return cls(features, labels, names, parts, objective, Prior(l2, l1, np.concatenate(scales) if l1 else None))

    def batches(self, sentences: Sequence[Sentence]) -> Callable[[Floats], NestedBatch]:
        """A function from weights to the nested segmentations of other sentences, compiled once."""
        objective = self.objective
        compiled = compilers(sentences, self.features, objective.phrases)
        designs = {part: made.lookup(compiled[part]) for part, made in self.parts.items()}
        offsets = token_offsets(sentences)

        def batch(weight: Floats) -> NestedBatch:
            scores = {
                part: made.score(designs[part], objective.weight_of(part, weight), objective.threads)
                for part, made in self.parts.items()
            }
            return objective.batch(scores, weight, offsets, objective.threads)

        return batch

    def curvature(self) -> Floats:
        """A guess at the diagonal of the Hessian, for L-BFGS: as for chains."""
        objective = self.objective
        fires = [scorer.firing() for scorer in objective.scorers.values()]
        everywhere = np.full(objective.parameters - objective.after_parts, float(objective.offsets[-1]))
        guess: Floats = 2.0 * self.prior.l2 + 0.1 * np.sqrt(np.concatenate([*fires, everywhere]))
        return guess

    def export(self, weight: Floats) -> NestedModel:
        """The trained model."""
        objective = self.objective
        parts = {part: made.export(objective.weight_of(part, weight)) for part, made in self.parts.items()}
        tables = {name: table.astype(np.float32) for name, table in objective.tables(weight).items()}
        sizes = (objective.phrases, objective.longest)
        return NestedModel(self.features, self.labels, *sizes, parts, tables, flat=objective.flat, tags=self.tags)


def _gold_tags(
    tags: Sequence[Sequence[str]], names: Sequence[str], trees: Sequence[Sequence[Span]], numbers: dict[str, int]
) -> GoldTags:
    """The tags of all words by number, and the innermost entities that they lie in."""
    places = {name: k for k, name in enumerate(names)}
    contexts = [innermost(tree, len(each), numbers) for tree, each in zip(trees, tags, strict=True)]
    flat = np.array([places[tag] for each in tags for tag in each], np.int32)
    return GoldTags(flat, np.concatenate(contexts))
