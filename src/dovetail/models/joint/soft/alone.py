"""Trees by themselves and entities by themselves: what coupled ones are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.span_sets import span_features
from dovetail.features.resources.clusters import Clusters
from dovetail.learning.losses import Loss, likelihood
from dovetail.learning.monitor import Monitor
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.optimisers.online import AdaGrad
from dovetail.learning.priors import Prior
from dovetail.models.joint.soft.shared import SharedTypes
from dovetail.models.parser.brackets.training import BracketSettings, BracketTraining
from dovetail.models.segmenter.model import OUTSIDE, SegmentModel, segment_training
from dovetail.models.tagger.estimator import Tagger
from dovetail.scorers.compiled import PartSettings
from dovetail.text.sentence import Sentence

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Tags = Sequence[tuple[str, ...]]

TREE_PASSES, TREE_GAIN, TREE_L2 = 10, 0.1, 1.0
ENTITY_PASSES, ENTITY_L2 = 60, 0.1


class SoftCorpus(NamedTuple):
    """Sentences with clean trees and flat entities, with trees alone, and with entities alone; and their tags."""

    both: list[Sentence]
    trees_only: list[Sentence]
    entities_only: list[Sentence]
    tags: Tags
    """Of all of them, in this order."""

    def parsed(self, which: Sequence[int]) -> tuple[list[Sentence], list[tuple[str, ...]]]:
        """Some of the sentences with both, and all that have trees alone, with their tags."""
        n, m = len(self.both), len(self.trees_only)
        tags = [self.tags[i] for i in which] + list(self.tags[n : n + m])
        return [*(self.both[i] for i in which), *self.trees_only], tags

    def named(self, which: Sequence[int]) -> list[Sentence]:
        """Some of the sentences with both, and all that have entities alone, with their tags as a layer."""
        rest = self.tags[len(self.both) + len(self.trees_only) :]
        pairs = [(self.both[i], self.tags[i]) for i in which] + list(zip(self.entities_only, rest, strict=True))
        return [Sentence(s.words, {"pos": tuple(t)}, s.spans, document=s.document) for s, t in pairs]


class SoftSettings(NamedTuple):
    """What shapes the models."""

    trees: BracketSettings
    min_count: int
    clusters: Mapping[str, Clusters]
    threads: int
    l2: float
    loss: Loss
    seed: int
    everything: bool = False
    """Whether all weights are learnt together, or those of couplings alone."""


class Alone(NamedTuple):
    """A model of trees or of entities by itself: what it was trained on, and its weights."""

    training: Any
    weight: Floats
    which: Integers
    """Which of the sentences with both it was trained on: they come first, in this order."""

    @property
    def model(self) -> Any:
        """The trained model."""
        return self.training.export(self.weight)

    def numbers(self, sentences: Integers) -> Integers:
        """The places of some sentences with both among what it was trained on."""
        return np.searchsorted(self.which, sentences)

    def others(self, sentences: Integers) -> Integers:
        """The places of all but some sentences."""
        return np.setdiff1d(np.arange(self.training.scorer.items), self.numbers(sentences))


def trained_brackets(corpus: SoftCorpus, which: Sequence[int], how: SoftSettings, tagger: Tagger | None) -> Alone:
    """Brackets by themselves."""
    sentences, tags = corpus.parsed(which)
    trees = [s.tree for s in sentences if s.tree is not None]
    made = BracketTraining.prepare(sentences, trees, tags, how.trees, tagger)
    optimiser = AdaGrad(limit=TREE_PASSES, batch=min(64, max(8, made.size // 50)), gain=TREE_GAIN, seed=how.seed)
    alone = replace(made.objective, loss=likelihood)
    return Alone(made, optimiser.minimise(alone, Prior(TREE_L2), made.start(), Monitor()), np.array(which, np.int64))


def trained_entities(
    corpus: SoftCorpus, which: Sequence[int], types: Sequence[str], longest: int, how: SoftSettings
) -> Alone:
    """Entities by themselves, as segments whose labels do not know of each other."""
    named = corpus.named(which)
    fits = [all(e.end - e.start <= longest for e in s.spans) for s in named]
    some = [s for s, fit in zip(named, fits, strict=True) if fit]
    labels = (OUTSIDE, *types)
    lengths = np.array([1] + [longest] * len(types), np.int32)
    model = SegmentModel(span_features("ner-spans", how.clusters), {}, {}, labels, lengths, 0)
    settings = PartSettings(how.min_count, None, threads=how.threads)
    training = segment_training(
        model, some, [s.spans for s in some], loss="likelihood", l2=ENTITY_L2, l1=0.0, settings=settings
    )
    shared = SharedTypes.of(training.objective, training.scorer)
    guess = training.curvature()
    assert guess is not None  # all weights are those of features
    weight = LBFGS(limit=ENTITY_PASSES).minimise(
        shared, training.prior, np.zeros(shared.parameters), Monitor(), None, shared.curvature(guess)
    )
    return Alone(training, shared.added(weight), np.array(which, np.int64)[fits[: len(which)]])
