"""Sums over labellings: log Z, marginals, entropy and derivatives, against the brute-force twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from dovetail.structures.chain import ChainBatch, ChainPotentials
from tests.structures.chain_cases import batches, enumerated, random_direction, random_potentials, sentence

quick = settings(max_examples=150, deadline=None)


def assert_counts_equal(batch, counts, counts_of, tolerance):
    """Counts of a batch against those of its sentences one by one, the shared tables summed."""
    shared = [np.zeros_like(table) for table in batch.potentials[1:4]]
    for _, tokens, twin in enumerated(batch):
        truth = counts_of(twin, tokens)
        own = sentence(counts, tokens)
        assert_allclose(own.unary, truth.unary, rtol=tolerance, atol=tolerance)
        assert_allclose(own.edge, truth.edge, rtol=tolerance, atol=tolerance)
        shared = [total + table for total, table in zip(shared, truth[1:4], strict=True)]
    for table, total in zip(counts[1:4], shared, strict=True):
        assert_allclose(table, total, rtol=tolerance, atol=tolerance)


@quick
@given(batches())
def test_log_partition_and_marginals(case):
    batch, _ = case
    log_z, marginals = batch.log_partition_and_marginals()
    assert not any(np.isnan(part).any() for part in marginals)
    assert_allclose(batch.log_partition(), log_z, rtol=1e-15)
    for n, _, twin in enumerated(batch):
        assert_allclose(log_z[n], twin.log_partition(), rtol=1e-12, atol=1e-12)
    assert_counts_equal(batch, marginals, lambda twin, _: twin.marginals(), 1e-10)
    assert (log_z[np.diff(batch.offsets) == 0] == 0.0).all()


@quick
@given(batches(max_scale=5.0))
def test_marginals_in_place_are_the_same_bits(case):
    batch, _ = case
    log_z, marginals = batch.log_partition_and_marginals()
    copy = ChainBatch(ChainPotentials(*(part.copy() for part in batch.potentials)), batch.offsets, batch.order)
    log_z_again, again = copy.log_partition_and_marginals(in_place=True)
    assert again.unary is copy.potentials.unary
    assert np.array_equal(log_z, log_z_again)
    assert all(np.array_equal(a, b) for a, b in zip(marginals, again, strict=True))


@quick
@given(batches())
def test_entropy(case):
    batch, _ = case
    entropy = batch.entropy()
    for n, _, twin in enumerated(batch):
        assert_allclose(entropy[n], twin.entropy(), rtol=1e-9, atol=1e-9)


@quick
@given(batches())
def test_jvp_is_a_covariance(case):
    batch, rng = case
    direction = random_direction(rng, batch.potentials)
    change = batch.jvp(direction)
    assert_counts_equal(batch, change, lambda twin, tokens: twin.covariance(sentence(direction, tokens)), 1e-8)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("edges", [False, True])
def test_derivatives_by_finite_differences(order, edges):
    rng = np.random.default_rng(order + 2 * edges)
    potentials = random_potentials(rng, 9, 3, order, edges=edges)
    direction = random_direction(rng, potentials)
    offsets = [0, 4, 5, 9]

    def moved(step):
        parts = (part + step * change for part, change in zip(potentials, direction, strict=True))
        return ChainBatch(ChainPotentials(*parts), offsets, order)

    step = 1e-5
    batch = ChainBatch(potentials, offsets, order)
    slope = (moved(step).log_partition() - moved(-step).log_partition()).sum() / (2 * step)
    inner = sum((a * b).sum() for a, b in zip(batch.marginals(), direction, strict=True))
    assert_allclose(slope, inner, rtol=1e-8)
    ahead, behind = moved(step).marginals(), moved(-step).marginals()
    for change, a, b in zip(batch.jvp(direction), ahead, behind, strict=True):
        assert_allclose(change, (a - b) / (2 * step), rtol=1e-6, atol=1e-8)


@quick
@given(batches(max_scale=100.0))
def test_partly_observed_labels(case):
    batch, rng = case
    allowed = rng.random(batch.potentials.unary.shape) < 0.7
    restricted = batch.restrict(allowed)
    log_z, marginals = restricted.log_partition_and_marginals()
    assert not marginals.unary[~allowed].any()
    for n, tokens, twin in enumerated(batch):
        chosen = np.array([all(allowed[tokens][t, y] for t, y in enumerate(labels)) for labels in twin.labellings])
        expected = np.logaddexp.reduce(twin.scores[chosen], initial=-np.inf)
        assert_allclose(log_z[n], expected, rtol=1e-12, atol=1e-12)


def test_potentials_that_lose_a_path_to_underflow_are_summed_in_log_space():
    # Label 1 is worse than 0 by 800 at the first token, better by as much at the next two, and there is no
    # way from 0 to 1, so both paths weigh the same. Probabilities would have lost one without a trace.
    unary = [[0.0, -800.0], [-400.0, 0.0], [-400.0, 0.0]]
    batch = ChainBatch(ChainPotentials.of(unary, [[0.0, -np.inf], [-np.inf, 0.0]]), [0, 3])
    log_z, marginals = batch.log_partition_and_marginals()
    assert_allclose(log_z, [np.log(2) - 800])
    assert_allclose(marginals.unary, np.full((3, 2), 0.5))


def test_a_long_sentence_neither_underflows_nor_drifts():
    rng = np.random.default_rng(7)
    potentials = random_potentials(rng, 20_000, 3, 1, scale=3.0)
    batch = ChainBatch(potentials, [0, 20_000])
    log_z, marginals = batch.log_partition_and_marginals()
    forward = potentials.start + potentials.unary[0]
    for row in potentials.unary[1:]:
        forward = np.logaddexp.reduce(forward[:, None] + potentials.transition, axis=0) + row
    assert_allclose(log_z[0], np.logaddexp.reduce(forward + potentials.end), rtol=1e-12)
    assert_allclose(marginals.unary.sum(1), 1.0, rtol=1e-9)
    assert_allclose(marginals.transition.sum(), 19_999, rtol=1e-9)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("edges", [False, True])
def test_log_space_agrees_with_probabilities_on_a_batch_of_many_lengths(order, edges):
    rng = np.random.default_rng(8)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 40, 200))])
    potentials = random_potentials(rng, int(offsets[-1]), 4, order, scale=2.0, masked=0.05 * (not edges), edges=edges)

    def batch_with(value):
        transition = potentials.transition.copy()
        transition[0, 0] = value
        return ChainBatch(potentials._replace(transition=transition), offsets, order)

    # One transition that is all but forbidden sends every sentence to log space.
    forbidden, all_but = batch_with(-np.inf), batch_with(-1e4)
    assert forbidden._weights.safe
    assert not all_but._weights.safe
    log_z, marginals = forbidden.log_partition_and_marginals()
    log_z_again, again = all_but.log_partition_and_marginals()
    assert_allclose(log_z, log_z_again, rtol=1e-12)
    for a, b in zip(marginals, again, strict=True):
        assert_allclose(a, b, rtol=1e-9, atol=1e-11)
