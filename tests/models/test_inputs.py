"""Odd input to any model is an error that says what is wrong, where, and what to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dovetail.errors import DovetailError
from dovetail.models.base import Estimator
from dovetail.models.domains.tagger import MultiDomainTagger
from dovetail.models.nested.estimator import NestedTagger
from dovetail.models.segmenter.estimator import Segmenter
from dovetail.models.tagger.estimator import Tagger
from dovetail.text.sentence import Document, Sentence, Span
from tests.models.kinds import KINDS

ODD: dict[str, Any] = {
    "nothing": None, "a number": 3, "numbers": [[1, 2]], "too deep": [[["a"]]], "dicts": [{"a": 1}], "a dict": {"a": 1},
    "a string": "Ada slept.", "an empty word": [["Ada", ""]], "bytes": b"Ada", "bytes inside": [[b"Ada"]],
    "None inside": [["Ada", None]], "None among": [["Ada"], None], "numbers among": [3],
    "a sentence": Sentence(("Ada",)), "words that are none": [Sentence((1, 2))],  # type: ignore[arg-type]
}  # fmt: skip
SETTINGS: dict[str, list[Any]] = {
    "l2": ["x", -1, float("nan"), True], "l1": ["x"], "order": ["1"], "threads": [0, "2"], "seed": [-1, "x"],
    "iterations": [0.5, 0], "min_count": ["2", 0], "calibrate": ["yes"], "ignore": ["pos", 5, [3]], "patience": [0],
    "gain": [-1, "x"], "batch": ["a"], "target": [3], "threshold": [2], "tags": [4], "longest": [0], "sigma": [-1],
    "resources": [5], "clusters": [5], "features": [5], "bits": [3], "hash_bits": [1], "max_length": [0],
}  # fmt: skip


@pytest.fixture(scope="module")
def trained() -> dict[str, Estimator]:
    found = {name: replace(kind.model).fit(kind.sentences) for name, kind in KINDS.items()}  # type: ignore[attr-defined]
    flat = KINDS["tagger"].sentences
    found["domains"] = MultiDomainTagger(tagger=Tagger(features=["word[0]"], iterations=2)).fit({"a": flat, "b": flat})
    return found


NAMES = [*KINDS, "domains"]


@pytest.mark.parametrize("what", ODD)
@pytest.mark.parametrize("name", NAMES)
def test_odd_sentences(name: str, what: str, trained: dict[str, Any]) -> None:
    with pytest.raises(DovetailError):
        trained[name].predict(ODD[what])
    if name != "domains":
        with pytest.raises(DovetailError):
            replace(trained[name]).fit(ODD[what])


@pytest.mark.parametrize("name", NAMES)
def test_odd_things_to_annotate(name: str, trained: dict[str, Any]) -> None:
    model = trained[name]
    table = SimpleNamespace(columns=["text"])
    for odd in (None, 3, {"a": 1}, [None], [["Ada", 1]], ["Ada slept.", float("nan")], b"Ada", table):
        with pytest.raises(DovetailError):
            list(model.annotate(odd))
    with pytest.raises(DovetailError, match="annotate"):
        model(["Ada slept."])
    assert model.predict([]) == [] == list(model.annotate([]))


@pytest.mark.parametrize("name", KINDS)
def test_odd_numbers(name: str, trained: dict[str, Any]) -> None:
    model, one = trained[name], KINDS[name].inputs[:1]
    for wrong in (0, -1, 1.5, "2", None, True):
        for ask in (model.kbest, model.sample):
            with pytest.raises(DovetailError, match="whole number, 1 or more"):
                ask(one, wrong)
    for wrong in (-1, "x"):
        with pytest.raises(DovetailError, match="seed="):
            model.sample(one, 1, seed=wrong)
    ways = [getattr(model, ask) for ask in ("predict_entities",) if hasattr(model, ask)]
    for ask in [*ways, *([model.predict] if name == "nested" else [])]:
        for threshold in (3, -0.1, "x", float("nan")):
            with pytest.raises(DovetailError, match="probability, from 0 to 1"):
                ask(one, threshold=threshold)
    model.set_params(threads=0)
    with pytest.raises(DovetailError, match="threads=0: choose a whole number, 1 or more"):
        model.predict(one)
    model.set_params(threads=np.int64(1))
    assert model.predict(one)


@pytest.mark.parametrize("name", KINDS)
def test_nothing_at_all(name: str, trained: dict[str, Any]) -> None:
    """No sentences, and sentences without words, to learn from, to tune on, and to answer to."""
    kind, model = KINDS[name], trained[name]
    none: list[Any] = [[]] if name == "words" else [Sentence(())]
    for nothing in ([], *([none] if name != "entailment" else [])):  # a pair cannot be empty
        with pytest.raises(DovetailError, match=r"no (tokens|words|trees?)\b"):
            replace(kind.model).fit(nothing)  # type: ignore[attr-defined]
        with pytest.raises(DovetailError, match=r"no (words|trees?)\b"):
            replace(kind.model).fit(kind.sentences, dev=nothing)  # type: ignore[attr-defined]
    assert model.predict([]) == model.kbest([]) == model.sample([]) == list(model.predict_marginals([])) == []
    empty = [""] if name == "words" else [[]]
    for ask in (model.predict, model.kbest, model.sample, model.predict_marginals):
        if name == "entailment":
            with pytest.raises(DovetailError, match="give a list of pairs"):
                ask(empty)
        elif name in ("parser", "labelled", "ruled", "joint", "soft"):
            with pytest.raises(DovetailError, match="sentence 1 has no words, and so no tree"):
                ask(empty)
        else:
            assert len(ask(empty)) == 1


@pytest.mark.parametrize("name", KINDS)
def test_odd_settings(name: str) -> None:
    kind = KINDS[name]
    for setting in SETTINGS.keys() & kind.model.get_params().keys():
        for value in SETTINGS[setting]:
            with pytest.raises(DovetailError, match=setting):
                replace(kind.model).set_params(**{setting: value}).fit(kind.sentences)  # type: ignore[attr-defined]


def test_running_text_where_sentences_are_wanted(trained: dict[str, Any]) -> None:
    for text in ("Ada slept.", ["Ada slept."]):
        with pytest.raises(DovetailError, match=r"running text.*dovetail\.segment\(text\)"):
            trained["tagger"].predict(text)
    with pytest.raises(DovetailError, match="sentence 2, word 2 is None"):
        trained["tagger"].predict([["Ada"], ["Ada", None]])
    with pytest.raises(DovetailError, match="column of the table, such as table\\['text'\\]"):
        trained["tagger"].annotate(SimpleNamespace(columns=["text"]))


def test_tags_that_are_no_strings() -> None:
    for tags in ([[1, 2]], [["O", None]], ["OO"], [None]):
        with pytest.raises(DovetailError, match="training sentence 1 has the tag"):
            Tagger().fit([["Ada", "slept"]], tags)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "model",
    [
        Tagger(features=["word[0]"]),
        Segmenter(target="ner", features=["word[start]"]),
        NestedTagger(features=["word"]),
    ],
)
def test_too_little_data_says_what_to_do(model: Any) -> None:
    one = Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")})
    with pytest.raises(DovetailError, match=r"no feature occurs 2 times.*min_count=1 \(--min-count 1\)"):
        model.fit([one])


def test_layers_that_a_model_needs(trained: dict[str, Any]) -> None:
    tagged = [s.with_layer("pos", ("X",) * len(s)) for s in KINDS["tagger"].sentences]
    for make in (
        lambda **how: Tagger(iterations=2, **how),
        lambda **how: Segmenter(target="ner", iterations=2, **how),
        lambda **how: NestedTagger(iterations=1, **how),
    ):
        assert make().needs == ()
        model = make(predict_layers=False).fit(tagged)
        assert model.needs == ("pos",)
        with pytest.raises(DovetailError, match=r"'pos'.*ignore=\['pos'\], or --ignore pos"):
            model.predict([["Ada", "slept"]])
        plain = make(ignore=["pos"]).fit(tagged)
        assert plain.needs == ()
        assert len(plain.predict([["Ada", "slept"]])) == 1
    taggers = MultiDomainTagger(tagger=Tagger(iterations=2, predict_layers=False)).fit({"a": tagged, "b": tagged})
    assert taggers.needs == ("pos",)
    assert {m.needs for name, m in trained.items() if name != "roles"} == {()}
    assert trained["roles"].needs == ("tree",)  # it was trained on the trees that were given, without a parser
    alone = replace(KINDS["dependency"].model, predict_layers=False).fit(KINDS["dependency"].sentences)  # type: ignore[call-arg,attr-defined]
    assert alone.needs == ("pos",)
    with pytest.raises(DovetailError, match=r"'pos'.*predict_tags=True \(--predict-tags\)"):
        alone.predict([["Ada", "slept"]])
    given = replace(KINDS["parser"].model, tags="given").fit(KINDS["parser"].sentences)  # type: ignore[call-arg,attr-defined]
    assert given.needs == ("pos",)
    with pytest.raises(DovetailError, match=r"'pos'.*tags='predicted' \(--tags predicted\)"):
        given.predict([["Ada", "slept"]])


def test_documents_among_sentences_are_taken_apart(trained: dict[str, Any]) -> None:
    assert len(trained["tagger"].predict([Document((Sentence(("Ada",)),) * 2), ["Bob"]])) == 3


@pytest.mark.parametrize("name", KINDS)
def test_a_file_name_is_no_list_of_sentences(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").write_text("Ada O\n")
    model, sentences = KINDS[name].model, KINDS[name].sentences
    for odd in ("people-train.conll", "there", Path("new")):
        with pytest.raises(DovetailError, match=rf"a file name\? read it with dovetail.read(?:_pairs)?\('{odd}'\)"):
            replace(model).fit(odd)  # type: ignore[attr-defined]
        with pytest.raises(DovetailError, match=r"a file name\?"):
            replace(model).fit(sentences, dev=odd)  # type: ignore[attr-defined]
    for odd in ("Ada slept.", "", "a\0b", "a" * 5000):
        with pytest.raises(DovetailError, match="running text"):
            replace(model).fit(odd)  # type: ignore[attr-defined]


def test_features_that_are_none() -> None:
    for model in (Tagger(features=3), Segmenter(features=3, target="ner"), NestedTagger(features=3)):
        with pytest.raises(DovetailError, match="features=3: give the name of a set"):
            model.fit(KINDS["tagger"].sentences)


def test_layers_to_score_with(trained: dict[str, Any]) -> None:
    for name in ("tagger", "segments"):
        with pytest.raises(DovetailError, match="gold sentence 1 has no layer 'ner' to score with"):
            trained[name].score([["Ada", "slept"]])


def test_spans_with_labels_that_are_known(trained: dict[str, Any]) -> None:
    tagger, words = trained["tagger"], KINDS["tagger"].inputs[0]
    assert tagger.span_probability(words, (0, 1, "PER")) == tagger.span_probability(words, Span(0, 1, "PER")) > 0
    for odd in ("XXX", "B-PER", "O"):
        with pytest.raises(DovetailError, match=f"label='{odd}': choose one that the tagger knows: LOC, PER"):
            tagger.span_probability(words, Span(0, 1, odd))
    with pytest.raises(DovetailError, match="give a span as Span"):
        tagger.span_probability(words, "PER")


@pytest.mark.parametrize("odd", ["x", -1, None, float("nan"), float("inf")])
def test_odd_sizes_to_prune(odd: Any, trained: dict[str, Any]) -> None:
    with pytest.raises(DovetailError, match=r"smallest=.*: choose a number, 0 or more"):
        trained["tagger"].pruned(odd)
