"""What is chosen on held-out data: how sure the probabilities are, and how probable an entity must be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dovetail.evaluate.entities import entity_scores
from dovetail.models.nested_gold import numbered
from dovetail.models.nested_model import NestedModel, consistent, spans_of
from dovetail.models.tuning import FACTORS
from dovetail.structures.nested import NestedBatch, NestedPotentials
from dovetail.text.sentence import Sentence, Span

COARSE_THRESHOLDS = (0.5, 0.4, 0.3)  # tried while training, to choose weights that will score well when balanced
THRESHOLDS = np.round(np.arange(0.2, 0.601, 0.025), 3)  # how probable an entity may have to be
Spans = Sequence[Sequence[Span]]


def threshold_scores(
    batch: NestedBatch, labels: Sequence[str], gold: Spans, thresholds: Sequence[float], flat: bool
) -> list[float]:
    """F1 of all entities in percent, at each of some thresholds."""
    found = spans_of(batch, labels, min(thresholds))

    def f1(threshold: float) -> float:
        answers = [consistent([s for s in spans if (s.probability or 0.0) >= threshold], flat) for spans in found]
        return entity_scores(gold, answers).f1

    return [f1(threshold) for threshold in thresholds]


def balanced(model: NestedModel, dev: Sequence[Sentence], gold: Spans, threads: int) -> NestedModel:
    """The model with the threshold that scores best on dev; of equal ones, that nearest to a half."""
    scores = threshold_scores(model.batch(dev, threads), model.labels, gold, THRESHOLDS.tolist(), model.flat)
    smooth = np.convolve(np.pad(scores, 1, mode="edge"), np.full(3, 1 / 3), mode="valid")  # less luck in the choice
    best = THRESHOLDS[smooth >= smooth.max() - 1e-9]
    return replace(model, threshold=float(min(best, key=lambda t: abs(t - 0.5))))


def calibrated(model: NestedModel, dev: Sequence[Sentence], trees: Spans, threads: int) -> NestedModel:
    """The model with its potentials times the factor under which the dev entities are most likely.

    A model is too sure of what it learnt by heart, or too timid under a strong penalty. The likelihood is concave in
    the factor. Sentences with labels that the model does not know are left out.
    """
    numbers = {label: i for i, label in enumerate(model.labels)}
    known = [i for i, tree in enumerate(trees) if len(dev[i]) and all(span.label in numbers for span in tree)]
    if not known:
        return model
    batch = model.batch([dev[i] for i in known], threads)
    score = float(batch.score(numbered([trees[i] for i in known], numbers)).sum())

    def loss(factor: float) -> float:
        scaled = replace(batch, potentials=NestedPotentials(*(part * factor for part in batch.potentials)))
        return float(scaled.log_partition().sum()) - factor * score

    return replace(model, factor=float(min([1.0, *FACTORS.tolist()], key=loss)))
