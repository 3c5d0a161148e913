"""All weights of coupled trees and entities: their slope by belief propagation, against differences of the loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dovetail.joint.coupled import Both, Links
from dovetail.learning.losses import LOSSES
from dovetail.models.joint.estimator import JointParser
from dovetail.models.joint.soft.pair import Pair
from dovetail.models.joint.soft.shared import SharedTypes
from dovetail.models.joint.soft.training import SoftTraining, of_all
from dovetail.models.training import Run
from dovetail.sparse import SparseGradient
from dovetail.structures.brackets import BracketBatch, BracketPotentials
from dovetail.structures.contract import tables
from dovetail.structures.semimarkov import SemiMarkovBatch, SemiMarkovPotentials
from dovetail.text.sentence import Sentence
from tests.models.test_joint_parser import annotated

GROUP = np.array([0, 1, 1, 2])


def pair(seed: int, links: list[tuple[int, int]]) -> Pair:
    """A sentence of three words: brackets of four labels in three classes, segments of one label beside none."""
    rng = np.random.default_rng(seed)
    span = rng.normal(size=(6, 4))
    span[np.ix_([0, 3, 5], [1, 2, 3])] = -np.inf  # words are no constituents
    offsets = np.array([0, 3])
    whole = BracketBatch(BracketPotentials(span), offsets)
    second = SemiMarkovBatch(SemiMarkovPotentials.of(rng.normal(size=(3, 3, 2))), offsets, np.array([1, 3], np.int32))
    begin, end = np.array(links, np.int64).reshape(-1, 2).T
    table = np.zeros((len(links), 3, 2))
    table[:, 1:, 1] = 2.0 * rng.normal(size=(len(links), 2))
    return Pair.of(whole, second, Links(np.zeros_like(begin), begin, end, ((1,), (2,)), ((1,),)), table, GROUP)


def every(made: Pair) -> list[Both]:
    """All trees with all entities."""
    one, two = made.whole.kbest(64), made.coupled.second.kbest(40)
    return [
        Both(a, b)
        for a, x in zip(one[0], one[1][0], strict=True)
        for b, y in zip(two[0], two[1][0], strict=True)
        if x > -np.inf and y > -np.inf
    ]


@pytest.mark.parametrize("seed", range(2))
def test_labels_share_what_belief_propagation_gives_their_class(seed: int) -> None:
    made = pair(seed, [(1, 3)])
    answers = every(made)
    scores = np.array([made.score(answer)[0] for answer in answers])
    log_z, counts = made.log_partition_and_marginals()
    np.testing.assert_allclose(log_z[0], np.logaddexp.reduce(scores), atol=1e-8)
    chance = np.exp(scores - log_z[0])
    for number, found in enumerate(tables(counts)):
        expected = sum(p * tables(made.indicator(a))[number] for p, a in zip(chance, answers, strict=True))
        np.testing.assert_allclose(found, expected, atol=1e-7)
    best = made.score(made.best())[0]
    assert best == pytest.approx(scores.max())


@pytest.mark.parametrize("loss", ["likelihood", "softmax-margin", "perceptron"])
def test_losses_take_a_pair(loss: str) -> None:
    made = pair(4, [(0, 2)])
    answers = every(made)
    worst = answers[int(np.argmin([made.score(a)[0] for a in answers]))]
    value, slope = LOSSES[loss](made, worst, None)
    assert value > 0
    assert max(float(np.abs(part).max(initial=0.0)) for part in tables(slope)) > 0.1


@pytest.fixture(scope="module")
def training() -> SoftTraining:
    parser = JointParser(coupling="soft", coupled_training="all", folds=2, threads=1, entity_min_count=1)
    parser._more = annotated(3, seed=7), [Sentence(s.words, {}, s.spans) for s in annotated(3, seed=8)]
    run = Run(None, None, None, lambda what: None)
    found = parser._prepare(parser._examples(annotated(9), None, "training"), None, run)
    assert isinstance(found, SoftTraining)
    return found


def test_the_slope_of_all_weights_is_that_of_the_loss_where_nothing_loops(training: SoftTraining) -> None:
    fresh = training.fresh
    _, once = np.unique(fresh.links.sentence, return_index=True)
    links = fresh.links._replace(**{name: getattr(fresh.links, name)[once] for name in ("sentence", "begin", "end")})
    assert training.alone is not None
    objective = of_all(replace(fresh, links=links), *training.alone, training.settings)
    weight = 0.5 * training.start()
    sizes = [len(training.model.weight), *(len(each.weight) for each in training.alone)]
    rng = np.random.default_rng(2)
    _, gradient = objective(weight)
    for block in np.split(np.arange(len(weight)), np.cumsum(sizes)[:-1]):
        direction = np.zeros(len(weight))
        direction[block] = rng.normal(size=len(block)) / np.sqrt(len(block))
        moved = [objective(weight + step * direction)[0] for step in (1e-4, -1e-4)]
        np.testing.assert_allclose(gradient @ direction, (moved[0] - moved[1]) / 2e-4, rtol=1e-4, atol=1e-6)


def test_sentences_count_once_for_each_structure_that_they_tell_of(training: SoftTraining) -> None:
    coupled_trees, coupled_entities, trees, entities = (len(term.which) for term in training.objective.terms)
    assert coupled_trees == coupled_entities == 9
    assert (trees, entities) == (3, 3)


def test_types_share_what_they_have_in_common(training: SoftTraining) -> None:
    assert training.alone is not None
    own = training.alone[1].training
    shared = SharedTypes.of(own.objective, own.scorer)
    rng = np.random.default_rng(1)
    weight, direction = 0.1 * rng.normal(size=(2, shared.parameters))
    value, gradient = shared(weight)
    moved = [shared(weight + step * direction)[0] for step in (1e-4, -1e-4)]
    np.testing.assert_allclose(gradient @ direction, (moved[0] - moved[1]) / 2e-4, rtol=1e-5)
    sink = SparseGradient.of_size(shared.parameters)
    assert shared.accumulate(weight, np.arange(shared.items), sink) == pytest.approx(value)
    np.testing.assert_allclose(sink.value, gradient, atol=1e-9)


def test_all_weights_are_learnt() -> None:
    parser = JointParser(coupling="soft", coupled_training="all", folds=2, iterations=2).fit(annotated(40))
    assert parser.score(annotated(40, seed=5)) > 90
