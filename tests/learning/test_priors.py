"""Proximal steps of groups against a convex solver, with equal steps and with a step for every weight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.optimisers.online import SGD, AdaGrad
from dovetail.learning.pools import Copies
from dovetail.learning.priors import Elitist, GroupLasso, Prior
from tests.learning.test_optimisers import LogisticRegression, problem  # noqa: F401
from tests.scorers.slopes import check_slope

GROUP = np.array([0, 0, 1, 1, 1, -1, 2, 2])


def solved(prior: Prior, weight: np.ndarray, step: np.ndarray) -> np.ndarray:
    """The proximal step by a general solver, on the split v = a - b with a, b >= 0, where absolute values are smooth.

    A norm is rounded off at zero by 1e-9.
    """
    n = len(weight)

    def cost(z: np.ndarray) -> tuple[float, np.ndarray]:
        v, size = z[:n] - z[n:], z[:n] + z[n:]
        value = float(np.sum((v - weight) ** 2 / (2 * step) + prior.l2 * v**2 + prior.l1 * size))
        slope = (v - weight) / step + 2 * prior.l2 * v
        steep = np.full(n, prior.l1)
        if isinstance(prior, GroupLasso):
            for g, amount in enumerate(prior.amount):
                own = prior.group == g
                norm = np.sqrt(v[own] @ v[own] + 1e-18)
                value += amount * norm
                slope[own] += amount * v[own] / norm
        if isinstance(prior, Elitist):
            total = size.reshape(prior.copies, -1).sum(axis=0)
            value += prior.elitist * float(total @ total)
            steep += np.tile(2 * prior.elitist * total, prior.copies)
        return value, np.concatenate([slope + steep, steep - slope])

    start = np.concatenate([np.maximum(weight, 0), np.maximum(-weight, 0)])
    how = {"ftol": 1e-16, "gtol": 1e-10, "maxiter": 20000, "maxfun": 100000}
    found = minimize(cost, start, jac=True, bounds=[(0, None)] * 2 * n, method="L-BFGS-B", options=how).x
    return found[:n] - found[n:]


PRIORS = [
    GroupLasso(group=GROUP, amount=np.array([0.5, 1.5, 40.0])),
    GroupLasso(l2=0.3, l1=0.2, group=GROUP, amount=np.array([0.5, 1.5, 40.0])),
    Elitist(elitist=0.2, copies=4),
    Elitist(elitist=3.0, copies=2),
    Elitist(l2=0.3, l1=0.1, elitist=0.7, copies=2),
]


@pytest.mark.parametrize("prior", PRIORS, ids=["group", "group elastic", "elitist", "strict", "elitist elastic"])
@pytest.mark.parametrize("equal", [True, False], ids=["one step", "steps"])
def test_proximal_steps_are_those_of_a_convex_solver(prior: Prior, equal: bool) -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        weight = rng.normal(size=8) * 2
        step = np.full(8, 0.7) if equal else rng.uniform(0.05, 2.0, 8)
        found = prior.proximal(weight.copy(), 0.7 if equal else step)
        np.testing.assert_allclose(found, solved(prior, weight, step), rtol=1e-3, atol=1e-4)


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

    def spread(z: np.ndarray) -> float:
        theta = z.reshape(3, m - 1)
        whole = np.column_stack([theta, sums - theta.sum(axis=1)])
        return Elitist(elitist=0.6, copies=3).value(whole.ravel())

    best = minimize(spread, rng.normal(size=3 * (m - 1)), method="Powell", options={"ftol": 1e-12, "maxiter": 10**5})
    assert best.fun == pytest.approx(Elitist(elitist=0.6, copies=3).value(sums / np.sqrt(m)), rel=1e-3)
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


def test_batch_optimisers_refuse_groups(problem: LogisticRegression) -> None:  # noqa: F811
    with pytest.raises(ValueError, match="SGD or AdaGrad"):
        LBFGS().minimise(problem, Elitist(elitist=1.0, copies=3), np.zeros(12))


@pytest.mark.parametrize("alone", [0.0, 0.5])
def test_copies_have_the_slope_of_their_loss(problem: LogisticRegression, alone: float) -> None:  # noqa: F811
    check_slope(Copies(problem, np.array([0.5, 0.2, 0.3]), alone))


def test_an_elitist_pool_at_its_optimum_is_one_model_under_l2(problem: LogisticRegression) -> None:  # noqa: F811
    """The likelihood sees only the sum; of all experts with one sum the penalty is least where they agree in sign."""
    copies, elitist = 3, 0.2
    pool = Copies(problem, np.full(copies, 1 / copies))
    prior = Elitist(elitist=elitist, copies=copies)
    n = pool.parameters

    def split(z: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = pool(z[:n] - z[n:])
        total = (z[:n] + z[n:]).reshape(copies, -1).sum(axis=0)
        steep = np.tile(2 * elitist * total, copies)
        return value + elitist * float(total @ total), np.concatenate([gradient + steep, steep - gradient])

    start = np.abs(np.random.default_rng(0).normal(size=2 * n))
    how = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 10000}
    best = minimize(split, start, jac=True, bounds=[(0, None)] * 2 * n, method="L-BFGS-B", options=how)
    single = LBFGS(limit=500, tolerance=1e-13).minimise(problem, Prior(l2=elitist * copies**2), np.zeros(12))
    assert best.fun == pytest.approx(problem(single)[0] + elitist * copies**2 * float(single @ single), rel=1e-7)
    theta = best.x[:n] - best.x[n:]
    np.testing.assert_allclose(pool.pool(theta), single, atol=1e-4)
    assert prior.value(theta) == pytest.approx(elitist * copies**2 * float(single @ single), rel=1e-4)
