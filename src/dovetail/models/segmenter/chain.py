"""A chain model seen as a model of segments: tags that spell segments, and segments out of tags."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.sets import FeatureSet
from dovetail.models.tagger.entities import entity_probabilities
from dovetail.models.tagger.labels import LabelSet
from dovetail.models.tagger.model import ChainModel, ChainTraining, best_with_bias, chain_training
from dovetail.models.tagger.tuning import calibrated
from dovetail.structures.chain import ChainBatch
from dovetail.structures.semimarkov import Segments
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tags import Scheme, spans_to_tags
from dovetail.text.words import WORD

Floats = NDArray[np.float64]


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
class ChainSegments:
    """A chain model that answers with segments; its tags are well formed by constraint."""

    model: ChainModel

    kind = "markov"

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels of segments, in the order of their numbers."""
        return tuple(dict.fromkeys(name[2:] for name in self.model.labels.names if name != "O"))

    @property
    def features(self) -> FeatureSet:
        """What the chain reads."""
        features: FeatureSet = self.model.features
        return features

    def batch(self, sentences: Sequence[Sentence], threads: int) -> ChainBatch:
        """The chains of new sentences."""
        return self.model.batch(sentences, threads)

    def segments(self, tags: NDArray[np.int32], offsets: NDArray[np.int64]) -> Segments:
        """The segments that tag numbers [tokens] spell."""
        names = self.model.labels.names
        begins = np.array([name[0] in "BS" for name in names])[tags]
        cuts = begins | np.array([name == "O" for name in names])[tags]
        start = np.flatnonzero(begins)
        edges = np.union1d(np.flatnonzero(cuts), offsets)
        end = edges[np.searchsorted(edges, start, side="right")]
        numbers = {label: i for i, label in enumerate(self.labels)}
        label = np.array([numbers.get(name[2:], -1) for name in names], dtype=np.int32)[tags[start]]
        return Segments(start, (end - start).astype(np.int32), label, np.searchsorted(start, offsets).astype(np.int64))

    def best(self, batch: ChainBatch) -> Segments:
        """The segmentation to answer with."""
        return self.segments(self.model.best(batch), batch.offsets)

    def probabilities(self, batch: ChainBatch, segments: Segments) -> Floats:
        """The exact probability of each segment: just these tokens, just this label."""
        asked = [
            [
                Span(int(s - first), int(s - first + n), self.labels[y])
                for s, n, y in zip(segments.start[a:b], segments.length[a:b], segments.label[a:b], strict=True)
            ]
            for first, a, b in zip(batch.offsets[:-1], segments.offsets[:-1], segments.offsets[1:], strict=True)
        ]
        answered = entity_probabilities(self.model, batch, asked)
        return np.array([span.probability for each in answered for span in each], dtype=np.float64)

    def probable(self, batch: ChainBatch, least: float) -> list[list[Span]]:
        """All segments of at least this probability, of every sentence."""
        labels = self.model.labels
        marginal = batch.marginals().unary
        first, later = (
            np.stack(
                [marginal[:, [n[2:] == x and n[0] in kind for n in labels.names]].sum(axis=1) for x in self.labels]
            )
            for kind in ("BS", "IE")
        )
        asked: list[list[Span]] = [[] for _ in range(len(batch))]
        for x, t in np.argwhere(first >= least).tolist():
            sentence = int(np.searchsorted(batch.offsets, t, side="right")) - 1
            begin, after = (int(edge) for edge in batch.offsets[sentence : sentence + 2])
            for end in range(t + 1, after + 1):
                asked[sentence].append(Span(t - begin, end - begin, self.labels[x]))
                if end == after or later[x, end] < least:
                    break
        found = entity_probabilities(self.model, batch, asked)
        return [[span for span in each if (span.probability or 0.0) >= least] for each in found]

    def kbest(self, batch: ChainBatch, k: int) -> tuple[list[Segments], Floats]:
        """The k best segmentations, and their probabilities [sentences, k]; 0 where there are fewer."""
        tags, scores = batch.kbest(k)
        found = [self.segments(row, batch.offsets) for row in tags]
        return found, np.exp(scores - batch.log_partition()[:, None])

    def sample(self, batch: ChainBatch, n: int, rng: np.random.Generator) -> list[Segments]:
        """Segmentations drawn from the model's distribution."""
        return [self.segments(row, batch.offsets) for row in batch.sample(n, rng)]

    def calibrated(self, sentences: Sequence[Sentence], spans: Sequence[Sequence[Span]], threads: int) -> ChainSegments:
        """With all weights times the factor under which the held-out segments are most likely."""
        return ChainSegments(calibrated(self.model, sentences, tags_of(spans, sentences), threads))

    def with_outside(self, bias: float) -> ChainSegments:
        """With another bias of O."""
        return ChainSegments(replace(self.model, outside=bias))

    def arrays(self, half: bool) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        return self.model.arrays(half)

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return self.model.header()

    @classmethod
    def from_file(
        cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]], functions: Sequence[Any] = ()
    ) -> ChainSegments:
        """From the header and arrays of a model file."""
        return cls(ChainModel.from_file(header, arrays, functions))


@dataclass
class SpelledTraining:
    """A corpus of segments made ready for a chain model, which spells them as tags."""

    training: ChainTraining

    @classmethod
    def prepare(
        cls, sentences: Sequence[Sentence], spans: Sequence[Sequence[Span]], features: FeatureSet, scheme: str,
        words: bool, order: int, **how: Any,
    ) -> SpelledTraining:  # fmt: skip
        """Compile the corpus; ``how`` is as of ``chain_training``."""
        model = ChainModel(features, {}, {}, labels_of(spans, sentences, scheme, words), order, True)
        return cls(chain_training(model, sentences, tags_of(spans, sentences), **how))

    def __getattr__(self, name: str) -> Any:
        """What else there is to a training, that of the chain has."""
        return getattr(self.training, name)

    def start(self, init: ChainSegments | None = None) -> Floats:
        """Where training starts."""
        return self.training.start(None if init is None else init.model)

    def export(self, weight: Floats) -> ChainSegments:
        """The trained model."""
        return ChainSegments(self.training.export(weight))

    def answers(self, sentences: Sequence[Sentence]) -> Callable[[Floats, float], Segments]:
        """A function from weights and a bias of O to the best segments of other sentences, compiled once."""
        chains, labels = self.training.dev_scorer(sentences), self.training.model.labels
        empty = ChainSegments(self.training.model)

        def best(weight: Floats, bias: float) -> Segments:
            batch = chains(weight)
            return empty.segments(best_with_bias(batch, labels, bias), batch.offsets)

        return best
