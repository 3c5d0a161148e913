"""Probabilities of paths, against the brute-force twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.structures.chain import Chain, ChainBatch, ChainPotentials
from dovetail.structures.chain import batch as chain_batch
from tests.structures.cases import ChainCase, Enumerated
from tests.structures.chain_cases import batches, random_potentials

quick = settings(max_examples=150, deadline=None)


def path_probability(twin, start, path, not_before, not_after):
    end = start + len(path)
    total = 0.0
    for labelling, p in zip(twin.keys, twin.probabilities(), strict=True):
        before_ok = start == 0 or not not_before[labelling[start - 1]]
        after_ok = end == len(labelling) or not not_after[labelling[end]]
        if labelling[start:end] == tuple(path) and before_ok and after_ok:
            total += p
    return total


@quick
@given(batches())
def test_path_probabilities(case):
    batch, rng = case
    queries, truth = [], []
    for n in np.flatnonzero(np.diff(batch.offsets)):
        twin, length = Enumerated(ChainCase(), batch, n), int(np.diff(batch.offsets)[n])
        for _ in range(4):
            start = int(rng.integers(0, length))
            path = rng.integers(0, batch.labels, rng.integers(1, length - start + 1)).tolist()
            not_before, not_after = rng.random((2, batch.labels)) < 0.3
            queries.append((n, start, path, not_before, not_after))
            truth.append(path_probability(twin, start, path, not_before, not_after))
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
    potentials = ChainPotentials.of(np.log([[1, 1], [1, 2]]), [[0, 0], [-np.inf, 0]])
    twin = Enumerated(ChainCase(), ChainBatch(potentials, [0, 2]), 0)
    assert_allclose(twin.probabilities(), [0.2, 0.4, 0.0, 0.4])
    assert_allclose(twin.marginals()[:4], [0.6, 0.4, 0.2, 0.8])
    assert_allclose(path_probability(twin, 1, [1], [True, False], [False, False]), 0.4)


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
