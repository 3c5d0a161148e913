"""A trained model of nested segments: what is stored, and potentials for new sentences from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.nested_sets import NestedFeatures
from dovetail.features.compile.columns import columns_for
from dovetail.features.compile.design import Compiler
from dovetail.features.compile.span_design import SpanCompiler
from dovetail.features.resources.templates import packed, unpacked
from dovetail.models.nested.agreement import LEAST, agreed
from dovetail.models.nested.gold import crossing
from dovetail.models.nested.objective import nested_potentials, outputs_of, table_shapes
from dovetail.models.nested.tags import innermost, tag_scores
from dovetail.models.tagger.model import Weights
from dovetail.structures.nested import NestedBatch, NestedPotentials
from dovetail.text.sentence import Sentence, Span

Floats = NDArray[np.float64]


def token_offsets(sentences: Sequence[Sentence]) -> NDArray[np.int64]:
    """Where the sentences begin among the tokens, [n + 1]."""
    offsets = np.zeros(len(sentences) + 1, dtype=np.int64)
    np.cumsum([len(s) for s in sentences], out=offsets[1:])
    return offsets


def compilers(sentences: Sequence[Sentence], features: NestedFeatures, phrases: int) -> dict[str, Compiler]:
    """What compiles each part of the features of some sentences."""
    text = columns_for(sentences, cast(Any, features))
    tokens, spans = Compiler(text, sentences), SpanCompiler.over(text, phrases)
    return {part: spans if part == "phrase" else tokens for part in features.parts}


@dataclass(frozen=True)
class NestedModel:
    """Everything that finding nested segments needs."""

    features: NestedFeatures
    labels: tuple[str, ...]
    phrases: int
    """The most tokens of a segment that is looked at as a phrase."""
    longest: int
    """The most tokens of a segment."""
    parts: Mapping[str, Weights]
    tables: Mapping[str, NDArray[np.float32]]
    threshold: float = 0.4
    """A segment is answered if its probability is at least this."""
    flat: bool = False
    """Whether no segment lies in another."""
    tags: tuple[str, ...] = ()
    """Parts of speech, where they are found too."""
    factor: float = 1.0
    """What all potentials are multiplied by: the best tree stays the best, with other probabilities."""
    agreement: float = 0.0
    """How strongly the places of the same words in one document agree: see ``models.nested_agreement``."""

    def batch(self, sentences: Sequence[Sentence], threads: int) -> NestedBatch:
        """All nested segmentations of new sentences, with their potentials."""
        return self.read(sentences, threads)[0]

    def read(self, sentences: Sequence[Sentence], threads: int) -> tuple[NestedBatch, Floats | None]:
        """All nested segmentations, and the scores of tags in every context [tokens, contexts, tags] if there are."""
        compiled = compilers(sentences, self.features, self.phrases)
        scores = {
            part: self.parts[part].score(compiled[part], self.features.parts[part], threads) for part in self.parts
        }
        tables = {name: table.astype(np.float64) for name, table in self.tables.items()}
        offsets = token_offsets(sentences)
        potentials = nested_potentials(scores, tables, int(offsets[-1]), len(self.labels))
        potentials = NestedPotentials(*(table * self.factor for table in potentials))
        tags = tag_scores(scores, len(self.labels) + 1) if self.tags else None
        return NestedBatch(potentials, offsets, self.longest, threads), tags

    def best_tags(self, scores: Floats, spans: Sequence[Sequence[Span]], offsets: NDArray[np.int64]) -> list[list[str]]:
        """The tags of every sentence whose entities are these, from the scores that ``read`` gave."""
        numbers = {label: i for i, label in enumerate(self.labels)}
        lengths = np.diff(offsets).tolist()
        contexts = [innermost(tree, n, numbers) for tree, n in zip(spans, lengths, strict=True)]
        best = scores[np.arange(len(scores)), np.concatenate(contexts)].argmax(axis=1)
        names = [self.tags[k] for k in best.tolist()]
        return [names[a:b] for a, b in pairwise(offsets.tolist())]

    def answer(self, batch: NestedBatch, sentences: Sequence[Sentence]) -> list[list[Span]]:
        """The entities to answer with, each before those within it, with their probabilities."""
        return [consistent(spans, self.flat) for spans in self.probable(batch, sentences, self.threshold)]

    def probable(self, batch: NestedBatch, sentences: Sequence[Sentence], least: float) -> list[list[Span]]:
        """All entities of at least this probability."""
        if not self.agreement:
            return spans_of(batch, self.labels, least)
        found = agreed(sentences, spans_of(batch, self.labels, min(least, LEAST)), self.agreement)
        return [[s for s in spans if (s.probability or 0.0) >= least] for spans in found]

    def arrays(self, half: bool) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        found: dict[str, NDArray[Any]] = {f"table.{name}": table for name, table in self.tables.items()}
        for part, weights in self.parts.items():
            found |= weights.arrays(part, half)
        return found | packed(self.features.resources)[1]

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return {
            "features": {"name": self.features.name, "templates": self.features.lines()},
            "labels": list(self.labels),
            "phrases": self.phrases,
            "longest": self.longest,
            "threshold": self.threshold,
            "flat": self.flat,
            "tags": list(self.tags),
            "factor": self.factor,
            "agreement": self.agreement,
            "parts": list(self.parts),
            "hash_bits": next(iter(self.parts.values())).index.bits,
            "resources": packed(self.features.resources)[0],
        }

    @classmethod
    def from_file(
        cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]], functions: Sequence[Any]
    ) -> NestedModel:
        """From the header and arrays of a model file, whose parts must fit together: kernels do not check bounds."""
        labels = tuple(map(str, header["labels"]))
        tables = {name: arrays[f"table.{name}"] for name in table_shapes(len(labels))}
        if any(tables[name].shape != shape for name, shape in table_shapes(len(labels)).items()):
            raise ValueError("the tables of labels do not fit together")
        resources = unpacked(header.get("resources", {}), arrays)
        name, lines = header["features"]["name"], header["features"]["templates"]
        features = NestedFeatures.from_lines(name, lines, functions, resources)
        phrases, longest = int(header["phrases"]), int(header["longest"])
        if set(header["parts"]) != set(features.parts) or longest < 1 or phrases < ("phrase" in features.parts):
            raise ValueError("the features do not fit the weights")
        bits, tags = header["hash_bits"], tuple(map(str, header["tags"]))
        if bool(tags) != ("tag" in header["parts"]):
            raise ValueError("the tags do not fit the features")
        parts = {
            part: Weights.from_arrays(arrays, part, outputs_of(part, len(labels), len(tags)), bits)
            for part in header["parts"]
        }
        factor, agreement = float(header["factor"]), float(header["agreement"])
        rest = (float(header["threshold"]), bool(header["flat"]), tags, factor, agreement)
        return cls(features, labels, phrases, longest, parts, tables, *rest)


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
