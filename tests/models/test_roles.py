"""Semantic roles: training, answers, the joint model, lemmas, votes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

import dovetail
from dovetail.errors import DovetailError, InputError
from dovetail.models.parser.estimator import Parser
from dovetail.models.roles.estimator import RoleLabeller
from dovetail.models.roles.joint import ListObjective, softmax
from dovetail.models.roles.training import labels_of, right_labels
from dovetail.models.roles.voting import best_set, elected
from dovetail.models.roles.words import Lemmas
from dovetail.text.brackets import parse_tree
from dovetail.text.frames import Frame
from dovetail.text.sentence import Sentence, Span
from tests.models.kinds import KINDS

GOLD = KINDS["roles"].sentences
QUICK = {"gold_trees": True, "folds": 2, "iterations": 3, "threads": 1}
TEXT = [Sentence(s.words) for s in GOLD]


@pytest.fixture(scope="module")
def whole() -> RoleLabeller:
    """With a parser and a joint model."""
    parser = Parser(features="generative", threads=1)
    return RoleLabeller(parser=parser, ranked=3, folds=2, iterations=3, threads=1).fit(GOLD, dev=GOLD[::4])


def test_words_become_trees_predicates_and_arguments(whole, tmp_path):
    assert whole.card_["dev"] == 100.0
    found = list(whole.annotate(TEXT))
    assert [s.tree is not None and "pos" in s.layers for s in found] == [True] * len(found)
    bare = [tuple(replace(f, probability=None, arguments=_plain(f)) for f in s.frames) for s in found]
    assert bare == [tuple(replace(f, arguments=_plain(f)) for f in s.frames) for s in GOLD]
    assert all(0.0 <= a.probability <= 1.0 for s in found for f in s.frames for a in f.arguments)
    assert whole.score(GOLD) == whole.score(GOLD, find_predicates=True) == 100.0
    path = tmp_path / "roles.dovetail"
    whole.save(path)
    again = dovetail.load(path)
    assert list(again.annotate(TEXT)) == found
    assert [type(stage).__name__ for stage in again.stages()][-2:] == ["Parser", "RoleLabeller"]


def _plain(frame: Frame) -> tuple[Span, ...]:
    return tuple(Span(a.start, a.end, a.label) for a in frame.arguments)


def test_what_a_sentence_has_it_keeps(whole):
    tree = parse_tree("(S (NP (NNP Bob)) (VP (VBD saw) (NP (NNP Ada))))")
    [found] = whole.annotate([Sentence(tree.words(), tree=tree, frames=[Frame(1, "look.07", "look")])])
    assert found.tree is tree
    assert [(frame.predicate, frame.sense) for frame in found.frames] == [(1, "look.07")]
    [none] = whole.annotate([Sentence(tree.words(), tree=tree, frames=())])
    assert none.frames == ()
    assert whole.predict([Sentence(()), GOLD[0]])[0] == ()


def test_lists_and_samples_are_of_the_same_distribution(whole):
    local = replace(whole)
    local.model_ = replace(whole.model_, joint=None)
    for model in (whole, local):
        some = GOLD[4:9]
        ranked = model.kbest(some, 5)
        for answers in ranked:
            chances = [answer.probability for answer in answers]
            assert chances == sorted(chances, reverse=True)
            assert sum(chances) <= 1.0 + 1e-9
            assert len({answer.frames for answer in answers}) == len(answers)
        drawn = model.sample(some, 40, seed=3)
        assert drawn == model.sample(some, 40, seed=3)
        every = model.predict_marginals(some)
        for answers, frames in zip(drawn, every, strict=True):
            known = {(f.predicate, a.start, a.end, a.label) for f in frames for a in f.arguments}
            assert all((f.predicate, *_key(a)) in known for x in answers for f in x.frames for a in f.arguments)


def _key(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.label


def test_marginals_of_the_best_are_those_that_it_shows():
    model = RoleLabeller(**QUICK, ranked=0).fit(GOLD)
    [shown], [every] = model.annotate(GOLD[4:5]), model.predict_marginals(GOLD[4:5])
    table = {_key(a): a.probability for a in every[0].arguments}
    assert all(table[_key(a)] == pytest.approx(a.probability) for a in shown.frames[0].arguments)
    with pytest.raises(InputError, match="sentence 1 has no tree, and this model has no parser"):
        model.predict(TEXT)
    assert model.needs == ("tree",)


def test_an_argument_is_explained(whole):
    why = whole.explain(GOLD[4], 1, 2, 3)
    assert (why.label, why.alternatives[0][0]) == ("ARG1", "ARG1")
    assert sum(p for _, p in why.alternatives) == pytest.approx(1.0)
    assert why.for_it[0].margin > 0
    assert any("phrase=NP" in evidence.feature for evidence in why.for_it)
    with pytest.raises(DovetailError, match="word 0 is no predicate; there are 1 'saw'"):
        whole.explain(GOLD[4], 0, 2, 3)
    with pytest.raises(DovetailError, match="no constituent near"):
        whole.explain(GOLD[4], 1, 0, 3)


@pytest.mark.parametrize(
    ("sentences", "settings", "message"),
    [
        ([replace(GOLD[0], frames=None)], {}, "training sentence 1 has no frames"),
        ([replace(GOLD[0], tree=None)], {}, "training sentence 1 has no tree"),
        ([replace(GOLD[0], frames=())], {}, "no arguments"),
        (GOLD, {"parser": 3}, "parser=int: give a Parser"),
        (GOLD, {"reach": 0}, "reach"),
    ],
)
def test_what_cannot_be_learnt(sentences, settings, message):
    with pytest.raises(DovetailError, match=message):
        RoleLabeller(**QUICK, ranked=0, **settings).fit(sentences)


def test_arguments_that_overlap_or_cover_no_constituent_are_counted():
    tree = parse_tree("(S (NP (NNP Bob)) (VP (VBD saw) (NP (NNP Ada) (NNP Lee))))")
    frame = Frame(1, "see.01", "see", [(0, 1, "ARG0"), (2, 4, "ARG1"), (3, 4, "ARGM-TMP")])
    model = RoleLabeller(**QUICK, ranked=0).fit([Sentence(tree.words(), tree=tree, frames=[frame])] * 8)
    assert (model.card_["arguments"], model.card_["unreachable"]) == (24, 8)
    assert len(model.predict([Sentence(tree.words(), tree=tree)])[0][0].arguments) == 2
    labels, once = labels_of([[frame, Frame(0, arguments=[(1, 2, "ARG9"), (2, 3, "ARG9")])]])
    assert dict(zip(labels, once >= 0, strict=True)) == {"ARG0": True, "ARG1": True, "ARG9": False, "ARGM-TMP": False}
    assert (
        right_labels([[]], RoleLabeller(**QUICK, ranked=0).fit(GOLD).model_.look([], []).text.candidates, ())[0].size
        == 0
    )


def test_the_joint_objective_has_the_gradient_that_it_says():
    rng = np.random.default_rng(0)
    number = rng.integers(-1, 4, (6, 3, 2)).astype(np.int32)
    scores = np.sort(rng.normal(size=(6, 3)))[:, ::-1].copy()
    scores[2, 1:] = -np.inf
    objective = ListObjective(number, scores, np.array([0, 1, 0, 2, 1, 0]), 4)
    weight = rng.normal(size=5)
    value, gradient = objective(weight)
    assert value > 0
    for i, step in enumerate(np.eye(5) * 1e-6):
        slope = (objective(weight + step)[0] - objective(weight - step)[0]) / 2e-6
        assert_allclose(gradient[i], slope, atol=1e-6)


def test_lemmas_of_unknown_words_follow_their_endings():
    pairs = [("walked", "VBD", "walk"), ("talked", "VBD", "talk"), ("cities", "NNS", "city"), ("duties", "NNS", "duty")]
    lemmas = Lemmas.learnt([*pairs, ("left", "VBD", "leave")])
    assert lemmas.of("Left", "VBD") == "leave"
    assert lemmas.of("balked", "VBN") == "balk"
    assert lemmas.of("parties", "NNS") == "party"
    assert lemmas.of("sky", "JJ") == "sky"


def test_the_elected_set_is_the_best_of_all():
    rng = np.random.default_rng(1)
    for _ in range(20):
        parts = {(int(b), int(b + n), f"ARG{y}"): float(rng.random()) for b, n, y in rng.integers(1, 4, (5, 3))}
        best = 0.0
        for chosen in product([False, True], repeat=len(parts)):
            some = [part for part, use in zip(parts, chosen, strict=True) if use]
            apart = all(a is b or a[1] <= b[0] or b[1] <= a[0] for a in some for b in some)
            if apart and len({label for *_, label in some}) == len(some):
                best = max(best, sum(parts[part] - 0.35 for part in some))
        found = best_set(parts, 0.35)
        assert sum(parts[_key(span)] - 0.35 for span in found) == pytest.approx(best)
    assert elected([(0.4, [Frame(1)]), (0.6, [])]) == ()


def test_probabilities_of_a_list_do_not_depend_on_what_is_added_to_all_its_values():
    values, scores = np.array([[1.0, 2.0, 5.0]]), np.array([[0.0, 0.0, -np.inf]])
    expected = [[1 / (1 + np.e), np.e / (1 + np.e), 0.0]]
    for more in (0.0, 800.0, -800.0):
        np.testing.assert_allclose(softmax(values + more, scores), expected)
    np.testing.assert_allclose(softmax(values, np.full((1, 3), -np.inf)), np.zeros((1, 3)))
