"""A trained model of nested segments: what is stored, and the nested segmentations of new sentences from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import offsets_of, taken
from dovetail.features.algebra.nested_sets import NestedFeatures
from dovetail.features.compile.design import Compiler
from dovetail.modelfile import Arrays
from dovetail.models.answer import probable
from dovetail.models.linear.model import LinearModel, numbers_in, span_compilers, taken_over
from dovetail.models.linear.training import LinearTraining
from dovetail.models.nested.agreement import LEAST, agreed
from dovetail.models.nested.gold import crossing, has_nested
from dovetail.scorers.nested import JOINT, PHRASE, TAG, WORD, NestedForm, TaggedBatch, TaggedSegments, contexts
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.nested import NestedBatch, NestedSegments
from dovetail.text.sentence import Sentence, Span


@dataclass(frozen=True)
class NestedModel(LinearModel):
    """Everything that finding nested segments needs."""

    feature_kind: ClassVar = NestedFeatures
    table_prefix: ClassVar[str] = "table."

    labels: tuple[str, ...]
    phrases: int
    """The most tokens of a segment that is looked at as a phrase."""
    longest: int
    """The most tokens of a segment."""
    threshold: float = 0.4
    """A segment is answered if its probability is at least this."""
    flat: bool = False
    """Whether no segment lies in another."""
    tags: tuple[str, ...] = ()
    """Parts of speech, where they are found too."""
    factor: float = 1.0
    """What all potentials are multiplied by: the best tree stays the best, with other probabilities."""

    @cached_property
    def form(self) -> NestedForm:
        """Segments within segments."""
        return NestedForm(len(self.labels), self.phrases, self.longest, self.flat, len(self.tags))

    def consistent(self, batch: Any, columns: Any) -> Any:
        """As they are: segments agree by their probabilities, see ``models.nested.agreement``."""
        return batch

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each label."""
        return {label: i for i, label in enumerate(self.labels)}

    def compilers(self, sentences: Sequence[Sentence]) -> Mapping[str, Compiler]:
        """Of tokens, and of phrases."""
        return span_compilers(self.features, sentences, self.phrases, PHRASE)

    def knows(self, answer: Sequence[Span]) -> bool:
        """Whether all entities are of known labels."""
        return all(span.label in self.numbers for span in answer)

    def numbered(self, sentences: Sequence[Sentence], answers: Sequence[Sequence[Span]]) -> NestedSegments:
        """Trees of spans with their labels as numbers."""
        return NestedSegments.of([[(s.start, s.end, self.numbers[s.label]) for s in tree] for tree in answers])

    def structures(self, sentences: Sequence[Sentence], threads: int) -> NestedBatch:
        """All nested segmentations of new sentences, the tags of words summed out."""
        return self.read(sentences, threads)[0]

    def read(self, sentences: Sequence[Sentence], threads: int) -> tuple[NestedBatch, TaggedBatch | None]:
        """All nested segmentations, and the same with tags where there are any."""
        found = self.batch(sentences, threads)
        whole = found if isinstance(found, TaggedBatch) else None
        batch = found if whole is None else whole.segments
        return (batch if self.factor == 1.0 else batch.scaled(self.factor)), whole

    def best_tags(self, batch: TaggedBatch, spans: Sequence[Sequence[Span]]) -> list[tuple[str, ...]]:
        """The tags of every sentence whose entities are these."""
        offsets = batch.segments.offsets
        best = batch.tags_in(contexts(self.numbered((), spans), offsets))
        names = [self.tags[k] for k in best.tolist()]
        return [tuple(names[a:b]) for a, b in pairwise(offsets.tolist())]

    def answer(self, batch: NestedBatch, sentences: Sequence[Sentence]) -> list[list[Span]]:
        """The entities to answer with, each before those within it, with their probabilities."""
        return [consistent(spans, self.flat) for spans in self.probable(batch, sentences, self.threshold)]

    def probable(self, batch: NestedBatch, sentences: Sequence[Sentence], least: float) -> list[list[Span]]:
        """All entities of at least this probability."""
        if not self.agreement:
            return spans_of(batch, self.labels, least)
        found = agreed(sentences, spans_of(batch, self.labels, min(least, LEAST)), self.agreement)
        return [probable(spans, least) for spans in found]

    def outputs_in(self, part: str, other: NestedModel) -> Integers:
        """The number of each output in another model: of labels in no other segment and in others, and of tags."""
        labels, tags = numbers_in(self.labels, other.labels), numbers_in(self.tags, other.tags)
        if part == WORD:
            return np.zeros(1, np.int64)
        if part == TAG:
            return tags
        if part == JOINT:
            context = np.append(0, np.where(labels < 0, -1, labels + 1))
            both = context[:, None] * len(other.tags) + tags
            return np.where((context[:, None] < 0) | (tags < 0), -1, both).ravel()
        return np.concatenate([labels, np.where(labels < 0, -1, labels + len(other.labels))])

    def tables_in(self, other: NestedModel) -> dict[str, Any]:
        """The tables of labels and of what stands beside them, zero where the other model lacks a label."""
        labels = numbers_in(self.labels, other.labels)
        element = np.append(0, np.where(labels < 0, -1, labels + 1))
        axes = {"nest": (element, labels), "sibling": (element,) * 3}
        return {name: taken_over(other.tables[name], *axes.get(name, (element, element))) for name in self.form.shapes}

    def kept_apart(self) -> dict[str, Any]:
        """The labels of segments, the tags of words, and how long phrases are."""
        return {"labels": sorted(self.labels), "tags": sorted(self.tags), "longest phrase": self.phrases}

    def pooled(self, others: Sequence[NestedModel], mixing: Sequence[float]) -> NestedModel:
        """The product, of the segments that all of them allow, with the mean of their thresholds."""
        every = [self, *others]
        found = super().pooled(others, [share * m.factor for share, m in zip(mixing, every, strict=True)])
        threshold, longest = float(np.mean([m.threshold for m in every])), min(m.longest for m in every)
        return replace(found, threshold=threshold, longest=longest, flat=any(m.flat for m in every), factor=1.0)

    def header(self) -> dict[str, Any]:
        """What is no array, for the header of a model file."""
        plain = ("phrases", "longest", "threshold", "flat", "factor")
        lists = {"labels": list(self.labels), "tags": list(self.tags), "parts": list(self.parts)}
        return super().header() | {name: getattr(self, name) for name in plain} | lists

    @classmethod
    def _stored(cls, header: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        labels, tags = tuple(map(str, header["labels"])), tuple(map(str, header["tags"]))
        shapes = NestedForm(len(labels), 0, 1).shapes
        tables = {name: arrays[f"{cls.table_prefix}{name}"] for name in shapes}
        if any(tables[name].shape != shape for name, shape in shapes.items()):
            raise ValueError("the tables of labels do not fit together")
        kinds = {"phrases": int, "longest": int, "threshold": float, "flat": bool, "factor": float}
        plain = {name: kind(header[name]) for name, kind in kinds.items()}
        return {"tables": tables, "labels": labels, "tags": tags, **plain}

    def _stored_parts(self, header: dict[str, Any], arrays: Arrays) -> Sequence[str]:
        if self.longest < 1 or self.phrases < (PHRASE in self.features.parts):
            raise ValueError("the features do not fit the weights")
        names = super()._stored_parts(header, arrays)
        if bool(self.tags) != (TAG in names):
            raise ValueError("the tags do not fit the features")
        return names


@dataclass
class NestedTraining(LinearTraining[NestedModel]):
    """A corpus of nested segments made ready."""

    def shared_in(self, init: NestedModel) -> Floats:
        """The tables of labels and of what stands beside them."""
        whole = np.concatenate([table.ravel() for table in self.model.tables_in(init).values()])
        return np.where(np.isfinite(whole), whole, 0.0)  # a flat model forbids what lies in segments

    def dev_scorer(self, sentences: Sequence[Sentence]) -> Callable[[Floats], NestedBatch]:
        """A function from weights to the segmentations of other sentences, the tags of words summed out."""
        reader = self.reader(sentences)
        return lambda weight: reader.batch(weight).segments if self.model.tags else reader.batch(weight)

    def fingerprint(self) -> list[NDArray[Any]]:
        """What a checkpoint belongs to."""
        gold = self.objective.gold(None)[0]
        return [*super().fingerprint(), *(gold.segments if isinstance(gold, TaggedSegments) else gold)]


def nested_training(
    model: NestedModel,
    sentences: Sequence[Sentence],
    trees: Sequence[Sequence[Span]],
    tags: Sequence[Sequence[str]] | None,
    **how: Any,
) -> NestedTraining:
    """Sentences with trees of entities made ready; ``tags`` are the parts of speech to learn as well."""
    offsets, segments = offsets_of(sentences), model.numbered(sentences, trees)
    names = tuple(sorted({tag for each in tags or () for tag in each}))
    bound = model.phrases if PHRASE in model.features.parts else 0
    model = replace(model, phrases=bound, flat=not any(map(has_nested, trees)), tags=names)
    observed: dict[str, Labels | None] = {}
    tag, context = np.empty(0, np.int32), contexts(segments, offsets)
    if tags is not None:  # many tags: weights for what occurs
        places = {name: k for k, name in enumerate(names)}
        tag = np.array([places[tag] for each in tags for tag in each], np.int32)
        observed = {TAG: tag, JOINT: tag + context * np.int32(len(names))}

    def gold(which: Integers | None) -> tuple[NestedSegments | TaggedSegments, None]:
        own = segments if which is None else some_segments(segments, which)
        if tags is None:
            return own, None
        tokens = slice(None) if which is None else taken(offsets, which)[0]
        return TaggedSegments(own, tag[tokens], context[tokens]), None

    compiled = model.compilers(sentences)
    return NestedTraining.prepare(
        model, model.form, compiled, offsets, gold, observed=observed, sentences=sentences, **how
    )


def some_segments(segments: NestedSegments, which: Integers) -> NestedSegments:
    """The segments of some sentences."""
    chosen, offsets = taken(segments.offsets, which)
    return NestedSegments(segments.start[chosen], segments.end[chosen], segments.label[chosen], offsets)


def spans_of(batch: NestedBatch, labels: Sequence[str], least: float) -> list[list[Span]]:
    """All segments of at least this probability as spans, each before those within it."""
    found, probability = batch.probable(least)
    names = [labels[label] for label in found.label.tolist()]
    flat = list(map(Span, found.start.tolist(), found.end.tolist(), names, probability.tolist()))
    return [flat[a:b] for a, b in pairwise(found.offsets.tolist())]


def consistent(spans: Sequence[Span], flat: bool = False) -> list[Span]:
    """The spans that one tree can hold, the more probable ones first; of the same words a second label only if sure.

    Where ``flat``, none may lie in another.

    >>> consistent([Span(0, 2, "A", 0.4), Span(1, 3, "B", 0.45), Span(1, 2, "A", 0.9)])
    [Span(start=1, end=3, label='B', probability=0.45), Span(start=1, end=2, label='A', probability=0.9)]
    """
    kept: list[Span] = []
    for span in sorted(spans, key=lambda s: -(s.probability or 0.0)):
        sure = (span.probability or 0.0) > 0.5
        if not any(_excludes(span, other, flat, sure) for other in kept):
            kept.append(span)
    return sorted(kept, key=lambda s: (s.start, -s.end))


def _excludes(a: Span, b: Span, flat: bool, sure: bool) -> bool:
    if flat:
        return a.start < b.end and b.start < a.end
    return crossing(a, b) or (not sure and (a.start, a.end) == (b.start, b.end))
