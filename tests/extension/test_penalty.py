"""Penalties of one's own, and weights that a penalty leaves alone, under every optimiser."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from dovetail import Tagger
from dovetail.errors import DovetailError, InputError
from dovetail.learning.optimisers.adam import Adam
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.optimisers.online import SGD, AdaGrad, AveragedPerceptron
from dovetail.learning.priors import Elitist, GroupLasso, Prior
from dovetail.models.linear.training import LinearTraining
from tests.learning.test_optimisers import LogisticRegression, Whole
from tests.learning.test_optimisers import problem as shared_problem
from tests.models.kinds import KINDS

problem = shared_problem
BATCH = [LBFGS(limit=500, tolerance=1e-12)]
ONLINE = [
    SGD(limit=300, batch=20, gain=0.1), AdaGrad(limit=300, batch=20, gain=0.3), Adam(limit=300, batch=20, gain=0.05)
]  # fmt: skip
every_optimiser = pytest.mark.parametrize("optimiser", [*BATCH, *ONLINE], ids=lambda own: type(own).__name__)
every_online = pytest.mark.parametrize("optimiser", ONLINE, ids=lambda own: type(own).__name__)
every_listing = pytest.mark.parametrize("listing", [LogisticRegression, Whole], ids=["some listed", "all listed"])


@dataclass(frozen=True)
class Towards(Prior):
    """``2 * sum over p of (w[p] - goal)**2``."""

    goal: float = 5.0

    def value(self, weight):
        return 2.0 * float(np.sum((weight - self.goal) ** 2))

    def gradient(self, weight):
        return 4.0 * (weight - self.goal)

    def proximal(self, weight, step, which=slice(None)):
        return (weight + 4.0 * step * self.goal) / (1.0 + 4.0 * step)


class OnlyValue(Prior):
    """A value, with the steps of the house that do not belong to it."""

    value = Towards.value
    goal = 5.0


class Smooth(OnlyValue):
    gradient = Towards.gradient


class Stepped(OnlyValue):
    proximal = Towards.proximal


class WithoutValue(Prior):
    goal = 5.0
    gradient, proximal = Towards.gradient, Towards.proximal


class Sum(Prior):
    """``(sum of w - 3)**2`` beside L2, whose step of one weight depends on all."""

    lazy = False

    def value(self, weight):
        return super().value(weight) + float(weight.sum() - 3.0) ** 2

    def gradient(self, weight):
        return super().gradient(weight) + 2.0 * (weight.sum() - 3.0)

    def proximal(self, weight, step, which=slice(None)):
        weight = super().proximal(weight, step, which)
        steps = self.shortened(step, weight)
        total = (weight.sum() + 6.0 * steps.sum()) / (1.0 + 2.0 * steps.sum())
        return weight - 2.0 * steps * (total - 3.0)


class Hasty(Sum):
    lazy = True


class Flipped(Towards):
    def gradient(self, weight):
        return 4.0 * (self.goal - weight)

    def proximal(self, weight, step, which=slice(None)):
        return weight + step * (weight - self.goal)


class Short(Towards):
    def gradient(self, weight):
        return weight[:3] - self.goal

    def proximal(self, weight, step):
        return weight


def check_optimum(problem: LogisticRegression, value: Any, found: Any) -> None:
    """The weights are as good as those of a general solver, which sees values alone."""

    def objective(weight: Any) -> float:
        return problem(weight)[0] + value(weight)

    starts = (np.zeros(problem.parameters), found)
    best = min(minimize(objective, start, method="BFGS", options={"gtol": 1e-7}).fun for start in starts)
    assert objective(found) <= best * 1.003


@every_optimiser
@every_listing
def test_the_optimum_is_that_of_the_penalty(problem: LogisticRegression, optimiser: Any, listing: Any) -> None:
    x = problem.x.copy()
    x[:, 4] = 0.0  # a weight that no item uses, which the penalty alone moves
    some = listing(x, problem.y)
    found = optimiser.minimise(some, Towards(), np.zeros(12))
    check_optimum(some, Towards().value, found)
    assert found[4] == pytest.approx(5.0, abs=0.01)


@every_optimiser
@every_listing
def test_a_penalty_whose_weights_depend_on_each_other(
    problem: LogisticRegression, optimiser: Any, listing: Any
) -> None:
    some = listing(problem.x, problem.y)
    found = optimiser.minimise(some, Sum(l2=0.5), np.zeros(12))
    check_optimum(some, Sum(l2=0.5).value, found)


@every_optimiser
@pytest.mark.parametrize("penalty", [OnlyValue, WithoutValue, Flipped, Short])
def test_what_does_not_belong_together_is_refused(problem: LogisticRegression, optimiser: Any, penalty: Any) -> None:
    need = "gradient" if isinstance(optimiser, LBFGS) else "proximal"
    with pytest.raises(InputError, match=rf"{penalty.__name__}\.{need}, which (is not|fails).*: define it$"):
        optimiser.minimise(problem, penalty(), np.zeros(12))


def test_a_penalty_with_one_of_the_two_is_for_some_optimisers(problem: LogisticRegression) -> None:
    check_optimum(problem, Towards().value, BATCH[0].minimise(problem, Smooth(), np.zeros(12)))
    with pytest.raises(InputError, match=r"Stepped\.gradient.*: define it, or use SGD, AdaGrad or Adam$"):
        BATCH[0].minimise(problem, Stepped(), np.zeros(12))
    for optimiser in ONLINE:
        check_optimum(problem, Towards().value, optimiser.minimise(problem, Stepped(), np.zeros(12)))
        with pytest.raises(InputError, match=r"Smooth\.proximal.*: define it, or use L-BFGS$"):
            optimiser.minimise(problem, Smooth(), np.zeros(12))


@every_online
def test_a_step_that_needs_all_weights_must_say_so(problem: LogisticRegression, optimiser: Any) -> None:
    with pytest.raises(InputError, match=r"Hasty\.proximal, which is otherwise for some weights.*lazy = False"):
        optimiser.minimise(problem, Hasty(), np.zeros(12))


@every_optimiser
def test_what_is_no_penalty_at_all_is_refused(problem: LogisticRegression, optimiser: Any) -> None:
    with pytest.raises(
        InputError, match=r"a penalty is a subclass of dovetail\.learning\.priors\.Prior, not <function"
    ):
        optimiser.minimise(problem, lambda weight: float(weight @ weight), np.zeros(12))
    with pytest.raises(InputError, match="exempt must be an array of 12 booleans"):
        optimiser.minimise(problem, Prior(exempt=np.array([3, 4])), np.zeros(12))


def test_l_bfgs_takes_l1_from_plain_priors_alone(problem: LogisticRegression) -> None:
    with pytest.raises(InputError, match=r"Towards\.gradient, which has no value at zero under L1"):
        BATCH[0].minimise(problem, Towards(l1=0.5), np.zeros(12))


@pytest.mark.parametrize("prior", [Towards(), Elitist(elitist=1.0, copies=3), Prior(l1=0.1)])
def test_the_perceptron_has_no_penalty(problem: LogisticRegression, prior: Prior) -> None:
    with pytest.raises(InputError, match=r"perceptron has no penalty: leave out \w+\(.*use SGD, AdaGrad or Adam"):
        AveragedPerceptron().minimise(problem, prior, np.zeros(12))


# weights that are left alone

FROZEN = np.arange(12) % 3 == 1
EXEMPT = {
    "L2": Prior(l2=0.5, exempt=FROZEN),
    "L1": Prior(l1=0.7, exempt=FROZEN),
    "elastic": Prior(l2=0.3, l1=0.7, scale=np.linspace(0.5, 2, 12), exempt=FROZEN),
    "own": Towards(exempt=FROZEN),
    "group": GroupLasso(group=np.arange(12) // 3, amount=np.array([2.0, 8.0, 30.0, 4.0]), exempt=FROZEN),
    "elitist": Elitist(elitist=0.4, copies=4, exempt=FROZEN),
}


@every_optimiser
@pytest.mark.parametrize("which", EXEMPT)
@every_listing
def test_exempt_weights_are_not_shrunk(problem: LogisticRegression, optimiser: Any, which: str, listing: Any) -> None:
    if which in ("group", "elitist") and (isinstance(optimiser, LBFGS) or listing is not Whole):
        return  # refused, or a group of which some would be listed
    frozen = listing(np.where(FROZEN, 0.0, problem.x), problem.y)  # the loss does not move them, either
    start = np.linspace(-2.0, 2.0, 12)
    found = replace(optimiser, limit=20).minimise(frozen, EXEMPT[which], start.copy())
    assert np.array_equal(found[FROZEN], start[FROZEN])
    assert not np.isclose(found[~FROZEN], start[~FROZEN]).any()


@every_optimiser
@pytest.mark.parametrize("which", ["L2", "L1", "elastic", "own"])
@every_listing
def test_exempt_weights_go_where_the_loss_is_least(
    problem: LogisticRegression, optimiser: Any, which: str, listing: Any
) -> None:
    prior, problem = EXEMPT[which], listing(problem.x, problem.y)

    def value(weight: Any) -> float:
        return prior.value(np.where(FROZEN, 0.0, weight))

    check_optimum(
        problem,
        value,
        replace(optimiser, limit=500 if isinstance(optimiser, Adam) else 200).minimise(problem, prior, np.zeros(12)),
    )


# penalties under the models


def test_a_number_is_asked_for_where_settings_have_one() -> None:
    with pytest.raises(DovetailError, match=r"l2=.*: give a number"):
        Tagger(l2=Towards()).fit(KINDS["tagger"].sentences)  # type: ignore[arg-type]


def test_a_penalty_of_a_model_is_used_and_no_pool_drops_it(monkeypatch: pytest.MonkeyPatch) -> None:
    kind, how = KINDS["tagger"], {"features": ["word[0]"], "iterations": 200, "l2": 0.0}

    def mean(optimiser: str) -> float:
        model = Tagger(optimiser=optimiser, **how).fit(kind.sentences)
        return float(np.mean(model.packed()[1]["node.weight"]))

    optimisers = ("lbfgs", "sgd", "adagrad", "adam")
    plain = [mean(optimiser) for optimiser in optimisers]
    prepare = LinearTraining.prepare.__func__  # type: ignore[attr-defined]

    def prepared(cls: Any, *of: Any, **more: Any) -> Any:
        made = prepare(cls, *of, **more)
        made.prior = Towards(goal=3.0)
        return made

    monkeypatch.setattr(LinearTraining, "prepare", classmethod(prepared))
    assert all(mean(optimiser) > before + 0.8 for optimiser, before in zip(optimisers, plain, strict=True))
    with pytest.raises(DovetailError, match="perceptron has no penalty"):
        mean("perceptron")
    for pool in ("random:2", "elitist:2"):
        with pytest.raises(DovetailError, match="pool: experts take L2 and L1, not a Towards"):
            Tagger(pool=pool, **how).fit(kind.sentences)


def test_the_weights_of_a_network_have_no_penalty() -> None:
    pytest.importorskip("torch")
    how = {"features": ["word[0]"], "encoder": "lstm", "encoder_size": 4, "iterations": 2, "threads": 1}
    model = Tagger(l1=1e6, **how).fit(KINDS["tagger"].sentences)
    arrays = model.packed()[1]
    assert not arrays["node.weight"].size  # what is zero is not stored
    assert np.mean(model.model_.network.weights() != 0.0) > 0.99
