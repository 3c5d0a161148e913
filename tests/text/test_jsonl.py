from __future__ import annotations

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import InputError
from dovetail.text.jsonl import read_jsonl, write_jsonl
from dovetail.text.report import ReadReport, ReadWarning
from dovetail.text.segment import segment
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import all_spans, character_spans
from tests.text.helpers import LABELS, tagged_sentences


def documents(*objects, **options) -> list[Document]:
    text = "\n".join(o if isinstance(o, str) else json.dumps(o) for o in objects)
    return list(read_jsonl(io.StringIO(text), **options))


def written(items, **options) -> list[dict]:
    out = io.StringIO()
    write_jsonl(items, out, **options)
    return [json.loads(line) for line in out.getvalue().split("\n")[:-1]]


def test_sentences_with_layers_entities_and_other_fields():
    report = ReadReport()
    (document,) = documents(
        {
            "doc": "d",
            "id": 7,
            "words": ["Bank", "of", "Bern"],
            "pos": ["NNP", "IN", "NNP"],
            "heads": [-1, 0, 1],
            "entities": [[0, 3, "ORG"], {"start": 2, "end": 3, "label": "LOC", "probability": 0.5}],
            "named": [True, False],
            "domain": "news",
            "tree": "(ROOT (NP (NP (NNP Bank)) (PP (IN of) (NP (NNP Bern)))))",
        },
        report=report,
    )
    (sentence,) = document
    assert (document.id, sentence.id) == ("d", "7")
    assert sentence.layers == {
        "pos": ("NNP", "IN", "NNP"),
        "head": ("0", "1", "2"),
        "ner": ("B-ORG", "I-ORG", "I-ORG"),
    }
    assert sentence.spans == (Span(0, 3, "ORG"), Span(2, 3, "LOC", 0.5))
    assert sentence.comments == ("# named = [true, false]", "# domain = news")
    assert sentence.tree is not None
    assert sentence.tree.words() == sentence.words
    assert list(report.counts.values()) == [1]


def test_only_named_entities():
    fields = {"words": ["a", "b"], "entities": [[0, 1, "X"], [1, 2, "Y"]], "named": [False, True]}
    assert documents(fields, entities="named")[0].sentences[0].spans == (Span(1, 2, "Y"),)
    with pytest.raises(InputError, match=':1: entities="named" needs a list "named"'):
        documents({"words": ["a"], "entities": [[0, 1, "X"]]}, entities="named")


def test_nested_entities_are_reported_without_a_report():
    with pytest.warns(ReadWarning, match="1 time: entity inside or across another"):
        documents({"words": ["a", "b"], "entities": [[0, 2, "X"], [1, 2, "Y"]]})


def test_tags_of_any_scheme():
    (document,) = documents({"words": ["a", "b"], "ner": ["B-X", "E-X"]}, {"tokens": ["c"], "ner": ["S-X"]})
    assert [s.layers["ner"] for s in document] == [("B-X", "I-X"), ("B-X",)]


def test_sentences_of_one_document_stay_together():
    read = documents(*({"doc": d, "words": ["w"]} for d in "aab"))
    assert [(d.id, len(d)) for d in read] == [("a", 2), ("b", 1)]
    assert [(d.id, len(d)) for d in documents({"words": ["w"]}, {"words": ["w"]})] == [(None, 2)]


def test_documents_are_cut_into_sentences_that_keep_every_span():
    text = "Talk: Dr. Smith,5pm.\n\nAll wel-\ncome. Room X. Y."
    spans = [
        (6, 15, "SPEAKER"),
        (16, 17, "HOUR"),
        (16, 19, "TIME"),
        (text.index("X."), len(text), "PLACE"),
        (text.index("me. R"), text.index("me. R") + 2, "ODD"),
    ]
    (document,) = documents({"id": 3, "text": text, "spans": spans}, report=ReadReport())
    assert document.id == "3"
    assert document.text == text
    assert sorted((s.start, s.end, s.label) for s in character_spans(document)) == sorted(spans)
    assert all(document.slice(*o) == w for s in document for w, o in zip(s.words, s.offsets, strict=True))


@given(st.text("ab .\n!?X-", max_size=40), st.data())
def test_no_span_of_any_document_is_lost(text, data):
    def edges():
        start = data.draw(st.integers(0, len(text) - 1))
        return start, data.draw(st.integers(start + 1, len(text))), data.draw(LABELS)

    spans = [edges() for _ in range(data.draw(st.integers(0, 4)))] if text else []
    full = [s for s in spans if text[s[0] : s[1]].strip()]
    (document,) = documents({"text": text, "spans": spans}, report=ReadReport())
    found = sorted((s.label, document.slice(s.start, s.end)) for s in character_spans(document))
    assert found == sorted((label, text[start:end].strip()) for start, end, label in full)


def test_documents_without_spans_have_no_entities():
    (document,) = documents({"text": "A b.", "meta": {"x": 1}})
    assert document.sentences[0].layers == {}
    assert document.sentences[0].comments == ('# meta = {"x": 1}',)


def test_a_span_of_white_space_is_reported():
    report = ReadReport()
    documents({"text": "a  b", "spans": [[1, 3, "X"]]}, report=report)
    assert report.counts == {"span of nothing but white space, left out": 1}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON: Expecting property name .* at column 2"),
        ("[1]", "a number, expected an object"),
        ("3", "a number, expected an object"),
        ("[" * 100_000, "JSON nested too deeply|not JSON"),
        ({"a": 1}, 'neither "words" nor "text" is there'),
        ({"words": "Ada slept"}, '"words" is a string, expected an array of strings; running text is given as "text"'),
        ({"words": None}, 'neither "words" nor "text" is there'),
        ({"text": 5}, '"text" is a number, expected a string'),
        ({"words": ["a"], "spans": [["0", 1, "X"]]}, r"is not \[start, end, label\]"),
        ({"words": ["a"], "spans": [{"start": "0", "end": 1, "label": "X"}]}, r"is not \[start, end, label\]"),
        ({"words": ["a"], "entities": [[0, 1, ""]]}, "has an empty label"),
        ({"words": ["a"], "entities": [[0, 1, "X", 1.5]]}, "has a probability that is not from 0 to 1"),
        ({"words": ["a"], "offsets": 3}, '"offsets" must hold'),
        ({"words": ["a"], "constituents": [[0, float("inf"), "X", 1]], "tree": "(X (Y a))"}, '"constituents" are not'),
        ("1" * 5000, "JSON that cannot be read"),
        ({"words": ["a", ""]}, 'word 1 of .words. is ""'),
        ({"words": ["a", 5]}, "word 1 of .words. is 5"),
        ({"words": ["a"], "pos": ["X", "Y"]}, '"pos" has 2 values for 1 words'),
        ({"words": ["a"], "entities": [[0, 2, "X"]]}, "outside 1 words"),
        ({"words": ["a"], "entities": [[0, 0, "X"]]}, "empty or outside"),
        ({"words": ["a"], "entities": [[0, "X"]]}, r"is not \[start, end, label\]"),
        ({"words": ["a"], "entities": [{"start": 0, "end": True, "label": "X"}]}, "is not"),
        ({"words": ["a"], "entities": 5}, '"entities" is a number, expected an array'),
        ({"words": ["a"], "offsets": [[3, 1]]}, '"offsets" must hold an increasing'),
        ({"text": "ab", "spans": [[1, 3, "X"]]}, "outside 2 characters"),
    ],
)
def test_bad_objects_name_their_line(line, message):
    with pytest.raises(InputError, match=f"^<stream>:2: .*({message})"):
        documents("", line)


def test_sentences_and_documents_do_not_mix():
    with pytest.raises(InputError, match=':2: no "words"'):
        documents({"words": ["a"]}, {"text": "b"})
    with pytest.raises(InputError, match=':2: "words" in a file whose first object is a text'):
        documents({"text": "b"}, {"words": ["a"]})


def test_blank_and_empty():
    assert documents() == []
    report = ReadReport()
    assert [len(d) for d in documents({"words": []}, "  ", {"words": ["a"]}, report=report)] == [1]
    assert report.counts == {"sentence without words, left out": 1}


def test_half_characters_are_replaced_and_counted():
    report = ReadReport()
    (document,) = documents('{"words": ["a\\ud83d", "\\ud83d\\ude00"]}', report=report)
    assert document.sentences[0].words == ("a\ufffd", "😀")
    assert report.counts == {"half of a surrogate pair, read as U+FFFD": 1}


@given(st.lists(tagged_sentences(), min_size=1, max_size=3))
def test_what_is_written_is_read_again(items):
    (document,) = documents(*written(items), scheme="iob2")
    assert [s.words for s in document] == [s.words for s in items]
    assert [s.layers["ner"] for s in document] == [s.layers["ner"] for s in items]
    assert [s.spans for s in document] == [all_spans(s) for s in items]


def test_text_offsets_and_ids_come_back():
    text = "Ada left.  Bob stayed."
    document = Document(tuple(segment(text)), text, "d")
    objects = written([document])
    assert objects[1]["text"] == "Bob stayed."
    (back,) = documents(*objects)
    assert back == document


def test_written_entities_have_probabilities_and_text():
    sentence = Sentence(("New", "York"), spans=(Span(0, 2, "LOC", 0.75),))
    assert written([sentence])[0]["entities"] == [
        {"start": 0, "end": 2, "label": "LOC", "probability": 0.75, "text": "New York"}
    ]


def test_comments_become_fields_again():
    comments = ("# domain = news", "free words", "# sent_id = s")
    fields = written([Sentence(("a",), id="s", comments=comments)])[0]
    assert fields == {"id": "s", "words": ["a"], "domain": "news", "comments": ["free words"]}
    assert documents(fields)[0].sentences[0].comments == ("# domain = news", "free words")


def test_documents_as_one_object_each():
    text = "Ada left. Bob stayed."
    sentences = tuple(segment(text))
    pieces = [
        Document(sentences[:1], text[:10], "d"),
        Document((sentences[1].with_entities((Span(0, 1, "PER", 0.5),)),), text[10:], None, 10, True),
    ]
    (fields,) = written(pieces, unit="documents")
    span = {"start": 10, "end": 13, "label": "PER", "probability": 0.5, "text": "Bob"}
    assert fields == {"id": "d", "text": text, "spans": [span]}
    (back,) = documents(fields)
    assert character_spans(back)[0].probability == 0.5
