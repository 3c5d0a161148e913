from __future__ import annotations

import gzip
import os
import subprocess
import sys

import pytest

from dovetail.errors import DovetailError, InputError
from dovetail.text import Document, Sentence, Span, Tree, read, sentences, write
from dovetail.text.formats import FORMATS, guess_format
from tests.extras import of_formats

SENTENCE = Sentence(("Ada", "Lovelace", "wrote", "."), {"ner": ("B-PER", "I-PER", "O", "O")})


@pytest.mark.parametrize("name", ["a.conll", "a.tsv", "a.conllu", "a.jsonl", "a.conll.gz", "a.jsonl.gz", "a.conllu.gz"])
def test_entities_survive_every_format(tmp_path, name):
    path = tmp_path / name
    write([Document((SENTENCE,), id="d")], path)
    assert [s.entities() for s in sentences(path)] == [(Span(0, 2, "PER"),)]
    assert [s.words for s in sentences(path)] == [SENTENCE.words]
    with path.open("rb") as file:
        assert (file.read(2) == b"\x1f\x8b") == name.endswith(".gz")


def test_standoff_folder(tmp_path):
    write([Document((SENTENCE,), id="d")], tmp_path, "brat")
    assert [s.entities() for s in sentences(tmp_path)] == [(Span(0, 2, "PER"),)]


def test_options_reach_the_reader(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a.b c\nd")
    assert [s.words for s in sentences(path, lines="sentences", words="spaces")] == [("a.b", "c"), ("d",)]


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("x.CONLL", "conll"),
        ("x.bio", "conll"),
        ("x.ann", "brat"),
        ("x.txt.gz", "text"),
        ("x.doc", None),
        ("-", None),
    ],
)
def test_guessing(name, format):
    assert guess_format(name) == format


def test_unknown_formats_list_the_known_ones(tmp_path):
    with pytest.raises(DovetailError, match=r"a\.doc: no format ends like this name; name one of: conll"):
        read(tmp_path / "a.doc")
    with pytest.raises(DovetailError, match=r"unknown format 'xml'; name one of: conll \(\.conll"):
        write([], tmp_path / "a", "xml")


@pytest.mark.parametrize("format", ["conll", "conllu", "jsonl", "text"])
def test_bad_files_are_told_by_every_reader(tmp_path, format):
    whole = gzip.compress(b"".join(os.urandom(20).hex().encode() + b"\n" for _ in range(2000)))
    (tmp_path / "cut.gz").write_bytes(whole[:-30])
    (tmp_path / "latin").write_bytes(b"a\xe9\n")
    for name, message in [
        ("none", "none: no such file"),
        ("", "this is a directory"),
        ("cut.gz", "cut.gz"),
        ("latin", "latin:1: not valid UTF-8"),
    ]:
        with pytest.raises(InputError, match=message):
            list(read(tmp_path / name, format))


@pytest.mark.parametrize("format", of_formats(name for name in FORMATS if name != "brat"))
def test_failing_writes_leave_nothing(tmp_path, format):
    def items():
        yield Sentence(("a",), tree=Tree("X", word="a"))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(items(), tmp_path / "out", format)
    assert list(tmp_path.iterdir()) == []


def test_importing_is_cheap():
    program = "import sys, dovetail.text; print({'numba', 'scipy', 'numpy', 'rich', 'typer'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "set()"


@pytest.mark.parametrize("name", ["a.conll", "a.conllu", "a.jsonl", "a.txt"])
def test_one_sentence_or_document_and_words(tmp_path, name):
    path = tmp_path / name
    for items in (SENTENCE, Document((SENTENCE,)), [list(SENTENCE.words)], iter([SENTENCE.words])):
        write(items, path)
        assert [s.words for s in sentences(path)] == [SENTENCE.words]


@pytest.mark.parametrize(
    "odd", ["Ada met", ["Ada", "met"], b"Ada", None, 3, {"a": 1}, [3], [["Ada", ""]], [["Ada", 1]]]
)
def test_what_cannot_be_written(tmp_path, odd):
    with pytest.raises(DovetailError, match="give "):
        write(odd, tmp_path / "a.conll")
    assert list(tmp_path.iterdir()) == []
