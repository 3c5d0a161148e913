"""``train parser --domain`` and ``train dependency --domain``: a file for each domain, and one for other text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dovetail.text.jsonl import write_jsonl
from dovetail.text.sentence import Sentence
from tests.cli.conftest import Run
from tests.trees import treebank

ARCS = {"head": ("2", "0"), "deprel": ("nsubj", "root"), "pos": ("NNP", "VBD")}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, seed in (("news", 1), ("chat", 2)):
        write_jsonl(treebank(25, seed), tmp_path / f"{name}.jsonl")
    write_jsonl([Sentence(("Ada", "slept"), ARCS)] * 4, tmp_path / "arcs.jsonl")
    (tmp_path / "empty.jsonl").write_text("")
    return tmp_path


def test_a_parser_of_constituents_for_each(run: Run, folder: Path) -> None:
    result = run("train", "parser", "--domain", f"news={folder / 'news.jsonl'}", "--domain",
                 f"chat={folder / 'chat.jsonl'}", "--output", folder / "p.dovetail", "--iterations", 2, "--batch", 8,
                 "--sigma", 0.2, "--tags", "given", "--quiet")  # fmt: skip
    assert result.code == 0, result.err
    assert "news: trained on 25 sentences" in result.out
    assert "no known domain" in result.out
    for name in ("p", "p.news", "p.chat"):
        found = run("evaluate", folder / "news.jsonl", "--model", folder / f"{name}.dovetail", "--json")
        assert json.loads(found.out)["f1"] > 50


def test_a_parser_of_dependencies_for_each(run: Run, folder: Path) -> None:
    arcs = folder / "arcs.jsonl"
    result = run("train", "dependency", "--domain", f"news={arcs}", "--domain", f"chat={arcs}", "--output",
                 folder / "d", "--bits", 12, "--no-relations", "--quiet")  # fmt: skip
    assert result.code == 0, result.err
    for name in ("d", "d.news", "d.chat"):
        assert "UAS 100.00" in run("evaluate", arcs, "--model", folder / name).out


@pytest.mark.parametrize("command", ["parser", "dependency"])
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--domain", "news={news}", "--train", "{news}"), "give --train FILE, or --domain"),
        ((), "give --train FILE, or --domain"),
        (("--domain", "news={news}", "--dev", "{news}"), "--dev is not for several domains"),
        (("--train", "{news}", "--sigma", "1"), "--sigma is for several domains"),
        (("--domain", "a/b={news}"), "leave out slashes"),
        (("--domain", "news={news}", "--domain", "chat={empty}"), "'chat' has no training data"),
    ],
)
def test_what_is_wrong_is_told(run: Run, folder: Path, command: str, arguments: tuple[str, ...], told: str) -> None:
    news = folder / ("news.jsonl" if command == "parser" else "arcs.jsonl")
    filled = [a.format(news=news, empty=folder / "empty.jsonl") for a in arguments]
    result = run("train", command, *filled, "--output", folder / "m")
    assert result.code == 2
    assert told in result.err
