"""Sums over labellings that are long, extreme, or of many lengths."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dovetail.structures.chain import ChainBatch, ChainPotentials
from tests.structures.chain_cases import random_potentials


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
