"""Merging features that cannot be told apart on the training data: exact, and much smaller.

Most rare features are twins: all n-grams of a name seen once fire at one token, together with its conjunctions. If m
features fire at the same tokens, only the sum of their weights matters. Under an L2 penalty c the best split of a sum
s is even, and costs c * s**2 / m; so one column with value sqrt(m) and weight u = s / sqrt(m) under the same penalty c
has the same objective, and gradient steps on it are the steps on the m columns, seen in an orthonormal basis. (Under
an L1 penalty c * |s| becomes c * sqrt(m) * |u|.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dovetail.features.design import Design, drop_unknown
from dovetail.kernel import kernel


@dataclass(frozen=True)
class Merged:
    """A design over merged columns.

    ``column`` [features]: the column of each feature, -1 if it was pruned; ``multiplicity`` [columns]: how many
    features each column stands for. A feature has the weight ``u[column] / sqrt(multiplicity)``.
    """

    design: Design
    column: NDArray[np.int32]
    multiplicity: NDArray[np.int64]


@kernel
def _signatures(
    row_index: NDArray[np.int32],
    row_ptr: NDArray[np.int64],
    row_feature: NDArray[np.int32],
    feature_index: NDArray[np.int32],
    noise: NDArray[np.uint64],
    count: NDArray[np.int64],
    signature: NDArray[np.uint64],
) -> None:
    """Add up a random number for each token at which a feature fires, and count the tokens."""
    row_count = np.zeros(len(row_ptr) - 1, dtype=np.int64)
    row_sum = np.zeros(len(row_ptr) - 1, dtype=np.uint64)
    for t in range(row_index.shape[0]):
        for k in range(row_index.shape[1]):
            if row_index[t, k] >= 0:
                row_count[row_index[t, k]] += 1
                row_sum[row_index[t, k]] += noise[t]
        for k in range(feature_index.shape[1]):
            if feature_index[t, k] >= 0:
                count[feature_index[t, k]] += 1
                signature[feature_index[t, k]] += noise[t]
    for r in range(len(row_ptr) - 1):
        for e in range(row_ptr[r], row_ptr[r + 1]):
            count[row_feature[e]] += row_count[r]
            signature[row_feature[e]] += row_sum[r]


def merge(design: Design, min_count: int = 1, twins: bool = True) -> Merged:
    """Prune features seen fewer than ``min_count`` times, and merge those that fire at the same tokens.

    Real-valued features are never merged. Two features with different tokens are taken for twins with a probability
    of 2**-64.
    """
    noise = np.random.default_rng(0).integers(0, 2**64, size=design.tokens, dtype=np.uint64)
    count = np.zeros(design.features, dtype=np.int64)
    signature = np.zeros(design.features, dtype=np.uint64)
    _signatures(design.row_index, design.row_ptr, design.row_feature, design.feature_index, noise, count, signature)
    kept = np.flatnonzero(count >= max(min_count, 1))
    identity = signature[kept]
    if not twins:
        identity = np.arange(len(kept), dtype=np.uint64)
    elif design.row_value is not None:
        real = np.zeros(design.features, dtype=np.bool_)
        real[design.row_feature[design.row_value != 1.0]] = True
        identity = np.where(real[kept], np.arange(len(kept), dtype=np.uint64), identity)
    _, first, inverse, multiplicity = np.unique(identity, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(
        first, kind="stable"
    )  # columns in the order of their first feature: what fires together lies together
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    column = np.full(design.features, -1, dtype=np.int32)
    column[kept] = rank[inverse]
    representative = np.full(design.features + 1, -1, dtype=np.int32)  # the last entry serves index -1
    representative[kept[first]] = rank
    smaller = drop_unknown(
        replace(
            design,
            row_feature=representative[design.row_feature],
            feature_index=representative[design.feature_index],
            features=len(order),
        )
    )
    return Merged(smaller, column, multiplicity[order])
