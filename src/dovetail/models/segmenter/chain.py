"""A chain model seen as a model of segments: tags that spell segments, and segments out of tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from dovetail.models.answer import probable
from dovetail.models.tagger.labels import LabelSet
from dovetail.models.tagger.model import ChainModel
from dovetail.structures.chain import ChainBatch
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.semimarkov import Segments
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tags import Scheme, spans_to_tags
from dovetail.text.words import WORD


def labels_of(spans: Sequence[Sequence[Span]], sentences: Sequence[Sentence], scheme: str, words: bool) -> LabelSet:
    """The labels that spell these segments. Words leave nothing between them, so that there is no O."""
    if words:
        letters = "BI" if scheme == "iob2" else "BIES"
        return LabelSet(tuple(f"{letter}-{WORD}" for letter in letters), cast(Scheme, scheme))
    return LabelSet.learn(tags_of(spans, sentences), scheme)


def tags_of(spans: Sequence[Sequence[Span]], sentences: Sequence[Sentence]) -> list[list[str]]:
    """The segments of every sentence as IOB2 tags."""
    return [
        spans_to_tags([(s.start, s.end, s.label) for s in each], len(sentence))
        for each, sentence in zip(spans, sentences, strict=True)
    ]


@dataclass(frozen=True)
class ChainSegments(ChainModel):
    """A chain model that answers with segments; its tags are well formed by constraint."""

    @property
    def types(self) -> tuple[str, ...]:
        """The labels of segments, in the order of their numbers."""
        return self.labels.types

    def best_with(self, batch: ChainBatch, bias: float) -> Segments:
        """The segmentation to answer with."""
        return self.segments(self.best_labels(batch, bias), batch.offsets)

    def segments(self, tags: Labels, offsets: Integers) -> Segments:
        """The segments that tag numbers [tokens] spell."""
        names = self.labels.names
        begins = np.array([name[0] in "BS" for name in names])[tags]
        cuts = begins | np.array([name == "O" for name in names])[tags]
        start = np.flatnonzero(begins)
        edges = np.union1d(np.flatnonzero(cuts), offsets)
        end = edges[np.searchsorted(edges, start, side="right")]
        numbers = {label: i for i, label in enumerate(self.types)}
        label = np.array([numbers.get(name[2:], -1) for name in names], dtype=np.int32)[tags[start]]
        return Segments(start, (end - start).astype(np.int32), label, np.searchsorted(start, offsets).astype(np.int64))

    def probabilities(self, batch: ChainBatch, segments: Segments) -> Floats:
        """The exact probability of each segment: just these tokens, just this label."""
        asked = [
            [
                Span(int(s - first), int(s - first + n), self.types[y])
                for s, n, y in zip(segments.start[a:b], segments.length[a:b], segments.label[a:b], strict=True)
            ]
            for first, a, b in zip(batch.offsets[:-1], segments.offsets[:-1], segments.offsets[1:], strict=True)
        ]
        answered = self.with_probabilities(batch, asked)
        return np.array([span.probability for each in answered for span in each], dtype=np.float64)

    def probable(self, batch: ChainBatch, least: float) -> list[list[Span]]:
        """All segments of at least this probability, of every sentence."""
        names, marginal = self.labels.names, batch.marginals().unary
        first, later = (
            np.stack([marginal[:, [n[2:] == x and n[0] in kind for n in names]].sum(axis=1) for x in self.types])
            for kind in ("BS", "IE")
        )
        asked: list[list[Span]] = [[] for _ in range(len(batch))]
        for x, t in np.argwhere(first >= least).tolist():
            sentence = int(np.searchsorted(batch.offsets, t, side="right")) - 1
            begin, after = (int(edge) for edge in batch.offsets[sentence : sentence + 2])
            for end in range(t + 1, after + 1):
                asked[sentence].append(Span(t - begin, end - begin, self.types[x]))
                if end == after or later[x, end] < least:
                    break
        return [probable(each, least) for each in self.with_probabilities(batch, asked)]

    def known(self, batch: Any, dev: Sequence[Sentence], gold: Sequence[Any]) -> list[tuple[Any, Any]]:
        """The chains of held-out sentences whose segments it can spell, with the tags that do."""
        return super().known(batch, dev, tags_of(gold, dev))
