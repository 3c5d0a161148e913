"""Samples and probabilities of paths, against the brute-force twin."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.structures.chain import Chain, ChainBatch, ChainPotentials
from dovetail.structures.chain import batch as chain_batch
from tests.structures.chain_cases import batches, enumerated, random_potentials
from tests.structures.enumerate_chain import EnumeratedChain

quick = settings(max_examples=150, deadline=None)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_samples_have_the_right_frequencies(order, scale):
    rng = np.random.default_rng(11)
    potentials = random_potentials(rng, 8, 3, order, masked=0.1, edges=True)
    # The shift by token changes no probability, but sends large scales to log space.
    potentials.transition[0, 0] = -scale
    batch = ChainBatch(potentials, [0, 4, 8], order)
    draws = 4000
    labels = batch.sample(draws, np.random.default_rng(5))
    for _, tokens, twin in enumerated(batch):
        seen = Counter(tuple(row) for row in labels[:, tokens].tolist())
        expected = draws * twin.probabilities()
        observed = np.array([seen[labelling] for labelling in twin.labellings])
        assert not observed[expected == 0].any()
        common = expected > 5
        chi_square = ((observed - expected)[common] ** 2 / expected[common]).sum()
        # Mean is the degrees of freedom d, variance 2 d: five deviations off would be a bug.
        assert chi_square < common.sum() + 5 * np.sqrt(2 * common.sum())


def test_samples_are_reproducible_and_refuse_the_impossible():
    rng = np.random.default_rng(3)
    batch = ChainBatch(random_potentials(rng, 5, 2, 1), [0, 2, 2, 5])
    once, again = (batch.sample(3, np.random.default_rng(1)) for _ in range(2))
    assert np.array_equal(once, again)
    forbidden = np.ones((5, 2), bool)
    forbidden[3] = False
    with pytest.raises(InputError, match="sentence 2: every labelling is forbidden"):
        batch.restrict(forbidden).sample(1, rng)


@quick
@given(batches())
def test_path_probabilities(case):
    batch, rng = case
    queries, truth = [], []
    for n, tokens, twin in enumerated(batch):
        length = tokens.stop - tokens.start
        for _ in range(4):
            start = int(rng.integers(0, length))
            path = rng.integers(0, batch.labels, rng.integers(1, length - start + 1)).tolist()
            not_before, not_after = rng.random((2, batch.labels)) < 0.3
            queries.append((n, start, path, not_before, not_after))
            truth.append(twin.path_probability(start, path, not_before, not_after))
    if queries:
        # The order of the queries is free.
        shuffled = rng.permutation(len(queries))
        sentence, start, paths, not_before, not_after = zip(*(queries[q] for q in shuffled), strict=True)
        found = batch.path_probabilities(sentence, start, paths, not_before, not_after)
        assert_allclose(found, np.array(truth)[shuffled], rtol=1e-9, atol=1e-12)


def test_path_probability_of_a_whole_chain_is_that_of_its_labels():
    rng = np.random.default_rng(2)
    potentials = random_potentials(rng, 6, 3, 2, edges=True)
    chain = Chain(*potentials, order=2)
    labels = [0, 2, 1, 1, 0, 2]
    assert_allclose(np.log(chain.path_probability(0, labels)), chain.score(labels) - chain.log_partition())
    # A path of one label is a marginal, and what may follow it adds up.
    assert_allclose(chain.path_probability(3, [1]), chain.marginals().unary[3, 1])
    followed = [chain.path_probability(3, [1], not_after={0, 1, 2} - {c}) for c in range(3)]
    assert_allclose(sum(followed), chain.marginals().unary[3, 1])


def test_paths_must_lie_in_their_sentence():
    batch = ChainBatch(ChainPotentials.of(np.zeros((5, 2)), np.zeros((2, 2))), [0, 2, 5])
    for start, path in ((1, [0, 0]), (0, []), (-1, [0])):
        with pytest.raises(InputError, match="lie within its sentence"):
            batch.path_probabilities([0], [start], [path])
    with pytest.raises(InputError, match="labels must be from 0 to 1"):
        batch.path_probabilities([1], [0], [[2]])
    assert batch.path_probabilities([], [], []).shape == (0,)


def test_the_twin_itself_on_a_case_done_by_hand():
    # Two tokens, two labels, one transition forbidden: labellings 00, 01, 11 weigh 1, 2, 2.
    twin = EnumeratedChain(ChainPotentials.of(np.log([[1, 1], [1, 2]]), [[0, 0], [-np.inf, 0]]), 1)
    assert_allclose(twin.probabilities(), [0.2, 0.4, 0.0, 0.4])
    assert_allclose(twin.marginals().unary, [[0.6, 0.4], [0.2, 0.8]])
    assert_allclose(twin.path_probability(1, [1], [True, False], [False, False]), 0.4)


@pytest.mark.parametrize("order", [1, 2])
def test_small_batches_answer_the_same_in_log_space(order, monkeypatch):
    rng = np.random.default_rng(7)
    batch = ChainBatch(random_potentials(rng, 9, 3, order, masked=0.1, edges=True), [0, 4, 4, 9], order)
    answers = []
    for small in (0, 500):
        monkeypatch.setattr(chain_batch, "SMALL_TOKENS", small)
        probability = batch.path_probabilities([0, 2, 2], [1, 0, 3], [[0, 1], [2], [1, 1]])
        answers.append((probability, batch.entropy(), batch.sample(5, np.random.default_rng(1))))
    for fast, slow in zip(*answers, strict=True):
        assert_allclose(fast, slow, rtol=1e-9)
