"""A trained semi-Markov model: what is stored, and the segmentations of new sentences from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import offsets_of, taken
from dovetail.features.algebra.span_sets import SpanFeatures
from dovetail.features.algebra.templates import Template
from dovetail.features.compile.columns import columns_for
from dovetail.features.compile.design import Compiler
from dovetail.features.compile.span_design import SpanCompiler
from dovetail.features.resources.templates import unpacked
from dovetail.learning.tuning import calibration
from dovetail.models.linear import Arrays, LinearModel, LinearTraining, numbers_in, taken_over
from dovetail.scorers.segments import PHRASE, TRANSITION, SegmentForm
from dovetail.structures.semimarkov import Segments, SemiMarkovBatch
from dovetail.text.sentence import Sentence, Span

OUTSIDE = "O"
PARTS = ("start", "end", "inside", "phrase")
COVERED = 0.999  # of the training segments are no longer than the bound

Floats = NDArray[np.float64]
Spans = Sequence[Sequence[Span]]


@dataclass(frozen=True)
class SegmentModel(LinearModel):
    """Everything that segmenting needs. ``lengths`` [labels]: the most tokens of a segment of each label."""

    kind: ClassVar[str] = "semi-markov"

    labels: tuple[str, ...]
    lengths: NDArray[np.int32]
    order: int
    outside: float = 0.0
    """Added to the score of every O segment when the best segmentation is sought, and only then."""

    @cached_property
    def form(self) -> SegmentForm:
        """Segments up to their lengths."""
        return SegmentForm(self.lengths, self.order)

    def templates(self) -> dict[str, Sequence[Template]]:
        """The templates of each part."""
        return {part: self.features.parts[part] for part in PARTS if part in self.features.parts}

    def compilers(self, sentences: Sequence[Sentence]) -> Mapping[str, Compiler]:
        """Of tokens, and of phrases."""
        text = columns_for(sentences, cast(Any, self.features))
        tokens, spans = Compiler(text, sentences), SpanCompiler.over(text, self.form.longest)
        return {part: spans if part == PHRASE else tokens for part in self.features.parts}

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

    def probabilities(self, batch: SemiMarkovBatch, segments: Segments) -> Floats:
        """The exact probability of each segment: a marginal of the model, by construction."""
        marginal = batch.marginals().segment
        return np.minimum(marginal[segments.start, segments.length - 1, segments.label], 1.0)

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

    def kbest(self, batch: SemiMarkovBatch, k: int) -> tuple[Sequence[Segments], Floats]:
        """The k best segmentations, and their probabilities [sentences, k]; 0 where there are fewer."""
        found, scores = batch.kbest(k)
        return found, np.exp(scores - batch.log_partition()[:, None])

    def sample(self, batch: SemiMarkovBatch, n: int, rng: np.random.Generator) -> Sequence[Segments]:
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
        return self.scaled(calibration(batch, gold))

    def _can_say(self, spans: Sequence[Span]) -> bool:
        lengths = dict(zip(self.labels, self.lengths.tolist(), strict=True))
        return all(span.end - span.start <= lengths.get(span.label, 0) for span in spans)

    def with_outside(self, bias: float) -> SegmentModel:
        """With another bias of O."""
        return replace(self, outside=bias)

    def arrays(self, half: bool = False, compact: bool = False) -> Arrays:
        """As named arrays for a model file."""
        return super().arrays(half, compact) | {"lengths": self.lengths}

    def header(self) -> dict[str, Any]:
        """What is no array, for the header of a model file."""
        return super().header() | {
            "labels": list(self.labels), "order": self.order, "outside": self.outside, "parts": list(self.parts),
        }  # fmt: skip

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: Arrays, functions: Sequence[Any] = ()) -> SegmentModel:
        """From the header and arrays of a model file, whose parts must fit together: kernels do not check bounds."""
        labels, lengths = tuple(map(str, header["labels"])), arrays["lengths"].astype(np.int32)
        order, size = int(header["order"]), len(labels)
        shape = (size, size) if order else (0, 0)
        if len(lengths) != size or lengths.min() < 1 or arrays[TRANSITION].shape != shape:
            raise ValueError("the tables of labels do not fit together")
        resources = unpacked(header.get("resources", {}), arrays)
        name, lines = header["features"]["name"], header["features"]["templates"]
        features = SpanFeatures.from_lines(name, lines, functions, resources)
        if set(header["parts"]) != set(features.parts):
            raise ValueError("the features do not fit the weights")
        tables = {TRANSITION: arrays[TRANSITION]}
        made = cls(features, {}, tables, labels, lengths, order, float(header.get("outside", 0.0)))
        return replace(made, parts=cls.stored_parts(header, arrays, header["parts"], made.form))


@dataclass
class SegmentTraining(LinearTraining[SegmentModel]):
    """A corpus of segments made ready."""

    def outputs_in(self, part: str, init: SegmentModel) -> NDArray[np.int64]:
        """The number of each label in another model; of a single one, that of short and of long segments."""
        if self.scorer.form.outputs(part) == init.form.outputs(part) == 2 and len(self.model.labels) == 1:
            return np.arange(2)
        return numbers_in(self.model.labels, init.labels)

    def shared_in(self, init: SegmentModel) -> Floats:
        """The pairs of labels."""
        labels = numbers_in(self.model.labels, init.labels)
        if not (self.model.order and init.order):
            return np.zeros(self.scorer.form.shared)
        return taken_over(init.tables[TRANSITION], labels, labels).ravel()

    def answers(self, sentences: Sequence[Sentence]) -> Any:
        """A function from weights and a bias of O to the best segments of other sentences, compiled once."""
        reader = self.reader(sentences)
        return lambda weight, bias: self.model.best_with(reader.batch(weight), bias)

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

    def gold(which: NDArray[np.int64] | None) -> tuple[Segments, None]:
        if which is None:
            return whole, None
        tokens, begin = taken(offsets, which)
        return Segments.of_tokens(length[tokens], label[tokens], begin), None

    return SegmentTraining.prepare(model, form, compiled, offsets, gold, observed={}, trimmed=trimmed, **how)


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


def too_long(spans: Spans, longest: int) -> NDArray[np.bool_]:
    """Which sentences have a segment beyond the bound. Shape [sentences]."""
    return np.array([any(s.end - s.start > longest for s in each) for each in spans], dtype=np.bool_)


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
