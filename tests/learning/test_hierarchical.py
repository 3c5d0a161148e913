"""The hierarchical prior against its definition, explicit feature augmentation, and its two limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from dovetail.learning.hierarchical import BaseModel, HierarchicalObjective
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.optimisers.online import SGD, AdaGrad
from dovetail.learning.priors import Prior
from dovetail.sparse import SparseGradient

Floats = NDArray[np.float64]
OPTIMUM = LBFGS(limit=2000, tolerance=0.0)


@dataclass
class Logistic:
    """Binary logistic regression: x [items, parameters], y [items] in {-1, 1}."""

    x: Floats
    y: Floats
    whole: bool = False

    @property
    def items(self) -> int:
        return len(self.y)

    @property
    def parameters(self) -> int:
        return self.x.shape[1]

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        margin = self.y * (self.x @ weight)
        return float(np.logaddexp(0, -margin).sum()), -(self.x.T @ (self.y / (1 + np.exp(margin))))

    def touch(self, which: NDArray[np.int64], sink: SparseGradient) -> None:
        if self.whole:
            sink.list_all()
            return
        used = np.flatnonzero((self.x[which] != 0).any(axis=0))
        sink.items[: len(used)] = used
        sink.count = len(used)

    def accumulate(self, weight: Floats, which: NDArray[np.int64], sink: SparseGradient) -> float:
        used = (self.x[which] != 0).any(axis=0)
        value, gradient = Logistic(self.x[which], self.y[which])(np.where(used, weight, 0.0))
        sink.value[used] += gradient[used]
        return value


def problem(rng: np.random.Generator, items: int, parameters: int, whole: bool = False) -> Logistic:
    x = rng.normal(size=(items, parameters)) * (rng.random((items, parameters)) < 0.4)
    return Logistic(x, rng.choice([-1.0, 1.0], size=items), whole)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.fixture
def three(rng: np.random.Generator) -> list[BaseModel]:
    """All parameters; some of them in another order; and two more, one of which nobody else has."""
    return [
        BaseModel(problem(rng, 20, 8), None, 0.5),
        BaseModel(problem(rng, 9, 4), np.array([6, 1, 3, 0]), 0.2),
        BaseModel(problem(rng, 12, 3), np.array([2, 9, 8]), 1.5),
    ]


SHARED = 10


def direct_loss(models: list[BaseModel], thetas: list[Floats], top: Floats, sigma: float) -> float:
    """The definition, with a parameter for everything."""
    total = top @ top / (2 * sigma**2)
    for model, theta in zip(models, thetas, strict=True):
        share = np.arange(len(top)) if model.share is None else model.share
        total += model.objective(theta)[0] + ((theta - top[share]) ** 2).sum() / (2 * model.sigma**2)
    return float(total)


def test_gradient_is_the_slope(three: list[BaseModel], rng: np.random.Generator) -> None:
    three[0].share = np.arange(8)
    loss = HierarchicalObjective(three, SHARED, top=0.7)
    weight = rng.normal(size=loss.parameters)
    _, gradient = loss(weight)
    for i in range(loss.parameters):
        step = np.zeros(loss.parameters)
        step[i] = 1e-6
        assert gradient[i] == pytest.approx((loss(weight + step)[0] - loss(weight - step)[0]) / 2e-6, abs=1e-6)


def test_optimum_is_that_of_the_definition(three: list[BaseModel]) -> None:
    three[0].share = np.arange(8)
    loss = HierarchicalObjective(three, SHARED, top=0.7)
    best = OPTIMUM.minimise(loss, Prior(l2=0.5), np.zeros(loss.parameters))
    thetas, top = [loss.weights_of(m, best) for m in range(3)], loss.top(best)
    value = direct_loss(three, thetas, top, 0.7)
    # The penalty of the whole vector is that of the definition, also where lonely parameters are stored as one ...
    assert value == pytest.approx(loss(best)[0] + best @ best / 2)
    # ... and no small change of any weight lowers it.
    for vector in (*thetas, top):
        for i in range(len(vector)):
            for step in (-1e-3, 1e-3):
                vector[i] += step
                assert direct_loss(three, thetas, top, 0.7) > value - 1e-9
                vector[i] -= step


def test_equal_variances_are_feature_augmentation(rng: np.random.Generator) -> None:
    one, two = problem(rng, 20, 6), problem(rng, 15, 6)
    loss = HierarchicalObjective([BaseModel(one), BaseModel(two)], 6, top=1.0)
    best = OPTIMUM.minimise(loss, Prior(l2=0.3), np.zeros(loss.parameters))
    nothing = np.zeros_like
    augmented = Logistic(
        np.block([[one.x, one.x, nothing(one.x)], [two.x, nothing(two.x), two.x]]), np.append(one.y, two.y)
    )
    expected = OPTIMUM.minimise(augmented, Prior(l2=0.3), np.zeros(18))
    np.testing.assert_allclose(best, expected, atol=1e-6)


def test_no_variance_ties_the_models(rng: np.random.Generator) -> None:
    one, two = problem(rng, 20, 6), problem(rng, 15, 6)
    pooled = OPTIMUM.minimise(Logistic(np.vstack([one.x, two.x]), np.append(one.y, two.y)), Prior(l2=0.5), np.zeros(6))
    for sigma, tolerance in ((0.0, 1e-6), (1e-4, 1e-4)):
        loss = HierarchicalObjective([BaseModel(one, sigma=sigma), BaseModel(two, sigma=sigma)], 6)
        best = OPTIMUM.minimise(loss, Prior(l2=0.5), np.zeros(loss.parameters))
        for m in range(2):
            np.testing.assert_allclose(loss.weights_of(m, best), pooled, atol=tolerance)
    assert HierarchicalObjective([BaseModel(one, sigma=0.0), BaseModel(two, sigma=0.0)], 6).parameters == 6


def test_no_top_variance_parts_the_models(rng: np.random.Generator) -> None:
    problems = [problem(rng, 20, 6), problem(rng, 15, 6)]
    alone = [OPTIMUM.minimise(one, Prior(l2=0.5), np.zeros(6)) for one in problems]
    for top, tolerance in ((0.0, 1e-6), (1e-4, 1e-4)):
        loss = HierarchicalObjective([BaseModel(one) for one in problems], 6, top=top)
        best = OPTIMUM.minimise(loss, Prior(l2=0.5), np.zeros(loss.parameters))
        for m in range(2):
            np.testing.assert_allclose(loss.weights_of(m, best), alone[m], atol=tolerance)
        np.testing.assert_allclose(loss.top(best), 0.0, atol=tolerance)


@pytest.mark.parametrize("whole", [False, True])
def test_batches_add_up_to_the_whole(three: list[BaseModel], rng: np.random.Generator, whole: bool) -> None:
    three[0].share = np.arange(8)
    three[1].objective.whole = whole
    loss = HierarchicalObjective(three, SHARED, top=0.7)
    weight = rng.normal(size=loss.parameters)
    total, sums = 0.0, np.zeros(loss.parameters)
    sink = SparseGradient.of_size(loss.parameters)
    for which in np.array_split(rng.permutation(loss.items), 7):
        sink.clear()
        loss.touch(which, sink)
        listed = sink.listed
        assert isinstance(listed, slice) or len(np.unique(listed)) == len(listed)
        sink.value[:] = np.nan
        sink.value[listed] = 0.0
        total += loss.accumulate(weight, which, sink)
        sums[listed] += sink.value[listed]
    value, gradient = loss(weight)
    assert total == pytest.approx(value)
    np.testing.assert_allclose(sums, gradient, atol=1e-12)


@pytest.mark.parametrize("optimiser", [SGD(limit=400, batch=4, gain=0.2), AdaGrad(limit=400, batch=4, gain=0.3)])
def test_online_optimisers_come_near_the_optimum(three: list[BaseModel], optimiser: SGD) -> None:
    three[0].share = np.arange(8)
    loss = HierarchicalObjective(three, SHARED, top=0.7)
    prior = Prior(l2=0.5)
    best = OPTIMUM.minimise(loss, prior, np.zeros(loss.parameters))
    online = optimiser.minimise(loss, prior, np.zeros(loss.parameters))
    low = loss(best)[0] + prior.value(best)
    assert loss(online)[0] + prior.value(online) < low + 0.01 * abs(low)


@pytest.mark.parametrize("top", [0.0, 0.7])
def test_start_gives_every_model_the_shared_weights(three: list[BaseModel], top: float) -> None:
    three[0].share = np.arange(8)
    loss = HierarchicalObjective(three, SHARED, top=top)
    theta = np.arange(1.0, SHARED + 1)
    for m, model in enumerate(three):
        np.testing.assert_allclose(loss.weights_of(m, loss.start(theta)), theta[model.share])


def test_values_of_parameters_are_those_of_their_deviations(three: list[BaseModel]) -> None:
    three[0].share = np.arange(8)
    loss = HierarchicalObjective(three, SHARED)
    values = np.arange(1.0, SHARED + 1)
    whole = loss.spread_out(values)
    np.testing.assert_array_equal(whole[:SHARED], values)
    # Two models deviate where both are: the first by 0, 1, 2, 3, 6, then the others in their own order.
    np.testing.assert_array_equal(whole[SHARED:] - 1, [0, 1, 2, 3, 6, 6, 1, 3, 0, 2])


def test_the_way_back(three: list[BaseModel], rng: np.random.Generator) -> None:
    three[0].share = np.arange(8)
    loss = HierarchicalObjective(three, SHARED, top=0.7)
    weight = rng.normal(size=loss.parameters)
    thetas = [loss.weights_of(m, weight) for m in range(3)]
    np.testing.assert_allclose(loss.whole(loss.top(weight), thetas), weight)


def test_only_parameters_that_exist_are_stored(three: list[BaseModel]) -> None:
    three[0].share = np.arange(8)
    # Shared by two models: 6, 1, 3, 0 and 2. Each of the two keeps a deviation there, and nobody anywhere else.
    assert HierarchicalObjective(three, SHARED).parameters == SHARED + 2 * 5


def test_curvature_is_the_diagonal_of_the_hessian(three: list[BaseModel], rng: np.random.Generator) -> None:
    three[0].share = np.arange(8)
    loss = HierarchicalObjective(three, SHARED, top=0.7)
    # A quadratic loss of each model with these diagonals has the Hessian J' diag J; its diagonal is sums of squares.
    own = [rng.random(m.objective.parameters) for m in three]
    jacobians = [
        np.column_stack([loss.weights_of(m, row) for row in np.eye(loss.parameters)]) for m in range(len(three))
    ]
    expected = sum((j**2 * h[:, None]).sum(axis=0) for j, h in zip(jacobians, own, strict=True))
    np.testing.assert_allclose(loss.curvature(own), expected)


@pytest.mark.parametrize(
    ("share", "sigma", "message"),
    [
        (np.array([0, 0, 1, 2]), 1.0, "twice"),
        (np.array([0, 1, 2, 10]), 1.0, "not among"),
        (np.array([0, 1, 2]), 1.0, "shares 3"),
        (None, 1.0, "shares 10"),
        (np.array([0, 1, 2, 3]), -1.0, "zero or positive"),
    ],
)
def test_what_does_not_fit_is_told(
    share: NDArray[np.int64] | None, sigma: float, message: str, rng: np.random.Generator
) -> None:
    with pytest.raises(ValueError, match=message):
        HierarchicalObjective([BaseModel(problem(rng, 3, 4), share, sigma)], SHARED)


def test_no_models_at_all() -> None:
    with pytest.raises(ValueError, match="one base model"):
        HierarchicalObjective([], SHARED)
