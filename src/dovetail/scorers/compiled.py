"""The features of a training corpus in one part of a model, compiled once: to a scorer, to a stored model and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import pointers, taken
from dovetail.features.algebra.templates import Template
from dovetail.features.compile.design import Compiler, Design, assemble, drop_unknown
from dovetail.features.compile.documents import documents_with
from dovetail.features.compile.hashing import Keys
from dovetail.features.compile.index import Collector, FeatureIndex
from dovetail.features.compile.merge import Merged, merge
from dovetail.scorers.linear import Inverse, LinearScorer
from dovetail.scorers.listed import FeatureLists
from dovetail.scorers.weights import Weights

Floats = NDArray[np.float64]

ROUNDS_TO_ZERO = 1e-3  # what changes the odds by less than a thousandth: half of all weights, and no answer


@dataclass(frozen=True)
class Spread:
    """How widely a feature must be spread: over ``least`` documents. ``document`` [tokens]: where each token is."""

    document: NDArray[np.int64]
    least: int

    def wanted(self, design: Design) -> NDArray[np.bool_]:
        """Which features of a design are: [features]."""
        lists = FeatureLists.of(design)
        found: NDArray[np.bool_] = documents_with(*lists, self.document, design.features) >= self.least
        return found


Apart = Callable[[Compiler, Sequence[Template], Collector], NDArray[np.uint64]]
"""A number for each feature [features]; features with different numbers are not merged. From what compiles templates,
these, and the features."""


class PartSettings(NamedTuple):
    """How features become parameters: see the settings of ``Tagger`` of the same names."""

    min_count: int
    bits: int | None
    twins: bool = True
    threads: int = 1
    spread: Spread | None = None
    apart: Apart | None = None


@dataclass
class CompiledPart:
    """Node or edge features of the training corpus: templates, keys, merged design, scorer.

    ``apart`` [columns]: the number that the features of each column share, where they are numbered: the experts of a
    pool that have it, a bit each, or its template.
    """

    templates: list[Template]
    collector: Collector
    merged: Merged
    scorer: LinearScorer
    apart: NDArray[np.uint64] | None = None

    @classmethod
    def compile(
        cls, compiler: Compiler, templates: list[Template], outputs: NDArray[np.int32] | None, size: int,
        settings: PartSettings,
    ) -> CompiledPart:  # fmt: skip
        """Compile templates and lay out parameters: for the outputs [tokens] that occur, or if None for all."""
        collector = Collector(settings.bits)
        design = assemble(compiler, templates, collector)
        wanted = None if settings.spread is None else settings.spread.wanted(design)
        own = None if settings.apart is None else settings.apart(compiler, templates, collector)
        merged = merge(design, settings.min_count, settings.twins, wanted, own)
        apart = None if own is None else of_columns(own, merged)
        scorer = LinearScorer.observed(merged, outputs, size, settings.threads)
        return cls(templates, collector, merged, scorer, apart)

    def numbers(self) -> NDArray[np.uint64]:
        """The number of the feature of each parameter, where features are numbered: [parameters]."""
        assert self.apart is not None
        return np.repeat(self.apart, np.diff(self.scorer.layout.ptr))

    @property
    def keys(self) -> Keys:
        """The keys of all features."""
        return self.collector.keys

    def reader(self, compiler: Compiler, learns: bool = False) -> LinearScorer:
        """A scorer of other sentences by the weights of this corpus: each twin of a merged column has its share.

        ``learns``: whether it is asked for gradients, too.
        """
        scorer, design = self.scorer, self._lookup(compiler)
        inverse = Inverse.of(design) if learns else None
        return LinearScorer(design, scorer.layout, inverse, scorer.scale, scorer.threads, spelled=True)

    def _lookup(self, compiler: Compiler) -> Design:
        """The design of other sentences over the columns of this corpus."""
        keys = self.collector.keys
        order = np.argsort(keys)
        design = assemble(compiler, self.templates, FeatureIndex(keys[order], self.collector.bits))
        column = np.append(self.merged.column[order], np.int32(-1))  # the last entry serves index -1
        rows, direct = column[design.row_feature], column[design.feature_index]
        size = len(self.merged.multiplicity)
        return drop_unknown(replace(design, row_feature=rows, feature_index=direct, features=size))

    def export(self, weight: Floats) -> Weights:
        """The weights of all features, twins spelled out, tiny ones left out, sorted by key."""
        layout = self.scorer.layout
        single = weight / self.scorer.scale
        keys = self.collector.keys
        kept = np.flatnonzero(self.merged.column >= 0)
        kept = kept[np.unique(keys[kept], return_index=True)[1]]  # once each: key 0, no feature, may repeat
        where, begin = taken(layout.ptr, self.merged.column[kept])
        stored = self.matters(weight)[where]
        count = np.diff(pointers(stored)[begin])
        some, where = count > 0, where[stored]
        return Weights.of(
            keys[kept][some], count[some], layout.label[where], single[where], layout.outputs, self.collector.bits
        )

    def matters(self, weight: Floats) -> NDArray[np.bool_]:
        """Which weights [parameters] are not tiny, and so stored.

        A real-valued feature counts by its value, and twins, which fire together, by the weight of their column.
        """
        found: NDArray[np.bool_] = np.abs(weight) * self.scorer.largest_value() >= ROUNDS_TO_ZERO
        return found

    def start(self) -> Floats:
        """Where training starts, [parameters]."""
        return np.zeros(self.scorer.parameters)

    def initial(self, weights: Weights, output_map: NDArray[np.int64]) -> Floats:
        """Start values from another model's weights: the mean over the features of a merged column, times sqrt(m).

        ``output_map`` [outputs] gives the other model's number of each output, -1 for none.
        """
        layout, merged, old = self.scorer.layout, self.merged, weights.layout
        number = weights.index.number(self.collector.keys)
        feature = np.flatnonzero((number >= 0) & (merged.column >= 0))
        place, begin = taken(layout.ptr, merged.column[feature])
        output = output_map[layout.label[place]]
        # The old parameters are sorted by (feature, output), so a pair can be searched for.
        sorted_pairs = np.repeat(np.arange(old.size), np.diff(old.ptr)) * old.outputs + old.label
        wanted = np.repeat(number[feature].astype(np.int64), np.diff(begin)) * old.outputs + output
        found = np.minimum(np.searchsorted(sorted_pairs, wanted), max(len(sorted_pairs) - 1, 0))
        match = (output >= 0) & (sorted_pairs[found] == wanted) if len(sorted_pairs) else np.zeros(len(place), bool)
        total = np.bincount(place[match], weights.weight[found[match]], minlength=layout.parameters)
        return total / self.scorer.scale


def of_columns(values: NDArray[np.uint64], merged: Merged) -> NDArray[np.uint64]:
    """What all features of a column have in common, [columns], from what each feature has, [features]."""
    found = np.zeros(len(merged.multiplicity), np.uint64)
    kept = merged.column >= 0
    found[merged.column[kept]] = values[kept]
    return found
