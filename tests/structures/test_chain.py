"""The faces of a chain: threads, shapes, complaints, and the single sequence."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.structures.chain import Chain, ChainBatch, ChainPotentials
from dovetail.threads import run_shards
from tests.structures.chain_cases import random_potentials


def test_shards_keep_every_sentence_once_and_in_order():
    rng = np.random.default_rng(0)
    for lengths in (
        [],
        [0],
        [0, 0, 0],
        [5000],
        [1] * 5000,
        rng.integers(0, 3000, 50).tolist(),
        [4000, 0, 0, 1, 0],
    ):
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(int)
        batch = ChainBatch(ChainPotentials.of(np.zeros((offsets[-1], 1)), [[0.0]]), offsets)
        covered = [n for low, high in batch._shards for n in range(low, high)]
        assert covered == list(range(len(lengths)))
        assert_allclose(batch.log_partition(), np.zeros(len(lengths)), atol=1e-9)


def test_results_come_in_order_and_errors_come_through():
    assert run_shards(lambda n: n * n, list(range(50)), threads=3) == [n * n for n in range(50)]
    assert run_shards(len, [], threads=2) == []
    with pytest.raises(ZeroDivisionError):
        run_shards(lambda n: 1 // n, [1, 0, 2], threads=2)


def test_one_sequence():
    rng = np.random.default_rng(9)
    potentials = random_potentials(rng, 5, 3, 1)
    potentials.transition[1, 2] = -np.inf
    chain, batch = Chain(*potentials), ChainBatch(potentials, [0, 5])
    assert chain.log_partition() == batch.log_partition()[0]
    assert chain.best().tolist() == batch.best().tolist()
    best, log_probability = chain.kbest(1)[0]
    assert best.tolist() == chain.best().tolist()
    assert_allclose(log_probability, chain.score(best) - chain.log_partition())
    everything = chain.kbest(3**5 + 10)
    assert_allclose(sum(np.exp(log_p) for _, log_p in everything), 1.0)
    assert_allclose(-sum(np.exp(log_p) * log_p for _, log_p in everything), chain.entropy())
    assert chain.sample(4, rng).shape == (4, 5)
    zero = ChainPotentials(*(np.zeros_like(part) for part in potentials))
    assert not any(part.any() for part in chain.jvp(zero))


def test_an_empty_sequence_has_one_labelling():
    chain = Chain(unary=np.zeros((0, 2)), transition=np.zeros((2, 2)))
    assert chain.log_partition() == 0.0
    assert chain.entropy() == 0.0
    assert chain.best().size == 0
    assert [(labels.size, log_p) for labels, log_p in chain.kbest(2)] == [(0, 0.0)]
    assert chain.marginals().unary.shape == (0, 2)


def test_arrays_of_other_types_and_orders_are_taken():
    unary = np.asfortranarray(np.arange(6).reshape(3, 2))
    chain = Chain(unary, np.zeros((2, 2), np.float32))
    assert_allclose(chain.marginals().unary[:, 1], 1 / (1 + np.exp(-1)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unary": np.zeros(3)}, r"unary has shape \(3,\)"),
        ({"transition": np.zeros((3, 2))}, r"transition has shape \(3, 2\), expected \(2, 2\)"),
        ({"start": np.zeros(3)}, "start has shape"),
        ({"edge": np.zeros((2, 2, 2))}, r"edge has shape \(2, 2, 2\), expected \(4, 2, 2\)"),
        ({"unary": np.full((4, 2), np.nan)}, "unary holds NaN"),
        ({"transition": [[0, np.inf], [-np.inf, 0]]}, "transition holds NaN or plus infinity"),
        ({"order": 3}, "order is 3"),
        ({"order": 2}, r"transition has shape \(2, 2\), expected \(6, 2\)"),
    ],
)
def test_what_is_wrong_is_said(change, message):
    with pytest.raises(InputError, match=message):
        Chain(**{"unary": np.zeros((4, 2)), "transition": np.zeros((2, 2)), **change})


def test_wrong_offsets_labels_and_directions_are_refused():
    potentials = ChainPotentials.of(np.zeros((4, 2)), np.zeros((2, 2)))
    for offsets in ([0, 3], [1, 4], [0, 3, 2, 4], []):
        with pytest.raises(InputError, match="offsets must rise from 0 to the number of tokens, 4"):
            ChainBatch(potentials, offsets)
    batch = ChainBatch(potentials, [0, 4])
    with pytest.raises(InputError, match="labels must be from 0 to 1"):
        batch.score([0, 1, 2, 0])
    with pytest.raises(InputError, match=r"labels have shape \(3,\)"):
        batch.indicator([0, 1, 1])
    with pytest.raises(InputError, match="the shapes of the potentials"):
        batch.jvp(ChainPotentials.of(np.zeros((3, 2)), np.zeros((2, 2))))
    with pytest.raises(InputError, match="must be finite"):
        batch.jvp(ChainPotentials.of(np.full((4, 2), -np.inf), np.zeros((2, 2))))
    with pytest.raises(InputError, match="allowed has shape"):
        batch.restrict(np.ones((3, 2), bool))


def test_ties_go_to_the_lowest_label():
    batch = ChainBatch(ChainPotentials.of(np.zeros((7, 3)), np.zeros((3, 3))), [0, 1, 3, 7])
    assert not batch.best().any()
    labels, scores = batch.kbest(2)
    assert not labels[0].any()
    assert not scores.any()
