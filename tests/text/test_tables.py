"""Tables of pandas, out and in."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.extras import NEEDS

pytest.importorskip("pandas", reason=NEEDS["pandas"])

import pandas
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail
from dovetail.errors import DovetailError
from dovetail.text.sentence import Document, Sentence, Span
from tests.text.helpers import annotated_documents, rich_sentences

ADA = Sentence(("Ada", "slept"), {"pos": ("NNP", "VBD")}, (Span(0, 1, "PER", 0.5),), ((0, 3), (4, 9)))
RAIN = Sentence(("It", "rained"), {"ner": ("O", "O")}, offsets=((11, 13), (14, 20)))


def test_a_row_a_token():
    table = dovetail.to_frame([Document((ADA, RAIN), "Ada slept. It rained", "d"), Document((ADA,))])
    assert list(table.columns) == ["document", "sentence", "token", "word", "start_char", "end_char", "pos", "ner"]
    assert table.iloc[1].tolist()[:6] == ["d", 0, 1, "slept", 4, 9]
    assert table["document"].tolist() == ["d"] * 4 + [1] * 2
    assert table["sentence"].tolist() == [0, 0, 1, 1, 0, 0]
    assert table["pos"].notna().tolist() == [True, True, False, False, True, True]
    assert table["start_char"].dtype == "Int64"


def test_a_row_an_entity():
    table = dovetail.to_frame([Document((ADA, RAIN), "Ada slept. It rained", "d")], rows="entities")
    assert table.to_dict("records") == [
        {"document": "d", "sentence": 0, "start": 0, "end": 1, "label": "PER", "text": "Ada", "probability": 0.5,
         "start_char": 0, "end_char": 3}
    ]  # fmt: skip
    empty = dovetail.to_frame([RAIN], rows="entities")
    assert len(empty) == 0
    assert empty["probability"].dtype == float


@settings(deadline=None, max_examples=40)
@given(documents=st.lists(annotated_documents(), min_size=1, max_size=3, unique_by=lambda d: d.id))
def test_documents_come_back(documents):
    tokens, entities = dovetail.to_frame(documents), dovetail.to_frame(documents, rows="entities")
    found = dovetail.from_frame(tokens, entities)
    assert [d.id for d in found] == [d.id for d in documents]
    for one, other in zip(found, documents, strict=True):
        assert [(s.words, s.layers, s.offsets, s.spans) for s in one] == [
            (s.words, s.layers, s.offsets, s.spans) for s in other
        ]


@settings(deadline=None, max_examples=40)
@given(sentences=st.lists(rich_sentences(), min_size=1, max_size=3))
def test_layers_come_back(sentences):
    (document,) = dovetail.from_frame(dovetail.to_frame(sentences))
    assert [(s.words, s.layers) for s in document] == [(s.words, s.layers) for s in sentences]


def test_pieces_of_a_document_are_one():
    second = Document((RAIN,), "It rained", "d", 11, True)
    table = dovetail.to_frame([Document((ADA,), "Ada slept. ", "d"), second])
    assert table["sentence"].tolist() == [0, 0, 1, 1]


def test_models_take_what_a_table_holds():
    table = dovetail.to_frame([Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")})] * 4)
    tagger = dovetail.Tagger(features=["word[0]"], consistency="none").fit(dovetail.from_frame(table))
    assert tagger.predict([["Ada"]]) == [["B-PER"]]
    assert [len(d) for d in dovetail.from_frame(pandas.DataFrame({"word": ["a", "b"]}))] == [1]


@pytest.mark.parametrize(
    ("tokens", "entities", "message"),
    [
        ({"token": [1]}, None, "give a table of tokens with a column 'word' .this has: token."),
        ({"word": ["a", None]}, None, "row 1 has the word None; give a string"),
        ({"word": ["a", 3]}, None, "row 1 has the word 3"),
        ({"word": ["a", "b"], "ner": ["O", None]}, None, "row 1 of the table has no value of layer 'ner'"),
        ({"word": ["a"], "sentence": [0]}, {"start": [0]}, "a table of entities with the columns end, label, sentence"),
        (
            {"word": ["a"], "sentence": [0]},
            {"sentence": [0], "start": [0], "end": [2], "label": ["X"]},
            "the entity from 0 to 2 of sentence 0 of document None is outside 1 words",
        ),
        (
            {"word": ["a"], "sentence": [0]},
            {"sentence": [1], "start": [0], "end": [1], "label": ["X"]},
            "entities of sentence 1 of document None, which the table of tokens has not",
        ),
    ],
)
def test_tables_that_are_wrong(tokens, entities, message):
    with pytest.raises(DovetailError, match=message):
        dovetail.from_frame(pandas.DataFrame(tokens), None if entities is None else pandas.DataFrame(entities))


def test_what_cannot_be_a_table():
    with pytest.raises(DovetailError, match="choose tokens or entities"):
        dovetail.to_frame([ADA], rows="words")
    with pytest.raises(DovetailError, match="a layer is called token"):
        dovetail.to_frame([Sentence(("a",), {"token": ("x",)})])
    with pytest.raises(DovetailError, match="this has: list"):
        dovetail.from_frame([1])


def test_without_pandas_one_line_says_what_to_install():
    program = """
import sys
sys.modules["pandas"] = None
import dovetail
try:
    dovetail.to_frame([])
except dovetail.DovetailError as error:
    print(error)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "a table needs pandas: pip install 'pandas>=2'\n"
