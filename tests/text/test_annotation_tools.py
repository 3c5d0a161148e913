"""What Prodigy, doccano, Label Studio and Hugging Face write is read as it is meant."""

from __future__ import annotations

import io
import json

import pytest

from dovetail.errors import InputError
from dovetail.text.formats import read
from dovetail.text.jsonl import read_jsonl
from dovetail.text.report import ReadReport
from dovetail.text.sentence import Document, Span
from dovetail.text.spans import CharacterSpan, character_spans

TEXT = "Ada met Bob in Bern. It rained."
PER, LOC = CharacterSpan(0, 3, "PER"), CharacterSpan(15, 19, "LOC")


def lines(*objects: object, report: ReadReport | None = None) -> list[Document]:
    text = "\n".join(json.dumps(fields) for fields in objects)
    return list(read_jsonl(io.StringIO(text), report=ReadReport() if report is None else report))


def array(objects: object, report: ReadReport | None = None, indent: int | None = 2) -> list[Document]:
    return list(
        read_jsonl(io.StringIO(json.dumps(objects, indent=indent)), report=ReadReport() if report is None else report)
    )


# Prodigy


def prodigy(text: str, words: list[str], **more: object) -> dict[str, object]:
    """A task with the tokens that Prodigy writes."""
    tokens, end = [], 0
    for number, word in enumerate(words):
        start = text.index(word, end)
        end = start + len(word)
        tokens.append({"text": word, "start": start, "end": end, "id": number, "ws": text[end : end + 1] == " "})
    return {"text": text, "tokens": tokens, "_input_hash": 1, **more}


def test_what_an_annotator_rejected_or_ignored_is_left_out_and_counted():
    spans = [{"start": 0, "end": 3, "label": "PER"}]
    report = ReadReport()
    documents = lines(
        {"text": "Ada left.", "spans": spans, "answer": "accept"},
        {"text": "Bob left.", "spans": spans, "answer": "reject"},
        {"text": "Cleo left.", "spans": spans, "answer": "ignore"},
        {"text": "Dan left.", "spans": spans, "answer": "reject"},
        report=report,
    )
    assert [document.text for document in documents] == ["Ada left."]
    assert report.counts == {
        'answer "reject" of an annotator, left out': 2,
        'answer "ignore" of an annotator, left out': 1,
    }
    assert report.first['answer "reject" of an annotator, left out'] == "<stream>:2"


def test_a_file_that_begins_with_a_rejected_sentence():
    (document,) = lines({"words": ["a"], "answer": "reject"}, {"words": ["b"], "answer": "accept"})
    assert [sentence.words for sentence in document] == [("b",)]


def test_accepted_without_spans_means_no_entities():
    (document,) = lines({"text": "It rained.", "answer": "accept"})
    assert document.sentences[0].layers == {"ner": ("O", "O", "O")}
    (document,) = lines({"text": "It rained.", "answer": "accept", "label": "WEATHER"})
    assert document.sentences[0].layers == {}  # a label of the text


def test_the_tokens_of_the_file_are_the_words():
    spans = [
        {"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "PER"},
        {"token_start": 4, "token_end": 4, "label": "LOC"},
    ]
    words = ["Ada", "met", "Bob", "in", "Bern.", " ", "It", "rained."]
    (document,) = lines(prodigy(TEXT, words, spans=spans, answer="accept"))
    assert [sentence.words for sentence in document] == [("Ada", "met", "Bob", "in", "Bern."), ("It", "rained.")]
    assert character_spans(document) == [PER, CharacterSpan(15, 20, "LOC")]
    assert document.sentences[0].comments == ("# _input_hash = 1", "# answer = accept")


def test_tokens_without_spans():
    (document,) = lines(prodigy("Ada met Bob.", ["Ada met", "Bob."]))
    assert [(s.words, s.layers) for s in document] == [(("Ada met", "Bob."), {})]


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([{"text": "Ada"}], 'a token has no whole numbers "start" and "end"'),
        ([{"start": 0, "end": 3}], 'the "tokens" do not cover all of "text"'),
        ([{"start": 4, "end": 8}, {"start": 0, "end": 3}], "not in order"),
        ([{"start": 0, "end": 99}], "outside the text of 8 characters"),
        ([{"start": 0, "end": 8}, "x"], "a token has no whole numbers"),
    ],
)
def test_tokens_that_do_not_fit_the_text(tokens, message):
    with pytest.raises(InputError, match=f"<stream>:1: .*{message}"):
        lines({"text": "Ada left", "tokens": tokens})


def test_spans_of_words_may_be_called_spans():
    (document,) = lines(
        {"words": ["Ada", "met", "Bob"], "spans": [[0, 1, "PER"], {"token_start": 1, "token_end": 2, "label": "X"}]}
    )
    assert document.sentences[0].spans == (Span(0, 1, "PER"), Span(1, 3, "X"))
    assert document.sentences[0].layers["ner"] == ("B-PER", "B-X", "I-X")


def test_a_character_span_that_cuts_a_word_is_counted():
    report = ReadReport()
    lines(
        {"text": "At 5 p.m. in Bernese lands.", "spans": [[13, 17, "LOC"], [13, 20, "X"], [3, 8, "TIME"]]},
        report=report,
    )
    assert report.counts == {"span that begins or ends inside a word, which is split there": 1}


def test_a_span_with_another_text_is_counted():
    report = ReadReport()
    (document,) = lines({"text": TEXT, "spans": [{"start": 0, "end": 3, "label": "PER", "text": "Bob"}]}, report=report)
    assert character_spans(document) == [PER]
    assert report.counts == {"span whose text differs from the text it points to, which is taken": 1}


# doccano


@pytest.mark.parametrize("name", ["label", "labels", "spans", "entities"])
@pytest.mark.parametrize(
    "spans",
    [
        [[0, 3, "PER"], [15, 19, "LOC"]],
        [
            {"id": 1, "label": "PER", "start_offset": 0, "end_offset": 3},
            {"id": 2, "label": "LOC", "start_offset": 15, "end_offset": 19},
        ],
    ],
)
def test_spans_under_the_names_of_doccano(name, spans):
    (document,) = lines({"id": 4, "text": TEXT, name: spans, "Comments": []})
    assert character_spans(document) == [PER, LOC]
    assert document.sentences[0].comments == ("# Comments = []",)


@pytest.mark.parametrize("label", ["sports", ["sports", "news"], 3, None])
def test_a_label_of_the_whole_text_is_no_span(label):
    (document,) = lines({"text": TEXT, "label": label})
    assert document.sentences[0].layers == {}


# Label Studio


def task(*annotations: object, **more: object) -> dict[str, object]:
    return {"id": 7, "data": {"text": TEXT}, "annotations": list(annotations), **more}


def annotation(*values: object, **more: object) -> dict[str, object]:
    return {"result": [{"value": value, "type": "labels"} for value in values], **more}


ADA = {"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}
BERN = {"start": 15, "end": 19, "text": "Bern", "labels": ["LOC", "CITY"]}


def test_tasks_of_label_studio(tmp_path):
    path = tmp_path / "project.json"
    path.write_text(json.dumps([task(annotation(ADA, BERN))]))
    (document,) = read(path)
    assert (document.id, document.text) == ("7", TEXT)
    assert character_spans(document) == [PER, LOC, CharacterSpan(15, 19, "CITY")]


def test_what_is_not_read_of_label_studio_is_counted():
    report = ReadReport()
    other = {"result": [{"from_id": "a", "to_id": "b", "type": "relation"}, {"value": ADA}]}
    cancelled = annotation(was_cancelled=True)
    documents = array([task(other, annotation(BERN)), task(cancelled), task()], report)
    assert [character_spans(document) for document in documents] == [[PER]]
    assert report.counts == {
        "task with several annotations (Label Studio), of which the first is read": 1,
        "result without start, end and labels (Label Studio), not read": 1,
        "task that was skipped (Label Studio), left out": 1,
        "task without an annotation (Label Studio), left out": 1,
    }


def test_tasks_that_are_yet_to_be_annotated():
    (document,) = array([{"data": {"title_of_article": TEXT}}])
    assert document.sentences[0].layers == {}
    assert document.text == TEXT


def test_the_short_export_of_label_studio():
    (document,) = array([{"text": TEXT, "id": 1, "label": [ADA], "annotator": 1}])
    assert character_spans(document) == [PER]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"data": {"image": 3}}, 'no "text" in "data"'),
        ({"data": {"text": "a"}, "annotations": 3}, '"annotations" is a number'),
        ({"data": {"text": "a"}, "annotations": [{"result": "x"}]}, '"result" is a string'),
        (
            {"data": {"text": "a"}, "annotations": [annotation({"start": 0, "end": 9, "labels": ["X"]})]},
            "outside 1 char",
        ),
    ],
)
def test_broken_tasks(fields, message):
    with pytest.raises(InputError, match=f"<stream>:2: .*{message}"):
        array([fields])


# Hugging Face


def test_tags_with_names():
    (document,) = lines({"id": "0", "tokens": ["Ada", "left"], "ner_tags": ["B-PER", "O"]})
    assert document.sentences[0].layers == {"ner": ("B-PER", "O")}


def test_tags_that_are_numbers_are_refused_with_the_way_out():
    with pytest.raises(InputError, match=r'<stream>:1: "ner_tags" are numbers, .*write the names instead'):
        lines({"tokens": ["Ada", "left"], "ner_tags": [1, 0]})


# Arrays


@pytest.mark.parametrize("indent", [None, 1])
def test_an_array_is_read_like_lines(indent):
    sentences = [{"words": ["a"], "ner": ["B-X"]}, {"words": ["b", "\ud800"], "ner": ["O", "O"]}]
    (document,) = array(sentences, indent=indent)
    assert [sentence.words for sentence in document] == [("a",), ("b", "\ufffd")]
    assert array([], indent=indent) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[\n {"words": ["a"]},\n {"words": 3}\n]', ':3: "words" is a number'),
        ('[\n {"words": ["a"]},\n 3\n]', ":3: a number, expected an object"),
        ('[{"words": ["a"]},\n\n {"words": [}]', ":3: not JSON: "),
        ('[{"words": ["a"]}\n {"words": ["a"]}]', ":2: not JSON: expected objects with commas between them"),
        ('[{"words": ["a"]},]', ":1: not JSON: "),
        ('[,{"words": ["a"]}]', ":1: not JSON: expected objects"),
        ('[{"words": ["a"]}', ":1: not JSON: "),
        ('[{"words": ["a"]}]\n{"words": ["a"]}', ":1: more text after the array"),
        ('{"words": ["a"]}\n[{"words": ["a"]}]', ":2: an array, expected an object"),
        ('{\n "words": ["a"]\n}', ":1: not JSON: .*expected one object a line, or one array of objects"),
    ],
)
def test_broken_arrays_name_their_line(text, message):
    with pytest.raises(InputError, match=f"<stream>{message}"):
        list(read_jsonl(io.StringIO(text)))
