"""CoNLL-U Plus, with the frames of Universal PropBanks."""

from __future__ import annotations

import io

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dovetail.errors import DovetailError, InputError
from dovetail.text.conllup import read_conllup, write_conllup
from dovetail.text.formats import read, write
from dovetail.text.frames import Frame
from dovetail.text.report import ReadReport
from dovetail.text.sentence import Document, Sentence, Span
from tests.text.helpers import rich_sentences

STANDARD = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC"
FILE = f"""# global.columns = {STANDARD} PARSEME:MWE UP:PRED UP:ARGHEADS UP:ARGSPANS
# newdoc id = d
# sent_id = 1
# text = Ada sold boats.
1\tAda\tAda\tPROPN\tNNP\t_\t2\tnsubj\t_\tNER=B-PER\t_\t_\t_\t_
2-3\tsoldboats\t_\t_\t_\t_\t_\t_\t_\t_\t_\t_\t_\t_
2\tsold\tsell\tVERB\tVBD\t_\t0\troot\t_\t_\t1:x\tsell.01\tARG0:1|ARG1:3\tARG0:1-1|ARG1:3-4
3\tboats\tboat\tNOUN\tNNS\t_\t2\tobj\t_\tSpaceAfter=No\t_\t_\t_\t_
4\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_\t_\train.XX\tARG0:2\t_

"""


def lines(text: str, report: ReadReport | None = None) -> list[Sentence]:
    found = read_conllup(io.StringIO(text), report=ReadReport() if report is None else report)
    return [s for document in found for s in document]


def test_frames_layers_and_names():
    report = ReadReport()
    (sentence,) = lines(FILE, report)
    assert sentence.frames == (
        Frame(1, "sell.01", "sell", [(0, 1, "ARG0"), (2, 4, "ARG1")]),
        Frame(3, None, "rain", [(1, 2, "ARG0")]),
    )
    assert (sentence.id, sentence.layers["upos"][1], sentence.layers["PARSEME:MWE"][1]) == ("1", "VERB", "1:x")
    assert sentence.layers["ner"] == ("B-PER", "O", "O", "O")
    assert report.counts["argument of which only the head is given, read as that word"] == 1
    assert report.first["argument of which only the head is given, read as that word"] == "<stream>:9"


def test_a_file_with_few_columns():
    (sentence,) = lines("# global.columns = ID FORM X:NER\n1\tAda\tB-PER\n")
    assert (sentence.words, sentence.layers["ner"], sentence.frames) == (("Ada",), ("B-PER",), None)


@given(sentences=st.lists(rich_sentences(), min_size=1, max_size=3))
def test_what_is_written_comes_back(sentences):
    out = io.StringIO()
    assume(not any("|" in value for s in sentences for value in s.layers.get("mood", ())))
    write_conllup([Document(tuple(sentences), id="d")], out)
    for found, given_ in zip(lines(out.getvalue()), sentences, strict=True):
        assert found.words == given_.words
        assert found.layers["ner"] == given_.layers["ner"]
        senses = [(f.predicate, f.sense, f.lemma, f.arguments) for f in given_.frames or ()]
        assert [(f.predicate, f.sense, f.lemma, f.arguments) for f in found.frames] == senses
        assert found.id == given_.id


def test_a_file_that_is_read_and_written_says_the_same(tmp_path):
    (tmp_path / "a.conllup").write_text(FILE)
    documents = list(read(tmp_path / "a.conllup", report=ReadReport()))
    write(documents, tmp_path / "b.conllup")
    text = (tmp_path / "b.conllup").read_text()
    assert "2-3\tsoldboats\t_\t_\t_\t_\t_\t_\t_\t_\t_\t_\t_" in text
    again = list(read(tmp_path / "b.conllup"))
    assert [(d.id, d.sentences) for d in again] == [(d.id, d.sentences) for d in documents]
    assert again[0].sentences[0].frames == documents[0].sentences[0].frames


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: expected # global.columns = ID FORM"),
        ("1\tAda\n", ":1: expected # global.columns"),
        ("# global.columns = FORM ID\n", ":1: the columns must begin with ID"),
        ("# global.columns = ID LEMMA\n", ":1: the columns must begin with ID, hold FORM"),
        ("# global.columns = ID FORM FORM\n", ":1: .*none twice"),
        ("# global.columns = ID FORM\n1\tAda\tx\n", ":2: 3 columns, and the first line of the file names 2"),
        ("# global.columns = ID FORM\n1\tAda\n2\t\n", ":3: column 2 is empty"),
        ("# global.columns = ID FORM\n1\tAda\n3\tb\n", ":3: word number 3, expected 2"),
        ("# global.columns = ID FORM UP:PRED UP:ARGSPANS\n1\tAda\tx.01\tARG0\n", ":2: 'ARG0' is no argument"),
        ("# global.columns = ID FORM UP:PRED UP:ARGSPANS\n1\tAda\tx.01\tA:1-2\n", ":2: .*'A:1-2' is outside 1 words"),
    ],
)
def test_broken_files_name_their_line(text, message):
    with pytest.raises(InputError, match=f"<stream>{message}"):
        lines(text)


def test_values_that_cannot_be_written():
    odd = Sentence(("Ada",), frames=(Frame(0, "a\tb"),))
    with pytest.raises(DovetailError, match="sentence 1: a value is empty or has a tab"):
        write_conllup([odd], io.StringIO())


def test_predicates_without_a_sense():
    out = io.StringIO()
    write_conllup([Sentence(("Ada", "slept"), frames=(Frame(1, None, None, (Span(0, 1, "A0"),)),))], out)
    (sentence,) = lines(out.getvalue())
    assert sentence.frames == (Frame(1, None, "slept", (Span(0, 1, "A0"),)),)
