"""``dovetail train joint``, and what annotate and evaluate do with its models."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dovetail.modelfile import load_model
from dovetail.text.jsonl import write_jsonl
from tests.cli.conftest import Run
from tests.models.test_joint_parser import annotated


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("joint")
    write_jsonl(annotated(60), folder / "train.jsonl")
    write_jsonl(annotated(20, seed=2), folder / "dev.jsonl")
    write_jsonl([replace(s, spans=()) for s in annotated(20, seed=3)], folder / "trees.jsonl")
    write_jsonl([replace(s, tree=None) for s in annotated(20, seed=4)], folder / "entities.jsonl")
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    from dovetail.cli.main import main

    files = ["--train", folder / "train.jsonl", "--dev", folder / "dev.jsonl", "--output", folder / "m"]
    assert main(["train", "joint", *map(str, files), "--iterations", "3", "--quiet"]) == 0
    return folder / "m"


def test_training_with_trees_alone_and_entities_alone(run: Run, folder: Path, tmp_path: Path) -> None:
    result = run("train", "joint", "--train", folder / "train.jsonl", "--trees-only", folder / "trees.jsonl",
                 "--entities-only", folder / "entities.jsonl", "--sigma", 0.5, "--output", tmp_path / "m",
                 "--iterations", 2, "--threads", 1)  # fmt: skip
    assert result.code == 0
    assert "20 trees alone" in result.out
    assert "are constituents" in result.out


def test_decoding_by_recall(run: Run, folder: Path, tmp_path: Path) -> None:
    result = run("train", "joint", "--train", folder / "train.jsonl", "--decode", "recall", "--output", tmp_path / "m",
                 "--iterations", 2, "--threads", 1)  # fmt: skip
    assert result.code == 0
    header, _ = load_model(tmp_path / "m")
    assert (header["settings"]["decode"], header["bias"]) == ("recall", 1.5)
    found = json.loads(run("evaluate", folder / "dev.jsonl", "--model", tmp_path / "m", "--json").out)
    assert found["f1"] > 80
    assert found["crossing_entities"] == 0


def test_evaluate_scores_trees_and_entities(run: Run, folder: Path, model: Path) -> None:
    found = json.loads(run("evaluate", folder / "dev.jsonl", "--model", model, "--json").out)
    assert found["f1"] > 80
    assert found["entity_f1"] > 50
    assert found["crossing_entities"] == 0
    assert "0 cross a constituent" in run("evaluate", folder / "dev.jsonl", "--model", model).out


def test_annotate_gives_trees_and_entities(run: Run, model: Path, tmp_path: Path) -> None:
    found = json.loads(run("annotate", "Ada saw the dog.", "--model", model).out)
    assert found["tree"].startswith("(ROOT")
    assert found["entities"][0]["label"] == "PER"
    more = json.loads(run("annotate", "Ada saw the dog.", "--model", model, "--k-best", 2).out)
    assert [set(answer) for answer in more["k_best"]] == [{"probability", "tree", "entities"}] * 2
    shown = run("annotate", "Ada saw the dog.", "--model", model, "--output-format", "pretty").out
    assert "PER" in shown
    assert run("annotate", "Ada saw the dog.", "--model", model, "--output", tmp_path / "a.svg").code == 0
    assert "PER" in (tmp_path / "a.svg").read_text()


def test_what_is_missing_is_named(run: Run, folder: Path, tmp_path: Path) -> None:
    for train, message in (("entities.jsonl", "no tree"), ("trees.jsonl", "no entities")):
        result = run("train", "joint", "--train", folder / train, "--output", tmp_path / "m", "--quiet")
        assert result.code == 2
        assert message in result.err
    result = run("train", "joint", "--train", folder / "train.jsonl", "--output", tmp_path / "m", "--sigma", 1)
    assert "--trees-only" in result.err


def test_one_grammar_is_not_explained(run: Run, model: Path) -> None:
    result = run("explain", "Ada saw the dog.", "--model", model, "--span", "3-4")
    assert result.code == 2
    assert "of one grammar cannot be explained" in result.err
