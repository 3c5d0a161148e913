"""Training a model of dependency arcs: first the coarse weights, then the fine ones on the arcs that are left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import frozen, offsets_of, taken
from dovetail.errors import DovetailError
from dovetail.features.compile.arcs import COARSE, ArcFeatures
from dovetail.features.resources.clusters import Clusters
from dovetail.learning.losses import Loss, likelihood
from dovetail.learning.objective import Objective, Share, of_tokens
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.priors import Prior
from dovetail.models.dependency.model import DependencyModel, Heads
from dovetail.models.domains.training import Domain
from dovetail.models.training import Training
from dovetail.scorers.arcs import ArcScorer, Strings
from dovetail.structures.contract import Floats
from dovetail.structures.projective import ProjectiveBatch

COARSE_BITS = (10, 18)
COARSE_SENTENCES = 3000  # more teach a few thousand weights nothing
COARSE_PASSES = 25
COARSE_L2 = 0.1


def arc_objective(scorer: Any, heads: Heads, loss: Loss = likelihood) -> Objective:
    """The loss of trees with these heads [words], 0 for the root."""
    return Objective(scorer, of_tokens(heads, scorer.offsets), loss)


@dataclass
class ArcTraining(Training):
    """A corpus made ready: the objective of the fine weights, its prior, and the way back to a model."""

    model: DependencyModel
    scorer: ArcScorer
    heads: Heads
    objective: Objective
    prior: Prior
    lost: int
    """How many gold arcs the coarse weights would have left out; in training they are kept."""
    dev_heads: Heads = field(default_factory=lambda: np.empty(0, np.int32), init=False, repr=False)
    """The heads of held-out sentences, [words]."""
    dev_text: Any = field(default=None, init=False, repr=False)
    """The scorer of held-out sentences."""

    @classmethod
    def prepare(
        cls, words: Strings, tags: Strings, heads: Heads, *, min_count: int, bits: int, row_bits: int, l2: float,
        threshold: float, clusters: Mapping[str, Clusters], threads: int, loss: Loss = likelihood,
        network: Any = None, seed: int = 1,
    ) -> ArcTraining:  # fmt: skip
        """Learn the coarse weights, leave out hopeless arcs, and look at the rest. heads: [words], 0 for the root."""
        fine = ArcFeatures.learn(words, min_count, row_bits, bits, clusters)
        coarse = ArcFeatures(COARSE, *COARSE_BITS)
        coarse_weight = _coarse_weights(coarse, words, tags, heads, threads) if threshold else np.zeros(coarse.weights)
        start = np.zeros(fine.weights)
        small = frozen(coarse_weight.astype(np.float32)), frozen(start.astype(np.float32))
        model = DependencyModel(coarse, small[0], fine, small[1], threshold)
        scorer, lost = model.scorer(words, tags, threads, heads)
        model = replace(model, network=network)
        objective = arc_objective(model.with_network(scorer, words, training=True, seed=seed), heads, loss)
        prior = Prior(l2, exempt=None if network is None else np.arange(objective.parameters) >= fine.weights)
        return cls(model, scorer, heads, objective, prior, lost)

    def start(self, init: DependencyModel | None = None) -> Floats:
        """Zeros, or the weights of another model; and those of the network."""
        if init is not None and len(init.fine_weight) != self.scorer.parameters:
            raise DovetailError("init has another number of weights: give it the same bits")
        own = np.zeros(self.scorer.parameters) if init is None else init.fine_weight.astype(np.float64)
        network = self.model.network
        if network is None:
            return own
        like = init is not None and network.is_like(init.network)
        return np.concatenate([own, (init.network if init is not None and like else network).weights()])

    def fingerprint(self) -> list[NDArray[Any]]:
        """What a checkpoint belongs to."""
        return [self.heads, self.scorer.keys.heads]

    def curvature(self) -> Floats:
        """A guess at the diagonal of the Hessian, for L-BFGS: the root of how often a weight is used."""
        guess: Floats = 2.0 * self.prior.l2 + 0.1 * np.sqrt(self.scorer.usage())
        return guess

    def of_domain(self, low: int, high: int) -> Domain:
        """Some of the sentences, with the weights that their arcs use; the arcs are those looked at in the whole."""
        if self.model.network is not None:
            raise DovetailError("domains share the weights of features: train them without an encoder")
        scorer, heads = self.scorer.some(np.arange(low, high)), self.heads[slice(*self.scorer.offsets[[low, high]])]
        own = replace(self, scorer=scorer, heads=heads, prior=Prior())
        guess = own.curvature()
        used = np.flatnonzero(guess)
        return Domain(own, Share(arc_objective(scorer, heads, self.objective.loss), used), used, guess[used])

    def export(self, weight: Floats) -> DependencyModel:
        """The trained model."""
        return self.model.with_weights(weight)

    def dev_scorer(self, words: Strings, tags: Strings, heads: Heads) -> Callable[[Floats], float]:
        """From weights to the percentage of right heads [words] in held-out sentences, which are looked at once."""
        self.dev_text, self.dev_heads = self.model.scorer(words, tags, self.scorer.threads)[0], heads
        self.dev = self.dev_text.batch
        return lambda weight: right_heads(self.dev(weight).best(), heads)

    def held_out(self, model: DependencyModel) -> ProjectiveBatch:
        """The trees of held-out sentences by a model."""
        scorer = self.dev_text if model.network is None else replace(self.dev_text, network=model.network)
        batch: ProjectiveBatch = scorer.batch(model.fine_weight)
        return batch


def right_heads(found: Heads, heads: Heads) -> float:
    """The percentage of right heads, 0 of none."""
    return float(100.0 * np.mean(found == heads)) if len(heads) else 0.0


def _coarse_weights(features: ArcFeatures, words: Strings, tags: Strings, heads: Heads, threads: int) -> Floats:
    """Weights learnt from some of the sentences, taken evenly."""
    step = max(1, len(words) // COARSE_SENTENCES)
    some = range(0, len(words), step)
    gold = heads[taken(offsets_of(words), np.array(some))[0]]
    scorer = ArcScorer.of(features, [words[i] for i in some], [tags[i] for i in some], threads)
    optimiser = LBFGS(limit=COARSE_PASSES)
    return optimiser.minimise(arc_objective(scorer, gold), Prior(COARSE_L2), np.zeros(features.weights))
