"""A trained semi-Markov model: what is stored, and the segmentations of new sentences from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import offsets_of, taken
from dovetail.features.algebra.span_sets import SpanFeatures
from dovetail.features.compile.design import Compiler
from dovetail.features.compile.span_design import SpanCompiler
from dovetail.modelfile import Arrays
from dovetail.models.linear.model import LinearModel, numbers_in, span_compilers, taken_over
from dovetail.models.linear.training import LinearTraining
from dovetail.scorers.segments import PHRASE, TRANSITION, SegmentForm
from dovetail.structures.contract import Floats, Integers, Labels, at_most_one
from dovetail.structures.semimarkov import Segments, SemiMarkovBatch
from dovetail.text.sentence import Sentence, Span

OUTSIDE = "O"
COVERED = 0.999  # of the training segments are no longer than the bound

Spans = Sequence[Sequence[Span]]


@dataclass(frozen=True)
class SegmentModel(LinearModel):
    """Everything that segmenting needs. ``lengths`` [labels]: the most tokens of a segment of each label."""

    feature_kind: ClassVar = SpanFeatures

    labels: tuple[str, ...]
    lengths: Labels
    order: int
    outside: float = 0.0
    """Added to the score of every O segment when the best segmentation is sought, and only then."""

    @cached_property
    def form(self) -> SegmentForm:
        """Segments up to their lengths."""
        return SegmentForm(self.lengths, self.order)

    @property
    def types(self) -> tuple[str, ...]:
        """The labels of segments, O among them."""
        return self.labels

    def types_of_labels(self) -> tuple[str, ...]:
        """Each label is a type of its own."""
        return self.labels

    def compilers(self, sentences: Sequence[Sentence]) -> Mapping[str, Compiler]:
        """Of tokens, and of phrases."""
        return span_compilers(self.features, sentences, self.form.longest, PHRASE)

    def best(self, batch: SemiMarkovBatch) -> Segments:
        """The segmentation to answer with."""
        return self.best_with(batch, self.outside)

    def best_with(self, batch: SemiMarkovBatch, bias: float) -> Segments:
        """The best segmentation when ``bias`` is added to every O segment."""
        if not bias:
            return batch.best()
        segment = batch.potentials.segment.copy()
        segment[:, :, self.labels.index(OUTSIDE)] += bias
        return replace(batch, potentials=batch.potentials._replace(segment=segment)).best()

    def segments(self, found: Segments, offsets: Integers) -> Segments:
        """An answer of the structure as segments: itself."""
        return found

    def probabilities(self, batch: SemiMarkovBatch, segments: Segments) -> Floats:
        """The exact probability of each segment: a marginal of the model, by construction."""
        marginal = batch.marginals().segment
        return at_most_one(marginal[segments.start, segments.length - 1, segments.label])

    def probable(self, batch: SemiMarkovBatch, least: float) -> list[list[Span]]:
        """All segments of at least this probability, of every sentence; O is none."""
        marginal = batch.marginals().segment
        found: list[list[Span]] = [[] for _ in range(len(batch))]
        for t, d, y in np.argwhere(marginal >= least).tolist():
            if self.labels[y] != OUTSIDE:
                sentence = int(np.searchsorted(batch.offsets, t, side="right")) - 1
                begin = t - int(batch.offsets[sentence])
                chance = min(float(marginal[t, d, y]), 1.0)
                found[sentence].append(Span(begin, begin + d + 1, self.labels[y], chance))
        return found

    def knows(self, answer: Sequence[Span]) -> bool:
        """Whether all segments are of known labels, and no longer than these can be."""
        lengths = dict(zip(self.labels, self.lengths.tolist(), strict=True))
        return all(span.end - span.start <= lengths.get(span.label, 0) for span in answer)

    def numbered(self, sentences: Sequence[Sentence], answers: Spans) -> Segments:
        """Segments with their labels as numbers."""
        return Segments.of_tokens(*gold_segments(sentences, answers, self.labels), offsets_of(sentences))

    def outputs_in(self, part: str, other: SegmentModel) -> Integers:
        """The number of each label in another model; of a single one, that of short and of long segments."""
        if self.form.outputs(part) == other.form.outputs(part) == 2 and len(self.labels) == 1:
            return np.arange(2)
        return numbers_in(self.labels, other.labels)

    def tables_in(self, other: SegmentModel) -> dict[str, NDArray[np.float32]]:
        """The pairs of labels of another model, in the order of the labels here."""
        labels, table = numbers_in(self.labels, other.labels), other.tables[TRANSITION]
        return {TRANSITION: table[np.ix_(labels, labels)] if self.order else table}

    def kept_apart(self) -> dict[str, Any]:
        """Labels, and whether they depend on each other."""
        return {"labels": sorted(self.labels), "order": self.order}

    def pooled(self, others: Sequence[SegmentModel], mixing: Sequence[float]) -> SegmentModel:
        """The product, of the segments that all of them allow."""
        found, every = super().pooled(others, mixing), [self, *others]
        each = [m.lengths[numbers_in(self.labels, m.labels)] for m in every]
        return replace(found, lengths=np.min(each, axis=0), outside=float(np.mean([m.outside for m in every])))

    def arrays(self, half: bool = False, compact: bool = False) -> Arrays:
        """As named arrays for a model file."""
        return super().arrays(half, compact) | {"lengths": self.lengths}

    def header(self) -> dict[str, Any]:
        """What is no array, for the header of a model file."""
        return super().header() | {
            "labels": list(self.labels), "order": self.order, "outside": self.outside, "parts": list(self.parts),
        }  # fmt: skip

    @classmethod
    def _stored(cls, header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        labels, lengths = tuple(map(str, header["labels"])), arrays["lengths"].astype(np.int32)
        order, size = int(header["order"]), len(labels)
        shape = (size, size) if order else (0, 0)
        if len(lengths) != size or lengths.min() < 1 or arrays[TRANSITION].shape != shape:
            raise ValueError("the tables of labels do not fit together")
        own = {"labels": labels, "lengths": lengths, "order": order, "outside": float(header.get("outside", 0.0))}
        return {"tables": {TRANSITION: arrays[TRANSITION]}, **own}


@dataclass
class SegmentTraining(LinearTraining[SegmentModel]):
    """A corpus of segments made ready."""

    def shared_in(self, init: SegmentModel) -> Floats:
        """The pairs of labels."""
        labels = numbers_in(self.model.labels, init.labels)
        if not (self.model.order and init.order):
            return np.zeros(self.scorer.form.shared)
        return taken_over(init.tables[TRANSITION], labels, labels).ravel()

    def fingerprint(self) -> list[NDArray[Any]]:
        """What a checkpoint belongs to."""
        return [*super().fingerprint(), *self.objective.gold(None)[0]]


def segment_training(model: SegmentModel, sentences: Sequence[Sentence], spans: Spans, **how: Any) -> SegmentTraining:
    """Sentences whose segments all keep to the bound; ``how`` is for ``LinearTraining.prepare``."""
    compiled, form = model.compilers(sentences), model.form

    def trimmed(part: str, scorer: Any) -> Any:
        # Most phrases are longer than a token, and have nothing to say of O.
        spelled = compiled[part]
        return scorer.within(spelled.lengths() - 1, form.lengths) if isinstance(spelled, SpanCompiler) else scorer

    offsets = offsets_of(sentences)
    length, label = gold_segments(sentences, spans, model.labels)
    whole = Segments.of_tokens(length, label, offsets)

    def gold(which: Integers | None) -> tuple[Segments, None]:
        if which is None:
            return whole, None
        tokens, begin = taken(offsets, which)
        return Segments.of_tokens(length[tokens], label[tokens], begin), None

    return SegmentTraining.prepare(
        model, form, compiled, offsets, gold, observed={}, trimmed=trimmed, sentences=sentences, **how
    )


def length_bound(spans: Spans) -> int:
    """The least length that is enough for 99.9 % of the segments (Liang 2005, section 5.1).

    >>> from dovetail.text.sentence import Span
    >>> length_bound([[Span(0, 2, "PER"), Span(4, 5, "LOC")]])
    2
    """
    lengths = Counter(span.end - span.start for each in spans for span in each)
    needed, covered = COVERED * lengths.total(), 0
    for length in sorted(lengths):
        covered += lengths[length]
        if covered >= needed:
            return length
    return 1


def gold_segments(sentences: Sequence[Sentence], spans: Spans, labels: Sequence[str]) -> tuple[Labels, Labels]:
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


def segment_counts(gold: Spans, sentences: Sequence[Sentence], found: Segments, labels: Sequence[str]) -> Integers:
    """[3]: how many segments there are, how many were found, and how many of those are right; O is none."""
    numbers = {label: i for i, label in enumerate(labels)}
    triples = [
        (first + span.start, span.end - span.start, numbers.get(span.label, -1))
        for first, each in zip(offsets_of(sentences).tolist(), gold, strict=False)
        for span in each
    ]
    right = np.array(triples, dtype=np.int64).reshape(-1, 3)
    some = found.label != numbers.get(OUTSIDE, -1)
    answer = np.stack([found.start, found.length, found.label], axis=1).astype(np.int64)[some]
    size = 1 + max(right[:, 1].max(initial=0), answer[:, 1].max(initial=0))
    common = np.intersect1d(_keys(right, size, len(labels)), _keys(answer, size, len(labels)))
    return np.array([len(right), len(answer), len(common)])


def _keys(triples: Integers, size: int, labels: int) -> Integers:
    """One number for every (start, length, label)."""
    keys: Integers = (triples[:, 0] * size + triples[:, 1]) * (labels + 1) + triples[:, 2] + 1
    return keys
