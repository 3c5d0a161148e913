"""Taggers that ask another tagger: what it says are features, and it travels in the model file."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail import DovetailError, NestedTagger, Sentence, Span, Tagger
from dovetail.columns import Column
from dovetail.features.algebra.nested_sets import NestedFeatures
from dovetail.features.algebra.sets import FeatureSet
from dovetail.models.hints import Hints

NAMES = ["Ada", "Grace", "Alan", "Emmy", "Kurt", "Edsger"]


def known() -> Hints:
    """A tagger that knows all the names, of another type than the new one learns."""
    words = [[name, "slept"] for name in NAMES] + [["Porto", "slept"]]
    tags = [["B-HUMAN", "O"] for _ in NAMES] + [["O", "O"]]
    return Hints(Tagger(features=["word[0]"], min_count=1, l2=0.01, cross_validate=0).fit(words, tags))


def few() -> tuple[list[list[str]], list[list[str]]]:
    """Sentences with two of the names."""
    return [["Ada", "ran"], ["Porto", "ran"], ["Grace", "ran"]] * 3, [["B-PER", "O"], ["O", "O"], ["B-PER", "O"]] * 3


def test_a_column_has_the_tags_sentence_by_sentence():
    """Empty sentences among them."""
    words = Column.encode(["Ada", "slept", "Porto"])
    column = known().column(words, np.array([0, 2, 2, 3]))
    assert [column.types[i] for i in column.ids] == ["B-HUMAN", "O", "O"]


def test_names_that_only_the_other_tagger_knows_are_found(tmp_path):
    """Also by the model that is read from its file, to the same probabilities."""
    features = FeatureSet.named("plain").joined(other=known())
    assert "hint(other)[0]" in features.lines()
    settings = {"min_count": 1, "l2": 0.01, "cross_validate": 0}
    tagger = Tagger(features=features, **settings).fit(*few())
    assert tagger.predict([["Edsger", "ran"]]) == [["B-PER", "O"]]
    plain = Tagger(features="plain", **settings).fit(*few())
    asked = [["Edsger", "ran"], ["Kurt", "slept"]]
    with_hints = np.concatenate(tagger.predict_marginals(asked))[[0, 2], tagger.classes_.index("B-PER")]
    without = np.concatenate(plain.predict_marginals(asked))[[0, 2], plain.classes_.index("B-PER")]
    assert (with_hints > without + 0.05).all()
    tagger.save(tmp_path / "hinted.dovetail")
    again = Tagger.load(tmp_path / "hinted.dovetail")
    for found, wanted in zip(again.predict_marginals(asked), tagger.predict_marginals(asked), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_entities_within_entities_take_hints(tmp_path):
    """The same resource, in features of segments."""
    words, _ = few()
    sentences = [Sentence(tuple(w), spans=(Span(0, 1, "PER"),) if w[0] in NAMES else ()) for w in words]
    model = NestedTagger(features=NestedFeatures.named("nested").joined(other=known()), iterations=5)
    model.fit(sentences).save(tmp_path / "nested.dovetail")
    again = NestedTagger.load(tmp_path / "nested.dovetail")
    assert again.predict(sentences) == model.predict(sentences)


def test_a_tagger_that_reads_more_than_words_gives_no_hints():
    """It says what to do."""
    text = [Sentence(("Ada", "ran"), {"pos": ("NNP", "VBD"), "ner": ("B-PER", "O")})] * 3
    settings = {"features": ["pos[0]"], "predict_layers": False, "min_count": 1, "cross_validate": 0}
    with pytest.raises(DovetailError, match=r"reads the layer 'pos'.*--ignore pos"):
        Hints(Tagger(**settings).fit(text))
