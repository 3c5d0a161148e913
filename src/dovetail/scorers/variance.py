"""The variances of linear scores when features are noised, and the way back to the weights.

Noise multiplies a *unit* by a random number of mean one and variance c, independently for each place and each output.
The score ``s[t, y]`` then has the variance c times the sum over units of the square of what the unit adds to it:

- features: ``sum over f of (value * weight[f, y])**2``. Squares of weights are scored as weights are, through the same
  rows, so that what depends on the type of a word is done once for the type;
- words: ``sum over rows of row_score[r, y]**2``, where all features of a word at one position are one unit, and so is
  each feature that belongs to no row.

A merged column stands for m features of weight u / sqrt(m), each a unit of its own, so its variance is u**2 and not
m * u**2. Of words, it is part of the row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from dovetail.kernel import kernel
from dovetail.scorers import linear_kernels as kernels
from dovetail.scorers.contract import Floats, Items
from dovetail.scorers.linear import LinearScorer, rows_of
from dovetail.scorers.linear_kernels import Some
from dovetail.threads import run_ranges

UNITS = ("features", "words")


class Variance(Protocol):
    """From weights to variances of scores, and from the slopes of variances back; shapes as in ``LinearScorer``."""

    def forward(self, weight: Floats) -> Floats:
        """Variances [tokens, outputs] under ``weight`` [parameters]; the array is used again by the next call."""

    def backward(self, slope: Floats, weight: Floats, out: Floats) -> None:
        """Add to ``out`` [parameters] the gradient, after ``forward`` with the same weights."""

    def forward_some(self, tokens: Items, base: int, weight: Floats) -> Floats:
        """Variances of some tokens; the parameters begin at ``base``."""

    def backward_some(self, tokens: Items, base: int, slope: Floats, weight: Floats, out: Floats) -> None:
        """Add the gradient of some tokens' variances to that of all parameters, out."""


def variance_of(scorer: LinearScorer, unit: str) -> Variance:
    """The variances of the scores of a scorer when such units are noised."""
    return OfFeatures(scorer) if unit == "features" else OfWords(scorer)


@dataclass
class OfFeatures:
    """Each feature is noised for itself."""

    scorer: LinearScorer
    _squares: Floats | None = field(default=None, init=False, repr=False)

    @cached_property
    def squared(self) -> LinearScorer:
        """The scorer of squares."""
        return self.scorer.squared()

    def forward(self, weight: Floats) -> Floats:
        """Variances [tokens, outputs]."""
        if self._squares is None:
            self._squares = np.empty(len(weight))
        np.square(weight, out=self._squares)
        return self.squared.forward(self._squares)

    def backward(self, slope: Floats, weight: Floats, out: Floats) -> None:
        """Add the gradient to ``out`` [parameters]."""
        found = self.squared.backward(slope, self._squares)  # which nobody reads again
        found *= weight
        found *= 2.0
        out += found

    def forward_some(self, tokens: Items, base: int, weight: Floats) -> Floats:
        """Variances of some tokens."""
        out = np.zeros((len(tokens), self.scorer.layout.outputs))
        some_variances(*self._some(tokens), base, weight, out)
        return out

    def backward_some(self, tokens: Items, base: int, slope: Floats, weight: Floats, out: Floats) -> None:
        """Add the gradient of some tokens' variances to ``out``."""
        some_slopes(*self._some(tokens), base, weight, slope, out)

    def _some(self, tokens: Items) -> tuple[Some, Any, Floats]:
        return self.squared.some(tokens), self.scorer.layout, self.squared.value


@dataclass
class OfWords:
    """All features of a row are noised together, and each that is in none for itself."""

    scorer: LinearScorer
    _weight: Floats | None = field(default=None, init=False, repr=False)
    _out: Floats | None = field(default=None, init=False, repr=False)
    _rows: Floats | None = field(default=None, init=False, repr=False)
    _slopes: Floats | None = field(default=None, init=False, repr=False)

    def forward(self, weight: Floats) -> Floats:
        """Variances [tokens, outputs]."""
        scorer, design, layout = self.scorer, self.scorer.design, self.scorer.layout
        shape = (len(design.row_ptr) - 1, layout.outputs)
        if self._rows is None or self._weight is None or self._out is None:
            self._weight, self._out = np.empty(layout.parameters), np.empty((design.tokens, layout.outputs))
            self._rows, self._slopes = np.empty(shape), np.empty(shape)
        np.multiply(weight, scorer.value, out=self._weight)
        rows = (rows_of(design), layout, self._weight, self._rows)
        run_ranges(lambda lo, hi: kernels.row_scores(*rows, lo, hi), design.row_ptr, scorer.threads)
        tokens = (design.links, design.offsets, design.feature_index)
        squares = (tokens, self._rows**2, layout, self._weight**2, self._out, 0)

        def score(lo: int, hi: int) -> None:
            begin, end = np.searchsorted(design.offsets, lo, side="right") - 1, np.searchsorted(design.offsets, hi)
            kernels.token_scores(*squares, lo, hi, int(begin), int(end))

        run_ranges(score, design.tokens, scorer.threads)
        return self._out

    def backward(self, slope: Floats, weight: Floats, out: Floats) -> None:
        """Add the gradient to ``out`` [parameters]."""
        assert self._rows is not None
        assert self._slopes is not None
        assert self._weight is not None
        scorer, links = self.scorer, self.scorer.links_back
        rows, slopes, gradient = self._rows, self._slopes, np.zeros(len(out))
        offsets = scorer.design.offsets
        scatter = (scorer.design.links, offsets, slope, slopes, 0, scorer.design.tokens, 0, len(offsets) - 1)
        run_ranges(lambda lo, hi: kernels.row_gradients(*scatter, lo, hi), scorer.row_ranges, scorer.threads)
        slopes *= rows
        inside = (links.feature_rows, links.feature_value, scorer.layout, slopes, gradient)
        run_ranges(lambda lo, hi: kernels.feature_gradients(*inside, lo, hi), scorer.feature_ranges, scorer.threads)
        out += 2.0 * scorer.value * gradient
        if len(links.feature_tokens.items):
            gradient[:] = 0.0
            at = (links.feature_tokens, scorer.layout, slope, 0, scorer.design.tokens, gradient)
            run_ranges(lambda lo, hi: kernels.direct_gradients(*at, lo, hi), scorer.feature_ranges, scorer.threads)
            out += 2.0 * scorer.value * self._weight * gradient

    def forward_some(self, tokens: Items, base: int, weight: Floats) -> Floats:
        """Variances of some tokens."""
        out = np.zeros((len(tokens), self.scorer.layout.outputs))
        some_row_variances(self.scorer.some(tokens), self.scorer.layout, self.scorer.value, base, weight, out)
        return out

    def backward_some(self, tokens: Items, base: int, slope: Floats, weight: Floats, out: Floats) -> None:
        """Add the gradient of some tokens' variances to ``out``."""
        some_row_slopes(self.scorer.some(tokens), self.scorer.layout, self.scorer.value, base, weight, slope, out)


@kernel
def some_variances(some: Some, layout: Any, value: Floats, base: int, weight: Floats, out: Floats) -> None:
    """Add the squares of what features of a few tokens score. Rows have squared values; value [P]: what squares of
    weights are multiplied by. out: [len(tokens), L]."""
    tokens, row_index, rows, feature_index = some
    ptr, label, _ = layout
    weighted = len(rows.value) > 0
    for i in range(len(tokens)):
        for k in range(row_index.shape[1]):
            r = row_index[i, k]
            if r >= 0:
                for e in range(rows.ptr[r], rows.ptr[r + 1]):
                    f = rows.feature[e]
                    square = rows.value[e] if weighted else 1.0
                    for p in range(ptr[f], ptr[f + 1]):
                        out[i, label[p]] += square * value[p] * weight[base + p] ** 2
        for k in range(feature_index.shape[1]):
            f = feature_index[tokens[i], k]
            if f >= 0:
                for p in range(ptr[f], ptr[f + 1]):
                    out[i, label[p]] += value[p] * weight[base + p] ** 2


@kernel
def some_slopes(some: Some, layout: Any, value: Floats, base: int, weight: Floats, slope: Floats, out: Floats) -> None:
    """The reverse of :func:`some_variances`. slope: [len(tokens), L]; out: [base + P ...], added to."""
    tokens, row_index, rows, feature_index = some
    ptr, label, _ = layout
    weighted = len(rows.value) > 0
    for i in range(len(tokens)):
        for k in range(row_index.shape[1]):
            r = row_index[i, k]
            if r >= 0:
                for e in range(rows.ptr[r], rows.ptr[r + 1]):
                    f = rows.feature[e]
                    square = rows.value[e] if weighted else 1.0
                    for p in range(ptr[f], ptr[f + 1]):
                        out[base + p] += 2.0 * square * value[p] * weight[base + p] * slope[i, label[p]]
        for k in range(feature_index.shape[1]):
            f = feature_index[tokens[i], k]
            if f >= 0:
                for p in range(ptr[f], ptr[f + 1]):
                    out[base + p] += 2.0 * value[p] * weight[base + p] * slope[i, label[p]]


@kernel
def some_row_variances(some: Some, layout: Any, value: Floats, base: int, weight: Floats, out: Floats) -> None:
    """Add the squares of what rows of a few tokens score, and features in none. out: [len(tokens), L]."""
    tokens, row_index, rows, feature_index = some
    ptr, label, _ = layout
    weighted = len(rows.value) > 0
    row_score = np.empty(out.shape[1])
    for i in range(len(tokens)):
        for k in range(row_index.shape[1]):
            r = row_index[i, k]
            if r >= 0:
                row_score[:] = 0.0
                for e in range(rows.ptr[r], rows.ptr[r + 1]):
                    f = rows.feature[e]
                    own = rows.value[e] if weighted else 1.0
                    for p in range(ptr[f], ptr[f + 1]):
                        row_score[label[p]] += own * value[p] * weight[base + p]
                for y in range(len(row_score)):
                    out[i, y] += row_score[y] ** 2
        for k in range(feature_index.shape[1]):
            f = feature_index[tokens[i], k]
            if f >= 0:
                for p in range(ptr[f], ptr[f + 1]):
                    out[i, label[p]] += (value[p] * weight[base + p]) ** 2


@kernel
def some_row_slopes(
    some: Some, layout: Any, value: Floats, base: int, weight: Floats, slope: Floats, out: Floats
) -> None:
    """The reverse of :func:`some_row_variances`. slope: [len(tokens), L]; out: [base + P ...], added to."""
    tokens, row_index, rows, feature_index = some
    ptr, label, _ = layout
    weighted = len(rows.value) > 0
    row_score = np.empty(slope.shape[1])
    for i in range(len(tokens)):
        for k in range(row_index.shape[1]):
            r = row_index[i, k]
            if r >= 0:
                row_score[:] = 0.0
                for e in range(rows.ptr[r], rows.ptr[r + 1]):
                    f = rows.feature[e]
                    own = rows.value[e] if weighted else 1.0
                    for p in range(ptr[f], ptr[f + 1]):
                        row_score[label[p]] += own * value[p] * weight[base + p]
                for e in range(rows.ptr[r], rows.ptr[r + 1]):
                    f = rows.feature[e]
                    own = rows.value[e] if weighted else 1.0
                    for p in range(ptr[f], ptr[f + 1]):
                        out[base + p] += 2.0 * own * value[p] * row_score[label[p]] * slope[i, label[p]]
        for k in range(feature_index.shape[1]):
            f = feature_index[tokens[i], k]
            if f >= 0:
                for p in range(ptr[f], ptr[f + 1]):
                    out[base + p] += 2.0 * value[p] ** 2 * weight[base + p] * slope[i, label[p]]
