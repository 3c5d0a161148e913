"""The gradient of every training objective equals finite differences; batch, online and threads agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dovetail.features.algebra.sets import FeatureSet
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.tagger.model import ChainTraining
from dovetail.sparse import SparseGradient
from dovetail.text.sentence import Sentence
from tests.models.corpus import made

FEATURES = FeatureSet.of(
    [
        "bias",
        "word[-1:2]",
        "ngrams(2, 3)[0]",
        "bag(word, 2)",
        "word[-1] & pos[0]",
        "number(n)[0]",
        "edge(bias)",
        "edge(pos[0])",
        "edge(word[-1] & word[0])",
    ]
)


def numbered(sentences: list[Sentence]) -> list[Sentence]:
    return [s.with_layer("n", tuple(str(len(w) / 5) for w in s.words)) for s in sentences]


def prepared(sentences: list[Sentence], **settings: Any) -> ChainTraining:
    chosen: dict[str, Any] = {"min_count": 1, "observed_only": True, "threads": 1}
    tagger = Tagger(**(chosen | settings))
    return tagger.prepared(sentences, FEATURES)


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("loss", ["likelihood", "softmax-margin"])
@pytest.mark.parametrize("scheme", ["iob2", "iobes"])
def test_gradient_equals_finite_differences(order: int, loss: str, scheme: str) -> None:
    training = prepared(numbered(made(6)), order=order, loss=loss, scheme=scheme, constrain=scheme == "iob2")
    check_gradient(training)


@pytest.mark.parametrize("order", [1, 2])
def test_gradient_with_partly_known_labels(order: int) -> None:
    sentences = numbered(made(6))
    rng = np.random.default_rng(2)
    tags = [tuple(t if rng.random() < 0.6 else "?" for t in s.layers["ner"]) for s in sentences]
    training = prepared([s.with_layer("ner", t) for s, t in zip(sentences, tags, strict=True)], order=order)
    assert training.objective.gold(None)[1] is not None
    check_gradient(training)


def check_gradient(training: ChainTraining) -> None:
    objective = training.objective
    rng = np.random.default_rng(1)
    weight = rng.normal(size=objective.parameters) * 0.3
    value, gradient = objective(weight)
    assert value > 0
    step = 1e-5
    for p in np.unique(
        np.concatenate(
            [rng.choice(objective.parameters, 60), np.arange(training.scorer.after_parts, objective.parameters)]
        )
    ):
        up, down = weight.copy(), weight.copy()
        up[p] += step
        down[p] -= step
        assert gradient[p] == pytest.approx((objective(up)[0] - objective(down)[0]) / (2 * step), abs=1e-4)


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("loss", ["likelihood", "perceptron", "softmax-margin"])
def test_a_pass_in_batches_adds_up_to_the_whole(order: int, loss: str) -> None:
    objective = prepared(numbered(made(9)), order=order, loss=loss).objective
    weight = np.random.default_rng(1).normal(size=objective.parameters)
    value, gradient = objective(weight)
    total, total_gradient = 0.0, np.zeros(objective.parameters)
    sink = SparseGradient.of_size(objective.parameters)
    for which in np.split(np.random.default_rng(4).permutation(9), 3):
        sink.clear()
        objective.touch(which, sink)
        assert len(set(sink.listed)) == len(sink.listed)
        sink.value[sink.listed] = 0.0
        total += objective.accumulate(weight, which, sink)
        total_gradient[sink.listed] += sink.value[sink.listed]
    assert total == pytest.approx(value)
    assert np.allclose(total_gradient, gradient)


def test_merging_twins_does_not_change_the_optimum() -> None:
    sentences = numbered(made(12))
    values = []
    exported = []
    parameters: list[int] = []
    for twins in (False, True):
        training = prepared(sentences, merge_twins=twins)
        start = np.zeros(training.objective.parameters)
        weight = LBFGS(limit=400, tolerance=1e-13).minimise(training.objective, training.prior, start)
        values.append(training.objective(weight)[0] + training.prior.value(weight))
        exported.append(training.export(weight).node)
        parameters.append(training.objective.parameters)
    assert parameters[1] < 0.8 * parameters[0]
    assert values[0] == pytest.approx(values[1], rel=1e-7)
    assert len(exported[0].weight) == pytest.approx(len(exported[1].weight), abs=20)


def test_same_bits_for_any_number_of_threads() -> None:
    sentences = numbered(made(400))
    weight = None
    results = []
    for threads in (1, 2, 3):
        objective = prepared(sentences, threads=threads).objective
        weight = np.random.default_rng(0).normal(size=objective.parameters)
        value, gradient = objective(weight)
        results.append((value, gradient.tobytes()))
    assert results[0] == results[1] == results[2]


def test_all_parameters_on_request() -> None:
    sentences = numbered(made(6))
    labels = 5
    few, all_of_them = prepared(sentences).scorer, prepared(sentences, observed_only=False).scorer
    node = all_of_them.parts["node"].layout
    assert node.parameters == node.size * labels
    assert few.parameters < all_of_them.parameters
    assert all_of_them.form.shared == labels**2


def test_rare_features_are_pruned() -> None:
    sentences = numbered(made(20))
    assert prepared(sentences, min_count=3).objective.parameters < prepared(sentences).objective.parameters


def test_dev_potentials_are_those_of_the_exported_model() -> None:
    train, dev = numbered(made(12)), numbered(made(5, seed=9))
    training = prepared(train)
    weight = np.random.default_rng(1).normal(size=training.objective.parameters)
    weight[::3] *= 1e-5  # so that some are too small to be stored
    after = training.export(weight).batch(dev, threads=1).potentials
    stored = training.dev_scorer(dev)(training.as_stored(weight)).potentials
    assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(stored, after, strict=True))
    during = training.dev_scorer(dev)(weight).potentials
    assert np.allclose(during.unary, after.unary, atol=0.02)
    assert np.allclose(during.edge, after.edge, atol=0.02)
    assert np.allclose(during.transition, after.transition, atol=0.02)


def test_starting_from_a_model_gives_back_its_objective() -> None:
    sentences = numbered(made(12))
    training = prepared(sentences)
    start = np.zeros(training.objective.parameters)
    weight = LBFGS(limit=50).minimise(training.objective, training.prior, start)
    again = prepared(sentences).start(training.export(weight))
    assert training.objective(again)[0] == pytest.approx(training.objective(weight)[0], rel=1e-3)
