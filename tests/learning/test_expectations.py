"""Expectation regularisation: its slope against finite differences and enumeration, alone and beside labels."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail import Tagger
from dovetail.learning.expectations import Expecting, Lessons, Targets, expected
from dovetail.learning.losses import DISTANCES, likelihood
from dovetail.structures.chain import ChainBatch, ChainPotentials
from dovetail.text.expectations import Expectation

OFFSETS = np.array([0, 3, 3, 5, 9])


def chains(rng: np.random.Generator, labels: int = 3, edges: bool = False) -> ChainBatch:
    """Four sentences, one of them empty; a pair of labels is forbidden."""
    n = int(OFFSETS[-1])
    transition = rng.normal(size=(labels, labels))
    transition[0, 2] = -np.inf
    edge = rng.normal(size=(n, labels, labels)) if edges else None
    return ChainBatch(ChainPotentials.of(rng.normal(size=(n, labels)), transition, edge=edge), OFFSETS)


def targets(rng: np.random.Generator, labels: int = 3) -> Targets:
    """Some tokens of each sentence, single labels and a group of two."""
    groups = np.vstack([np.eye(labels), [1.0] * 2 + [0.0] * (labels - 2)])
    position = np.array([0, 2, 2, 1, 0, 3, 3])
    group = np.array([0, 1, 3, 3, 2, 0, 1])
    return Targets(np.array([0, 3, 3, 4, 7]), position, group, rng.uniform(size=7), rng.uniform(size=7), groups)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("edges", [False, True])
def test_slope_is_that_of_finite_differences(distance, edges):
    rng = np.random.default_rng(1)
    batch, told = chains(rng, edges=edges), targets(rng)
    _, slope = expected(batch, told, distance, 0.7)
    for name in ("unary", "transition", "start", "end") + (("edge",) if edges else ()):
        table = getattr(batch.potentials, name)
        for place in zip(*np.nonzero(np.isfinite(table)), strict=True):
            values = []
            for step in (1e-5, -1e-5):
                moved = table.copy()
                moved[place] += step
                other = batch.with_potentials(batch.potentials._replace(**{name: moved}))
                values.append(expected(other, told, distance, 0.7)[0])
            assert getattr(slope, name)[place] == pytest.approx((values[0] - values[1]) / 2e-5, abs=1e-6)


@pytest.mark.parametrize("distance", DISTANCES)
def test_value_is_that_of_the_marginals(distance):
    rng = np.random.default_rng(2)
    batch, told = chains(rng), targets(rng)
    marginals = batch.marginals().unary
    total = 0.0
    for i in range(4):
        for c in range(told.ptr[i], told.ptr[i + 1]):
            m = marginals[OFFSETS[i] + told.position[c]] @ told.groups[told.group[c]]
            q = told.probability[c]
            total += told.weight[c] * ((m - q) ** 2 if distance == "squared" else q * np.log(q / m))
    assert expected(batch, told, distance)[0] == pytest.approx(total)


def test_labels_and_expectations_add_up():
    rng = np.random.default_rng(3)
    batch, told = chains(rng, edges=True), targets(rng)
    first, rest = np.array([3, 0]), np.array([2, 1])
    gold = np.array([0, 1, 1, 0, 1, 2, 1])
    lessons = Lessons(first, (gold, None), rest, told.of(rest))
    value, slope = Expecting(likelihood, "squared", 0.5)(batch, lessons)
    one, other = likelihood(batch.take(first), gold), expected(batch.take(rest), told.of(rest), "squared", 0.5)
    assert value == pytest.approx(one[0] + other[0])
    assert np.allclose(slope.transition, one[1].transition + other[1].transition)
    assert np.allclose(slope.unary[5:9], one[1].unary[:4])
    assert np.allclose(slope.unary[3:5], other[1].unary)
    assert np.allclose(slope.edge[0:3], one[1].edge[4:])


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("noise", [None, "dropout:0.3"])
def test_gradient_of_a_tagger(distance, noise):
    words = [["Ada", "saw", "Bern"], ["Bern", "slept"], ["Ada", "ran"]]
    told = [Expectation.of(w, [(0, "PER", 0.7), (0, "O", 0.2, 0.5), (1, "B-LOC", 0.1)]) for w in words]
    tagger = Tagger(features=["word[-1:2]", "edge(bias)"], min_count=1, expectation_loss=distance, noise=noise)
    tagger._expected = told
    from dovetail.models.training import Run

    corpus = tagger._examples([["Ada", "ran", "far"]], [["B-PER", "O", "O"]], "training")
    training = tagger._prepare(corpus, None, Run(None, None, None, lambda what: None))
    objective = training.objective
    rng = np.random.default_rng(4)
    weight = rng.normal(size=objective.parameters)
    _, gradient = objective(weight)
    for _ in range(5):
        direction = rng.normal(size=len(weight))
        up, down = (objective(weight + step * direction)[0] for step in (1e-5, -1e-5))
        assert gradient @ direction == pytest.approx((up - down) / 2e-5, rel=1e-4, abs=1e-5)
