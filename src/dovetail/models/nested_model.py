"""A trained model of nested segments: what is stored, and potentials for new sentences from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dovetail.features.derived import columns_for
from dovetail.features.design import Compiler
from dovetail.features.ends import EndsCompiler
from dovetail.features.nested_sets import NestedFeatures
from dovetail.features.resources import packed, unpacked
from dovetail.models.chain_model import Weights
from dovetail.models.nested_gold import crossing
from dovetail.models.nested_objective import nested_potentials, outputs_of, table_shapes
from dovetail.structures.nested import NestedBatch
from dovetail.text.sentence import Sentence, Span


def token_offsets(sentences: Sequence[Sentence]) -> NDArray[np.int64]:
    """Where the sentences begin among the tokens, [n + 1]."""
    offsets = np.zeros(len(sentences) + 1, dtype=np.int64)
    np.cumsum([len(s) for s in sentences], out=offsets[1:])
    return offsets


def compilers(sentences: Sequence[Sentence], features: NestedFeatures, phrases: int) -> dict[str, Compiler]:
    """What compiles each part of the features of some sentences."""
    text = columns_for(sentences, cast(Any, features))
    tokens, spans = Compiler(text, sentences), EndsCompiler.over(text, phrases)
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

    def scaled(self, factor: float) -> NestedModel:
        """The model with all weights times a factor: the same ranking, with other probabilities."""
        parts = {part: weights.scaled(factor) for part, weights in self.parts.items()}
        return replace(self, parts=parts, tables={name: t * np.float32(factor) for name, t in self.tables.items()})

    def batch(self, sentences: Sequence[Sentence], threads: int) -> NestedBatch:
        """All nested segmentations of new sentences, with their potentials."""
        compiled = compilers(sentences, self.features, self.phrases)
        scores = {
            part: self.parts[part].score(compiled[part], self.features.parts[part], threads) for part in self.parts
        }
        tables = {name: table.astype(np.float64) for name, table in self.tables.items()}
        offsets = token_offsets(sentences)
        potentials = nested_potentials(scores, tables, int(offsets[-1]), len(self.labels))
        return NestedBatch(potentials, offsets, self.longest, threads)

    def answer(self, batch: NestedBatch) -> list[list[Span]]:
        """The entities to answer with, each before those within it, with their probabilities."""
        return [consistent(spans, self.flat) for spans in self.probable(batch)]

    def probable(self, batch: NestedBatch, least: float | None = None) -> list[list[Span]]:
        """All entities of at least this probability, by default those that may be answered."""
        return spans_of(batch, self.labels, self.threshold if least is None else least)

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
        if set(header["parts"]) != set(features.parts) or min(phrases, longest) < 1:
            raise ValueError("the features do not fit the weights")
        bits = header["hash_bits"]
        parts = {
            part: Weights.from_arrays(arrays, part, outputs_of(part, len(labels)), bits) for part in header["parts"]
        }
        return cls(features, labels, phrases, longest, parts, tables, float(header["threshold"]), bool(header["flat"]))


def spans_of(batch: NestedBatch, labels: Sequence[str], least: float) -> list[list[Span]]:
    """All segments of at least this probability as spans, each before those within it."""
    found, probability = batch.probable(least)
    names = [labels[label] for label in found.label.tolist()]
    flat = list(map(Span, found.start.tolist(), found.end.tolist(), names, probability.tolist()))
    return [flat[a:b] for a, b in pairwise(found.offsets.tolist())]


def consistent(spans: Sequence[Span], flat: bool = False) -> list[Span]:
    """The spans that one tree can hold, the more probable ones first; of the same words a second label only if sure.

    Spans that are more probable than one half always fit into one tree; these are all kept. Where ``flat``, none may
    lie in another.

    >>> consistent([Span(0, 2, "A", 0.4), Span(1, 3, "B", 0.45), Span(1, 2, "A", 0.9)])
    [Span(start=1, end=3, label='B', probability=0.45), Span(start=1, end=2, label='A', probability=0.9)]
    """
    kept: list[Span] = []
    for span in sorted(spans, key=lambda s: -(s.probability or 0.0)):
        if (span.probability or 0.0) > 0.5 or not any(_excludes(span, other, flat) for other in kept):
            kept.append(span)
    return sorted(kept, key=lambda s: (s.start, -s.end))


def _excludes(a: Span, b: Span, flat: bool) -> bool:
    if flat:
        return a.start < b.end and b.start < a.end
    return crossing(a, b) or (a.start, a.end) == (b.start, b.end)
