"""Bracketings with rules: without any they are plain, and what is wrong is said."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.structures.brackets import BracketBatch, BracketPotentials
from dovetail.structures.ruled import RuledBatch, RuledPotentials
from tests.structures.bracket_cases import random_potentials


@pytest.mark.parametrize("masked", [0.0, 0.5])
def test_rules_that_say_nothing_change_nothing(masked):
    rng, offsets = np.random.default_rng(0), np.array([0, 12, 12, 30])
    span = random_potentials(rng, offsets, 4, scale=3.0, masked=masked).span
    plain, ruled = (
        BracketBatch(BracketPotentials(span), offsets),
        RuledBatch(RuledPotentials(span, np.zeros((4, 4, 4))), offsets),
    )
    assert_allclose(ruled.log_partition(), plain.log_partition())
    assert_allclose(ruled.marginals().span, plain.marginals().span, atol=1e-12)
    assert_allclose(ruled.entropy(), plain.entropy(), atol=1e-9)
    assert_allclose(ruled.kbest(3)[1], plain.kbest(3)[1])
    words = np.diff(offsets)[plain.possible()].sum()
    assert_allclose(ruled.marginals().rule.sum(), plain.marginals().span.sum() - words)


def test_the_table_of_rules_must_fit():
    with pytest.raises(InputError, match=r"rule has shape \(2, 2\), expected \(3, 3, 3\)"):
        RuledBatch(RuledPotentials(np.zeros((3, 3)), np.zeros((2, 2))), [0, 2])
