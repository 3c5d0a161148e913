"""``dovetail convert``: from any format into any other, with what is lost told."""

from __future__ import annotations

import pytest

import dovetail
from dovetail.text.formats import FORMATS
from tests.cli.conftest import Run
from tests.extras import of_formats, requires

LINES = """{"doc": "a", "words": ["Ada", "met", "Bob"], "entities": [[0, 1, "PER"], [2, 3, "PER", 0.5]], "tree": "(S (X (N Ada) (V met)) (N Bob))"}
{"doc": "b", "words": ["It", "rained"], "entities": [], "tree": "(S (N It) (V rained))"}
"""  # noqa: E501


@pytest.fixture
def given(tmp_path):
    (tmp_path / "in.jsonl").write_text(LINES)
    return tmp_path


@pytest.mark.parametrize("name", of_formats(name for name in FORMATS if name not in ("brackets", "text", "tmx")))
def test_into_every_format_and_back(run: Run, given, name):
    folder = name in ("brat", "webanno")
    out = given / ("out" if folder else f"out{FORMATS[name].suffixes[0]}")
    code, _, told = run("convert", given / "in.jsonl", out, "--to", name)
    assert code == 0, told
    assert f"{out}: 2 sentences, 5 words" in told
    assert ("not kept in" in told and "2 × tree" in told) == ("trees" not in FORMATS[name].keeps)
    code, _, told = run("convert", out, given / "back.jsonl", "--from", name)
    assert code == 0, told
    back = [e.text for d in dovetail.read(given / "back.jsonl") for e in d.entities()]
    assert back == ["Ada", "Bob"]


def test_losses_are_told_with_counts(run: Run, given):
    code, _, told = run("convert", given / "in.jsonl", given / "out.conll")
    assert code == 0
    assert "not kept in conll: 2 × name of a document; 1 × probability of an entity; 2 × tree" in told


def test_trees_and_text(run: Run, given):
    assert run("convert", given / "in.jsonl", given / "a.mrg")[0] == 0
    assert run("convert", given / "in.jsonl", "-", "--to", "text")[1] == "Ada met Bob\nIt rained\n"


def test_nothing_that_is_read_is_overwritten(run: Run, given):
    for source, target in (("in.jsonl", "in.jsonl"), ("link.jsonl", "in.jsonl")):
        if not (given / "link.jsonl").exists():
            (given / "link.jsonl").symlink_to(given / "in.jsonl")
        code, _, told = run("convert", given / source, given / target, "--to", "conll")
        assert code == 2
        assert "OUT would overwrite what IN reads" in told
    assert run("convert", given / "in.jsonl", given / "both", "--to", "brat")[0] == 0
    code, _, told = run("convert", given / "both", given / "both", "--from", "brat", "--to", "brat")
    assert code == 2
    assert (given / "in.jsonl").read_text() == LINES


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("in.jsonl", "out.doc"), "out.doc: no format ends like this name; name one with --to: text, conll"),
        (("in.doc", "out.conll"), "in.doc: no format ends like this name; name one with --from"),
        (("none.conll", "out.jsonl"), "none.conll: no such file"),
        (("in.jsonl", "out.conll", "--split", "train"), "--split is for data sets of Hugging Face"),
        (("in.jsonl", "out.conll", "--tokenised"), "are for text, not for jsonl"),
        (("in.jsonl", "out.conll", "--columns", "word,ner"), "--columns names columns of CoNLL"),
    ],
)
def test_what_cannot_be_converted(run: Run, given, monkeypatch, arguments, message):
    monkeypatch.chdir(given)
    code, _, told = run("convert", *arguments)
    assert code == 2
    assert message in told
    assert not (given / "out.conll").exists()


@requires("spacy")
def test_broken_input_leaves_nothing(run: Run, given):
    (given / "bad.csv").write_text('text,spans\na,"[[0, 9, ""X""]]"\n')
    code, _, told = run("convert", given / "bad.csv", given / "out.spacy")
    assert code == 2
    assert "bad.csv:2:" in told
    assert not (given / "out.spacy").exists()
