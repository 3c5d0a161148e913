"""Tables with a text and its spans in a row."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import DovetailError, InputError
from dovetail.text.csv_spans import read_csv, write_csv
from dovetail.text.formats import read, write
from dovetail.text.report import ReadReport
from dovetail.text.sentence import Document, Sentence
from dovetail.text.spans import CharacterSpan, character_spans
from tests.text.helpers import annotated_documents


def table(given: str, **options) -> list[Document]:
    return list(read_csv(io.StringIO(given), report=ReadReport(), **options))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@given(documents=st.lists(annotated_documents(), max_size=3))
def test_what_is_written_comes_back(separator, documents):
    out = io.StringIO()
    write_csv(documents, out, separator)
    found = table(out.getvalue(), separator=separator)
    assert [(d.id, d.text) for d in found] == [(d.id, d.text) for d in documents]
    assert [sorted(character_spans(d)) for d in found] == [sorted(character_spans(d)) for d in documents]


def test_names_of_files_choose_the_separator(tmp_path):
    sentence = Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")})
    write([sentence], tmp_path / "a.csv.gz")
    write([sentence], tmp_path / "a.tsv", "csv")
    assert (tmp_path / "a.tsv").read_text() == 'id\ttext\tspans\n\tAda slept\t"[[0,3,""PER""]]"\n'
    for path, format in (("a.csv.gz", None), ("a.tsv", "csv")):
        assert [e.text for d in read(tmp_path / path, format) for e in d.entities()] == ["Ada"]


@pytest.mark.parametrize(
    "cell", ['[[0, 3, "PER"]]', "[(0, 3, 'PER')]", '[{"start": 0, "end": 3, "label": "PER"}]', "[[0, 3, 'PER', 0.5]]"]
)
def test_spans_as_json_and_as_python_prints_them(cell):
    quoted = '"' + cell.replace('"', '""') + '"'
    (document,) = table(f"text,entities,source\nAda slept.,{quoted},web\n")
    assert [span[:3] for span in character_spans(document)] == [(0, 3, "PER")]
    assert document.sentences[0].comments == ("# source = web",)


def test_rows_that_nobody_has_looked_at():
    report = ReadReport()
    text = "text,spans\nAda.,\nBob.,[]\n\n"
    (document,) = read_csv(io.StringIO(text), report=report)
    assert (document.text, document.sentences[0].layers) == ("Bob.", {"ner": ("O", "O")})
    assert report.counts == {"row without spans (not even []), left out": 1}
    assert [d.sentences[0].layers for d in table(text, texts="all")] == [{}, {"ner": ("O", "O")}]
    assert [d.text for d in table("text\nAda.\n")] == ["Ada."]


def test_an_empty_id_is_none():
    first, second = table("id,text\nx7,Ada.\n,Bob.\n")
    assert [d.id for d in (first, second)] == ["x7", None]


def test_columns_of_other_names():
    (document,) = table('sentence,gold,spans\nAda.,"[[0, 3, ""X""]]",\n', text="sentence", spans="gold")
    assert character_spans(document) == [CharacterSpan(0, 3, "X")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: no column 'text' in the first line .nothing."),
        ("id,txt\n1,a\n", ":1: no column 'text' in the first line .'id', 'txt'.; name the columns there"),
        ("text,text\na,b\n", ":1: two columns have one name"),
        ("text,spans\na,b,c\n", ":2: 3 cells, and the first line has 2"),
        ('text,spans\n"a\nb",[]\nc,3\n', ":4: '3' in column 'spans' is no list of spans"),
        ("text,spans\na,PER\n", ":2: 'PER' in column 'spans' is no list of spans"),
        ('text,spans\na,"[[0, 9, ""X""]]"\n', ":2: .*is empty or outside 1 characters"),
        ('text,spans\na,"[[0.5, 1, ""X""]]"\n', ":2: .*is not .start, end, label."),
        ('text,spans\n"a,[]\n', ":2: not a table: a quote is open"),
        ('text,spans\n"a"b,[]\n', ":2: not a table"),
    ],
)
def test_broken_tables_name_their_line(text, message):
    with pytest.raises(InputError, match=f"<stream>{message}"):
        table(text)


def test_columns_that_are_not_there_and_separators_that_are_none():
    with pytest.raises(InputError, match="no column 'gold'"):
        table("text\na\n", spans="gold")
    with pytest.raises(DovetailError, match="choose a comma, a semicolon or a tab"):
        write_csv([], io.StringIO(), "|")


def test_long_cells():
    (document,) = table("text\n" + "a " * 200_000 + "\n")
    assert len(document.text) == 400_000
