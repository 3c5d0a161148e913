"""Proximal steps of groups against the conditions of their optimum, with equal steps and with one for every weight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dovetail.errors import InputError
from dovetail.learning.optimisers.adam import Adam
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.optimisers.online import SGD, AdaGrad
from dovetail.learning.pools import Copies
from dovetail.learning.priors import Elitist, GroupLasso, Prior
from tests.learning.test_optimisers import LogisticRegression, Whole, problem  # noqa: F401
from tests.scorers.slopes import check_slope

GROUP = np.array([0, 0, 1, 1, 1, -1, 2, 2])


def stationarity(prior: Prior, weight: np.ndarray, step: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return how far each weight of v is from where the proximal objective is least: [parameters], all zero there.

    The objective, ``sum of (v - weight)**2 / (2 step) + penalty(v)``, is strictly convex, so v is its minimum if and
    only if zero is a subgradient. The subgradient of ``abs(v)`` at zero is any number from -1 to 1, and that of the
    Euclidean norm at zero any vector of norm at most one. The check is exact: no solver stops early on some machine.
    """
    pull = (weight - v) / step - 2 * prior.l2 * v  # what the penalties that are not smooth have to balance
    edge = np.full(len(v), prior.l1)
    if isinstance(prior, Elitist):
        edge += np.tile(2 * prior.elitist * np.abs(v).reshape(prior.copies, -1).sum(axis=0), prior.copies)
    left = np.where(v != 0, pull - edge * np.sign(v), np.sign(pull) * np.maximum(np.abs(pull) - edge, 0))
    if isinstance(prior, GroupLasso):
        for g, amount in enumerate(prior.amount):
            own = prior.group == g
            norm, rest = np.linalg.norm(v[own]), np.linalg.norm(left[own])
            left[own] *= 1 - min(amount / rest, 1) if norm == 0 and rest > 0 else 1
            left[own] -= amount * v[own] / norm if norm > 0 else 0
    return left


PRIORS = [
    GroupLasso(group=GROUP, amount=np.array([0.5, 1.5, 40.0])),
    GroupLasso(l2=0.3, l1=0.2, group=GROUP, amount=np.array([0.5, 1.5, 40.0])),
    Elitist(elitist=0.2, copies=4),
    Elitist(elitist=3.0, copies=2),
    Elitist(l2=0.3, l1=0.1, elitist=0.7, copies=2),
]


@pytest.mark.parametrize("prior", PRIORS, ids=["group", "group elastic", "elitist", "strict", "elitist elastic"])
@pytest.mark.parametrize("equal", [True, False], ids=["one step", "steps"])
def test_proximal_steps_are_where_the_objective_is_least(prior: Prior, equal: bool) -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        weight = rng.normal(size=8) * 2
        step = np.full(8, 0.7) if equal else rng.uniform(0.05, 2.0, 8)
        found = prior.proximal(weight.copy(), 0.7 if equal else step)
        np.testing.assert_allclose(stationarity(prior, weight, step, found), 0.0, atol=1e-9)
        assert np.abs(stationarity(prior, weight, step, found * 1.001)).max() > 1e-4


def test_some_of_the_groups_alone() -> None:
    weight, step = np.random.default_rng(0).normal(size=8), np.linspace(0.1, 1, 8)
    group, elitist = PRIORS[1], PRIORS[4]
    some = np.array([2, 3, 4, 5])
    assert np.array_equal(group.proximal(weight[some], step[some], some), group.proximal(weight, step)[some])
    some = np.array([1, 3, 5, 7])  # two weights, of the first copy and of the second
    assert np.array_equal(elitist.proximal(weight[some], step[some], some), elitist.proximal(weight, step)[some])


def test_a_weight_without_a_step_stays() -> None:
    found = Elitist(elitist=1.0, copies=3).proximal(np.array([0.5, 2.0, 3.0]), np.array([1.0, 0.0, 1.0]))
    # the second stays 2, so S >= 2 and the first is gone; S = (2 + 3) / (1 + 2)
    np.testing.assert_allclose(found, [0.0, 2.0, 0.0])
    assert not np.any(
        np.isnan(GroupLasso(group=np.zeros(2, int), amount=np.ones(1)).proximal(np.zeros(2), np.zeros(2)))
    )


def test_the_approximate_step_takes_all_for_rivals() -> None:
    weight = np.array([3.0, 1.0, 0.1])
    exact, rough = (Elitist(elitist=0.25, copies=3, exact=e).proximal(weight.copy(), 1.0) for e in (True, False))
    threshold = 0.5 * 4.1 / (1 + 3 * 0.5)
    np.testing.assert_allclose(rough, np.maximum(weight - threshold, 0))
    assert exact[0] < rough[0]
    level = np.array([3.0, 2.9, 3.1])  # where all stay, there is no difference
    both = [Elitist(elitist=0.25, copies=3, exact=e).proximal(level.copy(), 1.0) for e in (True, False)]
    np.testing.assert_allclose(*both)


def test_one_copy_is_l2_and_groups_of_one_are_l1() -> None:
    weight, step = np.random.default_rng(0).normal(size=8), np.linspace(0.1, 1, 8)
    pairs = [
        (Elitist(elitist=0.7), Prior(l2=0.7)),
        (GroupLasso(group=np.arange(8), amount=np.full(8, 0.4)), Prior(l1=0.4)),
    ]
    for grouped, plain in pairs:
        assert grouped.value(weight) == pytest.approx(plain.value(weight))
        np.testing.assert_allclose(
            grouped.proximal(weight.copy(), step), plain.proximal(weight.copy(), step), atol=1e-9
        )


def test_merged_twins_cost_what_they_cost_apart() -> None:
    """m equal columns with the same sums as one column of value sqrt(m): the best split has its penalty."""
    rng = np.random.default_rng(2)
    sums, m = rng.normal(size=3), 4  # of three copies

    prior = Elitist(elitist=0.6, copies=3)
    best = prior.value(np.repeat(sums / m, m))
    assert best == pytest.approx(prior.value(sums / np.sqrt(m)))
    for _ in range(1000):
        theta = rng.normal(size=(3, m)) * rng.choice([0.0, 0.01, 1.0])
        split = theta + ((sums - theta.sum(axis=1)) / m)[:, None]
        np.testing.assert_allclose(split.sum(axis=1), sums)
        assert prior.value(split.ravel()) >= best * (1 - 1e-12)
    even = np.full(m, sums[0] / m)
    one = np.array([sums[0] / np.sqrt(m)])
    lasso = [GroupLasso(group=np.zeros(n, np.int64), amount=np.ones(1)) for n in (m, 1)]
    assert lasso[0].value(even) == pytest.approx(lasso[1].value(one))


def reached(problem: LogisticRegression, prior: Prior) -> float:  # noqa: F811
    """The least objective, by many exact proximal steps over all items."""
    weight, step = np.zeros(problem.parameters), 0.02
    for _ in range(800):
        weight = prior.proximal(weight - step * problem(weight)[1], step)
    return problem(weight)[0] + prior.value(weight)


@pytest.mark.parametrize("which", ["group", "elitist"])
@pytest.mark.parametrize(
    "optimiser", [SGD(limit=400, batch=4, gain=0.1), AdaGrad(limit=400, batch=4, gain=0.3)], ids=["SGD", "AdaGrad"]
)
def test_online_optimisers_reach_the_optimum(problem: LogisticRegression, optimiser: SGD, which: str) -> None:  # noqa: F811
    group = GroupLasso(l2=0.05, group=np.arange(12) // 3, amount=np.array([2.0, 8.0, 30.0, 4.0]))
    prior = group if which == "group" else Elitist(elitist=0.4, copies=4)
    if which == "elitist":  # members of a group are used together
        values = np.random.default_rng(4).normal(size=problem.x.shape)
        problem = replace(problem, x=np.where(np.tile(problem.x[:, :3] != 0, 4), values, 0.0))
    weight = optimiser.minimise(problem, prior, np.zeros(12))
    best = reached(problem, prior)
    assert best - 1e-6 <= problem(weight)[0] + prior.value(weight) <= best * 1.002
    if which == "group":
        assert not weight[6:9].any()
        assert weight[:3].any()


@pytest.mark.parametrize("optimiser", [AdaGrad(limit=400, gain=0.3), Adam(limit=400, batch=20, gain=0.05)])
def test_groups_of_all_weights_at_once(problem: LogisticRegression, optimiser: SGD) -> None:  # noqa: F811
    """Where a scorer lists all weights, the quick steps of L2 are not for groups."""
    prior = Elitist(elitist=0.4, copies=4)
    weight = optimiser.minimise(Whole(problem.x, problem.y), prior, np.zeros(12))
    best = reached(problem, prior)
    assert best - 1e-6 <= problem(weight)[0] + prior.value(weight) <= best * 1.002


def test_batch_optimisers_refuse_groups(problem: LogisticRegression) -> None:  # noqa: F811
    with pytest.raises(InputError, match=r"L-BFGS needs Elitist\.gradient.*SGD, AdaGrad or Adam"):
        LBFGS().minimise(problem, Elitist(elitist=1.0, copies=3), np.zeros(12))


@pytest.mark.parametrize("alone", [0.0, 0.5])
def test_copies_have_the_slope_of_their_loss(problem: LogisticRegression, alone: float) -> None:  # noqa: F811
    check_slope(Copies(problem, np.array([0.5, 0.2, 0.3]), alone))


def test_an_elitist_pool_at_its_optimum_is_one_model_under_l2(problem: LogisticRegression) -> None:  # noqa: F811
    """The likelihood sees only the sum; of all experts with one sum the penalty is least where they agree in sign."""
    copies, elitist = 3, 0.2
    pool = Copies(problem, np.full(copies, 1 / copies))
    prior = Elitist(elitist=elitist, copies=copies)
    single = LBFGS(limit=500, tolerance=1e-13).minimise(problem, Prior(l2=elitist * copies**2), np.zeros(12))
    theta = np.outer(copies * np.random.default_rng(0).dirichlet(np.ones(copies)), single).ravel()
    np.testing.assert_allclose(pool.pool(theta), single)
    value, gradient = pool(theta)
    steep = 2 * elitist * np.tile(np.abs(theta).reshape(copies, -1).sum(axis=0), copies)
    np.testing.assert_allclose(gradient + steep * np.sign(theta), 0.0, atol=1e-6)  # convex: so this is the optimum
    assert value == pytest.approx(problem(single)[0])
    assert prior.value(theta) == pytest.approx(elitist * copies**2 * float(single @ single))
