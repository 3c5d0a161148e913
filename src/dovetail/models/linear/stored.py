"""Features of a corpus that is larger than the memory: compiled stretch by stretch, and kept on disk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dovetail.features.algebra.templates import Template
from dovetail.features.compile.design import Compiler, Design, assemble
from dovetail.features.compile.index import Collector
from dovetail.features.compile.links import Links
from dovetail.features.compile.merge import Merged
from dovetail.features.compile.tally import Columns, Tally
from dovetail.scorers.compiled import CompiledPart, PartSettings
from dovetail.scorers.linear import Layout, LinearScorer, Stretch
from dovetail.scorers.parts import Form
from dovetail.scorers.stored import Folder, StoredScorer, design_arrays, design_from, owner, scorer_arrays
from dovetail.structures.contract import Integers
from dovetail.text.sentence import Sentence

TOKENS = 100_000
"""So many words at least are in one stretch."""
Compilers = Callable[[Sequence[Sentence]], Mapping[str, Compiler]]


def stretches_of(offsets: Integers, documents: Sequence[int | None], tokens: int = TOKENS) -> list[Stretch]:
    """Ranges of sentences of at least about so many tokens each, cut where no document is.

    >>> stretches_of(np.array([0, 3, 5, 9, 12]), [0, 0, 1, None], tokens=3)
    [(0, 2), (2, 3), (3, 4)]
    """
    edges, last = [0], len(offsets) - 1
    for i in range(1, last):
        whole = documents[i] is None or documents[i] != documents[i - 1]
        if whole and offsets[i] - offsets[edges[-1]] >= tokens:
            edges.append(i)
    return list(pairwise([*edges, last])) if last else []


def stored_parts(
    sentences: Sequence[Sentence], stretches: Sequence[Stretch], compilers: Compilers,
    templates: Mapping[str, Sequence[Template]], form: Form, settings: PartSettings, folder: Folder,
    doing: Callable[[str], None],
) -> dict[str, CompiledPart]:  # fmt: skip
    """The features of each part of a model; those of every stretch are kept in a folder, for ``StoredScorer``."""
    tallies = {part: Tally.empty() for part in templates}
    for number, (first, last) in enumerate(stretches):
        doing(f"features of stretch {number + 1} of {len(stretches)}")
        compiled = compilers(sentences[first:last])
        for part, some in templates.items():
            collector = Collector(settings.bits)
            design = assemble(compiled[part], list(some), collector)
            tallies[part].add(design, collector.keys)
            folder.write(f"raw.{owner(number, part)}", design_arrays(design) | {"keys": collector.keys})
        del compiled
    return {
        part: _merged(part, list(some), tallies.pop(part), len(stretches), form.outputs(part), settings, folder)
        for part, some in templates.items()
    }


def _merged(
    part: str, templates: list[Template], tally: Tally, stretches: int, outputs: int, settings: PartSettings,
    folder: Folder,
) -> CompiledPart:  # fmt: skip
    """A part with its merged features, which those of all stretches are made of."""
    columns = tally.merged(settings.min_count, settings.twins)
    for number in range(stretches):
        raw = folder.read(f"raw.{owner(number, part)}")
        design, own = columns.of(design_from(raw), raw["keys"])
        share = (own[:, None] * np.int64(outputs) + np.arange(outputs)).ravel()
        scale = np.repeat(np.sqrt(columns.multiplicity[own]), outputs)
        arrays = scorer_arrays(design, Layout.full(len(own), outputs), scale, share)
        folder.write(owner(number, part), arrays)
        folder.remove(f"raw.{owner(number, part)}")
    return _part(templates, columns, outputs, settings)


def _part(templates: list[Template], columns: Columns, outputs: int, settings: PartSettings) -> CompiledPart:
    """What a model is made of, with a design of no text but one row for every column and its largest value."""
    size = len(columns.multiplicity)
    collector = Collector(settings.bits)
    collector._keys, collector.size = [columns.key], len(columns.key)
    nothing = np.empty(0, np.int64)
    links = Links(np.empty((0, 0), np.int32), nothing, nothing, nothing, nothing)
    rows = np.arange(size + 1), np.arange(size, dtype=np.int32), columns.largest
    design = Design(np.zeros(1, np.int64), links, *rows, np.empty((0, 0), np.int32), size)
    merged = Merged(design, columns.column, columns.multiplicity)
    scale = np.repeat(np.sqrt(columns.multiplicity), outputs)
    scorer = StandIn(design, Layout.full(size, outputs), None, scale, settings.threads)
    return CompiledPart(templates, collector, merged, scorer)


class StandIn(LinearScorer):
    """In the place of the scorer of a corpus that is not in memory: it knows its parameters and their values."""

    def largest_value(self) -> Any:
        """The largest value, in size, of each parameter's feature, [parameters]."""
        assert self.design.row_value is not None
        return np.repeat(self.design.row_value, self.layout.outputs)


def stored_scorer(
    form: Form, offsets: Integers, parts: Mapping[str, CompiledPart], stretches: Sequence[Stretch], folder: Folder,
    threads: int,
) -> StoredScorer:  # fmt: skip
    """The scorer of a corpus whose features are kept in a folder."""
    linear = {part: made.scorer for part, made in parts.items()}
    return StoredScorer(form, offsets, linear, threads, folder=folder, pieces=stretches)
