"""Potentials from features by weights: ``score[t, y] = sum over features f of token t of value * weight[f, y]``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import frozen, pointers
from dovetail.features.compile.design import Design
from dovetail.features.compile.hashing import Keys
from dovetail.features.compile.index import narrow
from dovetail.features.compile.merge import Merged
from dovetail.scorers import linear_kernels as kernels
from dovetail.scorers.linear_kernels import Lists, Rows, Some
from dovetail.sparse import SparseGradient
from dovetail.stored import Column, check
from dovetail.threads import block_ranges, ranges_of, run_ranges

Floats = NDArray[np.float64]
Stretch = tuple[int, int]
"""Tokens that follow each other: from the first to the last, which is not one of them."""


DISTINCT = {"keys": Column(axes=("features",), types=("u8",), order="<")}
WEIGHT = {"weight": Column(axes=("parameters",), types=("f",))}


class _Layout(NamedTuple):
    ptr: NDArray[np.integer]
    label: NDArray[np.integer]
    outputs: int


class Layout(_Layout):
    """The parameters of sparse features: feature f has a weight for each output in ``label[ptr[f]:ptr[f + 1]]``.

    ``ptr`` [features + 1] are offsets into ``label`` [parameters], whose numbers are below ``outputs``; other arrays
    raise ``UnsoundError``.
    """

    __slots__ = ()
    COLUMNS: ClassVar = {
        "ptr": Column(axes=("features",), into="parameters"),
        "label": Column(axes=("parameters",), least=0, below="outputs"),
    }

    def __new__(cls, ptr: NDArray[np.integer], label: NDArray[np.integer], outputs: int) -> Layout:
        """Check the arrays."""
        check("features", cls.COLUMNS, {"ptr": ptr, "label": label}, outputs=outputs)
        return super().__new__(cls, ptr, label, outputs)

    @classmethod
    def counted(cls, count: NDArray[np.integer], label: NDArray[np.integer], outputs: int) -> Layout:
        """Make a layout from the number of outputs of each feature [features] and these outputs [parameters]."""
        check("features", {"count": Column(axes=("features",), least=0, below=outputs + 1)}, {"count": count})
        made = cls(pointers(count), label, outputs)
        return made._replace(ptr=frozen(made.ptr), label=frozen(label.astype(output_type(outputs), copy=False)))

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return int(self.ptr[-1])

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.ptr) - 1

    @classmethod
    def full(cls, features: int, outputs: int) -> Layout:
        """A parameter for every feature and output."""
        ptr = np.arange(features + 1, dtype=np.int64) * outputs
        return cls(narrow(ptr), np.tile(np.arange(outputs, dtype=output_type(outputs)), features), outputs)


def check_features(keys: Keys, layout: Layout, weight: NDArray[np.floating] | None = None) -> None:
    """Raise ``UnsoundError`` unless keys [features] rise strictly and ``weight`` [parameters] fits the layout."""
    sizes = {"features": layout.size, "parameters": layout.parameters}
    check("features", DISTINCT, {"keys": keys}, **sizes)
    if weight is not None:
        check("features", WEIGHT, {"weight": weight}, **sizes)


def output_type(outputs: int) -> type[np.uint16] | type[np.uint32]:
    """The smallest type that numbers so many outputs; pairs of labels are many."""
    return np.uint16 if outputs <= 1 << 16 else np.uint32


def inverted(index: NDArray[np.int32], size: int) -> Lists:
    """For every target the positions in ``index`` [n, slots] that point to it."""
    ptr = np.zeros(size + 1, dtype=np.int64)
    items = np.empty(int((index >= 0).sum()), dtype=np.int32)
    kernels.invert(index, size, ptr, items)
    return Lists(narrow(ptr), items)


@dataclass(frozen=True)
class Inverse:
    """A design seen from its rows and features, as the gradient needs it.

    ``row_tokens`` [rows + 1]: at how many tokens the rows before each one are, all told.
    """

    row_tokens: NDArray[np.integer]
    feature_rows: Lists
    feature_value: Floats
    feature_tokens: Lists

    @classmethod
    def of(cls, design: Design) -> Inverse:
        """Invert all links of a design."""
        entry_row = np.repeat(np.arange(len(design.row_ptr) - 1, dtype=np.int32), np.diff(design.row_ptr))
        feature_entries = inverted(design.row_feature[:, None], design.features)
        value = np.empty(0) if design.row_value is None else design.row_value[feature_entries.items]
        row_tokens = np.zeros(len(design.row_ptr), dtype=np.int64)
        kernels.count_tokens(design.links, design.offsets, row_tokens[1:])
        return cls(
            narrow(np.cumsum(row_tokens)),
            Lists(feature_entries.ptr, entry_row[feature_entries.items]),
            value,
            inverted(design.feature_index, design.features),
        )

    def observed(self, design: Design, outputs: NDArray[np.int32], size: int) -> Layout:
        """Parameters for the pairs (feature, output) that occur. outputs: [tokens], -1 for unknown."""
        seen = np.zeros((len(design.row_ptr) - 1, size), dtype=np.bool_)
        kernels.mark_outputs(design.links, design.offsets, outputs, seen)
        ptr = np.zeros(design.features + 1, dtype=np.int64)
        links = (self.feature_rows, self.feature_tokens, seen, outputs, ptr)
        kernels.observed(*links, np.empty(0, dtype=output_type(size)), False)
        label = np.empty(ptr[-1], dtype=output_type(size))
        kernels.observed(*links, label, True)
        return Layout(narrow(ptr), label, size)


def rows_of(design: Design) -> Rows:
    """The rows of a design as kernels read them."""
    return Rows(design.row_ptr, design.row_feature, np.empty(0) if design.row_value is None else design.row_value)


def table_of(
    design: Design, layout: Layout, weight: NDArray[np.floating], threads: int = 1, table: Floats | None = None
) -> Floats:
    """What the features of every row score, [rows, outputs]; ``table`` is space for it."""
    if table is None:
        table = np.empty((len(design.row_ptr) - 1, layout.outputs))
    rows = (rows_of(design), layout, weight, table)
    run_ranges(lambda lo, hi: kernels.row_scores(*rows, lo, hi), design.row_ptr, threads)
    return table


def score(
    design: Design, layout: Layout, weight: NDArray[np.floating], threads: int = 1, out: Floats | None = None,
    table: Floats | None = None, stretch: Stretch | None = None,
) -> Floats:  # fmt: skip
    """Potentials of every token, [tokens, outputs], or of those of a stretch; ``out`` has space for them.

    ``table``: that of the rows, if it is there already.
    """
    if table is None:
        table = table_of(design, layout, weight, threads)
    origin, behind = stretch or (0, design.tokens)
    result = np.empty((behind - origin, layout.outputs)) if out is None else out[: behind - origin]
    tokens = ((design.links, design.offsets, design.feature_index), table, layout, weight, result, origin)

    def score_tokens(lo: int, hi: int) -> None:
        lo, hi = lo + origin, hi + origin
        begin, end = np.searchsorted(design.offsets, lo, side="right") - 1, np.searchsorted(design.offsets, hi)
        kernels.token_scores(*tokens, lo, hi, int(begin), int(end))

    run_ranges(score_tokens, behind - origin, threads)
    return result


@dataclass
class LinearScorer:
    """A design and its parameters, ready for training: ``forward`` to potentials, ``backward`` to the gradient.

    ``scale`` [parameters]: the value of each parameter's feature, beyond what the design says (see features.merge).
    ``spelled``: the design has the features themselves, each of which has its share of the weight, 1 / scale; without
    an ``inverse`` there is no way back.
    """

    design: Design
    layout: Layout
    inverse: Inverse | None
    scale: Floats
    threads: int = 1
    spelled: bool = False
    _scaled: Floats | None = field(default=None, repr=False)
    _scores: Floats | None = field(default=None, repr=False)
    _rows: Floats | None = field(default=None, repr=False)

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return self.layout.parameters

    @classmethod
    def observed(cls, merged: Merged, outputs: NDArray[np.int32] | None, size: int, threads: int = 1) -> LinearScorer:
        """A scorer with the parameters seen in ``outputs`` [tokens] (-1 for unknown), or if None with all of them."""
        inverse, design = Inverse.of(merged.design), merged.design
        layout = Layout.full(design.features, size) if outputs is None else inverse.observed(design, outputs, size)
        scale = np.repeat(np.sqrt(merged.multiplicity), np.diff(layout.ptr))
        return cls(merged.design, layout, inverse, scale, threads)

    def within(self, kind: NDArray[np.int32], bounds: NDArray[np.int32]) -> LinearScorer:
        """Without the parameters that no token can use, where output y is for kinds of token below ``bounds[y]``.

        kind: [tokens], -1 for what is no token; bounds: [outputs]. Such a parameter has no gradient, and stays zero.
        """
        design, layout = self.design, self.layout
        kinds = self.links_back.observed(design, kind, int(kind.max(initial=0)) + 1)
        used = np.flatnonzero(np.diff(kinds.ptr))
        least = np.full(layout.size, np.iinfo(np.int32).max, dtype=np.int32)
        least[used] = kinds.label[kinds.ptr[used]]  # the kinds of a feature are in order
        kept = np.repeat(least, np.diff(layout.ptr)) < bounds[layout.label]
        before = np.concatenate([[0], np.cumsum(kept)])
        smaller = Layout(narrow(before[layout.ptr]), layout.label[kept], layout.outputs)
        return LinearScorer(design, smaller, self.inverse, self.scale[kept], self.threads)

    def forward(self, weight: Floats, stretch: Stretch | None = None) -> Floats:
        """Potentials [tokens, outputs] under ``weight`` [parameters]; the array is used again by the next call.

        Those of a ``stretch`` alone are under the weights that ``begin`` was given.
        """
        if stretch is None:
            self.begin(weight)
        origin, behind = stretch or (0, self.design.tokens)
        size = behind - origin
        if self._scores is None or len(self._scores) < size:
            self._scores = np.empty((size, self.layout.outputs))
        return score(self.design, self.layout, self._weights(), self.threads, self._scores, self.row_table, stretch)

    def begin(self, weight: Floats) -> None:
        """Score all rows, for ``forward`` to read."""
        scaled = self._weights()
        (np.divide if self.spelled else np.multiply)(weight, self.scale, out=scaled)
        table_of(self.design, self.layout, scaled, self.threads, self.row_table)

    def _weights(self) -> Floats:
        """Space for the weights, each times the value of its feature."""
        if self._scaled is None:
            self._scaled = np.empty(self.layout.parameters)
        return self._scaled

    @property
    def row_table(self) -> Floats:
        """Space for a number for every row and output."""
        if self._rows is None:
            self._rows = np.empty((len(self.design.row_ptr) - 1, self.layout.outputs))
        return self._rows

    def backward(self, gradient: Floats, out: Floats | None = None) -> Floats:
        """The gradient [parameters] from the gradient of the potentials [tokens, outputs]; ``out`` is space for it."""
        if out is None:
            out = np.empty(self.layout.parameters)
        out[:] = 0.0
        self.end(self.backward_stretch(gradient, out, space=self.row_table), out)
        return out

    def backward_stretch(
        self, gradient: Floats, out: Floats, stretch: Stretch | None = None, space: Floats | None = None
    ) -> Floats:
        """The gradient of the scores of rows, [rows, outputs], from that of the potentials of a stretch.

        What comes from the tokens themselves is added to ``out`` [parameters]. ``end`` makes one of both, once the
        tables of all stretches are added up in order.
        """
        inverse, offsets = self.links_back, self.design.offsets
        origin, behind = stretch or (0, self.design.tokens)
        begin, end = np.searchsorted(offsets, origin, side="right") - 1, np.searchsorted(offsets, behind)
        if space is None:
            space = np.empty((len(self.design.row_ptr) - 1, self.layout.outputs))
        scatter = (self.design.links, offsets, gradient, space, origin, behind, int(begin), int(end))
        run_ranges(lambda lo, hi: kernels.row_gradients(*scatter, lo, hi), self.row_ranges, self.threads)
        if len(inverse.feature_tokens.items):
            at = (inverse.feature_tokens, self.layout, gradient, origin, behind, out)
            run_ranges(lambda lo, hi: kernels.direct_gradients(*at, lo, hi), self.feature_ranges, self.threads)
        return space

    def end(self, rows: Floats, out: Floats) -> None:
        """Add to ``out`` [parameters] what the gradient of the scores of all rows says, and scale it."""
        inside = (self.links_back.feature_rows, self.links_back.feature_value, self.layout, rows, out)
        run_ranges(lambda lo, hi: kernels.feature_gradients(*inside, lo, hi), self.feature_ranges, self.threads)
        out *= self.value

    def squared(self) -> LinearScorer:
        """The same with squared values: from squared weights to ``sum of (value * weight)**2``, and back.

        A merged column stands for m features of weight u / sqrt(m) each, whose squares add up to u**2: the scale of
        columns is left out.
        """
        design, inverse = self.design, self.inverse
        if design.row_value is not None:
            design = replace(design, row_value=design.row_value**2)
        if inverse is not None:
            inverse = replace(inverse, feature_value=inverse.feature_value**2)
        scale = self.scale**2 if self.spelled else np.ones(self.layout.parameters)
        return LinearScorer(design, self.layout, inverse, scale, self.threads, self.spelled)

    @cached_property
    def value(self) -> Floats:
        """What each weight is multiplied by, [parameters]."""
        return 1.0 / self.scale if self.spelled else self.scale

    @property
    def links_back(self) -> Inverse:
        """The design seen from its rows and features."""
        assert self.inverse is not None  # only scorers of a training corpus are asked for gradients
        return self.inverse

    @cached_property
    def row_ranges(self) -> list[tuple[int, int]]:
        """Ranges of rows for threads: whole blocks if possible, for whoever has a part of one reads all its tokens."""
        links, work = self.design.links, self.links_back.row_tokens.astype(np.int64)
        edges = np.unique(np.concatenate([links.base, links.end, [len(work) - 1]]))
        slots = np.zeros(len(edges), np.int64)
        for base in links.base.tolist():
            slots[np.searchsorted(edges, base) + 1 :] += 1  # counted where its block ends
        scanned = np.interp(np.arange(len(work)), edges, slots * self.design.tokens)
        return block_ranges(2 * work + scanned.astype(np.int64), edges, self.threads)

    @cached_property
    def feature_ranges(self) -> list[tuple[int, int]]:
        """Ranges of features for threads, with about as much to add up."""
        work = np.add(self.links_back.feature_rows.ptr, self.links_back.feature_tokens.ptr, dtype=np.int64)
        work += self.layout.ptr
        return ranges_of(work, self.threads)

    def largest_value(self) -> Floats | float:
        """The largest value, in size, of each parameter's feature: one unless it is real-valued. Shape [parameters]."""
        if self.design.row_value is None:
            return 1.0
        largest = np.zeros(self.layout.size)
        np.maximum.at(largest, self.design.row_feature, np.abs(self.design.row_value))
        largest[np.diff(self.links_back.feature_tokens.ptr) > 0] = 1.0
        return np.repeat(largest, np.diff(self.layout.ptr))

    def firing(self) -> Floats:
        """At how many tokens the feature of each parameter fires, times its squared scale. Shape [parameters]."""
        rows, tokens = self.links_back.feature_rows, self.links_back.feature_tokens
        row_count = np.diff(self.links_back.row_tokens)
        before = np.concatenate([[0], np.cumsum(row_count[rows.items])])
        count = before[rows.ptr[1:]] - before[rows.ptr[:-1]] + np.diff(tokens.ptr)
        return np.repeat(count, np.diff(self.layout.ptr)) * self.scale**2

    # Online training works on a few tokens at a time. ``base`` is where this scorer's parameters begin in the whole
    # vector of weights.

    def some(self, tokens: NDArray[np.int64]) -> Some:
        """A few tokens as kernels read them."""
        design = self.design
        rows = design.links.rows_of(tokens, design.offsets)
        return Some(tokens, rows, rows_of(design), design.feature_index)

    def touch(self, tokens: NDArray[np.int64], base: int, sink: SparseGradient) -> None:
        """List the parameters of some tokens."""
        some, ptr = self.some(tokens), self.layout.ptr
        sink.count = kernels.list_parameters(some, ptr, base, sink.step, sink.stamp, sink.items, sink.count)

    def forward_some(self, tokens: NDArray[np.int64], base: int, weight: Floats) -> Floats:
        """Potentials of some tokens, [len(tokens), outputs]."""
        out = np.empty((len(tokens), self.layout.outputs))
        kernels.some_scores(self.some(tokens), self.layout, self.value, base, weight, out)
        return out

    def backward_some(self, tokens: NDArray[np.int64], base: int, gradient: Floats, out: Floats) -> None:
        """Add the gradient of some tokens' potentials to that of all parameters, out."""
        kernels.some_gradients(self.some(tokens), self.layout, self.value, base, gradient, out)
