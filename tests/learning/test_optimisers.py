"""Every optimiser reaches the optimum of a convex problem, with each prior it takes."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.optimize import minimize

from dovetail.learning.monitor import Monitor
from dovetail.learning.optimisers.adam import Adam
from dovetail.learning.optimisers.lbfgs import LBFGS, dot
from dovetail.learning.optimisers.online import SGD, AdaGrad, AveragedPerceptron
from dovetail.learning.priors import Prior
from dovetail.sparse import SparseGradient
from tests.extras import requires


@dataclass
class LogisticRegression:
    """Sum over items of log(1 + exp(-y x.w)), as a whole and item by item."""

    x: np.ndarray
    y: np.ndarray

    def __post_init__(self) -> None:
        self.items, self.parameters = self.x.shape

    def __call__(self, weight: np.ndarray) -> tuple[float, np.ndarray]:
        margin = self.y * (self.x @ weight)
        return float(np.logaddexp(0, -margin).sum()), -(self.x.T @ (self.y / (1 + np.exp(margin))))

    def touch(self, which: np.ndarray, sink: SparseGradient) -> None:
        used = np.flatnonzero(np.any(self.x[which] != 0, axis=0))
        sink.items[: len(used)] = used
        sink.count = len(used)

    def accumulate(self, weight: np.ndarray, which: np.ndarray, sink: SparseGradient) -> float:
        value, gradient = LogisticRegression(self.x[which], self.y[which])(weight)
        sink.value[sink.listed] += gradient[sink.listed]
        return value


@pytest.fixture
def problem() -> LogisticRegression:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 12)) * (rng.random((200, 12)) < 0.4)
    y = np.where(x @ rng.normal(size=12) + rng.normal(size=200) > 0, 1.0, -1.0)
    return LogisticRegression(x, y)


def optimum(problem: LogisticRegression, prior: Prior) -> float:
    """The least objective, by a general solver on the split w = a - b with a, b >= 0."""
    n = problem.parameters

    def split(z: np.ndarray) -> tuple[float, np.ndarray]:
        w = z[:n] - z[n:]
        value, gradient = problem(w)
        gradient = gradient + 2 * prior.l2 * w
        threshold = np.broadcast_to(prior.threshold, n)
        total = value + prior.l2 * w @ w + float(threshold @ (z[:n] + z[n:]))
        return total, np.concatenate([gradient + threshold, -gradient + threshold])

    solved = minimize(
        split,
        np.zeros(2 * n),
        jac=True,
        bounds=[(0, None)] * 2 * n,
        method="L-BFGS-B",
        options={"ftol": 1e-14, "gtol": 1e-9, "maxiter": 5000},
    )
    return float(solved.fun)


PRIORS = [Prior(l2=0.5), Prior(l1=1.0), Prior(l2=0.3, l1=0.7), Prior(l1=1.0, scale=np.linspace(0.5, 2, 12))]


@pytest.mark.parametrize("prior", PRIORS, ids=["L2", "L1", "elastic", "scaled L1"])
@pytest.mark.parametrize(
    ("optimiser", "slack"),
    [
        (LBFGS(limit=500, tolerance=1e-12), 1e-6),
        (SGD(limit=400, batch=4, gain=0.1), 2e-3),
        (AdaGrad(limit=400, batch=4, gain=0.3), 2e-3),
        (Adam(limit=400, batch=20, gain=0.05), 2e-3),
    ],
    ids=["L-BFGS", "SGD", "AdaGrad", "Adam"],
)
def test_same_optimum(problem: LogisticRegression, prior: Prior, optimiser: SGD, slack: float) -> None:
    weight = optimiser.minimise(problem, prior, np.zeros(12))
    reached = problem(weight)[0] + prior.value(weight)
    best = optimum(problem, prior)
    assert best - 1e-6 <= reached <= best * (1 + slack)


def test_weights_with_a_memory_begin_with_small_steps(problem: LogisticRegression) -> None:
    start, memory = np.zeros(problem.parameters), np.zeros(problem.parameters)
    memory[:6] = 1e4
    once = AdaGrad(limit=1, batch=problem.items, memory=memory)
    first = once.minimise(problem, Prior(), start)
    gradient = problem(start)[1]
    np.testing.assert_allclose(first, -once.gain * gradient / np.sqrt(memory + gradient**2), rtol=1e-6)
    assert not memory[6:].any()  # it is not written to


def test_l1_gives_exact_zeros(problem: LogisticRegression) -> None:
    # A step over all items has no noise; with small batches, noise keeps weights in use a little off zero.
    for optimiser in (
        LBFGS(),
        SGD(limit=300, batch=200, gain=0.01),
        AdaGrad(limit=300, batch=200),
        Adam(limit=300, batch=200),
    ):
        weight = optimiser.minimise(problem, Prior(l1=10.0), np.zeros(12))
        assert 0 < (weight == 0).sum() < 12


class Whole(LogisticRegression):
    """The same, with every parameter listed."""

    def touch(self, which: np.ndarray, sink: SparseGradient) -> None:
        sink.list_all()

    def accumulate(self, weight: np.ndarray, which: np.ndarray, sink: SparseGradient) -> float:
        value, gradient = LogisticRegression(self.x[which], self.y[which])(weight)
        sink.value += gradient
        return value


@requires("torch")
def test_adam_is_that_of_torch(problem: LogisticRegression) -> None:
    from dovetail.neural.extra import torch

    x, y = torch.from_numpy(problem.x), torch.from_numpy(problem.y)
    weight = torch.zeros(12, dtype=torch.float64, requires_grad=True)
    theirs = torch.optim.AdamW([weight], lr=0.01, weight_decay=0.3)
    for _ in range(20):
        theirs.zero_grad()
        torch.nn.functional.softplus(-y * (x @ weight)).sum().backward()
        theirs.step()
    ours = Adam(limit=20, batch=200, gain=0.01, decay=0.3, halving=1e9)
    for objective in (problem, Whole(problem.x, problem.y)):
        found = ours.minimise(objective, Prior(), np.zeros(12))
        # Here decay is continuous and lags a step, there it is 1 - gain * decay at once.
        np.testing.assert_allclose(found, weight.detach().numpy(), rtol=5e-3)


@pytest.mark.parametrize("optimiser", [Adam(limit=3, batch=7, decay=0.2), AdaGrad(limit=3, batch=7), SGD(limit=3)])
def test_the_same_is_done_for_some_weights_and_for_all(problem: LogisticRegression, optimiser: SGD | Adam) -> None:
    dense = replace(problem, x=problem.x + 0.01)  # every item uses every weight
    some = optimiser.minimise(dense, Prior(l2=0.4), np.zeros(12))
    every = optimiser.minimise(Whole(dense.x, dense.y), Prior(l2=0.4), np.zeros(12))
    np.testing.assert_allclose(some, every, rtol=1e-12)


@dataclass
class ConstantSlope:
    """A loss whose gradient is always minus one, so that weights grow by the gain of each update."""

    items: int
    parameters: int = 1

    def __post_init__(self) -> None:
        self.history: list[float] = []

    def touch(self, which: np.ndarray, sink: SparseGradient) -> None:
        sink.items[0], sink.count = 0, 1

    def accumulate(self, weight: np.ndarray, which: np.ndarray, sink: SparseGradient) -> float:
        self.history.append(float(weight[0]))
        sink.value[0] -= 1.0
        return 0.0


@pytest.mark.parametrize("prior", PRIORS)
def test_a_weight_pays_the_penalty_that_it_owes_before_it_is_used(problem: LogisticRegression, prior: Prior) -> None:
    """A twin that keeps what each weight owes, and goes through all of them."""
    sgd = SGD(limit=2, batch=7, gain=0.1, seed=5)
    weight, owed, rng, updates = np.zeros(12), np.zeros(12), np.random.default_rng(5), 0
    tau = sgd.halving * -(-problem.items // 7)
    for _ in range(2):
        order = rng.permutation(problem.items)
        for first in range(0, problem.items, 7):
            which = order[first : first + 7]
            used = np.flatnonzero(np.any(problem.x[which] != 0, axis=0))
            weight[used], owed[used] = prior.stepped(weight[used], owed[used], used), 0.0
            slope = LogisticRegression(problem.x[which], problem.y[which])(weight)[1]
            gain = sgd.gain * tau / (tau + updates)
            weight[used] -= gain * slope[used]
            owed += gain * len(which) / problem.items
            updates += 1
        weight, owed = prior.stepped(weight, owed, np.arange(12)), np.zeros(12)
    np.testing.assert_allclose(sgd.minimise(problem, prior, np.zeros(12)), weight, rtol=1e-12)


def test_the_gain_of_sgd_halves_after_as_many_passes_as_promised() -> None:
    slopes = ConstantSlope(items=5)  # three batches a pass, the last of one item
    weight = SGD(limit=9, batch=2, gain=0.4, halving=4.0).minimise(slopes, Prior(), np.zeros(1))
    gains = np.diff([*slopes.history, float(weight[0])])
    np.testing.assert_allclose(gains, 0.4 * 12 / (12 + np.arange(27)))
    assert gains[12] == pytest.approx(0.2)


def test_products_are_summed_in_double_precision() -> None:
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=50), rng.normal(size=50).astype(np.float32)
    assert dot(one, other) == pytest.approx(one @ other.astype(np.float64), rel=1e-13)
    assert dot(one[:0], other[:0]) == 0.0


def test_lbfgs_converges_much_faster_than_steepest_descent() -> None:
    # Curvatures from 1 to 1,000: L-BFGS needs 81 iterations for what steepest descent has not after 300.
    curvature = np.geomspace(1.0, 1e3, 30)

    def quadratic(weight: np.ndarray) -> tuple[float, np.ndarray]:
        return float(curvature @ (weight - 1.0) ** 2) / 2, curvature * (weight - 1.0)

    weight = LBFGS(limit=120, tolerance=0.0).minimise(quadratic, Prior(), np.zeros(30))
    assert quadratic(weight)[0] < 1e-6 * quadratic(np.zeros(30))[0]


def test_with_l1_no_weight_moves_up_its_slope(problem: LogisticRegression) -> None:
    """The safeguard of orthant-wise L-BFGS (Andrew and Gao 2007, section 3.2), by which every direction descends."""
    dropped: list[int] = []

    class Watched(LBFGS):
        def _orthant_search(self, smooth, prior, state, slope, direction, length):  # type: ignore[no-untyped-def]
            assert (direction * slope <= 0).all()
            dropped.append(int(((direction == 0) & (slope != 0)).sum()))
            return super()._orthant_search(smooth, prior, state, slope, direction, length)

    Watched(limit=40, tolerance=1e-12).minimise(problem, Prior(l1=2.0), np.zeros(12))
    assert sum(dropped) > 0  # else the problem would not need the safeguard


def test_proximal_step_is_the_argmin() -> None:
    grid = np.linspace(-4, 4, 80001)
    for prior in (Prior(l2=0.5), Prior(l1=0.7), Prior(l2=0.5, l1=0.7)):
        for w in (-2.0, -0.1, 0.0, 0.3, 3.0):
            cost = (grid - w) ** 2 / 2 + 0.9 * (prior.l2 * grid**2 + prior.l1 * np.abs(grid))
            # for L2 + L1 the closed form applies L1 first, which is the exact proximal operator of the sum
            assert prior.proximal(np.array([w]), 0.9)[0] == pytest.approx(grid[cost.argmin()], abs=2e-4)


def test_averaged_perceptron_is_the_mean_of_its_weights() -> None:
    @dataclass
    class Scripted:
        items: int = 3
        parameters: int = 2

        def touch(self, which: np.ndarray, sink: SparseGradient) -> None:
            sink.items[:2] = [0, 1]
            sink.count = 2

        def accumulate(self, weight: np.ndarray, which: np.ndarray, sink: SparseGradient) -> float:
            step = np.array([1.0, -float(which[0])])
            self.history.append(weight - step)
            sink.value[:2] += step
            return 0.0

        def __post_init__(self) -> None:
            self.history: list[np.ndarray] = []

    scripted = Scripted()
    weight = AveragedPerceptron(limit=4).minimise(scripted, Prior(), np.zeros(2))
    assert np.allclose(weight, np.mean(scripted.history, axis=0))


@pytest.mark.parametrize(
    "optimiser",
    [LBFGS(limit=40, tolerance=0), SGD(limit=40), AdaGrad(limit=40), Adam(limit=40), AveragedPerceptron(limit=40)],
)
def test_resuming_gives_the_same_bits(problem: LogisticRegression, optimiser: LBFGS) -> None:
    saved: list[dict[str, np.ndarray]] = []

    def keep(state: dict[str, np.ndarray]) -> None:
        saved.append({name: np.array(value) for name, value in state.items()})

    prior = Prior(l2=0.1, l1=0.0 if isinstance(optimiser, AveragedPerceptron) else 0.1)
    whole = optimiser.minimise(problem, prior, np.zeros(12))
    replace(optimiser, limit=10).minimise(problem, prior, np.zeros(12), Monitor(save=keep, save_every=5))
    resumed = optimiser.minimise(problem, prior, np.zeros(12), resume=saved[0])
    assert len(saved) == 2
    assert np.array_equal(whole, resumed)


def test_random_numbers_go_on_where_they_were(problem: LogisticRegression) -> None:
    # An odd number of halves of random numbers is drawn in a pass over so many items.
    run = SGD()._begin(replace(problem, x=problem.x[:11], y=problem.y[:11]), Prior(), np.zeros(12))
    for _ in range(5):
        run.rng.permutation(11)
        other = SGD(seed=9)._begin(run.objective, Prior(), np.zeros(12))
        other.restore(run.arrays())
        assert other.rng.permutation(11).tolist() == run.rng.permutation(11).tolist()


def test_early_stopping_keeps_the_best_weights(problem: LogisticRegression) -> None:
    scores = iter([1.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.0])
    kept: list[np.ndarray] = []

    def dev(weight: np.ndarray) -> float:
        kept.append(weight.copy())
        return next(scores)

    monitor = Monitor(dev_score=dev, dev_every=1, patience=3)
    weight = SGD(limit=50).minimise(problem, Prior(), np.zeros(12), monitor)
    assert len(kept) == 5
    assert monitor.reason == "dev"
    assert np.array_equal(weight, kept[1])


def test_interrupt_stops_after_the_pass_and_keeps_the_weights(problem: LogisticRegression) -> None:
    seen = []

    def report(progress: object) -> None:
        seen.append(progress)
        if len(seen) == 3:
            signal.raise_signal(signal.SIGINT)

    monitor = Monitor(report=report)
    weight = LBFGS(limit=50).minimise(problem, Prior(l2=0.1), np.zeros(12), monitor)
    assert monitor.interrupted
    assert monitor.reason == "interrupted"
    assert len(seen) == 4
    assert np.any(weight != 0)


def test_weights_that_no_item_uses_have_no_curvature(problem: LogisticRegression) -> None:
    """Without L2 their curvature, like their slope, is zero: they stay, and the others do as if they were alone."""
    used = np.arange(12) % 4 != 2
    flat = replace(problem, x=np.where(used, problem.x, 0.0))
    alone = LogisticRegression(problem.x[:, used], problem.y)
    guess = 1.0 + np.arange(12.0)
    found, others = (
        LBFGS(limit=40).minimise(one, Prior(), np.zeros(one.parameters), curvature=curvature)
        for one, curvature in ((flat, np.where(used, guess, 0.0)), (alone, guess[used]))
    )
    np.testing.assert_allclose(found[used], others, rtol=1e-9)
    assert not found[~used].any()


def test_negative_penalties_are_refused() -> None:
    with pytest.raises(ValueError, match="zero or positive"):
        Prior(l2=-1)
