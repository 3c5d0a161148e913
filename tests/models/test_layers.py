"""Models that read parts of speech predict them where text has none."""

from __future__ import annotations

import copy
import pickle
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.errors import DovetailError
from dovetail.learning.monitor import Monitor
from dovetail.models.base import Estimator
from dovetail.models.dependency.estimator import DependencyParser
from dovetail.models.domains.parser import MultiDomainParser
from dovetail.models.domains.tagger import MultiDomainTagger
from dovetail.models.layers import LayerTaggers, learnable
from dovetail.models.nested.estimator import NestedTagger
from dovetail.models.segmenter.estimator import Segmenter
from dovetail.models.tagger.estimator import Tagger
from dovetail.text.sentence import Document, Sentence
from tests.models.corpus import made
from tests.models.kinds import KINDS

MODELS: dict[str, Any] = {
    "tagger": Tagger(features=["word[0]", "pos[-1:2]"], iterations=10),
    "semi-markov": Segmenter(target="ner", features=["word[start]", "pos[inside]"], iterations=10),
    "markov": Segmenter(target="ner", model="markov", features=["word[0]", "pos[0]"], iterations=10),
    "nested": NestedTagger(iterations=2),
}
WORDS = ["Ada", "Turing", "left", "Vienna", "."]
GUESSED = ("NNP", "NNP", "VBD", "NNP", ".")


def without(sentences: list[Sentence], *names: str) -> list[Sentence]:
    return [replace(s, layers={n: v for n, v in s.layers.items() if n not in names}) for s in sentences]


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> Any:
    return replace(MODELS[request.param]).fit(made(30), dev=made(10, seed=1))


def test_plain_text(model: Any) -> None:
    assert model.needs == ()
    assert model.predicts == ("pos",)
    read = Sentence(tuple(WORDS), {"pos": GUESSED})
    assert model.predict([WORDS]) == model.predict([read])
    [found] = model.annotate([WORDS])
    assert found == next(model.annotate([read]))
    assert found.layers["pos"] == GUESSED
    assert [s.label for s in found.spans] == ["PER", "LOC"]
    assert model("Ada Turing left Vienna.").sentences[0].layers["pos"] == GUESSED


def test_every_kind_of_answer_to_plain_words(model: Any) -> None:
    read = Sentence(tuple(WORDS), {"pos": GUESSED})
    assert model.kbest([WORDS], 3) == model.kbest([read], 3)
    assert model.sample([WORDS], 3, seed=2) == model.sample([read], 3, seed=2)
    for name in ("predict_marginals", "predict_entities"):
        if (ask := getattr(model, name, None)) is not None:
            np.testing.assert_equal(ask([WORDS]), ask([read]))
    if hasattr(model, "explain") and getattr(model, "family", "markov") == "markov":
        assert str(model.explain(WORDS, 0)) == str(model.explain(read, 0))
    if hasattr(model, "span_probability"):
        assert model.span_probability(WORDS, (0, 2, "PER")) == model.span_probability(read, (0, 2, "PER"))


@pytest.mark.parametrize("name", [*MODELS, "parser", "dependency", "predicted tags"])
def test_ctrl_c_while_layers_are_learnt_ends_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tagger that was not trained to its end serves no model, and there is no other yet."""
    other: dict[str, Estimator] = {
        "parser": KINDS["parser"].model,
        "dependency": KINDS["dependency"].model,
        "predicted tags": DependencyParser(bits=10, predict_tags=True),
    }
    sentences = made(12) if name in MODELS else KINDS["parser" if name == "parser" else "dependency"].sentences
    learns: list[str] = []
    told = Monitor.after_pass

    def interrupt(self: Monitor, *how: Any) -> bool:
        signal.raise_signal(signal.SIGINT)
        return told(self, *how)

    monkeypatch.setattr(Monitor, "after_pass", interrupt)
    model = replace((MODELS | other)[name])
    with pytest.raises(KeyboardInterrupt):
        model.fit(sentences, doing=learns.append)
    assert learns[-1] in ("learning the layer pos", "tagger")
    assert not model._is_trained()


def test_what_a_sentence_has_it_keeps(model: Any) -> None:
    own = Sentence(tuple(WORDS), {"pos": ("ODD",) * 5})
    mixed = list(model.annotate([WORDS, own, Sentence(()), WORDS]))
    assert [s.layers.get("pos") for s in mixed] == [GUESSED, ("ODD",) * 5, None, GUESSED]
    [document] = model.annotate([Document((own, Sentence(tuple(WORDS))))])
    assert [s.layers["pos"] for s in document] == [("ODD",) * 5, GUESSED]
    assert mixed[1].spans == document.sentences[0].spans


def test_saved_loaded_and_copied(model: Any, tmp_path: Path) -> None:
    expected = model.predict([WORDS])
    for how in ({}, {"half": True}, *([{"compact": True}] if isinstance(model, Tagger) else [])):
        model.save(tmp_path / "m", **how)
        loaded = dovetail.load(tmp_path / "m")
        assert (loaded.needs, loaded.predicts) == ((), ("pos",))
        assert next(iter(loaded.annotate([WORDS]))).layers["pos"] == GUESSED
        if not how:
            assert loaded.predict([WORDS]) == expected
    for same in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert same.predict([WORDS]) == expected
    if isinstance(model, Tagger):
        assert model.pruned(0.0).predict([WORDS]) == expected
    assert type(model)(**model.get_params()).predicts == ()


def test_answers_to_text_with_the_layer_do_not_change(model: Any) -> None:
    alone = replace(model, predict_layers=False).fit(made(30), dev=made(10, seed=1))
    tests = made(10, seed=2)
    assert alone.predict(tests) == model.predict(tests)
    assert (alone.needs, alone.predicts) == (("pos",), ())
    with pytest.raises(DovetailError, match=r"the layer 'pos', which sentence 1 lacks.*ignore=\['pos'\]"):
        alone.predict([WORDS])


@pytest.mark.parametrize("name", MODELS)
def test_training_and_dev_sentences_without_the_layer(name: str) -> None:
    train, dev = made(30), made(10, seed=1)
    half = [*train[:20], *without(train[20:], "pos")]
    model = replace(MODELS[name]).fit(half, dev=without(dev, "pos"))
    assert model.card_["dev"] == model.score(dev) > 90
    assert model.predict(without(dev, "pos")) == model.predict(dev)


def test_several_domains(tmp_path: Path) -> None:
    tagger = Tagger(features="plain", iterations=10)
    data = {"a": made(20), "b": made(20, seed=1)}
    taggers = MultiDomainTagger(tagger=tagger).fit(data, dev={"a": without(made(10, seed=2), "pos")})
    assert (taggers.needs, taggers.predicts, tagger.predicts) == ((), ("pos",), ())
    taggers.save(tmp_path / "m")
    for one in (taggers, dovetail.load(tmp_path / "m")):
        for domain in ("a", None):
            assert one.predict([WORDS], domain) == [["B-PER", "I-PER", "O", "B-LOC", "O"]]


def test_layers_are_learnt_as_they_are_written() -> None:
    """Not as entities, whose tags are brought into one scheme, nor as tags that are not known."""
    chunks = [s.with_layer("chunk", ("I-NP",) * (len(s) - 1) + ("?",)) for s in made(20)]
    model = Tagger(features=["word[0]", "chunk[0]", "pos[0]"], iterations=10).fit(chunks)
    assert set(model.predicts) == {"chunk", "pos"}
    [found] = model.annotate([WORDS])
    assert found.layers["chunk"] == ("I-NP",) * 4 + ("?",)


def test_layers_that_cannot_be_learnt() -> None:
    sentences = [
        Sentence(
            (f"w{i}", "."), {"ner": ("B-X", "O"), "lemma": (f"w{i}", "."), "head": ("2", "0"), "size": ("1.5", "2")}
        )
        for i in range(400)
    ]
    assert learnable(["word", "lemma", "head", "size", "pos", "ner"], sentences) == ["ner"]
    assert LayerTaggers.learnt(["lemma"], sentences).taggers == {}
    model = Tagger(features=["bias", "lemma[0]"], iterations=2, min_count=1).fit(sentences)
    assert (model.needs, model.predicts) == (("lemma",), ())
    with pytest.raises(DovetailError, match="the layer 'lemma', which sentence 1 lacks"):
        model.predict([["w1", "."]])


def test_notebooks_show_what_is_predicted(model: Any) -> None:
    assert ">predicts</th>" in model._repr_html_()
    assert ">predicts</th>" not in Tagger()._repr_html_()


def test_parsers_of_dependencies(tmp_path: Path) -> None:
    """Their relations read arcs, which are always there for them, and learn no layer."""
    kind: Any = KINDS["dependency"]
    parser = replace(kind.model).fit(kind.sentences, dev=without(kind.sentences, "pos"))
    assert parser.relations_ is not None
    assert (parser.needs, parser.predicts, parser.relations_.predicts) == ((), ("pos",), ())
    parser.save(tmp_path / "m")
    words = ["Ada", "slept"]
    for tags in ("pos", "xpos"):
        read = Sentence(tuple(words), {tags: ("NNP", "VBD")})
        for one in (parser, dovetail.load(tmp_path / "m"), copy.deepcopy(parser)):
            assert one.predict([words, read]) == [one.predict([read])[0]] * 2
            assert one.kbest([words], 2) == one.kbest([read], 2)
            np.testing.assert_equal(one.predict_marginals([words]), one.predict_marginals([read]))
            assert [s.layers.get("pos") for s in one.annotate([words, read])] == [
                ("NNP", "VBD"),
                read.layers.get("pos"),
            ]
    assert replace(parser, predict_tags=True).fit(kind.sentences).predicts == ()


def test_parsers_of_several_domains(tmp_path: Path) -> None:
    kind: Any = KINDS["dependency"]
    parsers = MultiDomainParser(parser=kind.model).fit({"a": kind.sentences, "b": kind.sentences})
    parsers.save(tmp_path / "m")
    for one in (parsers, dovetail.load(tmp_path / "m")):
        assert (one.needs, one.predicts, kind.model.predicts) == ((), ("pos",), ())
        assert one.predict([["Ada", "slept"]], "b")[0].heads == (1, -1)


def test_characters_need_no_stage() -> None:
    model = Segmenter(target="ner", iterations=2).fit(made(20))
    words = model.set_params(target=None, model=None).fit([["北京", "人"], ["人", "爱", "人"]] * 4)
    assert words.predicts == ()
    assert words.predict(["人爱北京"])
