"""Help pages: whole lines of 80 columns, under headings, in words that people use."""

from __future__ import annotations

import ast
import re
import shlex
from itertools import takewhile
from pathlib import Path

import pytest

import dovetail
from dovetail.cli.command import GROUPS, SHORT
from tests.cli.conftest import Run
from tests.cli.test_paths import COMMANDS

PAGES = ["", "train", "tune", "cluster", *(name.removeprefix("dovetail ") for name in COMMANDS)]
QUAINT = r"\bmend|\bparted\b|told by|\bOf everything\b|\bshall\b|\bfault of\b|\bdear\b|\bkeep their promise\b"


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("page", PAGES)
def test_every_line_fits_and_reads_well(run: Run, page: str) -> None:
    code, out, _ = run(*page.split(), "--help")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert re.search(QUAINT, out) is None
    assert not re.search(r"\[default: \(|x>=[01]\b|<list\[|<str>|<path>", out)


@pytest.mark.parametrize("group", ["", "train", "tune", "cluster"])
def test_summaries_of_commands_are_not_cut(run: Run, group: str) -> None:
    listed = run(*group.split(), "--help").out.split("Commands:\n")[1].splitlines()
    assert len(listed) >= 4
    for line in listed:
        assert re.fullmatch(r"  [a-z-]+ +[A-Z].*[^.]\.", line), line


@pytest.mark.parametrize("name", COMMANDS)
def test_long_pages_have_headings_and_every_option_is_under_one(run: Run, name: str) -> None:
    out = run(*name.split()[1:], "--help").out
    headings = re.findall(r"^(\w+):$", out, re.MULTILINE)
    options = [param for param in COMMANDS[name].params if param.param_type_name == "option"]
    if len(options) + 1 > SHORT:
        assert set(headings) <= {"Arguments", *GROUPS}
        assert {"Data", "Output"} <= set(headings)
    else:
        assert set(headings) <= {"Arguments", "Options"}
    for option in options:
        assert re.search(rf"^  .*{re.escape(option.opts[0])}\b", out, re.MULTILINE)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_page_has_an_example_whose_options_there_are(run: Run, name: str) -> None:
    lines = run(*name.split()[1:], "--help").out.splitlines()
    starts = [i for i, line in enumerate(lines) if re.match(rf" +{name} ", line + " ")]
    assert starts, "no example"
    for start in starts:
        rest = takewhile(lambda line: line.strip() and not line.strip().endswith(":"), lines[start:])
        words = shlex.split(" ".join(line.strip() for line in rest).partition(" > ")[0].replace(">>", ""))[2:]
        flags = {one for param in COMMANDS[name].params for one in [*param.opts, *param.secondary_opts]}
        assert {word for word in words if word.startswith("-")} <= flags


def test_training_is_under_these_headings(run: Run) -> None:
    headings = re.findall(r"^(\w+):$", run("train", "tagger", "--help").out, re.MULTILINE)
    assert headings == ["Data", "Model", "Resources", "Learning", "Output"]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("train tagger", "(may be .gz); required, unless --domain or --expectations is given."),
        ("train parser", "(may be .gz); required, unless --domain is given."),
        ("train dependency", "(may be .gz); required, unless --domain is given."),
        ("train parser", "How far a domain may deviate from the others. [default: 0.3]"),
        ("train dependency", "How far a domain may deviate from the others. [default: 0.1]"),
        ("train parser", "[default: 1, or 2 for generative]"),
        ("train parser", "[default: 0, or 1 for generative]"),
        ("train parser", "[default: no, but yes for generative]"),
        ("train parser", "trees are in brackets or jsonl. [default: from the file name]"),
        ("train joint", "trees are in brackets or jsonl. [default: from the file name]"),
        ("train segmenter", "[default: markov for words, semi-markov for entities]"),
        ("annotate", "paragraphs: at periods and at blank lines;"),
    ],
)
def test_pages_say_what_holds(run: Run, page: str, words: str) -> None:
    assert words in " ".join(run(*page.split(), "--help").out.split())


def test_layers_to_ignore_are_named_in_one_way(run: Run) -> None:
    for kind in ("tagger", "segmenter", "nested"):
        out = " ".join(run("train", kind, "--help").out.split())
        assert "--ignore NAMES Layers that features must not use, such as pos,chunk. " in out


def test_messages_are_in_plain_words() -> None:
    """Those that users see in errors and progress; docstrings of commands are on the help pages above."""
    for file in sorted(Path(dovetail.__file__).parent.rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                assert re.search(QUAINT, node.value) is None, f"{file.name}:{node.lineno}: {node.value}"
