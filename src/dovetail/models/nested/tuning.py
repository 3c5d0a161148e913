"""What is chosen on held-out data: how sure to be, how far documents agree, and how probable an entity must be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dovetail.evaluate.entities import entity_scores
from dovetail.learning.tuning import calibration, smoothed
from dovetail.models.nested.agreement import LEAST, agreed
from dovetail.models.nested.gold import numbered
from dovetail.models.nested.model import NestedModel, consistent, spans_of
from dovetail.text.sentence import Sentence, Span

COARSE_THRESHOLDS = (0.5, 0.4, 0.3)  # tried while training, to choose weights that will score well when balanced
THRESHOLDS = np.round(np.arange(0.2, 0.601, 0.025), 3)  # how probable an entity may have to be
STRENGTHS = (0.0, 0.1, 0.2, 0.3, 0.4)  # of agreement within a document
Spans = Sequence[Sequence[Span]]


def threshold_scores(found: Spans, gold: Spans, thresholds: Sequence[float], flat: bool) -> list[float]:
    """F1 of all entities in percent, at each of some thresholds of the probable ones."""

    def f1(threshold: float) -> float:
        answers = [consistent([s for s in spans if (s.probability or 0.0) >= threshold], flat) for spans in found]
        return entity_scores(gold, answers).f1

    return [f1(threshold) for threshold in thresholds]


def tuned(
    model: NestedModel, dev: Sequence[Sentence], gold: Spans, agree: bool, balance: bool, threads: int
) -> NestedModel:
    """The model with the strength of agreement and the threshold that score best on dev together.

    Of equal ones, the least agreement and the threshold nearest to a half. Scores are smoothed over neighbouring
    thresholds, for less luck in the choice.
    """
    found = spans_of(model.segments(dev, threads), model.labels, LEAST)
    best = (-1.0, 0.0, 0.0, model)
    for strength in STRENGTHS if agree and any(s.document is not None for s in dev) else (0.0,):
        spans = agreed(dev, found, strength) if strength else found
        thresholds = THRESHOLDS.tolist() if balance else [model.threshold]
        scores = threshold_scores(spans, gold, thresholds, model.flat)
        for score, threshold in zip(np.round(smoothed(scores), 9).tolist(), thresholds, strict=True):
            made = replace(model, agreement=strength, threshold=threshold)
            best = max(best, (score, -strength, -abs(threshold - 0.5), made), key=lambda each: each[:3])
    return best[3]


def calibrated(model: NestedModel, dev: Sequence[Sentence], trees: Spans, threads: int) -> NestedModel:
    """The model with its potentials times the factor under which the dev entities are most likely.

    A model is too sure of what it learnt by heart, or too timid under a strong penalty. The likelihood is concave in
    the factor. Sentences with labels that the model does not know are left out.
    """
    known = [i for i, tree in enumerate(trees) if len(dev[i]) and all(span.label in model.numbers for span in tree)]
    if not known:
        return model
    batch = model.segments([dev[i] for i in known], threads)
    return replace(model, factor=calibration(batch, numbered([trees[i] for i in known], model.numbers)))
