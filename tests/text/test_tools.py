"""Prodigy, doccano and Label Studio: what is written is what the tools import, and reads back as it was."""

from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import InputError
from dovetail.text.doccano import read_doccano, write_doccano
from dovetail.text.formats import FORMATS, guess_format, read, write
from dovetail.text.label_studio import read_label_studio, write_label_studio
from dovetail.text.prodigy import read_prodigy, write_prodigy
from dovetail.text.report import ReadReport
from dovetail.text.segment import annotate
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import CharacterSpan, character_spans
from tests.text.helpers import annotated_documents

TOOLS = ["prodigy", "doccano", "label-studio"]
TEXT = "Ada met  Bob.\nShe left Bern."
SPANS = [CharacterSpan(0, 3, "PER", 0.75), CharacterSpan(9, 12, "PER"), CharacterSpan(23, 27, "LOC")]
DOCUMENT = Document(tuple(annotate(TEXT, SPANS)), TEXT, "letter")


def written(tool: str, *items: Document | Sentence, **options: object) -> str:
    out = io.StringIO()
    FORMATS[tool].write(items, out, **options)
    return out.getvalue()


def back(tool: str, text: str, **options: object) -> list[Document]:
    return list(FORMATS[tool].read(io.StringIO(text), **options))


@pytest.mark.parametrize("tool", TOOLS)
@given(documents=st.lists(annotated_documents(), max_size=3))
def test_text_spans_and_names_come_back(tool, documents):
    report = ReadReport()
    found = back(tool, written(tool, *documents), texts="all", report=report)
    assert [(d.id, d.text) for d in found] == [(d.id, d.text) for d in documents]
    chances = tool != "doccano"  # which has no place for them
    for one, other in zip(found, documents, strict=True):
        expected = [span if chances else span._replace(probability=None) for span in character_spans(other)]
        assert sorted(character_spans(one)) == sorted(expected)
    if tool == "prodigy":  # its tokens are the words
        assert [[w for s in d for w in s] for d in found] == [[w for s in d for w in s] for d in documents]
    assert not report


@pytest.mark.parametrize("tool", TOOLS)
def test_texts_that_nobody_has_looked_at_stay_so(tool):
    plain = Document((Sentence(("It", "rained"), offsets=((0, 2), (3, 9))),), "It rained", "a")
    text = written(tool, plain)
    (document,) = back(tool, text, texts="all")
    assert document.sentences[0].layers == {}
    assert not {"spans", "label", "annotations", "answer"} & json.loads(text.strip("[\n],")).keys()


@pytest.mark.parametrize("tool", TOOLS)
def test_loose_sentences_are_a_task_each(tool):
    ada, rain = Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")}), Sentence(("It", "rained"), {"ner": ("O", "O")})
    pile = Document((ada, rain))
    assert [d.text for d in back(tool, written(tool, pile))] == ["Ada slept", "It rained"]


@pytest.mark.parametrize("tool", TOOLS)
def test_words_at_one_place_are_written_apart(tool):
    french = Sentence(("de", "le", "jardin"), {"ner": ("O", "O", "B-LOC")}, offsets=((0, 2), (0, 2), (3, 9)))
    (document,) = back(tool, written(tool, Document((french,), "du jardin")))
    assert document.text == "de le jardin\n".strip()
    assert character_spans(document) == [CharacterSpan(6, 12, "LOC")]


@pytest.mark.parametrize("tool", TOOLS)
def test_pieces_of_a_document_are_one_task(tool):
    first = Document((Sentence(("Ada",), {"ner": ("B-PER",)}, offsets=((0, 3),)),), "Ada ", "d")
    second = Document((Sentence(("Bob",), {"ner": ("B-PER",)}, offsets=((4, 7),)),), "Bob", "d", 4, True)
    (whole,) = back(tool, written(tool, first, second))
    assert (whole.text, character_spans(whole)) == ("Ada Bob", [CharacterSpan(0, 3, "PER"), CharacterSpan(4, 7, "PER")])
    (piece,) = back(tool, written(tool, second))
    assert (piece.text, character_spans(piece)) == ("Bob", [CharacterSpan(0, 3, "PER")])


def test_what_prodigy_gets():
    fields = json.loads(written("prodigy", DOCUMENT))
    assert fields["answer"] == "accept"
    assert fields["tokens"][1] == {"text": "met", "start": 4, "end": 7, "id": 1, "ws": True}
    assert [token["ws"] for token in fields["tokens"]] == [True, True, False, False, True, True, False, False]
    first = {"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "PER", "probability": 0.75}
    assert fields["spans"][0] == first
    assert [fields["text"][s["start"] : s["end"]] for s in fields["spans"]] == ["Ada", "Bob", "Bern"]


def test_what_label_studio_gets():
    [task] = json.loads(written("label-studio", DOCUMENT, from_name="entities", to_name="sentence"))
    assert task["data"] == {"id": "letter", "text": TEXT}
    first = task["annotations"][0]["result"][0]
    assert (first["from_name"], first["to_name"], first["type"]) == ("entities", "sentence", "labels")
    assert (first["score"], first["value"]["labels"], first["value"]["text"]) == (0.75, ["PER"], "Ada")
    assert len({result["id"] for result in task["annotations"][0]["result"]}) == 3


def test_numbers_are_ids_of_tasks_and_predictions_are_to_be_corrected():
    numbered = Document(DOCUMENT.sentences, TEXT, "12")
    [task] = json.loads(written("label-studio", numbered, entities="predictions"))
    assert (task["id"], "annotations" in task, len(task["predictions"])) == (12, False, 1)
    huge = Document(DOCUMENT.sentences, TEXT, "1" * 5000)
    assert json.loads(written("label-studio", huge))[0]["data"]["id"] == "1" * 5000


def test_doccano_has_spans_as_lists():
    assert json.loads(written("doccano", DOCUMENT))["label"] == [[0, 3, "PER"], [9, 12, "PER"], [23, 27, "LOC"]]


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (read_doccano, '{"text": "a"}\n{"data": "a"}', ':2: no "text", which every line of doccano has'),
        (read_doccano, '{"text": "a", "label": "news"}', ':1: "label" is a string, expected an array of'),
        (read_doccano, '{"text": "a", "label": [[0, 9, "X"]]}', ":1: .*outside 1 characters"),
        (read_prodigy, '{"image": "a"}', ':1: no "text", which every example of Prodigy for spans has'),
        (read_label_studio, '[{"data": {"text": "a"}},\n{"label": []}]', ':2: no "data" with a "text"'),
        (read_label_studio, '[{"data": {"image": 3}}]', ':1: no "text" in "data"'),
    ],
)
def test_files_of_another_tool_are_told_with_their_line(reader, text, message):
    with pytest.raises(InputError, match=f"<stream>{message}"):
        list(reader(io.StringIO(text), texts="all", report=ReadReport()))


def test_relations_are_counted():
    report = ReadReport()
    list(read_doccano(io.StringIO('{"text": "a", "entities": [], "relations": [{}, {}]}'), report=report))
    list(read_prodigy(io.StringIO('{"text": "a", "answer": "accept", "relations": [{}]}'), report=report))
    assert report.counts == {"relation (doccano), not read": 2, "relation (Prodigy), not read": 1}


def test_refused_answers_are_left_out():
    report = ReadReport()
    line = '{"text": "a", "answer": "reject"}'
    assert list(read_prodigy(io.StringIO(line), report=report)) == []
    assert len(list(read_prodigy(io.StringIO(line), texts="all"))) == 1
    assert report.counts == {'answer "reject" of an annotator, left out': 1}


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("a.doccano.jsonl", "doccano"),
        ("a.Prodigy.JSONL.gz", "prodigy"),
        ("x.label-studio.json", "label-studio"),
        ("my.jsonl", "jsonl"),
    ],
)
def test_names_tell_the_tool(tmp_path, name, format):
    assert guess_format(name) == format
    write([DOCUMENT], tmp_path / name.lower())
    (document,) = read(tmp_path / name.lower())
    assert [span.text for span in document.entities()] == ["Ada", "Bob", "Bern"]


def test_nested_spans_are_kept():
    nested = Sentence(("Bank", "of", "Bern"), spans=(Span(0, 3, "ORG"), Span(2, 3, "LOC")))
    for tool in TOOLS:
        (document,) = back(tool, written(tool, nested))
        assert set(document.sentences[0].spans) == set(nested.spans)


def test_functions_write_to_paths(tmp_path):
    for write_one in (write_doccano, write_prodigy, write_label_studio):
        write_one([DOCUMENT], tmp_path / "a.gz")
        assert (tmp_path / "a.gz").read_bytes()[:2] == b"\x1f\x8b"
