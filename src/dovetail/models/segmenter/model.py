"""A trained semi-Markov model: what is stored, and potentials for new sentences from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.span_sets import SpanFeatures
from dovetail.features.compile.columns import columns_for
from dovetail.features.compile.design import Compiler
from dovetail.features.compile.span_design import SpanCompiler
from dovetail.features.resources.templates import packed, unpacked
from dovetail.models.segmenter.objective import outputs_of, segment_potentials
from dovetail.models.tagger.model import Weights
from dovetail.models.tagger.tuning import FACTORS
from dovetail.structures.semimarkov import Segments, SemiMarkovBatch, SemiMarkovPotentials
from dovetail.text.sentence import Sentence, Span

OUTSIDE = "O"

Spans = Sequence[Sequence[Span]]


def compilers(sentences: Sequence[Sentence], features: SpanFeatures, longest: int) -> dict[str, Compiler]:
    """What compiles each part of the features of some sentences."""
    text = columns_for(sentences, cast(Any, features))
    tokens, spans = Compiler(text, sentences), SpanCompiler.over(text, longest)
    return {part: spans if part == "phrase" else tokens for part in features.parts}


@dataclass(frozen=True)
class SegmentModel:
    """Everything that segmenting needs. ``lengths`` [labels]: the most tokens of a segment of each label."""

    kind: ClassVar[str] = "semi-markov"

    features: SpanFeatures
    labels: tuple[str, ...]
    lengths: NDArray[np.int32]
    order: int
    parts: Mapping[str, Weights]
    transition: NDArray[np.float32]
    outside: float = 0.0
    """Added to the score of every O segment when the best segmentation is sought, and only then."""

    def scaled(self, factor: float) -> SegmentModel:
        """The model with all weights times a factor: the same ranking, with other probabilities."""
        parts = {part: weights.scaled(factor) for part, weights in self.parts.items()}
        return replace(self, parts=parts, transition=self.transition * np.float32(factor))

    def batch(self, sentences: Sequence[Sentence], threads: int) -> SemiMarkovBatch:
        """All segmentations of new sentences, with their potentials."""
        longest = int(self.lengths.max())
        compiled = compilers(sentences, self.features, longest)
        scores = {
            part: self.parts[part].score(compiled[part], self.features.parts[part], threads) for part in self.parts
        }
        offsets = np.zeros(len(sentences) + 1, dtype=np.int64)
        np.cumsum([len(s) for s in sentences], out=offsets[1:])
        segment = segment_potentials(scores, offsets, self.lengths, threads)
        zeros = np.zeros(len(self.labels))
        potentials = SemiMarkovPotentials(segment, self.transition.astype(np.float64), zeros, zeros)
        return SemiMarkovBatch(potentials, offsets, self.lengths, threads)

    def best(self, batch: SemiMarkovBatch) -> Segments:
        """The segmentation to answer with."""
        return best_with_bias(batch, self.labels, self.outside)

    def probabilities(self, batch: SemiMarkovBatch, segments: Segments) -> NDArray[np.float64]:
        """The exact probability of each segment: a marginal of the model, by construction."""
        marginal = batch.marginals().segment
        return np.minimum(marginal[segments.start, segments.length - 1, segments.label], 1.0)

    def kbest(self, batch: SemiMarkovBatch, k: int) -> tuple[list[Segments], NDArray[np.float64]]:
        """The k best segmentations, and their probabilities [sentences, k]; 0 where there are fewer."""
        found, scores = batch.kbest(k)
        return found, np.exp(scores - batch.log_partition()[:, None])

    def sample(self, batch: SemiMarkovBatch, n: int, rng: np.random.Generator) -> list[Segments]:
        """Segmentations drawn from the model's distribution."""
        return batch.sample(n, rng)

    def calibrated(self, sentences: Sequence[Sentence], spans: Spans, threads: int) -> SegmentModel:
        """With all weights times the factor under which the held-out segments are most likely."""
        known = [i for i, each in enumerate(spans) if len(sentences[i]) and self._can_say(each)]
        if not known:
            return self
        some = [sentences[i] for i in known]
        batch = self.batch(some, threads)
        gold = Segments.of_tokens(*gold_segments(some, [spans[i] for i in known], self.labels), batch.offsets)
        score = batch.score(gold)

        def log_likelihood(factor: float) -> float:
            potentials = SemiMarkovPotentials(*(part * factor for part in batch.potentials))
            return float((factor * score - replace(batch, potentials=potentials).log_partition()).sum())

        return self.scaled(max([1.0, *FACTORS.tolist()], key=log_likelihood))

    def _can_say(self, spans: Sequence[Span]) -> bool:
        lengths = dict(zip(self.labels, self.lengths.tolist(), strict=True))
        return all(span.end - span.start <= lengths.get(span.label, 0) for span in spans)

    def with_outside(self, bias: float) -> SegmentModel:
        """With another bias of O."""
        return replace(self, outside=bias)

    def arrays(self, half: bool) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        found: dict[str, NDArray[Any]] = {"transition": self.transition, "lengths": self.lengths}
        for part, weights in self.parts.items():
            found |= weights.arrays(part, half)
        return found | packed(self.features.resources)[1]

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return {
            "features": {"name": self.features.name, "templates": self.features.lines()},
            "labels": list(self.labels),
            "order": self.order,
            "outside": self.outside,
            "parts": list(self.parts),
            "hash_bits": next(iter(self.parts.values())).index.bits,
            "resources": packed(self.features.resources)[0],
        }

    @classmethod
    def from_file(
        cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]], functions: Sequence[Any]
    ) -> SegmentModel:
        """From the header and arrays of a model file, whose parts must fit together: kernels do not check bounds."""
        labels = tuple(map(str, header["labels"]))
        lengths = arrays["lengths"].astype(np.int32)
        order, size = int(header["order"]), len(labels)
        if (
            len(lengths) != size
            or lengths.min() < 1
            or arrays["transition"].shape != ((size, size) if order else (0, 0))
        ):
            raise ValueError("the tables of labels do not fit together")
        resources = unpacked(header.get("resources", {}), arrays)
        name, lines = header["features"]["name"], header["features"]["templates"]
        features = SpanFeatures.from_lines(name, lines, functions, resources)
        if set(header["parts"]) != set(features.parts):
            raise ValueError("the features do not fit the weights")
        bits = header["hash_bits"]
        parts = {part: Weights.from_arrays(arrays, part, outputs_of(part, size), bits) for part in header["parts"]}
        return cls(
            features, labels, lengths, order, parts, cast("NDArray[np.float32]", arrays["transition"]),
            float(header.get("outside", 0.0)),
        )  # fmt: skip


def gold_segments(
    sentences: Sequence[Sentence], spans: Spans, labels: Sequence[str]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Length and label of the gold segment that starts at each token, [tokens]; tokens between them are O."""
    numbers = {label: i for i, label in enumerate(labels)}
    tokens = sum(map(len, sentences))
    length, label = np.zeros(tokens, np.int32), np.zeros(tokens, np.int32)
    if OUTSIDE in numbers:
        length[:], label[:] = 1, numbers[OUTSIDE]
    place = 0
    for sentence, each in zip(sentences, spans, strict=True):
        for span in each:
            length[place + span.start : place + span.end] = 0
            length[place + span.start] = span.end - span.start
            label[place + span.start] = numbers[span.label]
        place += len(sentence)
    return length, label


def best_with_bias(batch: SemiMarkovBatch, labels: tuple[str, ...], bias: float) -> Segments:
    """The best segmentation when ``bias`` is added to every O segment."""
    if not bias:
        return batch.best()
    segment = batch.potentials.segment.copy()
    segment[:, :, labels.index(OUTSIDE)] += bias
    return replace(batch, potentials=batch.potentials._replace(segment=segment)).best()
