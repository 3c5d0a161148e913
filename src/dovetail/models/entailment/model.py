"""A trained judge of entailment: its features, how they are scaled, and their weights for both labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.learning.objective import Objective
from dovetail.learning.priors import Prior
from dovetail.modelfile import Arrays
from dovetail.models.entailment.analysis import Analysis
from dovetail.models.entailment.features import features_of, rarity_of
from dovetail.models.training import Training
from dovetail.scorers.dense import DenseScorer, choices
from dovetail.structures.chain import ChainBatch
from dovetail.structures.contract import Floats, Labels
from dovetail.text.pairs import LABELS

BIAS = "always"


@dataclass(frozen=True)
class PairModel:
    """What is stored. ``mean`` and ``scale`` [features] make features alike; ``weight`` [features, labels]."""

    features: tuple[str, ...]
    rarity: Mapping[str, float]
    """How rare the lemmas of the training texts are; others are as rare as can be."""
    task: bool
    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    weight: NDArray[np.float32]

    @classmethod
    def learnt(cls, corpus: Sequence[Analysis], task: bool) -> Self:
        """The features of a corpus and how they vary; weights are zero."""
        rarity = rarity_of(one.sides[0].words for one in corpus)
        found = [features_of(one, rarity, task) for one in corpus]
        names = tuple(sorted({name for each in found for name in each}))
        table = np.array([[each.get(name, 0.0) for name in names] for each in found]).reshape(len(found), len(names))
        spread = table.std(axis=0)
        scale = np.where(spread > 1e-9, spread, 1.0).astype(np.float32)
        weight = np.zeros((len(names) + 1, len(LABELS)), np.float32)
        return cls((*names, BIAS), rarity, task, table.mean(axis=0).astype(np.float32), scale, weight)

    def values(self, analyses: Sequence[Analysis]) -> Floats:
        """The features of pairs, scaled: [pairs, features]; the last is always one."""
        rows = [features_of(one, self.rarity, self.task) for one in analyses]
        names = self.features[:-1]
        table = np.array([[row.get(name, 0.0) for name in names] for row in rows]).reshape(len(rows), len(names))
        return np.hstack([(table - self.mean) / self.scale, np.ones((len(rows), 1))])

    def batch(self, analyses: Sequence[Analysis], threads: int = 1) -> ChainBatch:
        """The choices between the labels."""
        return choices(self.values(analyses) @ self.weight.astype(np.float64), threads)

    def scaled(self, factor: float) -> PairModel:
        """The model, so much more or less sure."""
        return replace(self, weight=(factor * self.weight).astype(np.float32))

    def header(self) -> dict[str, Any]:
        """What a model file says in JSON."""
        return {"labels": list(LABELS), "pair_features": list(self.features), "task": self.task, "rarity": self.rarity}

    def arrays(self, half: bool = False) -> Arrays:
        """What a model file holds as arrays."""
        weight = self.weight.astype(np.float16 if half else np.float32)
        return {"mean": self.mean, "scale": self.scale, "weight": weight}

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays) -> Self:
        """From what ``header`` and ``arrays`` gave."""
        features = tuple(map(str, header["pair_features"]))
        mean, scale, weight = (arrays[name].astype(np.float32) for name in ("mean", "scale", "weight"))
        size = len(features)
        if tuple(header["labels"]) != LABELS or weight.shape != (size, len(LABELS)) or size == 0:
            raise ValueError("the number of weights does not fit the features")
        if mean.shape != (size - 1,) or scale.shape != (size - 1,) or not (scale > 0).all():
            raise ValueError("the scales do not fit the features")
        rarity = {str(lemma): float(value) for lemma, value in header["rarity"].items()}
        return cls(features, rarity, bool(header["task"]), mean, scale, weight)


@dataclass
class PairTraining(Training):
    """A corpus of pairs made ready to train on."""

    model: PairModel
    gold: Labels
    objective: Objective
    prior: Prior

    @property
    def value(self) -> Floats:
        """The features of the corpus, [pairs, features]."""
        scorer = self.objective.scorer
        assert isinstance(scorer, DenseScorer)
        return scorer.value

    def start(self, init: PairModel | None = None) -> Floats:
        """Zeros, or the weights that another model gives to the same features."""
        weight = np.zeros(self.model.weight.shape)
        if init is not None:
            known = {name: row for name, row in zip(init.features, init.weight, strict=True)}
            for i, name in enumerate(self.model.features):
                weight[i] = known.get(name, weight[i])
        return weight.ravel()

    def export(self, weight: Floats) -> PairModel:
        """The trained model."""
        return replace(self.model, weight=weight.reshape(self.model.weight.shape).astype(np.float32))

    def fingerprint(self) -> list[NDArray[Any]]:
        """The features and the labels."""
        return [self.value, self.gold]
