"""What held-out sentences decide: how sure a score is, and that a model that nothing was chosen for stays as it is."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from dovetail.models import choices
from dovetail.models.choices import Tuning, best_f1, standard_error, summed
from dovetail.models.tagger.estimator import Tagger
from tests.models.corpus import made


def test_the_examples_run() -> None:
    outcome = doctest.testmod(choices)
    assert outcome.attempted >= 3
    assert outcome.failed == 0


@pytest.mark.parametrize(
    ("counts", "error"), [([100, 100, 90], 3.0), ([100, 50, 60], 4.618802), ([4, 4, 2], 25.0), ([0, 0, 0], 0.0)]
)
def test_the_standard_error_is_that_of_a_share_of_so_many_answers(counts: list[int], error: float) -> None:
    assert standard_error(np.array(counts)) == pytest.approx(error, abs=1e-6)


def test_counts_are_summed_and_the_best_way_is_told() -> None:
    ways = [np.array([[4, 4, 3], [4, 4, 4]]), np.array([[4, 0, 0], [4, 4, 0]])]
    assert summed(ways).tolist() == [[8, 4, 3], [8, 8, 4]]
    assert best_f1(summed(ways)) == 50.0


def test_what_was_never_tuned_changes_no_answer() -> None:
    tagger = Tagger(features=["shape[0]"], iterations=1, threads=1).fit(made(8))
    untuned, text = tagger.model_, made(3, seed=2)
    answers = tagger.predict(text)
    tagger.model_ = Tuning().applied(untuned)
    assert tagger.predict(text) == answers
    tagger.model_ = Tuning(outside=1.0).applied(untuned)
    assert tagger.predict(text) != answers
