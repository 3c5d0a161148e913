"""``train parser --domain`` and ``train dependency --domain``: parsers of several domains in one file."""

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


def test_constituents_of_each_in_one_file(run: Run, folder: Path) -> None:
    result = run("train", "parser", "--domain", f"news={folder / 'news.jsonl'}", "--domain",
                 f"chat={folder / 'chat.jsonl'}", "--output", folder / "p.dovetail", "--iterations", 2, "--batch", 8,
                 "--sigma", 0.2, "--tags", "given", "--quiet")  # fmt: skip
    assert result.code == 0, result.err
    assert "news: trained on 25 trees" in result.out
    assert "sigma: 0.2" in result.out
    assert "2 domains" in result.out
    model = ("--model", folder / "p.dovetail")
    for domain in ((), ("--domain", "news"), ("--domain", "chat")):
        found = run("evaluate", folder / "news.jsonl", *model, *domain, "--json")
        assert json.loads(found.out)["f1"] > 50
    unknown = run("annotate", folder / "news.jsonl", *model, "--domain", "law")
    assert unknown.code == 2
    assert "no domain 'law'; the model knows news, chat" in unknown.err


def test_dependencies_of_each_in_one_file(run: Run, folder: Path) -> None:
    arcs = folder / "arcs.jsonl"
    result = run("train", "dependency", "--domain", f"news={arcs}", "--domain", f"chat={arcs}", "--output",
                 folder / "d", "--bits", 12, "--no-relations", "--quiet")  # fmt: skip
    assert result.code == 0, result.err
    for domain in ((), ("--domain", "news"), ("--domain", "chat")):
        assert "UAS 100.00" in run("evaluate", arcs, "--model", folder / "d", *domain).out


def test_dev_strategies_and_checkpoints(run: Run, folder: Path) -> None:
    arcs, output = folder / "arcs.jsonl", folder / "d.dovetail"
    files = ("--domain", f"news={arcs}", "--domain", f"chat={arcs}", "--dev-domain", f"chat={arcs}")
    how = ("--bits", 12, "--no-relations", "--half", "--resume", "--output", output, "--quiet")
    for strategy in ("hierarchical", "all"):
        result = run("train", "dependency", *files, *how, "--strategy", strategy)
        assert result.code == 0, result.err
        assert result.out.startswith("chat:\n")
        assert "100.00" in result.out.partition("news: trained on 4 sentences, 8 tokens")[0]
        assert ("sigma: 0.1" in result.out) == (strategy == "hierarchical")
        assert not output.with_name("d.dovetail.checkpoint").exists()
    trees = ("--domain", f"news={folder / 'news.jsonl'}", "--dev-domain", f"news={folder / 'chat.jsonl'}")
    result = run("train", "parser", *trees, "--tags", "given", "--iterations", 2, "--output", output, "--quiet")
    assert result.out.startswith("news:\ndev F1 ")


def test_what_is_left_out_or_changed_is_told(run: Run, folder: Path) -> None:
    short = run("train", "parser", "--domain", f"news={folder / 'news.jsonl'}", "--domain",
                f"chat={folder / 'chat.jsonl'}", "--output", folder / "p", "--iterations", 1, "--tags", "given",
                "--max-length", 4, "--quiet")  # fmt: skip
    assert short.code == 0, short.err
    assert "too long" in short.err
    crossing = {"head": ("3", "4", "0", "3"), "deprel": ("a", "b", "root", "c"), "pos": ("A", "B", "C", "D")}
    write_jsonl([Sentence(("v", "x", "y", "z"), crossing)] * 3, folder / "crossing.jsonl")
    arcs = run("train", "dependency", "--domain", f"news={folder / 'crossing.jsonl'}", "--domain",
               f"chat={folder / 'arcs.jsonl'}", "--output", folder / "d", "--bits", 12, "--no-relations",
               "--quiet")  # fmt: skip
    assert arcs.code == 0, arcs.err
    assert "crossing arcs" in arcs.err


@pytest.mark.parametrize("command", ["parser", "dependency"])
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--domain", "news={news}", "--train", "{news}"), "give --train FILE, or --domain"),
        ((), "give --train FILE, or --domain"),
        (("--domain", "news={news}", "--dev", "{news}"), "--dev is not for several domains"),
        (("--train", "{news}", "--sigma", "1"), "--sigma is for several domains"),
        (("--domain", "news={news}", "--domain", "chat={empty}"), "empty.jsonl: no sentences to learn from"),
    ],
)
def test_what_is_wrong_is_told(run: Run, folder: Path, command: str, arguments: tuple[str, ...], told: str) -> None:
    news = folder / ("news.jsonl" if command == "parser" else "arcs.jsonl")
    filled = [a.format(news=news, empty=folder / "empty.jsonl") for a in arguments]
    result = run("train", command, *filled, "--output", folder / "m")
    assert result.code == 2
    assert told in result.err
