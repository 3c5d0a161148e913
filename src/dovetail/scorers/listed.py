"""Scores of a few positions at a time from plain lists of their features: for outputs so many that few are observed.

Where a token has a score for each of thousands of rules, most pairs of feature and rule never occur together, and the
sums over those that do are short. Then there is nothing to factor, and a list of features a position is all it takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.features.compile.design import Design
from dovetail.features.compile.index import distinct, narrow
from dovetail.kernel import kernel
from dovetail.scorers.linear import Layout, output_type

Floats = NDArray[np.float64]


class FeatureLists(NamedTuple):
    """The features of position p are ``feature[ptr[p]:ptr[p + 1]]``."""

    ptr: NDArray[np.int64]
    feature: NDArray[np.int32]

    @classmethod
    def of(cls, design: Design) -> FeatureLists:
        """All features of every token of a design whose features are all present or absent."""
        rows, direct = design.row_index, design.feature_index
        ptr = np.zeros(design.tokens + 1, np.int64)
        _count(rows, design.row_ptr, direct, ptr[1:])
        np.cumsum(ptr, out=ptr)
        feature = np.empty(ptr[-1], np.int32)
        _fill(rows, design.row_ptr, design.row_feature, direct, ptr, feature)
        return cls(ptr, feature)


class SentenceLists(NamedTuple):
    """The features of a sentence's words and gaps: lists by group, and where the sentence begins in them."""

    lists: Mapping[str, FeatureLists]
    first: int
    length: int


@kernel
def _count(
    rows: NDArray[np.int32], row_ptr: NDArray[np.integer], direct: NDArray[np.int32], out: NDArray[np.int64]
) -> None:
    for t in range(rows.shape[0]):
        n = 0
        for k in range(rows.shape[1]):
            if rows[t, k] >= 0:
                n += row_ptr[rows[t, k] + 1] - row_ptr[rows[t, k]]
        for k in range(direct.shape[1]):
            n += direct[t, k] >= 0
        out[t] = n


@kernel
def _fill(
    rows: NDArray[np.int32], row_ptr: NDArray[np.integer], row_feature: NDArray[np.int32], direct: NDArray[np.int32],
    ptr: NDArray[np.int64], feature: NDArray[np.int32],
) -> None:  # fmt: skip
    for t in range(rows.shape[0]):
        n = ptr[t]
        for k in range(rows.shape[1]):
            if rows[t, k] >= 0:
                for e in range(row_ptr[rows[t, k]], row_ptr[rows[t, k] + 1]):
                    feature[n] = row_feature[e]
                    n += 1
        for k in range(direct.shape[1]):
            if direct[t, k] >= 0:
                feature[n] = direct[t, k]
                n += 1


def observed_layout(
    lists: FeatureLists, positions: NDArray[np.int64], outputs: NDArray[np.int64], features: int, size: int,
    min_count: int = 1,
) -> Layout:  # fmt: skip
    """Parameters for the features of some positions with the outputs seen there, [uses] each, ``min_count`` times."""
    counts = lists.ptr[positions + 1] - lists.ptr[positions]
    begin = np.repeat(lists.ptr[positions] - np.cumsum(counts) + counts, counts)
    feature = lists.feature[begin + np.arange(int(counts.sum()))].astype(np.int64)
    values, number = distinct((feature * size + np.repeat(outputs, counts)).astype(np.uint64))
    pairs = np.sort(values[np.bincount(number, minlength=len(values)) >= min_count]).astype(np.int64)
    ptr = np.searchsorted(pairs // size, np.arange(features + 1))
    return Layout(narrow(ptr.astype(np.int64)), (pairs % size).astype(output_type(size)), size)


def of_features(layout: Layout, chosen: NDArray[np.bool_]) -> Layout:
    """The parameters of some features alone; chosen: [features]. All outputs remain."""
    counts = np.diff(layout.ptr)
    ptr = np.concatenate([[0], np.cumsum(counts * chosen)])
    return Layout(narrow(ptr.astype(np.int64)), layout.label[np.repeat(chosen, counts)], layout.outputs)


@kernel
def add_scores(lists: FeatureLists, first: int, layout: Layout, weight: NDArray[np.floating], out: Floats) -> None:
    """Add the scores of positions ``first``, ... to out [positions, outputs]; weight: [parameters]."""
    for p in range(out.shape[0]):
        for e in range(lists.ptr[first + p], lists.ptr[first + p + 1]):
            f = lists.feature[e]
            for y in range(layout.ptr[f], layout.ptr[f + 1]):
                out[p, layout.label[y]] += weight[y]


@kernel
def add_gradients(lists: FeatureLists, first: int, layout: Layout, slope: Floats, out: Floats) -> None:
    """Add to out [parameters] the gradient, from the slopes of the scores [positions, outputs] from ``first`` on."""
    for p in range(slope.shape[0]):
        for e in range(lists.ptr[first + p], lists.ptr[first + p + 1]):
            f = lists.feature[e]
            for y in range(layout.ptr[f], layout.ptr[f + 1]):
                out[y] += slope[p, layout.label[y]]
