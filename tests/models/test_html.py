"""Models as notebooks show them."""

from __future__ import annotations

from dovetail.models.dependency.estimator import DependencyParser
from dovetail.models.domains.tagger import MultiDomainTagger
from dovetail.models.tagger.estimator import Tagger
from tests.models.kinds import KINDS


def test_a_model_tells_what_it_is() -> None:
    flat = [s.with_layer("pos", ("<N>",) * len(s)) for s in KINDS["tagger"].sentences]
    model = Tagger(features=["word[0]", "pos[0]"], l2=0.5, iterations=5, predict_layers=False)
    page = model._repr_html_()
    assert "not trained" in page
    assert "l2 = 0.5" in page
    assert "order = " not in page
    page = model.fit(flat, dev=flat)._repr_html_()
    for part in ("Tagger", "LOC, PER", "words, pos", "12 sentences", f"{model.card_['dev']:.2f}"):
        assert part in page
    assert "http" not in page


def test_settings_of_a_model_within_and_names_are_escaped() -> None:
    flat = KINDS["tagger"].sentences
    model = MultiDomainTagger(tagger=Tagger(features=["word[0]"], iterations=2)).fit({"<a>": flat, "b": flat})
    page = model._repr_html_()
    assert "&lt;a&gt;, b" in page
    assert "tagger.iterations = 2" in page


def test_trained_parts_are_no_settings() -> None:
    kind = KINDS["dependency"]
    model = DependencyParser(bits=10, iterations=3, predict_tags=True).fit(kind.sentences)
    page = model._repr_html_()
    assert "bits = 10" in page
    assert "tagger_" not in page
    assert "relations_" not in page
