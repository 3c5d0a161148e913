from __future__ import annotations

import pytest

from dovetail.errors import DovetailError, InputError
from dovetail.text.brat import read_brat, write_brat
from dovetail.text.report import ReadReport
from dovetail.text.segment import annotate
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import CharacterSpan, character_spans

TEXT = "Ada Lovelace lived\r\nin London. Naïve?\n"
ANN = """T1\tPER 0 12\tAda Lovelace
T2\tLOC 23 29\tLondon
#1\tAnnotatorNotes T2\tprobability 0.75
#2\tAnnotatorNotes T1\ta remark
T3\tX 0 3;13 18\tAda lived
R1\tLives Arg1:T1 Arg2:T2
E1\tBirth:T1
A1\tSure T1
*\tEquiv T1 T2

"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "a.txt").write_text(TEXT, newline="")
    (tmp_path / "a.ann").write_text(ANN)
    (tmp_path / "sub" / "b.txt").write_text("No one.")
    return tmp_path


def test_a_folder_of_texts(folder):
    report = ReadReport()
    (first,) = read_brat(folder, report=report)
    assert (first.id, first.text) == ("a", TEXT)
    assert character_spans(first) == [CharacterSpan(0, 12, "PER"), CharacterSpan(23, 29, "LOC", 0.75)]
    assert report.counts == {
        "discontinuous entity, not read": 1,
        "relation, not read": 1,
        "event, not read": 1,
        "attribute, not read": 1,
        "equivalence, not read": 1,
        "text without an .ann file, left out": 1,
    }
    assert report.first["text without an .ann file, left out"] == str(folder / "sub" / "b.txt")


def test_texts_without_annotations_are_read_if_all_are_wanted(folder):
    report = ReadReport()
    _, second = read_brat(folder, texts="all", report=report)
    assert (second.id, second.sentences[0].words, second.sentences[0].layers) == ("sub/b", ("No", "one", "."), {})
    assert "text without an .ann file, left out" not in report.counts
    (folder / "a.ann").unlink()
    with pytest.raises(InputError, match=r"no pair of files x\.txt and x\.ann in this folder"):
        list(read_brat(folder))
    with pytest.raises(InputError, match=r"a\.ann: no such file"):
        list(read_brat(folder / "a.ann"))


def test_a_span_that_cuts_a_word_is_counted(folder):
    (folder / "a.ann").write_text("T1\tX 0 3\tAda\nT2\tX 4 8\tLove\n")
    report = ReadReport()
    (document,) = read_brat(folder, report=report)
    assert document.sentences[0].words[:3] == ("Ada", "Love", "lace")
    message = "span that begins or ends inside a word, which is split there"
    assert report.counts[message] == 1
    assert report.first[message] == f"{folder / 'a.ann'}:2"


@pytest.mark.parametrize("name", ["a.ann", "a.txt"])
def test_one_pair(folder, name):
    (document,) = read_brat(folder / name, report=ReadReport())
    assert document.id == "a"
    assert len(character_spans(document)) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("T1\tPER 0\tAda", "expected T1<tab>LABEL START END"),
        ("T1\tPER 0 999\tAda", "characters 0 to 999 are outside the text of"),
        ("T1\tPER 5 3\tAda", "outside"),
        ("Q1\tPER 0 3\tAda", "is not a line of brat"),
    ],
)
def test_bad_annotations_name_their_line(folder, line, message):
    (folder / "a.ann").write_text("T9\tX 0 1\tA\n" + line + "\n")
    with pytest.raises(InputError, match=rf"a\.ann:2: .*{message}"):
        list(read_brat(folder / "a.ann"))


def test_wrong_mentions_and_empty_entities_are_counted(folder):
    (folder / "a.ann").write_text("T1\tX 0 3\tEve\nT2\tX 3 4\t \nT3\tX 1 1\t\n")
    report = ReadReport()
    (document,) = read_brat(folder / "a.ann", report=report)
    assert len(character_spans(document)) == 1
    assert report.counts == {
        "entity whose text differs from the text it points to": 1,
        "entity of nothing but white space, not read": 2,
    }


def test_missing_files(tmp_path):
    with pytest.raises(InputError, match=r"no pair of files x\.txt and x\.ann in this folder"):
        list(read_brat(tmp_path))
    with pytest.raises(InputError, match="no such file"):
        list(read_brat(tmp_path / "x.ann"))


def test_what_is_written_is_read_again(tmp_path):
    spans = [CharacterSpan(0, 12, "PER", 0.5), CharacterSpan(0, 3, "NAME"), CharacterSpan(9, 22, "ODD")]
    document = Document(tuple(annotate(TEXT, spans)), TEXT, "x/y")
    write_brat([document, Document((Sentence(("Hi", "you"), {"ner": ("O", "B-P")}),))], tmp_path)
    back, numbered = sorted(read_brat(tmp_path, report=ReadReport()), key=lambda d: d.id, reverse=True)
    assert back.id == "x/y"
    assert set(character_spans(back)) == set(spans)
    assert (numbered.id, numbered.text) == ("2", "Hi you\n")
    assert numbered.sentences[0].spans == (Span(1, 2, "P"),)


def test_ids_cannot_leave_the_folder(tmp_path):
    write_brat([Document((Sentence(("a",)),), id="../../up:x")], tmp_path / "out")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["up_x.txt", "up_x.ann"] or sorted(
        p.name for p in (tmp_path / "out").iterdir()
    ) == ["up_x.ann", "up_x.txt"]


def test_a_text_that_is_there_is_not_changed(folder):
    document = next(iter(read_brat(folder / "a.ann", report=ReadReport())))
    write_brat([document], folder / "a.ann")
    assert (folder / "a.ann").read_text().startswith("T1\tPER 0 12\tAda Lovelace\nT2")
    (folder / "a.txt").write_text("other")
    with pytest.raises(DovetailError, match="exists with another text"):
        write_brat([document], folder / "a.ann")


def test_what_brat_cannot_hold(tmp_path):
    with pytest.raises(DovetailError, match="labels are single words"):
        write_brat([Document((Sentence(("a",), spans=(Span(0, 1, "two words"),)),))], tmp_path)
    with pytest.raises(DovetailError, match="one file cannot hold several"):
        write_brat([Document((Sentence(("a",)),))] * 2, tmp_path / "x.ann")
