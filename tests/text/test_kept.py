"""What formats say that they keep is what comes back from them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dovetail.text.formats import FORMATS, read, write
from dovetail.text.frames import Frame
from dovetail.text.kept import KINDS, losses
from dovetail.text.report import ReadReport
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import all_spans
from dovetail.text.tree import Tree
from tests.extras import of_formats
from tests.text.helpers import annotated_documents, rich_sentences

TEXT = "Ada  saw Bern"
TREE = Tree("S", tuple(Tree("NNP", word=word) for word in ("Ada", "saw", "Bern")))
FULL = Sentence(
    ("Ada", "saw", "Bern"),
    {"pos": ("NNP",) * 3, "lemma": ("Ada", "see", "x"), "upos": ("PROPN", "VERB", "X"), "mood": ("a", "b", "c"),
     "feats": ("_",) * 3, "xpos": ("a", "b", "c"),
     "head": ("2", "0", "2"), "deprel": ("nsubj", "root", "obj"), "ner": ("B-PER", "I-PER", "O")},
    (Span(0, 2, "PER", 0.5), Span(0, 1, "LOC")),
    ((0, 3), (5, 8), (9, 13)),
    "s1",
    ("# genre = news",),
    tree=TREE,
    frames=(Frame(1, "see.01", "see", ((0, 1, "ARG0"),)),),
)  # fmt: skip
DOCUMENT = Document((FULL,), TEXT, "d1")


def kept(before: Document, after: Document) -> set[str]:
    """Which kinds, and which layers, are the same."""
    one, other = before.sentences[0], after.sentences[0]
    found = {name for name, values in one.layers.items() if other.layers.get(name) == values}
    spans = {(s.start, s.end, s.label) for s in all_spans(other)} | {s[1:] for s in _characters(after)}
    told = {
        "words": one.words == other.words,
        "text": other.offsets is not None and (after.text or "").split() == TEXT.split(),
        "nested": {(0, 1, "LOC"), (0, 2, "PER")} <= spans or {(0, 3, "LOC"), (0, 8, "PER")} <= spans,
        "probabilities": any(span.probability == 0.5 for span in all_spans(other)),
        "trees": one.tree == other.tree,
        "frames": one.frames == other.frames,
        "ids": one.id == other.id and before.id == after.id,
        "documents": before.id == after.id,
        "comments": any(comment == "# genre = news" for comment in other.comments),
    }
    return found | {kind for kind, is_same in told.items() if is_same}


def _characters(document: Document) -> list[tuple[object, ...]]:
    sentence = document.sentences[0]
    places = sentence.offsets or ()
    return [("", places[s.start][0], places[s.end - 1][1], s.label) for s in all_spans(sentence) if places]


@pytest.mark.parametrize("name", of_formats(FORMATS))
def test_what_is_kept_comes_back(tmp_path, name):
    path = tmp_path / ("d1.ann" if name == "brat" else f"d1{FORMATS[name].suffixes[0]}")
    write([DOCUMENT], path, name)
    columns = ["word", *(layer for layer in FULL.layers if layer != "ner"), "ner"]
    options = {"conll": {"columns": columns}, "brat": {"texts": "all"}, "prodigy": {"texts": "all"}}.get(name, {})
    (back,) = read(path, name, report=ReadReport(), **options)
    found, keeps = kept(DOCUMENT, back), FORMATS[name].keeps
    expected = keeps - {"layers", "translations", "deps", "misc"} | (set(FULL.layers) if "layers" in keeps else set())
    if {"pos", "xpos"} <= keeps:
        expected -= {"pos"}  # which has the place of xpos, where that is not there
    assert expected <= found
    by_chance = {
        "words",
        "ner",
        "feats",
        "xpos",
        *(["text"] if name == "text" else []),
    }  # a text is cut into the same words again
    assert found - expected <= by_chance | ({"documents"} if "ids" in keeps else set())


def there_and_back(document: Document, name: str, folder: str) -> Document:
    """Return the document that is read from a file in which this one was written."""
    path = Path(folder, "d1.ann" if name == "brat" else f"d1{FORMATS[name].suffixes[0]}")
    write([document], path, name)
    exact = {"text": {"lines": "sentences", "words": "spaces"}}  # else words and sentences of texts are guesses
    options = (exact | {"brat": {"texts": "all"}, "prodigy": {"texts": "all"}}).get(name, {})
    (back,) = read(path, name, report=ReadReport(), **options)
    return back


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_what_a_format_gives_back_it_gives_back_again(name, data):
    """A second time there and back changes nothing: what a format can hold at all, it holds whole."""
    rich = rich_sentences().map(lambda sentence: Document((sentence,), id="d1"))
    document = data.draw(rich if "words" in FORMATS[name].keeps else annotated_documents() | rich)
    # A zero byte makes a file a binary one, and a bar parts what is in the last column of CoNLL-U.
    assume(not {"\0", "|"} & {c for layer in document.sentences[0].layers.values() for value in layer for c in value})
    with TemporaryDirectory() as first, TemporaryDirectory() as second:
        once = there_and_back(document, name, first)
        twice = there_and_back(once, name, second)
        assert twice == once


def test_losses_are_counted_by_kind():
    lost: Counter[str] = Counter()
    list(losses([DOCUMENT], FORMATS["doccano"].keeps, lost))
    assert lost["tree"] == lost["predicate with its arguments"] == lost["probability of an entity"] == 1
    assert lost["layer mood of a sentence"] == lost[KINDS["words"]] == lost["name of a sentence"] == 1
    assert "name of a document" not in lost
    assert KINDS["nested"] not in lost
    lost.clear()
    list(losses([DOCUMENT], FORMATS["text"].keeps, lost))
    assert lost["name of a document"] == lost[KINDS["text"]] == 1
    lost.clear()
    list(losses([DOCUMENT], FORMATS["jsonl"].keeps, lost))
    assert not lost
