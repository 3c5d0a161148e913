"""Texts go into models as they are: a string, a list or a column of strings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.models.domains.tagger import MultiDomainTagger
from dovetail.models.tagger.estimator import Tagger
from dovetail.text.sentence import Document, Sentence
from tests.extras import NEEDS
from tests.models.kinds import KINDS

TEXT = "Ada Lovelace saw New  York.  Alan left London!"


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(features=["word[-1:2]", "shape[0]"], l2=0.01).fit(KINDS["tagger"].sentences)


def test_a_text_is_a_document_with_entities_that_know_their_characters(tagger: Tagger) -> None:
    document = tagger(TEXT)
    assert isinstance(document, Document)
    assert document.text == TEXT
    assert [len(s) for s in document] == [6, 4]
    entities = document.entities()
    assert ("Ada Lovelace", "PER") in [(e.text, e.label) for e in entities]
    assert ("New  York", "LOC") in [(e.text, e.label) for e in entities]
    assert all(TEXT[e.start_char : e.end_char] == e.text for e in entities)
    assert all(0 < (e.probability or 0) <= 1 for e in entities)
    assert tagger.annotate(TEXT) == document
    assert all(e.probability is None for e in tagger(TEXT, probabilities=False).entities())


def test_many_texts_are_a_stream_of_documents(tagger: Tagger) -> None:
    texts = [TEXT, "", "Alan left London!", "  \n"]
    for column in (texts, tuple(texts), np.array(texts), iter(texts)):
        documents = list(tagger.annotate(column))
        assert [d.text for d in documents] == texts
        assert [len(d) for d in documents] == [2, 0, 1, 0]
    pandas = pytest.importorskip("pandas", reason=NEEDS["pandas"])
    assert [len(d) for d in tagger.annotate(pandas.Series(texts))] == [2, 0, 1, 0]


def test_sentences_are_a_stream_of_sentences(tagger: Tagger) -> None:
    def endless() -> Any:
        while True:
            yield Sentence(("Ada", "left", "London"), id="s")

    found = next(tagger.annotate(endless()))
    assert (found.id, [e.text for e in found.spans]) == ("s", ["Ada", "London"])
    [one] = tagger.annotate([["Ada", "left", "London"]])
    assert one.layers == found.layers


def test_documents_stay_documents(tagger: Tagger) -> None:
    given = [Document((Sentence(("Ada", "slept")),), id="a"), Document((), id="b"), Document((Sentence(("Alan",)),))]
    found = list(tagger.annotate(given))
    assert [(d.id, len(d)) for d in found] == [("a", 1), ("b", 0), (None, 1)]
    assert found[0].entities()[0].text == "Ada"


@pytest.mark.parametrize("name", ["segments", "nested", "parser", "joint"])
def test_other_models_read_text_too(name: str) -> None:
    kind = KINDS[name]
    model: Any = replace(kind.model).fit(kind.sentences)  # type: ignore[attr-defined]
    document = model("Ada slept. Bob slept.")
    assert [s.text for s in document] == ["Ada slept.", "Bob slept."]
    assert all((s.tree is not None) == (name in ("parser", "joint")) for s in document)
    assert [len(d) for d in model.annotate(["Ada slept.", ""])] == [1, 0]


def test_domains_are_named_to_models_of_several() -> None:
    flat = KINDS["tagger"].sentences
    model = MultiDomainTagger(tagger=Tagger(features=["word[0]"], iterations=5)).fit({"a": flat, "b": flat})
    assert model("Ada slept.", domain="a").text == "Ada slept."
    assert [len(d) for d in model.annotate(["Ada slept."], "b")] == [1]


def test_words_of_a_text_without_spaces() -> None:
    kind = KINDS["words"]
    model: Any = replace(kind.model).fit(kind.sentences)  # type: ignore[attr-defined]
    text = "北京人 人\n\n 人爱人"
    document = model(text)
    assert [list(s) for s in document] == [["北京", "人", "人"], ["人", "爱", "人"]]
    assert all(text[a:b] == word for s in document for word, (a, b) in zip(s, s.offsets or (), strict=True))
    assert [s.text for s in document] == ["北京人 人", "人爱人"]
    assert [len(d) for d in model.annotate([text, ""])] == [2, 0]


def test_entities_that_are_predicted_know_their_words(tagger: Tagger) -> None:
    [[first, *_]] = tagger.predict_entities([["Ada", "left", "London"]])
    assert first.text == "Ada"
    [[first, *_]] = tagger.predict_entities(dovetail.segment("\n    Ada left London."))
    assert (first.text, first.start_char, first.end_char) == ("Ada", 5, 8)
    kind = KINDS["nested"]
    nested: Any = replace(kind.model).fit(kind.sentences)  # type: ignore[attr-defined]
    assert {e.text for e in nested.predict([kind.inputs[0]], threshold=0.0)[0]} >= {"Bern"}
    assert all(isinstance(e.text, str) for e in nested.predict_marginals([kind.inputs[0]])[0])
