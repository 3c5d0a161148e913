"""Every model trains with every loss and optimiser; gradients, batches and threads are the same matter for all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dovetail.learning.losses import LOSSES
from dovetail.learning.objective import Objective
from dovetail.models.base import OPTIMISERS, Estimator
from dovetail.models.nested.estimator import NestedTagger
from dovetail.models.training import Run
from dovetail.sparse import SparseGradient
from tests.models.kinds import KINDS, Kind

RUN = Run(None, None, None, lambda what: None)


def _variants() -> dict[str, Kind]:
    """The kinds, and what they can be beside."""
    tagged = [s.with_layer("pos", tuple("NN" if w[0].isupper() else "VB" for w in s.words)) for s in KINDS["nested"][1]]
    joint = NestedTagger(min_count=1, pos="joint", iterations=3)
    return KINDS | {
        "markov": KINDS["segments"]._replace(model=_with(KINDS["segments"].model, model="markov")),
        "order-2": KINDS["tagger"]._replace(model=_with(KINDS["tagger"].model, order=2)),
        "nested-tags": Kind(joint, tagged, [], []),
        "hidden": KINDS["tagger"]._replace(model=_with(KINDS["tagger"].model, hidden=3, gain=0.02)),
        "hidden-segments": KINDS["segments"]._replace(model=_with(KINDS["segments"].model, hidden=3, gain=0.02)),
        "hidden-nested": KINDS["nested"]._replace(
            model=_with(KINDS["nested"].model, hidden=2, activation="linear", gain=0.02)
        ),
    }


def _with(model: Estimator, /, **settings: Any) -> Any:
    return type(model)(**(model.get_params(deep=False) | settings))


VARIANTS = _variants()
every_kind = pytest.mark.parametrize("kind", VARIANTS)


def objective_of(kind: str, loss: str = "likelihood", threads: int = 1) -> Objective:
    model = _with(VARIANTS[kind].model, threads=threads)
    corpus = model._examples(VARIANTS[kind].sentences, None, "training")
    training = model._prepare(corpus, None, RUN)
    return replace(training.objective, loss=LOSSES[loss])


@every_kind
@pytest.mark.parametrize("loss", ["likelihood", "softmax-margin"])
def test_the_gradient_is_that_of_the_objective(kind: str, loss: str) -> None:
    objective = objective_of(kind, loss)
    rng = np.random.default_rng(0)
    weight = rng.normal(size=objective.parameters)
    value, gradient = objective(weight)
    assert value > -1e-9
    gradient = gradient.copy()
    for _ in range(5):
        direction = rng.normal(size=objective.parameters)
        ahead, behind = objective(weight + 1e-5 * direction)[0], objective(weight - 1e-5 * direction)[0]
        np.testing.assert_allclose(gradient @ direction, (ahead - behind) / 2e-5, rtol=1e-4, atol=1e-5)


@every_kind
@pytest.mark.parametrize("loss", LOSSES)
def test_few_sentences_at_a_time_add_up_to_all(kind: str, loss: str) -> None:
    objective = objective_of(kind, loss)
    weight = np.random.default_rng(1).normal(size=objective.parameters)
    value, gradient = objective(weight)
    total, summed = 0.0, np.zeros(objective.parameters)
    sink = SparseGradient.of_size(objective.parameters)
    for some in np.split(np.random.default_rng(4).permutation(objective.items), [2, 5]):
        sink.clear()
        objective.touch(some, sink)
        listed = sink.listed
        if not isinstance(listed, slice):
            assert len(set(listed.tolist())) == len(listed)
        sink.value[listed] = 0.0
        total += objective.accumulate(weight, some, sink)
        summed[listed] += sink.value[listed]
    np.testing.assert_allclose(total, value)
    np.testing.assert_allclose(summed, gradient, atol=1e-9)


@every_kind
def test_threads_change_no_bit(kind: str) -> None:
    found = []
    for threads in (1, 3):
        objective = objective_of(kind, threads=threads)
        value, gradient = objective(np.random.default_rng(0).normal(size=objective.parameters))
        found.append((value, gradient.tobytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("optimiser", OPTIMISERS)
def test_no_penalty_at_all(kind: str, optimiser: str) -> None:
    made = _with(VARIANTS[kind].model, optimiser=optimiser, l2=0.0, iterations=2).fit(VARIANTS[kind].sentences)
    arrays = [array for array in made.packed()[1].values() if array.dtype.kind == "f"]
    assert all(np.isfinite(array).all() for array in arrays)
    assert any(array.any() for array in arrays)


@every_kind
@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_and_optimiser_trains(kind: str, optimiser: str, loss: str) -> None:
    if loss == "perceptron" and optimiser == "lbfgs":
        return  # it is not smooth, and refused: see test_inputs
    model, sentences = VARIANTS[kind].model, VARIANTS[kind].sentences
    made = _with(model, optimiser=optimiser, loss=loss, iterations=4)
    likelihood = objective_of(kind)
    corpus = made._examples(sentences, None, "training")
    training = made._prepare(corpus, None, RUN)
    start = training.start(None)
    weight = made._minimise(training, made._monitor(RUN), RUN)
    before, after = likelihood(start)[0], likelihood(weight)[0]
    assert after < before or after < 0.3 * likelihood.items  # some kinds start from what is nearly right
