"""Pools of scorers: their potentials, and slopes against finite differences, for every structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail.learning.losses import LOSSES
from dovetail.learning.objective import Objective
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.priors import Prior
from dovetail.scorers.pooled import PooledScorer, pooled
from dovetail.structures.contract import tables
from tests.models.test_training import objective_of
from tests.scorers.slopes import check_slope

KINDS = ["tagger", "order-2", "markov", "segments", "words", "nested", "dependency", "labelled"]
MIXING = np.array([0.7, 0.4])


def pair(kind: str) -> tuple[Objective, list[Any]]:
    """The objective of one model, and two scorers like its own."""
    first, second = objective_of(kind), objective_of(kind)
    return first, [first.scorer, second.scorer]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["weights", "mixing", "both"])
def test_the_gradient_is_that_of_the_pool(kind: str, what: str) -> None:
    objective, experts = pair(kind)
    rng = np.random.default_rng(3)
    weights = [rng.normal(size=e.parameters) * 0.3 for e in experts]
    fixed = weights if what == "mixing" else None
    scorer = PooledScorer(experts, MIXING, fixed, mixes=what != "weights")
    check_slope(Objective(scorer, objective.gold, objective.loss), size=0.3)
    start = scorer.start(weights)
    assert len(start) == scorer.parameters
    np.testing.assert_array_equal(scorer.mixing_of(start), MIXING)


@pytest.mark.parametrize("kind", [*KINDS, "parser"])
def test_a_pool_of_linear_experts_is_the_model_of_the_weighted_sum(kind: str) -> None:
    objective, experts = pair(kind)
    rng = np.random.default_rng(3)
    weights = [rng.normal(size=e.parameters) for e in experts]
    pool = Objective(PooledScorer(experts, MIXING), objective.gold, LOSSES["likelihood"])
    value, gradient = pool(np.concatenate(weights))
    single, slope = objective(MIXING @ np.array(weights))
    assert value == pytest.approx(single)
    np.testing.assert_allclose(gradient.reshape(2, -1), np.outer(MIXING, slope), atol=1e-8)


def test_what_one_forbids_all_forbid() -> None:
    tables_ = [np.array([1.0, -np.inf, 2.0]), np.array([1.0, 0.0, -np.inf])]
    for mixing in ([0.5, 0.5], [0.0, 1.0], [-1.0, 2.0]):
        found = pooled(tables_, np.array(mixing))
        assert found.tolist() == [1.0, -np.inf, -np.inf]


def test_mixing_weights_are_learnt_by_likelihood() -> None:
    """An expert that knows the answers and one that knows nothing: the first has the weight."""
    objective, experts = pair("tagger")
    good = LBFGS(limit=20).minimise(objective, Prior(0.1), np.zeros(objective.parameters))
    scorer = PooledScorer(experts, None, [good, np.random.default_rng(0).normal(size=len(good))], mixes=True)
    pool = Objective(scorer, objective.gold, objective.loss)
    mixing = LBFGS().minimise(pool, Prior(0.01), scorer.start())
    assert mixing[0] > 0.8
    assert mixing[0] > 2 * mixing[1]
    assert pool(mixing)[0] < pool(scorer.start())[0]


def test_experts_must_be_of_the_same_sentences_and_different_objects() -> None:
    _, experts = pair("tagger")
    with pytest.raises(ValueError, match="different objects"):
        PooledScorer([experts[0], experts[0]])
    with pytest.raises(ValueError, match="same sentences"):
        PooledScorer([experts[0], objective_of("words").scorer])
    with pytest.raises(ValueError, match="needs experts"):
        PooledScorer([])
    assert len(tables(experts[0].batch(np.zeros(experts[0].parameters)).potentials)) == 5
