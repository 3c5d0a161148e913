"""A hidden layer is what a network of dense matrices says, in bits that threads do not change."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.scorers.hidden import ACTIVATIONS, BLOCK, HiddenScorer, lowered, raised
from dovetail.scorers.linear import LinearScorer
from tests.features.test_merge import matrix
from tests.scorers.test_linear import OUTPUTS, corpus

UNITS = 4
FUNCTIONS = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0), "linear": lambda x: x}


def scorer_of(activation: str = "tanh", linear: bool = True, threads: int = 1, sentences: int = 20) -> HiddenScorer:
    merged, outputs = corpus(sentences)
    straight = LinearScorer.observed(merged, outputs, OUTPUTS, threads) if linear else None
    return HiddenScorer(straight, LinearScorer.observed(merged, None, UNITS, threads), OUTPUTS, activation)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("linear", [False, True])
def test_forward_is_a_network_of_dense_matrices(activation: str, linear: bool) -> None:
    scorer = scorer_of(activation, linear)
    weight = np.random.default_rng(1).normal(size=scorer.parameters)
    first, second, _ = scorer.cuts
    features = matrix(scorer.inner.design)
    inner = (weight[first:second] * scorer.inner.scale).reshape(-1, UNITS)
    out = weight[second:].reshape(UNITS + 1, OUTPUTS)
    expected = FUNCTIONS[activation](features @ inner) @ out[:-1] + out[-1]
    if scorer.linear is not None:
        expected += scorer.linear.forward(weight[:first])
    np.testing.assert_allclose(scorer.forward(weight), expected, atol=1e-10)
    tokens = np.array([3, 0, 7])
    np.testing.assert_allclose(scorer.forward_some(tokens, 0, weight), expected[tokens], atol=1e-10)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("linear", [False, True])
def test_backward_is_the_slope(activation: str, linear: bool) -> None:
    scorer, rng = scorer_of(activation, linear), np.random.default_rng(2)
    weight = rng.normal(size=scorer.parameters)
    along = rng.normal(size=(scorer.inner.design.tokens, OUTPUTS))
    scorer.forward(weight)
    gradient = np.empty(scorer.parameters)
    scorer.backward(along.copy(), gradient)
    for _ in range(3):
        step = rng.normal(size=scorer.parameters) * 1e-6
        ahead = (scorer.forward(weight + step) * along).sum()
        behind = (scorer.forward(weight - step) * along).sum()
        assert (ahead - behind) / 2 == pytest.approx(float(gradient @ step), rel=1e-4, abs=1e-9)
    base = 5
    whole, some = np.concatenate([np.zeros(base), weight]), np.zeros(base + scorer.parameters)
    for tokens in np.array_split(rng.permutation(len(along)), 3):
        scorer.forward_some(tokens, base, whole)
        scorer.backward_some(tokens, base, along[tokens], some)
    np.testing.assert_allclose(some[base:], gradient, atol=1e-8)
    assert not some[:base].any()


def test_any_number_of_threads_gives_the_same_bits() -> None:
    found = []
    for threads in (1, 3):
        scorer = scorer_of(threads=threads, sentences=300)
        weight = np.random.default_rng(2).normal(size=scorer.parameters)
        scores, gradient = scorer.forward(weight).copy(), np.empty(scorer.parameters)
        scorer.backward(scores.copy(), gradient)
        found.append((scores.tobytes(), gradient.tobytes()))
    assert found[0] == found[1]


def test_pieces_change_no_sum() -> None:
    rng = np.random.default_rng(3)
    sums, out, along = rng.normal(size=(2 * BLOCK + 7, 3)), rng.normal(size=(4, 2)), rng.normal(size=(2 * BLOCK + 7, 2))
    scores, hidden = np.zeros_like(along), sums.copy()
    raised(hidden, out, scores, "tanh", threads=2)
    np.testing.assert_allclose(scores, np.tanh(sums) @ out[:-1] + out[-1])
    total = lowered(hidden, out, along, "tanh", threads=2)
    np.testing.assert_allclose(total[:-1], np.tanh(sums).T @ along)
    np.testing.assert_allclose(total[-1], along.sum(axis=0))
    np.testing.assert_allclose(hidden, along @ out[:-1].T * (1 - np.tanh(sums) ** 2))
