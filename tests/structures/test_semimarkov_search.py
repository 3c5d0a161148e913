"""Best segmentations, k-best lists, scores, indicators and samples, against the brute-force twin."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.structures.semimarkov import SemiMarkovBatch, SemiMarkovPotentials
from tests.structures.enumerate_chain import dot
from tests.structures.enumerate_semimarkov import parts
from tests.structures.semimarkov_cases import as_tuples, batches, enumerated, random_potentials, random_segments

quick = settings(max_examples=150, deadline=None)


@quick
@given(batches())
def test_best_has_the_best_score(case):
    batch, _ = case
    best = batch.best()
    scores = batch.score(best)
    for n, _, twin in enumerated(batch):
        top = twin.scores.max(initial=-np.inf)
        assert_allclose(scores[n], top, rtol=1e-12, atol=1e-12)
        assert (best.offsets[n] == best.offsets[n + 1]) == (top == -np.inf)


@pytest.mark.parametrize("transition", [None, np.zeros((3, 3))])
def test_ties_go_to_the_lowest_label_and_the_shortest_segment(transition):
    batch = SemiMarkovBatch(SemiMarkovPotentials.of(np.zeros((7, 4, 3)), transition), [0, 1, 3, 7])
    best = batch.best()
    assert not best.label.any()
    assert best.length.tolist() == [1] * 7
    found, scores = batch.kbest(2)
    assert found[0].length.tolist() == best.length.tolist()
    assert not found[0].label.any()
    assert not scores.any()


@quick
@given(batches())
def test_kbest_is_the_sorted_list_without_repeats(case):
    batch, _ = case
    k = 6
    lists, scores = batch.kbest(k)
    again = np.transpose([batch.score(segments) for segments in lists])
    for n, _, twin in enumerated(batch):
        assert_allclose(again[n], scores[n], rtol=1e-12, atol=1e-10)
        possible = np.sort(twin.scores[twin.scores > -np.inf])[::-1][:k]
        assert_allclose(scores[n, : len(possible)], possible, rtol=1e-12, atol=1e-10)
        assert (scores[n, len(possible) :] == -np.inf).all()
        found = [as_tuples(segments, batch, n) for segments in lists]
        assert len(set(found[: len(possible)])) == len(possible)
        assert not any(found[len(possible) :])
        for segmentation, score in zip(found[: len(possible)], scores[n], strict=False):
            assert_allclose(twin.scores[twin.segmentations.index(segmentation)], score, rtol=1e-12, atol=1e-10)


@quick
@given(batches(masks=(0.0,)))
def test_score_and_indicator(case):
    batch, rng = case
    segments = random_segments(rng, batch)
    scores, counts = batch.score(segments), batch.indicator(segments)
    shared = [np.zeros_like(table) for table in batch.potentials[1:]]
    for n, tokens, twin in enumerated(batch):
        truth = parts(as_tuples(segments, batch, n), twin.potentials)
        assert_allclose(scores[n], dot(truth, twin.potentials), rtol=1e-12, atol=1e-10)
        assert np.array_equal(counts.segment[tokens], truth.segment)
        shared = [total + table for total, table in zip(shared, truth[1:], strict=True)]
    assert all(np.array_equal(table, total) for table, total in zip(counts[1:], shared, strict=True))
    assert not any(part.any() for part in batch.subtract(counts, segments))


@quick
@given(batches(max_scale=100.0, masks=(0.0,)))
def test_a_cost_for_every_token_in_a_wrong_segment(case):
    batch, rng = case
    gold, other = random_segments(rng, batch), random_segments(rng, batch)
    costly = batch.with_cost(gold, 2.5)
    assert_allclose(costly.score(gold), batch.score(gold), rtol=1e-12, atol=1e-9)
    wrong = np.zeros(len(batch))
    for n in range(len(batch)):
        right = set(as_tuples(gold, batch, n))
        wrong[n] = sum(segment[1] for segment in as_tuples(other, batch, n) if segment not in right)
    assert_allclose(costly.score(other), batch.score(other) + 2.5 * wrong, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_samples_have_the_right_frequencies(order, scale):
    rng = np.random.default_rng(11)
    potentials = random_potentials(rng, 8, 3, 2, order, masked=0.05)
    if order:
        potentials.transition[0, 0] = -scale  # the larger one sends all to log space
    batch = SemiMarkovBatch(potentials, [0, 4, 8], [2, 3])
    draws = 4000
    drawn = batch.sample(draws, np.random.default_rng(5))
    for n, _, twin in enumerated(batch):
        seen = Counter(as_tuples(segments, batch, n) for segments in drawn)
        expected = draws * twin.probabilities()
        observed = np.array([seen[segmentation] for segmentation in twin.segmentations])
        assert observed.sum() == draws
        assert not observed[expected == 0].any()
        common = expected > 5
        chi_square = ((observed - expected)[common] ** 2 / expected[common]).sum()
        # Mean is the degrees of freedom d, variance 2 d: five deviations off would be a bug.
        assert chi_square < common.sum() + 5 * np.sqrt(2 * common.sum())


def test_samples_are_reproducible_and_refuse_the_impossible():
    rng = np.random.default_rng(0)
    potentials = random_potentials(rng, 9, 3, 2, 1)
    batch = SemiMarkovBatch(potentials, [0, 4, 4, 9])
    again = [batch.sample(3, np.random.default_rng(1)) for _ in range(2)]
    for a, b in zip(*again, strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))
    potentials.segment[4:] = -np.inf
    with pytest.raises(InputError, match="sentence 2: every segmentation is forbidden"):
        SemiMarkovBatch(potentials, [0, 4, 4, 9]).sample(1, rng)
