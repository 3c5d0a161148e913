"""Merging features that cannot be told apart on the training data: exact, and much smaller.

Most rare features are twins: all n-grams of a name seen once fire at one token, together with its conjunctions. If m
features fire at the same tokens, only the sum of their weights matters. Under an L2 penalty c the best split of a sum
s is even, and costs c * s**2 / m; so one column with value sqrt(m) and weight u = s / sqrt(m) under the same penalty c
has the same objective, and gradient steps on it are the steps on the m columns, seen in an orthonormal basis. (Under
an L1 penalty c * |s| becomes c * sqrt(m) * |u|.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Flags, Int32s, Int64s
from dovetail.features.compile.design import Design, drop_unknown
from dovetail.features.compile.index import distinct, narrow
from dovetail.features.compile.links import Links, row_at
from dovetail.kernel import kernel

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
OFTEN = 4  # tokens: from here on a direct feature is cheaper as a row


@dataclass(frozen=True)
class Merged:
    """A design over merged columns.

    ``column`` [features]: the column of each feature, -1 if it was pruned; ``multiplicity`` [columns]: how many
    features each column stands for. A feature has the weight ``u[column] / sqrt(multiplicity)``.
    """

    design: Design
    column: Int32s
    multiplicity: Int32s


@kernel
def _signatures(
    links: Any, offsets: Int64s, row_ptr: NDArray[np.integer], row_feature: Int32s, feature_index: Int32s,
    noise: NDArray[np.uint64], row_count: Int64s, row_sum: NDArray[np.uint64], count: Int64s,
    signature: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Add up a random number for each token at which a feature fires, and count the tokens.

    row_count, row_sum: [rows], the same for rows; count, signature: [features]. All are zero to begin with.
    """
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            for k in range(len(links.source)):
                r = row_at(links, k, t, offsets[i], offsets[i + 1])
                if r >= 0:
                    row_count[r] += 1
                    row_sum[r] += noise[t]
            for k in range(feature_index.shape[1]):
                if feature_index[t, k] >= 0:
                    count[feature_index[t, k]] += 1
                    signature[feature_index[t, k]] += noise[t]
    for r in range(len(row_ptr) - 1):
        for e in range(row_ptr[r], row_ptr[r + 1]):
            count[row_feature[e]] += row_count[r]
            signature[row_feature[e]] += row_sum[r]


def merge(
    design: Design, min_count: int = 1, twins: bool = True, wanted: Flags | None = None,
    apart: NDArray[np.uint64] | None = None,
) -> Merged:  # fmt: skip
    """Prune features seen fewer than ``min_count`` times, and merge those that fire at the same tokens.

    ``wanted`` [features]: which may be kept; None for all. ``apart`` [features]: those with different numbers stay
    apart. Real-valued features are never merged. Two features with different tokens are taken for twins with a
    probability of 2**-64.
    """
    count, identity = fired(design)
    often = count >= max(min_count, 1)
    kept = np.flatnonzero(often if wanted is None else often & wanted).astype(np.int32)
    identity = identity[kept]
    if apart is not None:
        identity = identity + apart[kept] * _SPREAD
    if not twins:
        identity = np.arange(len(kept), dtype=np.uint64)
    elif design.row_value is not None:
        real = np.zeros(design.features, dtype=np.bool_)
        real[design.row_feature[design.row_value != 1.0]] = True
        identity = np.where(real[kept], np.arange(len(kept), dtype=np.uint64), identity)
    # Columns in the order of their first feature: what fires together lies together.
    groups, group = distinct(identity)
    first = np.empty(len(groups), dtype=np.int32)
    first[group[::-1]] = np.arange(len(group), dtype=np.int32)[::-1]  # of equal places, the last to be written stays
    del identity
    column = np.full(design.features, -1, dtype=np.int32)
    column[kept] = group
    representative = np.full(design.features + 1, -1, dtype=np.int32)  # the last entry serves index -1
    representative[kept[first]] = np.arange(len(groups), dtype=np.int32)
    smaller = drop_unknown(
        replace(
            design,
            row_feature=representative[design.row_feature],
            feature_index=representative[design.feature_index],
            features=len(groups),
        )
    )
    smaller = frequent_as_rows(smaller, count[kept[first]])
    return Merged(smaller, column, np.bincount(column[kept], minlength=len(groups)).astype(np.int32))


def fired(design: Design, seed: int = 0) -> tuple[Int64s, NDArray[np.uint64]]:
    """At how many tokens each feature fires, and a number that says which. Shapes: [features].

    ``seed``: another one for every design, where numbers of several are added up.
    """
    noise = np.random.default_rng(seed).integers(0, 2**64, size=design.tokens, dtype=np.uint64)
    count = np.zeros(design.features, dtype=np.int64)
    signature = np.zeros(design.features, dtype=np.uint64)
    rows = (design.links, design.offsets, design.row_ptr, design.row_feature)
    row_count = np.zeros(len(design.row_ptr) - 1, dtype=np.int64)
    row_sum = np.zeros(len(design.row_ptr) - 1, dtype=np.uint64)
    _signatures(*rows, design.feature_index, noise, row_count, row_sum, count, signature)
    return count, signature


def frequent_as_rows(design: Design, count: NDArray[np.integer]) -> Design:
    """The same design with a row of its own for every direct feature that fires at several tokens.

    A feature that is rare is cheap to point to: its tokens lie together in memory. One that fires all over the corpus
    is read from all over it; as a row it costs a stream of additions into a small table.
    count: [features], at how many tokens each fires. Where a slot has few features for its many tokens, all are rows.
    """
    tokens, slots = design.feature_index.shape
    base = len(design.row_ptr) - 1
    kept: list[Int32s] = []
    ids: list[Int32s] = []
    blocks: list[Int64s] = []
    ends = [base]
    for k in range(slots):
        slot = design.feature_index[:, k]
        here = np.zeros(design.features + 1, dtype=np.bool_)  # the last entry serves index -1
        here[slot] = True
        here[-1] = False
        few = np.count_nonzero(here) * OFTEN < tokens
        block = np.flatnonzero(here[:-1] if few else here[:-1] & (count >= OFTEN))
        row = np.full(design.features + 1, -1, dtype=np.int32)
        row[block] = np.arange(len(block), dtype=np.int32)
        place = row[slot]
        if len(block):
            blocks.append(block)
            ids.append(place)
            ends.append(ends[-1] + len(block))
        if not few:
            kept.append(np.where(place >= 0, np.int32(-1), slot))
    if not blocks:
        return design
    block = np.concatenate(blocks)
    links = design.links
    new = np.arange(len(ids))
    edges = np.array(ends)
    entries = int(design.row_ptr[-1])
    return replace(
        design,
        links=Links(
            np.concatenate([links.ids, np.stack(ids)]),
            np.concatenate([links.source, len(links.ids) + new]),
            np.concatenate([links.shift, np.zeros_like(new)]),
            np.concatenate([links.base, edges[:-1]]),
            np.concatenate([links.end, edges[1:]]),
        ),
        row_ptr=narrow(np.concatenate([design.row_ptr, entries + 1 + np.arange(len(block))])),
        row_feature=np.concatenate([design.row_feature, block.astype(np.int32)]),
        row_value=None if design.row_value is None else np.concatenate([design.row_value, np.ones(len(block))]),
        feature_index=np.stack(kept, axis=1) if kept else np.empty((tokens, 0), dtype=np.int32),
    )
