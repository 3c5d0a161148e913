"""Scores of segments: sums over their ends and their words, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.scorers.segments import SegmentForm

LENGTHS, OFFSETS = np.array([1, 3], np.int32), np.array([0, 4, 4, 6])


@pytest.mark.parametrize("parts", [("start",), ("end", "inside"), ("start", "end", "inside", "phrase")])
def test_potentials_are_sums_and_zero_where_no_segment_can_be(parts: tuple[str, ...]) -> None:
    form, rng = SegmentForm(LENGTHS, 1), np.random.default_rng(0)
    rows = {part: (6 * 3 if part == "phrase" else 6) for part in parts}
    scores = {part: rng.normal(size=(rows[part], form.outputs(part))) for part in parts}
    given = {part: own.copy() for part, own in scores.items()}
    found = form.batch(scores, {"transition": np.zeros((2, 2))}, OFFSETS, 1).potentials.segment
    expected = np.zeros((6, 3, 2))
    for first, after in ((0, 4), (4, 6)):
        for t in range(first, after):
            for d in range(3):
                for y in range(2):
                    if t + d < after and d < LENGTHS[y]:
                        column = {p: y + (2 if d and own.shape[1] > 2 else 0) for p, own in given.items()}
                        at = {"start": [t], "end": [t + d], "inside": range(t, t + d + 1), "phrase": [t * 3 + d]}
                        expected[t, d, y] = sum(given[p][i, column[p]] for p in parts for i in at[p])
    np.testing.assert_allclose(found, expected)
