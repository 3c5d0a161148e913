"""The same words at other places of a document, for entities within entities."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.models.nested.agreement import agreed
from dovetail.models.nested.estimator import NestedTagger
from dovetail.models.nested.gold import crossing
from dovetail.models.nested.model import consistent
from dovetail.text.sentence import Sentence, Span

Case = tuple[list[Sentence], list[list[Span]]]


@st.composite
def documents(draw: st.DrawFn) -> Case:
    """A few sentences of few words, some in documents, with spans of any probability."""
    text, found = [], []
    for _ in range(draw(st.integers(1, 5))):
        words = tuple(draw(st.lists(st.sampled_from("ab"), min_size=1, max_size=4)))
        text.append(Sentence(words, document=draw(st.sampled_from([None, 1, 2]))))
        keys = [(i, j, x) for i in range(len(words)) for j in range(i + 1, len(words) + 1) for x in "XY"]
        chosen = draw(st.lists(st.sampled_from(keys), unique=True, max_size=5))
        found.append([Span(*key, draw(st.floats(0, 1))) for key in chosen])
    return text, found


@given(documents(), st.floats(0, 1))
def test_probabilities_are_those_of_the_equation(case: Case, strength: float) -> None:
    text, found = case
    answer = agreed(text, found, strength)
    for i, (sentence, spans) in enumerate(zip(text, found, strict=True)):
        for span, made in zip(spans, answer[i], strict=True):
            assert (made.start, made.end, made.label) == (span.start, span.end, span.label)
            words = sentence.words[span.start : span.end]
            places: dict[tuple[int, int], float] = {}
            for j, other in enumerate(text):
                for each in found[j]:
                    if other.document == sentence.document and other.words[each.start : each.end] == words:
                        chance = each.probability if each.label == span.label else 0.0
                        places[j, each.start] = places.get((j, each.start), 0.0) + (chance or 0.0)
            del places[i, span.start]
            expected = span.probability
            if sentence.document is not None and places:
                expected = (1 - strength) * (span.probability or 0.0) + strength * np.mean(list(places.values()))
            assert made.probability == pytest.approx(expected, abs=1e-9)


@given(documents(), st.booleans())
def test_what_is_answered_never_crosses(case: Case, flat: bool) -> None:
    for spans in agreed(*case, 0.5):
        kept = consistent(spans, flat)
        assert not any(crossing(a, b) for a, b in combinations(kept, 2))
        if flat:
            assert all(a.end <= b.start for a, b in pairwise(kept))


def mentions(number: int) -> list[Sentence]:
    """A document with a name that only its first sentence tells the type of."""
    name, kind = f"n{number}", "LOC" if number % 2 else "PER"
    told = Sentence(("in" if kind == "LOC" else "Mr", name), document=number, spans=(Span(1, 2, kind),))
    return [told, *[Sentence(("then", name), document=number, spans=(Span(1, 2, kind),))] * 2]


def test_agreement_is_chosen_on_dev_where_there_are_documents(tmp_path: Path) -> None:
    train = [s for d in range(60) for s in mentions(d)]
    dev = [s for d in range(100, 140) for s in mentions(d)]
    features = ["word[0]", "word[start - 1]", "bias[start]"]
    model = NestedTagger(features=features, l2=0.1, iterations=10, threads=1)
    agreeing = model.fit(train, dev=dev)
    assert agreeing.model_ is not None
    assert agreeing.model_.agreement > 0
    with_documents = agreeing.score(dev)
    assert with_documents > agreeing.score([replace(s, document=None) for s in dev]) + 5
    agreeing.save(tmp_path / "m")
    assert NestedTagger.load(tmp_path / "m").score(dev) == with_documents
    for settings, text in (({"agree": False}, dev), ({}, [replace(s, document=None) for s in dev])):
        alone = NestedTagger(features=features, l2=0.1, iterations=10, threads=1, **settings).fit(train, dev=text)
        assert alone.model_ is not None
        assert alone.model_.agreement == 0
