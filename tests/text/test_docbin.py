"""Documents of spaCy and its DocBins: everything comes back, and files that are none are told."""

from __future__ import annotations

import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from tests.extras import NEEDS

pytest.importorskip("spacy", reason=NEEDS["spacy"])

import spacy
import srsly
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import DocBin

from dovetail.errors import InputError
from dovetail.text.docbin import read_spacy, write_spacy
from dovetail.text.formats import guess_format, read, write
from dovetail.text.frames import Frame
from dovetail.text.report import ReadReport
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spacy_docs import from_doc, to_docs
from tests.text.helpers import annotated_documents, rich_sentences

RICH = Sentence(
    ("Ada", "met", "Bob", "in", "New", "York"),
    {
        "pos": ("NNP", "VBD", "NNP", "IN", "NNP", "NNP"),
        "upos": ("PROPN", "VERB", "PROPN", "ADP", "PROPN", "PROPN"),
        "lemma": ("Ada", "meet", "Bob", "in", "New", "York"),
        "feats": ("Number=Sing|Case=Nom", "_", "_", "_", "_", "_"),
        "head": ("2", "0", "2", "6", "6", "2"),
        "deprel": ("nsubj", "root", "obj", "case", "compound", "obl"),
        "ner": ("B-PER", "O", "B-PER", "O", "B-LOC", "I-LOC"),
        "mood": tuple("abcdef"),
    },
    (Span(0, 1, "PER", 0.9), Span(2, 3, "PER"), Span(4, 6, "LOC", 0.5), Span(4, 5, "ADJ", 0.25)),
    id="7",
    comments=("# genre = news",),
    frames=(Frame(1, "meet.01", "meet", ((0, 1, "ARG0"), (2, 3, "ARG1"))),),
)


def again(*items: Document | Sentence) -> list[Document]:
    return [from_doc(doc) for doc in to_docs(items)]


@settings(deadline=None)
@given(documents=st.lists(annotated_documents(), max_size=2))
def test_documents_with_text_come_back(documents):
    for one, other in zip(again(*documents), documents, strict=True):
        assert (one.text, one.id) == (other.text, other.id)
        assert [(s.words, s.offsets, s.layers, sorted(s.spans, key=repr)) for s in one] == [
            (s.words, s.offsets, s.layers, sorted(s.spans, key=repr)) for s in other
        ]


@settings(deadline=None)
@given(sentence=rich_sentences())
def test_all_that_is_known_of_a_sentence_comes_back(sentence):
    (document,) = again(Document((sentence, RICH), id="d"))
    for one, other in zip(document, (sentence, RICH), strict=True):
        for name in ("words", "layers", "spans", "tree", "frames", "comments", "id"):
            assert getattr(one, name) == getattr(other, name), name


def test_what_spacy_sees():
    (doc,) = to_docs([Document((RICH,), id="d")])
    assert [(t.text, t.tag_, t.pos_, t.lemma_, t.dep_, t.head.text) for t in doc][:2] == [
        ("Ada", "NNP", "PROPN", "Ada", "nsubj", "met"),
        ("met", "VBD", "VERB", "meet", "root", "met"),
    ]
    assert [(e.text, e.label_, e._.probability) for e in doc.ents] == [
        ("Ada", "PER", 0.9), ("Bob", "PER", None), ("New York", "LOC", 0.5)
    ]  # fmt: skip
    assert [e.text for e in doc.spans["sc"]] == ["Ada", "Bob", "New York", "New"]
    assert doc[0].morph.get("Case") == ["Nom"]


def test_white_space_is_tokens_of_spacy_and_no_words():
    text = "  Ada\n slept.\n\n"
    words = Sentence(("Ada", "slept", "."), {"ner": ("B-PER", "O", "O")}, offsets=((2, 5), (7, 12), (12, 13)))
    (doc,) = to_docs([Document((words,), text)])
    assert doc.text == text
    assert [t.text for t in doc] == [" ", "Ada", "\n", "slept", ".", "\n\n"]
    assert from_doc(doc).sentences[0].words == words.words


def test_documents_that_spacy_made():
    nlp = spacy.blank("en")
    doc = nlp("Ada left.\n Bob stayed in New York.")
    (first, second) = from_doc(doc)
    assert (first.words, first.layers, second.words[0]) == (("Ada", "left", "."), {}, "Bob")
    doc.ents = [doc.char_span(25, 33, "LOC")]
    nlp.add_pipe("sentencizer")(doc)
    assert [e.text for e in from_doc(doc).entities()] == ["New York"]
    assert [s.layers["ner"].count("O") for s in from_doc(doc)] == [3, 4]


def test_an_entity_over_two_sentences_is_cut_and_counted():
    doc = spacy.blank("en")("Ada left . Bob")
    doc[3].is_sent_start = True
    doc.ents = [doc[1:4]]
    doc.ents = [spacy.tokens.Span(doc, 1, 4, "X")]
    report = ReadReport()
    assert [[s.text for s in one.spans] for one in from_doc(doc, report=report)] == [["left ."], []]
    assert list(report.counts) == ["entity that goes on in the next sentence, cut there"]


def test_what_changed_in_spacy_is_what_is_read():
    (doc,) = to_docs([Document((RICH,), id="d")])
    changed = doc.copy()
    changed.set_ents([], default="outside")
    del changed.spans["sc"]
    assert from_doc(changed).sentences[0].spans == ()
    other = spacy.blank("en")("Bob left.")
    other.user_data.update(doc.user_data)
    report = ReadReport()
    assert [s.words for s in from_doc(other, report=report)] == [("Bob", "left", ".")]
    assert report.counts == {"sentences were changed, and what spaCy has no place for is lost": 1}


def test_files(tmp_path):
    path = tmp_path / "a.spacy"
    documents = [Document((RICH,), id="d"), Document((Sentence(("It", "rained")),), id="e")]
    write(documents, path)
    assert guess_format(path) == "spacy"
    assert [(d.id, d.sentences) for d in read(path)] != []
    (doc, _) = DocBin().from_disk(path).get_docs(spacy.blank("en").vocab)
    assert [e.label_ for e in doc.ents] == ["PER", "PER", "LOC"]
    write(documents, tmp_path / "b.spacy.gz")
    assert [d.id for d in read(tmp_path / "b.spacy.gz")] == ["d", "e"]
    write([], tmp_path / "none.spacy")
    assert list(read(tmp_path / "none.spacy")) == []


def test_spacy_trains_from_what_is_written(tmp_path):
    """Its own corpus reader takes the file, and finds what its trainer needs."""
    write_spacy([RICH], tmp_path / "a.spacy")
    (example,) = spacy.training.Corpus(tmp_path / "a.spacy")(spacy.blank("en"))
    assert example.get_aligned_ner() == ["U-PER", "O", "U-PER", "O", "B-LOC", "L-LOC"]
    assert example.get_aligned_parse()[1] == ["nsubj", "root", "obj", "case", "compound", "obl"]


def broken(path: Path, change: object) -> Path:
    write_spacy([RICH], path)
    message = srsly.msgpack_loads(zlib.decompress(path.read_bytes()))
    change(message)
    path.write_bytes(zlib.compress(srsly.msgpack_dumps(message)))
    return path


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.pop("attrs"),
        lambda m: m.update(attrs=[*m["attrs"][:-1], 99999]),
        lambda m: m.update(tokens=m["tokens"][:-8]),
        lambda m: m.update(strings=m["strings"][:3]),
        lambda m: m.update(user_data=[b"\xc1"]),
        lambda m: m.update(span_groups=[b"\x05"]),
    ],
)
def test_docbins_of_another_version_are_one_clear_line(tmp_path, change):
    path = broken(tmp_path / "a.spacy", change)
    with pytest.raises(InputError, match=r"^.*a\.spacy: .*this DocBin cannot be read by spaCy [^\n]*$"):
        list(read_spacy(path, report=ReadReport()))


@pytest.mark.parametrize("data", [b"", b"nothing", zlib.compress(b"\xc1"), zlib.compress(srsly.msgpack_dumps([1]))])
def test_files_that_are_no_docbins(tmp_path, data):
    (tmp_path / "a.spacy").write_bytes(data)
    with pytest.raises(InputError, match=r"a\.spacy: this DocBin cannot be read by spaCy"):
        list(read_spacy(tmp_path / "a.spacy"))
    with pytest.raises(InputError, match="no such file"):
        list(read_spacy(tmp_path / "none.spacy"))


@pytest.mark.parametrize("own", ["{", "[]", '{"sentences": 3}', '{"sentences": [3]}', 7])
def test_user_data_that_is_not_ours(own):
    (doc,) = to_docs([RICH])
    doc.user_data["dovetail"] = own
    with pytest.raises(InputError, match="its user_data\\['dovetail'\\] is not what dovetail writes"):
        from_doc(doc)


def test_without_spacy_one_line_says_what_to_install():
    program = """
import sys
sys.modules["spacy"] = None
import dovetail
try:
    dovetail.write([], "a.spacy")
except dovetail.DovetailError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "the format spacy (DocBin) needs spacy: pip install 'spacy>=3.7'\n"
