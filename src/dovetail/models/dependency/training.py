"""Training a model of dependency arcs: first the coarse weights, then the fine ones on the arcs that are left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dovetail.features.compile.arcs import COARSE, ArcFeatures, ArcKeys
from dovetail.features.resources.clusters import Clusters
from dovetail.learning.losses import likelihood
from dovetail.learning.monitor import Monitor
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.priors import Prior
from dovetail.models.dependency.kernels import add_gradient
from dovetail.models.dependency.model import (
    ALL,
    Booleans,
    DependencyModel,
    Offsets,
    Strings,
    arc_batch,
    arc_rows,
    offsets_of,
    parts_of,
    shift_of,
)
from dovetail.scorers.weights import frozen
from dovetail.structures.projective import Places, ProjectivePotentials
from dovetail.threads import run_shards, sentence_shards

Floats = NDArray[np.float64]
Heads = NDArray[np.int32]

GRADIENTS = 4  # shards with a gradient of their own, each as large as the weights
COARSE_BITS = (10, 18)
COARSE_SENTENCES = 3000  # more teach a few thousand weights nothing
COARSE_PASSES = 25
COARSE_L2 = 0.1


@dataclass
class ArcObjective:
    """Minus the log-likelihood of trees, and its gradient, as a function of the weights."""

    features: ArcFeatures
    keys: ArcKeys
    offsets: Offsets
    gold: Heads
    threads: int
    kept: Booleans

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The value and the gradient [weights]."""
        batch = arc_batch(self.features, weight, self.keys, self.offsets, self.threads, self.kept)
        value, slope = likelihood(batch, self.gold)
        return value, self.gradient(slope)

    def gradient(self, slope: ProjectivePotentials) -> Floats:
        """The slope of every weight [weights] from those of the potentials."""
        places, shift = Places.of(self.offsets), shift_of(self.features)

        def gradient(shard: tuple[int, int]) -> Floats:
            out = np.zeros(self.features.weights)
            add_gradient(self.keys, slope, shift, places, *shard, parts_of(self.features, out))
            return out

        first, *others = run_shards(gradient, sentence_shards(places.arcs, GRADIENTS, 20_000), self.threads)
        for other in others:
            first += other
        return first


@dataclass
class ArcTraining:
    """A corpus made ready: the objective of the fine weights, its prior, and the way back to a model."""

    pruner: DependencyModel
    objective: ArcObjective
    prior: Prior
    lost: int
    """How many gold arcs the coarse weights would have left out; in training they are kept."""

    @classmethod
    def prepare(
        cls, words: Strings, tags: Strings, heads: Heads, *, min_count: int, bits: int, row_bits: int, l2: float,
        threshold: float, clusters: Mapping[str, Clusters], threads: int,
    ) -> ArcTraining:  # fmt: skip
        """Learn the coarse weights, leave out hopeless arcs, and look at the rest. heads: [words], 0 for the root."""
        offsets = offsets_of(words)
        fine = ArcFeatures.learn(words, min_count, row_bits, bits, clusters)
        coarse = ArcFeatures(COARSE, *COARSE_BITS)
        coarse_weight = _coarse_weights(coarse, words, tags, heads, threads) if threshold else np.zeros(coarse.weights)
        pruner = DependencyModel(
            coarse, frozen(coarse_weight.astype(np.float32)), fine, np.empty(0, np.float32), threshold
        )
        kept = pruner.kept(words, tags, offsets, threads)
        lost = 0
        if len(kept):
            right = arc_rows(offsets, heads)
            lost = int((~kept[right]).sum())
            kept[right] = True
        objective = ArcObjective(fine, fine.keys(words, tags), offsets, heads, threads, kept)
        return cls(pruner, objective, Prior(l2), lost)

    def curvature(self) -> Floats:
        """A guess at the diagonal of the Hessian, for L-BFGS: the root of how often a weight is used."""
        objective = self.objective
        places = Places.of(objective.offsets)
        counts = ProjectivePotentials(
            np.zeros((int(places.arcs[-1]), 2)),
            np.zeros((int(objective.offsets[-1]) + len(objective.offsets) - 1, 2, 2)),
        )
        counts.attach[objective.kept if len(objective.kept) else slice(None)] = 0.1
        counts.stop[:] = 0.5
        guess: Floats = 2.0 * self.prior.l2 + 0.1 * np.sqrt(objective.gradient(counts))
        return guess

    def export(self, weight: Floats) -> DependencyModel:
        """The trained model."""
        pruner = self.pruner
        return DependencyModel(
            pruner.coarse,
            pruner.coarse_weight,
            pruner.fine,
            frozen(weight.astype(np.float32)),
            pruner.threshold,
        )

    def answers(self, words: Strings, tags: Strings, threads: int) -> Callable[[Floats], Heads]:
        """A function from weights to the heads of other sentences, which are looked at once."""
        offsets = offsets_of(words)
        kept = self.pruner.kept(words, tags, offsets, threads)
        fine = self.objective.features
        keys = fine.keys(words, tags)
        return lambda weight: arc_batch(fine, weight, keys, offsets, threads, kept).best()


def _coarse_weights(features: ArcFeatures, words: Strings, tags: Strings, heads: Heads, threads: int) -> Floats:
    """Weights learnt from some of the sentences, taken evenly."""
    step = max(1, len(words) // COARSE_SENTENCES)
    offsets = offsets_of(words)
    some = range(0, len(words), step)
    gold = np.concatenate([heads[offsets[i] : offsets[i + 1]] for i in some])
    few_words, few_tags = [words[i] for i in some], [tags[i] for i in some]
    keys = features.keys(few_words, few_tags)
    objective = ArcObjective(features, keys, offsets_of(few_words), gold, threads, ALL)
    optimiser = LBFGS(limit=COARSE_PASSES)
    return optimiser.minimise(objective, Prior(COARSE_L2), np.zeros(features.weights), Monitor())
