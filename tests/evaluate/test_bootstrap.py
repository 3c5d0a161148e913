from __future__ import annotations

from math import erfc, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.errors import InputError
from dovetail.evaluate import Counts, bootstrap_interval, entity_counts, paired_bootstrap


def one_entity_each(right):
    """Counts of sentences with one gold and one predicted entity: F1 is then the share that is right."""
    right = np.asarray(right, dtype=int)
    return np.stack([np.ones_like(right), np.ones_like(right), right], axis=1)


def coin(rng, probability, size):
    return rng.random(size) < probability


def test_difference_of_means_matches_the_normal_law():
    rng = np.random.default_rng(1)
    baseline = coin(rng, 0.70, 900)
    system = np.where(coin(rng, 0.2, 900), coin(rng, 0.75, 900), baseline)  # alike, as taggers are
    gains = 100 * (system.astype(float) - baseline)
    mean, error = gains.mean(), gains.std() / sqrt(len(gains))
    comparison = paired_bootstrap(one_entity_each(system), one_entity_each(baseline), resamples=4000)
    assert comparison.difference == pytest.approx(mean)
    assert comparison.p_value == pytest.approx(erfc(mean / error / sqrt(2)), abs=0.02)
    assert comparison.low == pytest.approx(mean - 1.96 * error, abs=0.1 * error)
    assert comparison.high == pytest.approx(mean + 1.96 * error, abs=0.1 * error)
    assert 0.001 < comparison.p_value < 0.2  # a case in which the p-value says something


def test_equal_systems_are_called_different_as_rarely_as_promised():
    rng = np.random.default_rng(2)
    p_values = []
    for seed in range(200):
        system, baseline = (one_entity_each(coin(rng, 0.8, 120)) for _ in range(2))
        p_values.append(paired_bootstrap(system, baseline, resamples=200, seed=seed).p_value)
    assert 0.02 <= np.mean(np.array(p_values) <= 0.05) <= 0.09
    assert 0.4 <= np.mean(p_values) <= 0.6


SMALL = st.integers(0, 4)
COUNTS = st.lists(st.tuples(SMALL, SMALL, SMALL).map(lambda c: (c[0], c[1], min(c))), min_size=2, max_size=20)


@given(COUNTS)
@settings(max_examples=30)
def test_identical_systems_do_not_differ(sentences):
    comparison = paired_bootstrap(sentences, sentences, resamples=50)
    assert (comparison.difference, comparison.p_value, comparison.low, comparison.high) == (0, 1, 0, 0)


@given(COUNTS, st.data())
@settings(max_examples=30)
def test_changing_sides_changes_the_sign(sentences, data):
    other = [(g, p, data.draw(st.integers(0, min(g, p)))) for g, p, _ in sentences]
    forth = paired_bootstrap(sentences, other, resamples=50)
    back = paired_bootstrap(other, sentences, resamples=50)
    assert forth.difference == -back.difference
    assert forth.p_value == back.p_value
    assert forth.low == pytest.approx(-back.high)
    totals = (Counts(*np.sum(side, axis=0).tolist()) for side in (sentences, other))
    assert forth.difference == pytest.approx(next(totals).f1 - next(totals).f1)


def test_the_seed_decides():
    system, baseline = one_entity_each([1, 0, 1, 1] * 10), one_entity_each([0, 1, 1, 0] * 10)
    first = paired_bootstrap(system, baseline, seed=3)
    assert first == paired_bootstrap(system, baseline, seed=3)
    assert first != paired_bootstrap(system, baseline, seed=4)


def test_documents_are_drawn_whole():
    """Ten sentences that rise and fall together tell no more than one."""
    right = np.repeat(coin(np.random.default_rng(5), 0.6, 40), 10)
    documents = np.repeat(np.arange(40), 10).tolist()
    by_sentence = bootstrap_interval(one_entity_each(right))
    by_document = bootstrap_interval(one_entity_each(right), groups=documents)
    assert by_document.f1 == by_sentence.f1
    ratio = (by_document.high - by_document.low) / (by_sentence.high - by_sentence.low)
    assert ratio == pytest.approx(sqrt(10), rel=0.15)


def test_interval_covers_the_truth_as_often_as_promised():
    rng = np.random.default_rng(6)
    covered = 0
    for seed in range(200):
        interval = bootstrap_interval(one_entity_each(coin(rng, 0.7, 150)), resamples=200, confidence=0.9, seed=seed)
        covered += interval.low <= 70 <= interval.high
    assert 0.83 <= covered / 200 <= 0.96


def test_nothing_to_find_scores_zero():
    interval = bootstrap_interval([[0, 0, 0], [0, 0, 0]])
    assert (interval.f1, interval.low, interval.high) == (0, 0, 0)


def test_counts_of_entities_are_what_it_takes():
    gold = [["B-PER", "O"], ["B-LOC", "I-LOC"], ["O", "O"]]
    nothing = [["O", "O"]] * 3
    assert paired_bootstrap(entity_counts(gold, gold), entity_counts(gold, nothing)).difference == 100


@pytest.mark.parametrize(
    ("system", "baseline", "options", "message"),
    [
        ([[1, 1, 1]] * 3, [[1, 1, 1]] * 2, {}, "3 sentences of the system but 2"),
        ([[1, 1, 1], [1, 1, 1]], [[1, 1, 1], [2, 1, 1]], {}, "sentence 2: the two systems"),
        ([[1, 1, 1], [1, 0, 1]], [[1, 1, 1]] * 2, {}, "sentence 2: 1 gold, 0 predicted, 1 correct"),
        ([[1, 1, 1]], [[1, 1, 1]], {}, "at least two"),
        ([1, 1, 1], [1, 1, 1], {}, "expected \\[sentences, 3\\]"),
        ([[1, 1, 1]] * 2, [[1, 1, 1]] * 2, {"groups": ["a"]}, "1 groups for 2 sentences"),
        ([[1, 1, 1]] * 2, [[1, 1, 1]] * 2, {"groups": ["a", "a"]}, "at least two"),
        ([[1, 1, 1]] * 2, [[1, 1, 1]] * 2, {"confidence": 95}, "between 0 and 1"),
        ([[1, 1, 1]] * 2, [[1, 1, 1]] * 2, {"resamples": 0}, "0 resamples"),
    ],
)
def test_what_cannot_be_compared_is_refused(system, baseline, options, message):
    with pytest.raises(InputError, match=message):
        paired_bootstrap(system, baseline, **options)
