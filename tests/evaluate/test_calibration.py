from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import InputError
from dovetail.evaluate import reliability

STRATEGIES = ["uniform", "quantile"]
ANSWERS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_calibrated_probabilities_have_hardly_any_error(strategy):
    rng = np.random.default_rng(0)
    probabilities = rng.random(200_000)
    report = reliability(probabilities, rng.random(200_000) < probabilities, strategy=strategy)
    assert report.expected_calibration_error < 0.005
    assert report.maximum_calibration_error < 0.015
    assert report.brier_score == pytest.approx(1 / 6, abs=0.002)  # the integral of p (1 - p)
    assert report.log_loss == pytest.approx(0.5, abs=0.004)  # the integral of the entropy in nats


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_constant_promise_has_a_known_error(strategy):
    report = reliability([0.9] * 8, [True] * 2 + [False] * 6, strategy=strategy)
    assert report.expected_calibration_error == pytest.approx(0.65)
    assert report.maximum_calibration_error == pytest.approx(0.65)
    assert report.brier_score == pytest.approx(0.25 * 0.1**2 + 0.75 * 0.9**2)
    assert report.log_loss == pytest.approx(-0.25 * math.log(0.9) - 0.75 * math.log(0.1))
    assert [bin.count for bin in report.bins] == [8]


@given(ANSWERS, st.integers(1, 15), st.sampled_from(STRATEGIES))
def test_bins_hold_every_answer_once(answers, bins, strategy):
    probabilities, correct = map(np.array, zip(*answers, strict=True))
    report = reliability(probabilities, correct, bins, strategy)
    assert len(report.bins) <= bins
    assert report.count == len(answers)
    previous = -1.0
    for bin in report.bins:
        inside = (probabilities > previous) & (probabilities <= bin.high)
        assert inside.sum() == bin.count > 0
        assert bin.low <= probabilities[inside].min()
        assert bin.confidence == pytest.approx(probabilities[inside].mean())
        assert bin.accuracy == pytest.approx(correct[inside].mean())
        previous = bin.high
    assert 0 <= report.expected_calibration_error <= report.maximum_calibration_error + 1e-12 <= 1 + 1e-12


def test_quantile_bins_hold_equally_many():
    probabilities = np.random.default_rng(1).beta(5, 1, 1000)
    report = reliability(probabilities, probabilities > 0.5, strategy="quantile")
    assert [bin.count for bin in report.bins] == [100] * 10


def test_edges_belong_to_the_bin_below():
    report = reliability([0.0, 0.1, 0.3, 1.0], [False, False, False, True])
    assert [(round(bin.high, 1), bin.count) for bin in report.bins] == [(0.1, 2), (0.3, 1), (1.0, 1)]


def test_a_failed_certainty_is_finite():
    assert reliability([1.0], [False]).log_loss == pytest.approx(-math.log(2**-52))


@pytest.mark.parametrize(
    ("probabilities", "correct", "options", "message"),
    [
        ([0.5, 1.5], [True, True], {}, "probability 2 is 1.5"),
        ([math.nan], [True], {}, "probability 1 is nan"),
        ([0.5], [True, False], {}, "expected \\[answers\\]"),
        ([], [], {}, "no answers"),
        ([0.5], [0.3], {}, "True and False"),
        ([0.5], [True], {"bins": 0}, "0 bins"),
        ([0.5], [True], {"strategy": "equal"}, "uniform, quantile"),
    ],
)
def test_bad_answers_are_refused(probabilities, correct, options, message):
    with pytest.raises(InputError, match=message):
        reliability(probabilities, correct, **options)
