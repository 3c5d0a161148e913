"""The English model that comes with dovetail, on everyday sentences of our own that it was not tuned on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import dovetail
from dovetail import Sentence, Tagger
from dovetail.cli.demo import EXAMPLE

EVERYDAY = Path(__file__).parent / "data" / "everyday.conll"
WELL_KNOWN = Path(__file__).parent / "data" / "well-known.conll"
LARGEST = 12_000_000


@pytest.fixture(scope="module")
def english() -> Tagger:
    found = dovetail.load()
    assert isinstance(found, Tagger)
    return found


def names(english: Tagger, text: str) -> list[tuple[str, str]]:
    """The names in a text, with their types."""
    sentences = [Sentence(s.words) for s in dovetail.segment(text)]
    found = zip(sentences, english.predict_entities(sentences), strict=True)
    return [(" ".join(s.words[e.start : e.end]), e.label) for s, entities in found for e in entities]


def test_it_is_small(english: Tagger) -> None:
    assert dovetail.embedded(dovetail.ENGLISH_MODEL).stat().st_size <= LARGEST
    assert english.card_["licence"] == "CC BY-SA 4.0"


def tagged(path: Path) -> list[Sentence]:
    """The sentences of a file, each by itself."""
    return [Sentence(s.words, s.layers) for document in dovetail.read(path) for s in document]


def written(sentences: list[Sentence], change: Callable[[str], str]) -> list[Sentence]:
    """The sentences with every word changed."""
    return [Sentence(tuple(map(change, s.words)), s.layers) for s in sentences]


def test_everyday_sentences(english: Tagger) -> None:
    sentences = tagged(EVERYDAY)
    assert (len(sentences), sum(len(s.entities()) for s in sentences)) == (50, 128)
    scores = dovetail.entity_scores([s.layers["ner"] for s in sentences], english.predict(sentences))
    assert scores.recall > 80
    assert scores.precision > 85


def test_names_that_most_readers_know(english: Tagger) -> None:
    sentences = tagged(WELL_KNOWN)
    assert len(sentences) == 44
    answers = zip(sentences, english.predict(sentences), strict=True)
    right = sum(tuple(tags) == sentence.layers["ner"] for sentence, tags in answers)
    assert right >= 40


@pytest.mark.parametrize("change", [str.lower, str.upper], ids=["lower", "capitals"])
def test_names_without_their_capitals(english: Tagger, change: Callable[[str], str]) -> None:
    sentences = tagged(EVERYDAY) + tagged(WELL_KNOWN)
    gold = [s.layers["ner"] for s in sentences]
    as_it_is = dovetail.entity_scores(gold, english.predict(sentences)).f1
    changed = dovetail.entity_scores(gold, english.predict(written(sentences, change))).f1
    assert changed > as_it_is - 10


def test_the_demo_is_right(english: Tagger) -> None:
    assert names(english, EXAMPLE) == [
        ("Angela Merkel", "PER"),
        ("Barack Obama", "PER"),
        ("Berlin", "LOC"),
        ("Washington", "LOC"),
        ("Microsoft", "ORG"),
        ("General Electric", "ORG"),
        ("Munich", "LOC"),
        ("Mary Johnson", "PER"),
        ("Reuters", "ORG"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ada Lovelace was born in London.", [("Ada Lovelace", "PER"), ("London", "LOC")]),
        ("General Electric sold its plant in Ohio.", [("General Electric", "ORG"), ("Ohio", "LOC")]),
        ("The European Central Bank cut rates.", [("European Central Bank", "ORG")]),
    ],
)
def test_names_that_look_like_others(english: Tagger, text: str, expected: list[tuple[str, str]]) -> None:
    assert names(english, text) == expected
