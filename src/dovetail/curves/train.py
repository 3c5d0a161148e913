"""One model of a configuration, trained on chosen sentences of the pool and scored."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from dovetail.curves.configurations import Configuration
from dovetail.curves.data import CurveData
from dovetail.errors import DovetailError


class Trained(NamedTuple):
    """A model, its score in percent (with precision and recall where it finds entities), and the seconds it took."""

    model: Any
    score: float
    precision: float | None
    recall: float | None
    seconds: float


def train_and_score(configuration: Configuration, data: CurveData, indices: Sequence[int]) -> Trained:
    """Train on the sentences of the pool with these indices, in the order of the pool, on one thread."""
    began = time.perf_counter()
    model = configuration.build(threads=1)
    sentences = [data.train[i] for i in sorted(indices)]
    try:
        model.fit(sentences, dev=data.dev if data.tune else None)
    except DovetailError as error:
        raise DovetailError(f"{configuration.name} with {len(indices)} sentences: {error}") from None
    if model.card_.get("stopped") == "interrupted":
        raise KeyboardInterrupt  # fit itself keeps the weights so far, which would be a false point of the curve
    return Trained(model, *_scores(model, data), time.perf_counter() - began)


def _scores(model: Any, data: CurveData) -> tuple[float, float | None, float | None]:
    """F1 of words or entities with precision and recall; the accuracy of plain labels.

    Entities are scored as such also where the few sentences drawn happened to have none.
    """
    from dovetail.evaluate import entity_scores
    from dovetail.text.tags import is_chunk_tagset

    if model.target is None:
        words = model.word_scores(data.scored)
        return words.f1, words.precision, words.recall
    tags = {tag for sentence in data.train for tag in sentence.layers.get(model.target, ())}
    if not is_chunk_tagset(tags - {"?"}):
        return model.score(data.scored), None, None
    gold = [sentence.layers.get(model.target, ()) for sentence in data.scored]
    entities = entity_scores(gold, model.predict(data.scored))
    return entities.f1, entities.precision, entities.recall
