"""Links give the rows that writing every position out would give."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.features.compile.index import distinct, narrow
from dovetail.features.compile.links import Links


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=5),
    st.lists(st.tuples(st.integers(0, 1), st.integers(-6, 6)), min_size=1, max_size=4),
    st.integers(0, 1000),
)
def test_rows_are_those_of_each_position(lengths: list[int], slots: list[tuple[int, int]], seed: int) -> None:
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    ids = np.random.default_rng(seed).integers(-1, 5, size=(2, offsets[-1]), dtype=np.int32)
    source, shift = np.array(slots).T.copy()
    base = 5 * np.arange(len(slots))
    links = Links(ids, source, shift, base, base + 5)
    expected = np.empty((offsets[-1], len(slots)), dtype=np.int32)
    for first, last in pairwise(offsets):
        for t in range(first, last):
            for k, (where, by) in enumerate(slots):
                number = ids[where, t + by] if first <= t + by < last else 0
                expected[t, k] = base[k] + number if number >= 0 else -1
    tokens = np.random.default_rng(seed).permutation(offsets[-1])
    assert np.array_equal(links.rows_of(tokens, offsets), expected[tokens])


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 3)))
def test_distinct_is_unique(values: list[int]) -> None:
    keys = np.array(values, dtype=np.uint64)
    found, numbers = distinct(keys)
    assert found.tolist() == list(dict.fromkeys(values))
    assert np.array_equal(found[numbers], keys)
    assert numbers.dtype == np.int32


def test_pointers_are_narrowed_only_where_they_fit() -> None:
    assert narrow(np.array([0, 2**31 - 1])).dtype == np.int32
    assert narrow(np.array([0, 2**31])).tolist() == [0, 2**31]
