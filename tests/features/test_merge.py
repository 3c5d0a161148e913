"""Merging twins changes nothing but the number of columns."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.columns import Columns
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.compile.design import Compiler, Design, assemble
from dovetail.features.compile.index import Collector
from dovetail.features.compile.merge import merge
from dovetail.text.sentence import Sentence

FEATURES = FeatureSet.of(
    ["bias", "word[-1:2]", "ngrams(1, 3)[0]", "bag(word, 2)", "word[-1] & word[0]", "number(n)[0]"]
)


def matrix(design: Design) -> np.ndarray:
    """The design as a dense matrix [tokens, features]."""
    dense = np.zeros((design.tokens, design.features))
    for t in range(design.tokens):
        for row in design.row_index[t]:
            if row >= 0:
                for e in range(design.row_ptr[row], design.row_ptr[row + 1]):
                    dense[t, design.row_feature[e]] += 1.0 if design.row_value is None else design.row_value[e]
        for f in design.feature_index[t]:
            if f >= 0:
                dense[t, f] += 1.0
    return dense


def compiled(words: list[list[str]]) -> Design:
    corpus = [Sentence(tuple(s), {"n": tuple(str(len(w) % 3) for w in s)}) for s in words]
    return assemble(Compiler(Columns.of(corpus, FEATURES.columns), corpus), FEATURES.templates, Collector())


corpora = st.lists(st.lists(st.text("abc", max_size=3), min_size=1, max_size=5), min_size=1, max_size=4)


@settings(max_examples=50, deadline=None)
@given(corpora, st.integers(1, 3))
def test_merged_columns_are_the_sums_of_their_features(words: list[list[str]], min_count: int) -> None:
    design = compiled(words)
    full = matrix(design)
    merged = merge(design, min_count)
    small = matrix(merged.design)
    count = (full != 0).sum(axis=0)
    for feature, column in enumerate(merged.column):
        if column < 0:
            assert count[feature] < min_count
        else:
            assert np.array_equal(full[:, feature], small[:, column])
    assert np.array_equal(np.bincount(merged.column[merged.column >= 0]), merged.multiplicity)
    # the same score and the same L2 penalty: u = s / sqrt(m), each feature w = u / sqrt(m)
    u = np.random.default_rng(0).normal(size=len(merged.multiplicity))
    scale = np.sqrt(merged.multiplicity)
    w = np.where(merged.column >= 0, np.append(u / scale, 0.0)[merged.column], 0.0)
    assert np.allclose(full @ w, small @ (u * scale))
    assert np.isclose(w @ w, u @ u)


def test_twins_are_found_and_others_kept_apart() -> None:
    merged = merge(compiled([["ab", "c", "c"]]))
    dense = matrix(merged.design)
    whole = {tuple(c) for c in dense.T}
    assert len(whole) >= dense.shape[1] - 1  # only the number may repeat a column: real values are never merged
    assert merged.multiplicity.max() > 3


def test_without_merging_every_feature_keeps_its_column() -> None:
    design = compiled([["ab", "c"], ["c"]])
    merged = merge(design, twins=False)
    assert merged.multiplicity.max() == 1
    kept = np.flatnonzero(merged.column >= 0)  # a type that never stands at a position has no feature there
    assert np.array_equal(matrix(merged.design)[:, merged.column[kept]], matrix(design)[:, kept])
