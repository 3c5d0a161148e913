from __future__ import annotations

import io
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import InputError
from dovetail.text import plain
from dovetail.text.plain import read_text, write_text
from dovetail.text.report import ReadReport
from dovetail.text.segment import segment
from dovetail.text.sentence import Sentence
from tests.text.helpers import kilobytes_grown

PROSE = st.lists(st.sampled_from(["Dr. No ", "left. ", "It ", "rains!\n", "\n\n", "etc. ", "5 p.m. ", "(ok.) "])).map(
    "".join
)


@given(PROSE, st.integers(8, 60), st.sampled_from(["auto", "paragraphs", "sentences"]))
def test_pieces_are_the_whole_text_and_its_sentences(text, size, lines):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain, "PIECE_CHARACTERS", size)
        documents = list(read_text(io.StringIO(text), lines))
    assert "".join(d.text for d in documents) == text
    assert [d.offset for d in documents] == [sum(len(d.text) for d in documents[:i]) for i in range(len(documents))]
    assert [s for d in documents for s in d] == segment(text, lines)
    assert [d.continues for d in documents] == [i > 0 for i in range(len(documents))]


def test_offsets_count_from_the_beginning_of_the_file(monkeypatch):
    monkeypatch.setattr(plain, "PIECE_CHARACTERS", 50)
    monkeypatch.setattr("dovetail.text.files.BLOCK_BYTES", 10)
    text = "Ein Satz über Öl. Noch einer! " * 20
    documents = list(read_text(io.BytesIO(text.encode())))
    assert len(documents) > 5
    for document in documents:
        for sentence in document:
            for word, (start, end) in zip(sentence.words, sentence.offsets, strict=True):
                assert text[start:end] == word == document.slice(start, end)


def test_a_text_without_an_end_is_cut_at_white_space(monkeypatch):
    monkeypatch.setattr(plain, "PIECE_CHARACTERS", 20)
    monkeypatch.setattr(plain, "MAX_CHARACTERS", 100)
    text = "word " * 100
    report = ReadReport()
    documents = list(read_text(io.StringIO(text), report=report))
    assert "".join(d.text for d in documents) == text
    assert {w for d in documents for s in d for w in s.words} == {"word"}
    assert list(report.counts) == ["sentence of over 100 characters, cut there"]


def test_a_text_without_white_space_is_cut_anyway(monkeypatch):
    monkeypatch.setattr(plain, "PIECE_CHARACTERS", 20)
    monkeypatch.setattr(plain, "MAX_CHARACTERS", 100)
    documents = list(read_text(io.StringIO("x" * 1050), report=ReadReport()))
    assert "".join(d.text for d in documents) == "x" * 1050
    assert max(len(d.text) for d in documents) <= 1050


def test_empty_and_broken_files(tmp_path):
    assert list(read_text(io.StringIO(""))) == []
    (document,) = read_text(io.StringIO("\n \n"))
    assert (len(document), document.text) == (0, "\n \n")
    path = tmp_path / "latin.txt"
    path.write_bytes(b"ok\n\xfcber\n")
    with pytest.raises(InputError, match=r"latin\.txt:2: not valid UTF-8"):
        list(read_text(path))


def test_what_is_written_is_read_again():
    sentences = [Sentence(("a", "b.c")), Sentence(("!",))]
    out = io.StringIO()
    write_text(sentences, out)
    (document,) = read_text(io.StringIO(out.getvalue()), lines="sentences", words="spaces")
    assert [s.words for s in document] == [s.words for s in sentences]


def test_a_large_text_without_line_ends_is_read_in_bounded_memory():
    setup = textwrap.dedent("""
        from dovetail.text.plain import read_text
        from dovetail.text.report import ReadReport
        class Endless:
            name, left = "endless", 1_500_000  # characters
            def read(self, size):
                self.left -= size
                return "no end in sight, nor a line end " * (size // 32) if self.left > 0 else ""
        list(zip(range(2), read_text(Endless(), report=ReadReport())))
    """)
    work = "sum(len(document.text) for document in read_text(Endless(), report=ReadReport()))"
    count, grown = kilobytes_grown(setup, work)
    assert count > 1_400_000
    assert grown < 20_000
