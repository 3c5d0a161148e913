from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import InputError
from dovetail.evaluate.alignment import alignment_scores, link_calibration
from dovetail.text.links import Link

cells = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)))


@given(st.lists(st.tuples(cells, cells, cells), min_size=1))
def test_error_rate_as_it_is_defined(sentences: list) -> None:
    gold = [[Link(*c) for c in s] + [Link(*c, sure=False) for c in p - s] for s, p, _ in sentences]
    found = [[Link(*c) for c in a] for _, _, a in sentences]
    a = {(k, *c) for k, (_, _, cells) in enumerate(sentences) for c in cells}
    s = {(k, *c) for k, (cells, _, _) in enumerate(sentences) for c in cells}
    p = s | {(k, *c) for k, (_, cells, _) in enumerate(sentences) for c in cells}
    scores = alignment_scores(gold, found)
    assert scores.error_rate == pytest.approx(100 * (1 - (len(a & s) + len(a & p)) / (len(a) + len(s))) if a | s else 0)
    assert scores.precision == pytest.approx(100 * len(a & p) / len(a) if a else 0)
    assert scores.recall == pytest.approx(100 * len(a & s) / len(s) if s else 0)


def test_a_small_case_by_hand() -> None:
    gold = [[Link(0, 0), Link(1, 1), Link(1, 2, sure=False)]]
    scores = alignment_scores(gold, [[Link(0, 0), Link(1, 2), Link(2, 2)]])
    assert scores.error_rate == pytest.approx(100 * (1 - (1 + 2) / (3 + 2)))
    assert str(scores).splitlines()[1] == "alignment error rate 40.00, precision 66.67, recall 50.00"


def test_texts_of_different_length_and_links_without_probabilities() -> None:
    with pytest.raises(InputError, match="links of 2 pairs, but the gold has 1"):
        alignment_scores([[]], [[], []])
    assert link_calibration([[Link(0, 0)]], [[Link(0, 0)]]) is None
    report = link_calibration([[Link(0, 0)]], [[Link(0, 0, 0.8), Link(1, 1, 0.8)]])
    assert report is not None
    assert report.expected_calibration_error == pytest.approx(0.3)
