"""``dovetail train parser``, and what annotate, evaluate and explain do with its models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dovetail.text.brackets import parse_tree, write_brackets
from dovetail.text.jsonl import write_jsonl
from tests.cli.conftest import Run
from tests.trees import treebank


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trees")
    write_brackets(treebank(60), folder / "train.mrg")
    write_jsonl(treebank(20, seed=2), folder / "dev.jsonl.gz")
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    from dovetail.cli.main import main

    files = ["--train", folder / "train.mrg", "--dev", folder / "dev.jsonl.gz", "--output", folder / "m"]
    assert main(["train", "parser", *map(str, files), "--iterations", "3", "--batch", "8", "--quiet"]) == 0
    return folder / "m"


def test_training_shows_progress_and_a_summary(run: Run, folder: Path, tmp_path: Path) -> None:
    result = run("train", "parser", "--train", folder / "train.mrg", "--dev", folder / "dev.jsonl.gz", "--output",
                 tmp_path / "m", "--iterations", 2, "--batch", 8, "--max-length", 8, "--threads", 1)  # fmt: skip
    assert result.code == 0
    assert "dev F1" in result.out
    assert "left out" in result.err
    assert "pruning" in result.err


def test_a_generative_grammar_is_counted(run: Run, folder: Path, tmp_path: Path) -> None:
    result = run("train", "parser", "--train", folder / "train.mrg", "--output", tmp_path / "m", "--features",
                 "generative", "--quiet")  # fmt: skip
    assert result.code == 0
    assert run("evaluate", folder / "dev.jsonl.gz", "--model", tmp_path / "m").out.startswith("20 sentences")


def test_text_in_trees_out_in_a_pipe(run: Run, model: Path) -> None:
    result = run("annotate", "--model", model, stdin="Ada saw the dog. The king slept.\n")
    trees = [parse_tree(line) for line in result.out.splitlines()]
    assert [tree.words() for tree in trees] == [("Ada", "saw", "the", "dog", "."), ("The", "king", "slept", ".")]


def test_json_has_the_probability_of_every_constituent(run: Run, model: Path) -> None:
    result = run("annotate", "Ada saw the dog.", "--model", model, "--output-format", "jsonl")
    found = json.loads(result.out)
    assert parse_tree(found["tree"]).words() == ("Ada", "saw", "the", "dog", ".")
    assert all(0 < probability <= 1 for *_, probability in found["constituents"])


def test_k_best_and_marginals(run: Run, model: Path) -> None:
    found = json.loads(run("annotate", "Ada saw the dog.", "--model", model, "--k-best", 3, "--marginals").out)
    assert found["k_best"][0]["tree"] == found["tree"]
    assert {"start", "end", "label", "probability"} == set(found["marginals"][0])


def test_a_tree_is_drawn(run: Run, model: Path, tmp_path: Path) -> None:
    assert "┌" in run("annotate", "Ada saw the dog.", "--model", model, "--output-format", "pretty").out
    assert run("annotate", "Ada saw the dog.", "--model", model, "--output", tmp_path / "a.svg").code == 0
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert run("annotate", "Ada saw it. Bela saw it.", "--model", model, "--output", tmp_path / "b.svg").code == 0
    assert (tmp_path / "b-2.svg").exists()
    assert "--output" in run("annotate", "Ada saw. Bela saw.", "--model", model, "--output-format", "svg").err


def test_evaluate_scores_brackets(run: Run, folder: Path, model: Path) -> None:
    found = json.loads(run("evaluate", folder / "dev.jsonl.gz", "--model", model, "--json").out)
    assert found["f1"] > 80
    assert {"f1", "exact", "tagging"} <= set(found)
    short = json.loads(run("evaluate", folder / "dev.jsonl.gz", "--model", model, "--json", "--max-length", 6).out)
    assert 0 < short["sentences"] < found["sentences"]
    assert "no sentences" in run("evaluate", folder / "dev.jsonl.gz", "--model", model, "--max-length", 1).err


def test_evaluate_scores_files(run: Run, folder: Path, model: Path, tmp_path: Path) -> None:
    predicted = tmp_path / "p.brackets"
    assert run("annotate", folder / "dev.jsonl.gz", "--model", model, "--output", predicted).code == 0
    gold = tmp_path / "g.brackets"
    write_brackets(treebank(20, seed=2), gold)
    result = run("evaluate", "--gold", gold, "--predicted", predicted, "--layer", "tree", "--json", "--max-length", 8)
    of_model = run("evaluate", folder / "dev.jsonl.gz", "--model", model, "--json", "--max-length", 8)
    assert json.loads(result.out)["f1"] == json.loads(of_model.out)["f1"]


def test_explain_a_constituent(run: Run, model: Path) -> None:
    result = run("explain", "Ada saw the dog.", "--model", model, "--span", "3-4")
    assert result.code == 0
    assert result.out.startswith("3-4  NP")
    assert "best tree without it" in result.out or "no tree without it" in result.out
    record = json.loads(run("explain", "Ada saw the dog.", "--model", model, "--json").out)
    assert len(record["constituents"]) == 1
    for wrong in ("x", "0-2", "3-99", "1-2"):
        assert run("explain", "Ada saw the dog.", "--model", model, "--span", wrong).code == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("(S (NP (NN a))", "bracket"),
        ("", "t.mrg: no sentences to learn from"),
        ("(S (NP (NN a)))) (S", "bracket"),
    ],
)
def test_bad_trees_are_named(run: Run, tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "t.mrg").write_text(content)
    result = run("train", "parser", "--train", tmp_path / "t.mrg", "--output", tmp_path / "m", "--quiet")
    assert result.code == 2
    assert message in result.err
    assert not (tmp_path / "m").exists()


def test_data_without_trees_is_refused(run: Run, data: Path, tmp_path: Path) -> None:
    result = run("train", "parser", "--train", data / "train.conll", "--output", tmp_path / "m", "--quiet")
    assert result.code == 2
    assert "train.conll: no trees in this file, read as conll; give trees in brackets" in result.err


def test_a_pool_is_trained_and_used_as_one_parser(run: Run, folder: Path, tmp_path: Path) -> None:
    made = run("train", "parser", "--train", folder / "train.mrg", "--dev", folder / "dev.jsonl.gz", "--output",
               tmp_path / "m", "--pool", 2, "--iterations", 2, "--batch", 8, "--quiet")  # fmt: skip
    assert made.code == 0
    assert "dev F1" in made.out
    assert run("evaluate", folder / "dev.jsonl.gz", "--model", tmp_path / "m").out.startswith("20 sentences")
    found = json.loads(run("annotate", "Ada saw the dog.", "--model", tmp_path / "m", "--output-format", "jsonl").out)
    assert all(0 < probability < 1 for *_, probability in found["constituents"])
    assert run("info", tmp_path / "m").code == 0
    refused = run("explain", "--model", tmp_path / "m", "--span", "1-1:NP", "Ada saw the dog.")
    assert refused.code != 0
    assert "explain one of its parsers" in refused.err
    again = run("train", "parser", "--train", folder / "train.mrg", "--output", tmp_path / "n", "--pool", 2, "--resume")
    assert again.code != 0
    assert "in one go" in again.err
