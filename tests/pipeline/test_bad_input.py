"""Pipelines that cannot be, and text that stages cannot take: errors that say what to do, and nothing lost."""

from __future__ import annotations

import warnings

import pytest

from dovetail.errors import DovetailError
from dovetail.models.tagger.estimator import Tagger
from dovetail.pipeline.pipeline import Pipeline, PipelineWarning
from dovetail.pipeline.stage import Stage
from dovetail.text.sentence import Document, Sentence
from tests.models.corpus import made

STRATEGIES = ["greedy", "kbest", "sample"]


def layer(name, value="x"):
    return lambda sentence: sentence.with_layer(name, (value,) * len(sentence))


def stage(name, *reads, **how):
    return Stage(name, layer(name), reads, (name,), **how)


def error(make):
    with pytest.raises(DovetailError) as told:
        make()
    return str(told.value)


def test_circles():
    told = error(lambda: Pipeline([stage("a", "c"), stage("b", "a"), stage("c", "b"), stage("d")]))
    assert told == "the stages 'a' -> 'b' -> 'c' -> 'a' read each other's layers in a circle; break it"
    assert error(lambda: stage("a", "a")) == "stage 'a' reads 'a', which it writes itself"


def test_two_that_write_one_layer():
    told = error(lambda: Pipeline([stage("a"), Stage("b", layer("a"), (), ("a",))]))
    assert told == "the stages 'a' and 'b' both write 'a'; where one should read it, say so: reads=('a',)"


def test_names_and_settings():
    assert error(lambda: Pipeline([])) == "a pipeline has at least one stage"
    assert "two stages are called 'a'" in error(lambda: Pipeline([stage("a"), stage("a")]))
    assert "give stages" in error(lambda: Pipeline([layer("a")]))
    assert "must say what it writes" in error(lambda: Stage("a", layer("a")))
    assert "give a model or a function" in error(lambda: Stage("a", 3, (), ("a",)))
    assert "tuple of names" in error(lambda: Stage("a", layer("a"), "pos", ("a",)))
    assert "known by its name" in error(lambda: Stage("", layer("a"), (), ("a",)))
    assert "choose a number above 0" in error(lambda: stage("a", temperature=0))
    assert "choose greedy, kbest or sample" in error(lambda: Pipeline([stage("a")], strategy="best"))
    assert "choose parts or answer" in error(lambda: Pipeline([stage("a")], vote="all"))
    assert "choose a whole number" in error(lambda: Pipeline([stage("a")], samples=0))
    assert "choose a whole number" in error(lambda: Pipeline([stage("a")], strategy="kbest", k=0))
    assert "not trained" in error(lambda: Stage("a", Tagger()))


def test_models_know_what_they_read_and_write():
    tagger = Tagger(target="pos", features=["word[0]"], iterations=1, threads=1).fit(made(4))
    assert error(lambda: Stage("a", tagger, reads=["ner"])) == (
        "stage 'a': the model does not read 'ner'; it reads words alone"
    )
    assert error(lambda: Stage("a", tagger, writes=["ner"])) == (
        "stage 'a': the model does not write 'ner'; it writes pos"
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_layers_that_are_missing(strategy):
    pipeline = Pipeline([stage("a", "pos")], strategy=strategy)
    assert pipeline.needs == ("pos",)
    text = [Sentence(("one",), {"pos": ("CD",)}), Sentence(("two",), {"ner": ("O",)})]
    told = error(lambda: list(pipeline.annotate(text)))
    assert told == (
        "sentence 2 has no 'pos', which the stage 'a' reads (it has words, ner); add a stage that writes it, or give "
        "text that has it"
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_sentence_on_which_a_stage_fails_goes_on_without_it(strategy):
    def fails(sentence):
        if "bad" in sentence.words:
            raise ValueError("a bad word")
        return layer("b")(sentence)

    stages = [stage("a"), Stage("b", fails, ("a",), ("b",)), stage("c", "b"), stage("d", "a")]
    text = [Sentence(("good",)), Sentence(("bad",), id="s2"), Sentence(()), Sentence(("fine",))]
    with pytest.warns(PipelineWarning) as told:
        found = list(Pipeline(stages, strategy=strategy).annotate(text))
    assert [str(one.message) for one in told] == ["sentence 2 (s2): the stage 'b' fails: ValueError: a bad word"]
    assert [sorted(s.layers) for s in found] == [["a", "b", "c", "d"], ["a", "d"], [], ["a", "b", "c", "d"]]
    assert [s.words for s in found] == [s.words for s in text]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_gold_layers_are_never_read_nor_kept(strategy):
    text = [Sentence(("one",), {"a": ("gold",), "other": ("kept",)})]

    def sees(sentence):
        assert "a" not in sentence.layers
        return layer("b")(sentence)

    stages = [stage("a"), Stage("b", sees, (), ("b",))]
    [found] = Pipeline(stages, strategy=strategy).annotate(text)
    assert found.layers == {"a": ("x",), "b": ("x",), "other": ("kept",)}


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_empty_text(strategy):
    pipeline = Pipeline([stage("a"), stage("b", "a")], strategy=strategy)
    assert list(pipeline.annotate([])) == []
    assert pipeline("") == Document((), "")
    assert list(pipeline.annotate([Sentence(())])) == [Sentence(())]
    assert pipeline("One two.").sentences[0].layers["b"] == ("x", "x", "x")


@pytest.mark.parametrize("gives", [None, [1, 2], [(Sentence(("one",)), 1.0)], [(Sentence(("one",)), "much")]])
def test_functions_that_give_something_else(gives):
    lines = []
    pipeline = Pipeline([Stage("a", lambda sentence: gives, (), ("a",))], strategy="kbest", told=lines.append)
    assert list(pipeline.annotate([["one"]])) == [Sentence(("one",))]
    assert len(lines) == 1
    assert lines[0].startswith("sentence 1: the stage 'a' fails: ")


def test_sentences_too_long_for_lists_have_their_best_answer():
    """A model that can parse a sentence in pieces has no lists of it."""
    tagger = Tagger(target="pos", features=["word[0]"], iterations=1, threads=1).fit(made(4))

    def refuses(sentences, *more):
        if any(len(sentence) > 5 for sentence in sentences):
            raise DovetailError("too long")
        return type(tagger).listed_answers(tagger, sentences, *more)

    tagger.listed_answers = refuses
    lines = []
    pipeline = Pipeline([Stage("pos", tagger)], strategy="kbest", told=lines.append)
    short, long = pipeline.annotate([["Ada", "saw"], ["Ada"] * 8])
    assert len(short.layers["pos"]) == 2
    assert len(long.layers["pos"]) == 8
    assert lines == ["sentence 2: the stage 'pos' fails: too long; its best answer counts as certain"]


def test_a_greedy_pipeline_has_one_answer():
    pipeline = Pipeline([stage("a")], strategy="greedy")
    assert "kbest or sample" in error(lambda: pipeline.posterior([["one"]]))
    assert "temperatures" in error(lambda: pipeline.tune([["one"]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "no stage has an answer in 'b'" in error(
            lambda: pipeline.set_params(strategy="kbest").posterior([["one"]])[0]["b"]
        )


def test_scores_need_right_answers():
    pipeline = Pipeline([stage("a")], strategy="kbest")
    assert pipeline.score([Sentence(("one", "two"), {"a": ("x", "y")})]) == 50.0
    assert error(lambda: pipeline.score([["one"]])) == (
        "gold sentence 1 has no layer 'a' to score with; give text that has it"
    )
