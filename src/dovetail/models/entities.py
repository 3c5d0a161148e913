"""The exact probability of an entity: that just these tokens, no fewer and no more, are an entity of this type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from dovetail.models.chain_model import ChainModel
from dovetail.structures.chain import ChainBatch
from dovetail.text.sentence import Span
from dovetail.text.tags import tags_to_spans


def entity_probabilities(
    model: ChainModel, batch: ChainBatch, spans: Sequence[Sequence[Span]] | None = None
) -> list[list[Span]]:
    """The given spans of every sentence with their probabilities, or those of the best tagging.

    The probability is a sum over all taggings in which the tokens spell this entity and the next label does not make
    it longer; it is not a product of token marginals.
    """
    if spans is None:
        tags = model.labels.decode(model.best(batch), batch.offsets)
        spans = [[Span(*span) for span in tags_to_spans(each)] for each in tags]
    path, continuing = cache(model.labels.path), cache(model.labels.continuing)
    asked = [(i, span) for i, each in enumerate(spans) for span in each]
    paths = [path(span.label, span.end - span.start) for _, span in asked]
    spelled = [k for k, p in enumerate(paths) if p is not None]  # a type the model does not know has no path
    probability = np.zeros(len(asked))
    if spelled:
        probability[spelled] = batch.path_probabilities(
            [asked[k][0] for k in spelled],
            [asked[k][1].start for k in spelled],
            [paths[k] or [] for k in spelled],
            not_after=np.array([continuing(asked[k][1].label) for k in spelled]),
        )
    with_probability = iter(probability.tolist())
    return [[replace(span, probability=min(next(with_probability), 1.0)) for span in each] for each in spans]
