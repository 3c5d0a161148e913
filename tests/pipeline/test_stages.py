"""Models of every kind as stages: draws by sentence, models taken apart, temperatures."""

from __future__ import annotations

import copy
from collections import Counter

import numpy as np
import pytest

from dovetail.models.dependency.estimator import DependencyParser
from dovetail.models.parser.estimator import Parser
from dovetail.models.tagger.estimator import Tagger
from dovetail.pipeline.pipeline import Pipeline
from dovetail.pipeline.stage import Stage
from dovetail.pipeline.values import value_of
from dovetail.text.brackets import parse_tree
from dovetail.text.sentence import Sentence
from tests.models.corpus import made
from tests.models.kinds import KINDS
from tests.models.treebank import treebank

ONLY = [name for name in KINDS if name not in ("soft", "entailment")]  # pairs are no sentences


@pytest.fixture(scope="module")
def trained():
    known = {}

    def get(name):
        if name not in known:
            kind = KINDS[name]
            known[name] = copy.deepcopy(kind.model).set_params(threads=1).fit(kind.sentences)
        return known[name]

    return get


def inputs(name):
    given = KINDS[name].inputs[:2]
    return [g if isinstance(g, Sentence) else Sentence((g,) if isinstance(g, str) else tuple(g)) for g in given]


@pytest.mark.parametrize("name", ONLY)
def test_draws_are_of_each_sentence_by_itself(name, trained):
    model, text = trained(name), inputs(name)

    def rng(i):
        return np.random.default_rng([7, i])

    both = model.draws(text, [40, 30], [rng(0), rng(1)])
    assert list(map(len, both)) == [40, 30]
    [alone] = model.draws(text[1:], [30], [rng(1)])
    [fewer] = model.draws(text[1:], [5], [rng(1)])
    values = [[value_of(answer, model.writes) for answer in answers] for answers in (both[1], alone, fewer)]
    assert values[0] == values[1]
    assert values[0][:5] == values[2]
    assert len({id(answer) for answer in both[0]}) == len(set(map(lambda a: value_of(a, model.writes), both[0])))


@pytest.mark.parametrize("name", ONLY)
def test_draws_are_as_frequent_as_they_are_probable(name, trained):
    model, text = trained(name), inputs(name)[:1]
    right = {}
    for answer in model.listed_answers(text, 30)[0]:
        value = value_of(answer, model.writes)
        right[value] = right.get(value, 0.0) + answer.probability
    [drawn] = model.draws(text, [1000], [np.random.default_rng(1)])
    known = {id(answer): value_of(answer, model.writes) for answer in drawn}
    count = Counter(known[id(answer)] for answer in drawn)
    for value, p in right.items():
        assert count[value] / 1000 == pytest.approx(p, abs=0.07)


@pytest.mark.parametrize("name", ["tagger", "words", "nested", "parser", "labelled", "ruled", "dependency"])
def test_a_pipeline_of_one_model_answers_as_the_model(name, trained):
    model, text = trained(name), inputs(name)
    found = [value_of(s, model.writes) for s in Pipeline([Stage("x", model)], strategy="greedy").annotate(text)]
    assert found == [
        value_of(answer.write(s), model.writes) for s, answer in zip(text, model.best_answers(text), strict=False)
    ]
    for strategy in ("kbest", "sample"):
        [one, _] = Pipeline([Stage("x", model)], strategy=strategy, k=5, samples=10).annotate(text)
        assert one.words
        assert [value_of(one, model.writes)]


def test_a_model_of_two_stages_is_taken_apart():
    train = [Sentence(s.words, {"pos": s.layers["pos"], "ner": s.layers["ner"]}) for s in made(12)]
    tagger = Tagger(features=["word[0]", "pos[-1:2]"], iterations=3, threads=1).fit(train)
    pipeline = Pipeline.of(tagger, strategy="greedy")
    assert [(s.name, s.reads, s.writes) for s in pipeline.stages] == [
        ("pos", (), ("pos",)), ("ner", ("pos",), ("ner", "spans"))
    ]  # fmt: skip
    text = [Sentence(s.words) for s in made(5, seed=3)]
    assert list(pipeline.annotate(text)) == list(tagger.annotate(text))
    assert pipeline.needs == ()
    drawn = Pipeline.of(tagger, samples=30).posterior(text)[0]
    assert {layer for ballot in drawn.ballots for layer in ballot.writes} == {"pos", "ner", "spans"}


def test_parsers_are_taken_apart():
    trees = [
        parse_tree("(S (NP (NNP Ada)) (VP (VBD saw) (NP (NNP Bob))))"),
        parse_tree("(S (NP (NNP Bob)) (VP (VBD ran)))"),
    ]
    train = [Sentence(tuple(t.words()), tree=t) for t in trees] * 4
    text = [Sentence(("Ada", "ran"))]
    for kind in ("grammar", "labelled-rules"):
        parser = Parser(kind=kind, iterations=2, threads=1).fit(train)
        pipeline = Pipeline.of(parser, strategy="greedy")
        assert [s.writes for s in pipeline.stages] == [("pos",), ("tree",)]
        assert [s.tree for s in pipeline.annotate(text)] == [s.tree for s in parser.annotate(text)]
        assert parser.tags == "predicted"
        assert parser.reads == ()
        given = Stage("tree", parser, reads=["pos"])
        assert given.reads == ("pos",)
        assert given.writes == ("tree",)


@pytest.fixture(scope="module")
def dependency() -> DependencyParser:
    return DependencyParser(bits=10, iterations=2, predict_tags=True, threads=1).fit(treebank(6))


def test_a_parser_of_dependencies_is_taken_apart(dependency):
    pipeline = Pipeline.of(dependency, strategy="greedy")
    assert [s.writes for s in pipeline.stages] == [("pos",), ("head", "deprel")]
    text = [Sentence(s.words) for s in treebank(3, 2)]
    assert list(pipeline.annotate(text)) == [
        Sentence(s.words, {name: s.layers[name] for name in ("pos", "head", "deprel", "head_probability")})
        for s in dependency.annotate(text)
    ]


def test_lists_of_trees_have_relations(dependency):
    parser, text = dependency.reading(), treebank(2, 5)
    for answers in (
        parser.listed_answers(text, 3),
        parser.draws(text, [3, 3], [np.random.default_rng(i) for i in (1, 2)]),
    ):
        for sentence, some in zip(text, answers, strict=True):
            assert all(len(answer.layers["deprel"]) == len(sentence) for answer in some)


def test_temperature_where_there_is_nothing_to_divide(trained):
    """Trees of a counted grammar: its list of trees is weighted anew."""
    kind = KINDS["parser"]
    parser = Parser(features="generative", threads=1).fit(kind.sentences)
    assert parser.at_temperature(2.0) is None
    assert parser.at_temperature(1.0) is parser
    text = [Sentence(("Bob", "saw", "Ada"))]
    cold, hot = (
        Pipeline([Stage("t", parser, temperature=t)], strategy="kbest", k=20).posterior(text)[0]["tree"] for t in (1, 3)
    )
    assert [tree for tree, _ in cold] == [tree for tree, _ in hot]
    raised = np.array([p for _, p in cold]) ** (1 / 3)
    assert [p for _, p in hot] == pytest.approx((raised / raised.sum()).tolist())
