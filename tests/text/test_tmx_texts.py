"""Translation memories as documents."""

from __future__ import annotations

import io

import pytest

from dovetail.errors import DovetailError, InputError
from dovetail.text.formats import read, write
from dovetail.text.report import ReadReport
from dovetail.text.sentence import Sentence
from dovetail.text.tmx_texts import read_tmx_texts, write_tmx_texts

UNITS = [
    Sentence(("das", "Haus", "."), comments=("# lang = de", "# text_en_GB = the house .", "# text_fr = la maison")),
    Sentence(("&", "<", "x"), comments=("# lang = de", "# text_en_GB = a & b")),
]


def test_what_is_written_comes_back(tmp_path):
    write(UNITS, tmp_path / "a.tmx.gz")
    (document,) = read(tmp_path / "a.tmx.gz")
    assert [(s.words, s.comments) for s in document] == [(s.words, s.comments) for s in UNITS]
    assert document.sentences[0].text == "das Haus ."
    (english,) = read(tmp_path / "a.tmx.gz", language="en")
    assert [s.text for s in english] == ["the house .", "a & b"]
    assert english.sentences[0].comments == ("# lang = en-GB", "# text_de = das Haus .", "# text_fr = la maison")


def test_translations_pass_through_other_formats(tmp_path):
    write(UNITS, tmp_path / "a.tmx")
    for name in ("b.conllu", "b.jsonl"):
        write(read(tmp_path / "a.tmx"), tmp_path / name)
        write(read(tmp_path / name), tmp_path / "c.tmx")
        assert (tmp_path / "c.tmx").read_text() == (tmp_path / "a.tmx").read_text()


def test_units_that_lack_the_language():
    out, report = io.StringIO(), ReadReport()
    write_tmx_texts([*UNITS, Sentence(("x",))], out, "de")
    (document,) = read_tmx_texts(io.StringIO(out.getvalue()), language="fr", report=report)
    assert [s.text for s in document] == ["la maison"]
    assert report.counts == {"unit without fr, left out": 2}


def test_errors():
    with pytest.raises(InputError, match="<stream>:2: not XML"):
        list(read_tmx_texts(io.StringIO("<tmx>\n<tu></tmx>")))
    twice = Sentence(("x",), comments=("# lang = de", "# text_de = y"))
    with pytest.raises(DovetailError, match="a sentence of language 'de' has two texts of language 'de'"):
        write_tmx_texts([twice], io.StringIO())
