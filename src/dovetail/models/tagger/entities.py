"""The exact probability of an entity: that just these tokens, no fewer and no more, are an entity of this type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from dovetail.models.tagger.model import ChainModel
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
    spellings, continuing = cache(model.labels.spellings), cache(model.labels.continuing)
    asked = [(i, span) for i, each in enumerate(spans) for span in each]
    queries = [
        (k, path, before)
        for k, (_, span) in enumerate(asked)
        for path, before in spellings(span.label, span.end - span.start, model.constrain)
    ]  # none where no labels spell such an entity
    probability = np.zeros(len(asked))
    if queries:
        found = batch.path_probabilities(
            [asked[k][0] for k, _, _ in queries],
            [asked[k][1].start for k, _, _ in queries],
            [path for _, path, _ in queries],
            not_before=np.array([before for _, _, before in queries]),
            not_after=np.array([continuing(asked[k][1].label) for k, _, _ in queries]),
        )
        np.add.at(probability, [k for k, _, _ in queries], found)
    with_probability = iter(probability.tolist())
    return [[replace(span, probability=min(next(with_probability), 1.0)) for span in each] for each in spans]
