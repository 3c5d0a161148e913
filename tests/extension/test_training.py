"""Losses, structures, scorers, optimisers and scores of one's own, under every optimiser."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from dovetail import Parser, Tagger
from dovetail.errors import DovetailError, InputError
from dovetail.evaluate import token_scores
from dovetail.learning.losses import LOSSES, likelihood
from dovetail.learning.objective import Objective, of_tokens
from dovetail.learning.optimisers.adam import Adam
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.optimisers.online import SGD, AdaGrad
from dovetail.learning.priors import Prior
from dovetail.models.base import OPTIMISERS
from dovetail.scorers.contract import Scorer
from dovetail.structures.contract import mapped
from tests.models.kinds import KINDS

TAGGED = KINDS["tagger"].sentences
REGISTRIES = ("dovetail.learning.losses.LOSSES", "dovetail.models.base.OPTIMISERS")
HOW = {"features": ["word[0]"], "iterations": 5, "threads": 1}


@pytest.fixture(autouse=True)
def registries() -> Iterator[None]:
    losses, optimisers = dict(LOSSES), dict(OPTIMISERS)
    yield
    for known, before in ((LOSSES, losses), (OPTIMISERS, optimisers)):
        known.clear()
        known.update(before)


# losses


def squares(batch: Any, gold: Any, allowed: Any = None) -> tuple[float, Any]:
    """Half the squared distance of potentials from what the right answer uses."""
    off = mapped(np.subtract, batch.potentials, batch.indicator(gold))
    return sum(float(np.sum(table**2)) for table in off) / 2, off


@pytest.mark.parametrize(
    "optimiser",
    [LBFGS(tolerance=1e-12), SGD(limit=200, gain=0.05), AdaGrad(limit=300), Adam(limit=400, gain=0.05)],
    ids=lambda own: type(own).__name__,
)
def test_a_loss_and_a_structure_and_a_scorer_reach_their_closed_form(recipes: dict[str, Any], optimiser: Any) -> None:
    """With L2 the weight of a word and a label is ``times(word, label) / (times(word) + 2 l2)``."""
    rng = np.random.default_rng(0)
    word, gold, offsets = rng.integers(0, 4, 60), rng.integers(0, 3, 60).astype(np.int32), np.arange(0, 61, 3)
    scorer = recipes["word_scorer"].WordScorer(word, offsets, 5, 3)
    objective = Objective(scorer, of_tokens(gold, offsets), squares)
    found = optimiser.minimise(objective, Prior(l2=0.5), np.zeros(15)).reshape(5, 3)
    times = np.zeros((5, 3))
    np.add.at(times, (word, gold), 1.0)
    np.testing.assert_allclose(found, times / (times.sum(axis=1, keepdims=True) + 1.0), atol=0.02)


def halved(batch: Any, gold: Any, allowed: Any = None) -> tuple[float, Any]:
    """Half the likelihood: the optimum is that of twice the penalty."""
    value, slope = likelihood(batch, gold, allowed)
    return value / 2, mapped(lambda table: table / 2, slope)


@pytest.mark.parametrize("optimiser", ["lbfgs", "sgd", "adagrad", "adam"])
def test_a_registered_loss_is_that_of_the_model(optimiser: str) -> None:
    LOSSES["halved"] = halved
    how = {"features": ["word[0]"], "threads": 1, "optimiser": optimiser, "iterations": 300}
    probabilities = [
        np.concatenate(Tagger(loss=loss, l2=l2, **how).fit(TAGGED).predict_marginals(TAGGED))
        for loss, l2 in (("halved", 0.5), ("likelihood", 1.0), ("likelihood", 0.5))
    ]
    assert np.abs(probabilities[0] - probabilities[1]).max() < 0.5 * np.abs(probabilities[0] - probabilities[2]).max()


def test_the_perceptron_has_a_loss_of_its_own() -> None:
    LOSSES["halved"] = halved
    for loss in ("halved", "softmax-margin"):
        with pytest.raises(DovetailError, match=f"loss='{loss}': the optimiser perceptron has a loss of its own"):
            Tagger(loss=loss, optimiser="perceptron", **HOW).fit(TAGGED)
    Tagger(loss="perceptron", optimiser="perceptron", **HOW).fit(TAGGED)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("setting", ["loss", "optimiser"])
def test_functions_and_classes_as_settings_are_told_where_to_go(name: str, setting: str) -> None:
    kind = KINDS[name]
    place = re.escape(REGISTRIES[setting == "optimiser"])
    for value in (halved, Mine, "mine"):
        model = type(kind.model)(**(kind.model.get_params(deep=False) | {setting: value}))
        with pytest.raises(DovetailError, match=rf"{setting}=.*: choose one of .*your own into {place} first"):
            model.fit(kind.sentences)


def test_a_loaded_model_says_what_must_be_registered(tmp_path: Path) -> None:
    LOSSES["halved"], OPTIMISERS["mine"] = halved, Mine
    Tagger(loss="halved", optimiser="mine", **HOW).fit(TAGGED).save(tmp_path / "m")
    code = (
        "import sys, dovetail\n"
        "tagger = dovetail.load(sys.argv[1])\n"
        "assert tagger.predict([['Ada']])\n"
        "for more in {}, {'loss': 'likelihood'}:\n"
        "    try: tagger.set_params(**more).fit([['Ada']], [['O']])\n"
        "    except dovetail.DovetailError as error: print(error)\n"
    )
    told = subprocess.run([sys.executable, "-c", code, tmp_path / "m"], capture_output=True, text=True, check=True)
    for line, setting, place in zip(
        told.stdout.splitlines(), ("loss='halved'", "optimiser='mine'"), REGISTRIES, strict=True
    ):
        assert line.startswith(setting)
        assert line.endswith(f"put one of your own into {place} first, and give its name here")


@pytest.mark.parametrize("optimiser", ["lbfgs", "sgd", "adagrad", "adam"])
def test_a_loss_that_gives_something_else_is_refused(optimiser: str) -> None:
    LOSSES["number"] = lambda batch, gold, allowed=None: 1.0  # type: ignore[assignment, return-value]
    with pytest.raises(InputError, match=r"the loss <function .*> must give a number and the slope of the potentials"):
        Tagger(loss="number", optimiser=optimiser, **HOW).fit(TAGGED)


def test_a_counted_grammar_has_no_loss() -> None:
    LOSSES["halved"] = halved
    with pytest.raises(DovetailError, match="loss='halved': a generative grammar is counted, and has no loss"):
        Parser(features="generative", loss="halved").fit(KINDS["parser"].sentences)


def test_losses_and_structures_serve_networks_of_ones_own(recipes: dict[str, Any]) -> None:
    torch = pytest.importorskip("torch")
    from dovetail.torch import Exact

    unary = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    choices = recipes["choices"]
    exact = Exact(choices.ChoiceBatch, choices.ChoicePotentials(unary), offsets=np.array([0, 3, 4]))
    gold = np.array([0, 2, 1, 1], np.int32)
    with pytest.raises(InputError, match=r"loss='halved': choose one of .*add yours to learning\.losses\.LOSSES"):
        exact.loss(gold, "halved")
    LOSSES["halved"] = halved
    exact.loss(gold, "halved").backward()
    expected = (torch.softmax(unary, 1) - torch.nn.functional.one_hot(torch.tensor(gold).long(), 3)) / 2
    torch.testing.assert_close(unary.grad, expected.detach())


# objectives


def test_an_objective_says_what_it_lacks(recipes: dict[str, Any]) -> None:
    class Unfinished(Scorer[Any]):
        def batch(self, weight: Any, which: Any = None) -> Any:
            return None

        def backward(self, slope: Any, out: Any, which: Any = None) -> None:
            pass

    whole = recipes["word_scorer"].WordScorer(np.zeros(1, np.int64), np.array([0, 1]), 1, 1)
    gold = of_tokens(np.zeros(1, np.int32), whole.offsets)
    with pytest.raises(InputError, match=r"an objective of a Unfinished without items: .*dovetail\.scorers\.contract"):
        Objective(Unfinished(), gold, likelihood)
    for other in ((whole, gold, "likelihood"), (whole, np.zeros(1), likelihood)):
        with pytest.raises(InputError, match="an objective of a gold or loss that is no function"):
            Objective(*other)  # type: ignore[arg-type]


# optimisers


@dataclass(frozen=True)
class Mine:
    """A batch optimiser that knows nothing of the house but what it is handed."""

    limit: int = 100

    def minimise(self, objective: Any, prior: Any, start: Any, monitor: Any = None, resume: Any = None) -> Any:
        def whole(weight: Any) -> tuple[float, Any]:
            value, gradient = objective(weight)
            return value + prior.value(weight), gradient + prior.gradient(weight)

        state = {"iteration": 0}

        def heard(weight: Any) -> None:
            state["iteration"] += 1
            monitor.after_pass(state["iteration"], self.limit, whole(weight)[0], lambda: weight, dict)

        how = {"maxiter": self.limit, "ftol": 1e-14, "gtol": 1e-9}
        found = minimize(whole, start, jac=True, method="L-BFGS-B", options=how, callback=heard)
        return monitor.result(found.x)


@pytest.mark.parametrize("name", KINDS)
def test_a_registered_optimiser_trains_every_kind(name: str) -> None:
    kind, ran = KINDS[name], []

    @dataclass(frozen=True)
    class Watched(Mine):
        def minimise(self, *how: Any, **more: Any) -> Any:
            ran.append(self.limit)
            return super().minimise(*how, **more)

    OPTIMISERS["mine"] = Watched
    settings = kind.model.get_params(deep=False) | {"optimiser": "mine", "iterations": 4, "threads": 1}
    model = type(kind.model)(**settings).fit(kind.sentences, dev=kind.sentences[:4])
    assert 4 in ran
    assert model.predict(kind.inputs)


def test_a_registered_optimiser_finds_the_optimum() -> None:
    OPTIMISERS["mine"] = Mine
    mine, theirs = (
        Tagger(features=["word[0]"], optimiser=optimiser, iterations=500, l2=0.3).fit(TAGGED)
        for optimiser in ("mine", "lbfgs")
    )
    for own, other in zip(mine.predict_marginals(TAGGED), theirs.predict_marginals(TAGGED), strict=True):
        np.testing.assert_allclose(own, other, atol=2e-3)


@dataclass(frozen=True)
class Deaf(Mine):
    def minimise(self, objective: Any, prior: Any, start: Any, monitor: Any = None, resume: Any = None) -> Any:
        return start


@dataclass(frozen=True)
class Lost(Mine):
    def minimise(self, *how: Any, **more: Any) -> Any:
        super().minimise(*how, **more)


def test_optimisers_that_do_not_keep_the_contract_are_refused() -> None:
    OPTIMISERS.update(plain=object, function=len, deaf=Deaf, lost=Lost, mine=Mine)
    for name in ("plain", "function"):
        with pytest.raises(DovetailError, match=f"'{name}': it must be a dataclass with a field limit and a method"):
            Tagger(optimiser=name, **HOW).fit(TAGGED)
    Tagger(optimiser="deaf", **HOW).fit(TAGGED)
    with pytest.raises(DovetailError, match=r"'deaf': minimise must call monitor\.after_pass, or dev has no effect"):
        Tagger(optimiser="deaf", **HOW).fit(TAGGED, dev=TAGGED)
    with pytest.raises(DovetailError, match=r"'lost': minimise must give weights \[\d+\]"):
        Tagger(optimiser="lost", **HOW).fit(TAGGED)
    with pytest.raises(DovetailError, match="batch=8: the optimiser 'mine' has no such field; leave it out"):
        Tagger(optimiser="mine", batch=8, **HOW).fit(TAGGED)


def test_an_optimiser_has_the_settings_that_it_has_fields_for() -> None:
    seen: list[Any] = []

    @dataclass(frozen=True)
    class Small(SGD):
        def minimise(self, *how: Any, **more: Any) -> Any:
            seen.append((self.limit, self.batch, self.gain, self.seed))
            return super().minimise(*how, **more)

    OPTIMISERS["small"] = Small
    Tagger(optimiser="small", batch=3, gain=0.25, seed=7, **HOW).fit(TAGGED)
    assert seen == [(5, 3, 0.25, 7)]


# scores


class Lenient(Tagger):
    def score(self, X: Any, y: Any = None) -> float:
        return token_scores([s.layers["ner"] for s in X], self.predict(X)).accuracy or 0.0


def test_a_score_that_training_does_not_ask_is_warned_of(recipes: dict[str, Any]) -> None:
    said = r"dev and folds are not scored by Lenient\.score: define _dev_scorer"
    with pytest.warns(UserWarning, match=said):
        Lenient(**HOW).fit(TAGGED, dev=TAGGED)
    with pytest.warns(UserWarning, match=said):
        Lenient(cross_validate=2, **HOW).fit(TAGGED)
    pos = [replace(s, layers={"pos": s.layers["ner"]}) for s in TAGGED]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Lenient(cross_validate=0, **HOW).fit(TAGGED)
        Tagger(**HOW).fit(TAGGED, dev=TAGGED)
        recipes["word_tagger"].WordTagger(iterations=2).fit(pos, dev=pos)  # which has both
