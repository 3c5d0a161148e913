"""``dovetail train entailment``, and what annotate, evaluate and explain do with its models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dovetail.text.pairs import Pair, read_pairs, write_pairs
from tests.cli.conftest import Run
from tests.models.kinds import KINDS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from dovetail.cli.main import main

    folder = tmp_path_factory.mktemp("pairs")
    write_pairs(KINDS["entailment"].sentences, folder / "train.jsonl")
    write_pairs([Pair("Ada slept.", "Ada slept.")], folder / "bare.jsonl")
    (folder / "more.tsv").write_text("text\thypothesis\tlabel\nIt rained.\tIt rained.\tyes\nIt rained.\tBob ate.\tno\n")
    files = ["--train", folder / "train.jsonl", "--train", folder / "more.tsv", "--output", folder / "m"]
    assert main(["train", "entailment", *map(str, files), "--names", "none", "--quiet"]) == 0
    return folder


def test_train_on_several_files_prints_scores_on_dev(run: Run, folder: Path, tmp_path: Path) -> None:
    dev = ("--dev", folder / "more.tsv", "--names", "none", "--output", tmp_path / "m")
    found = run("train", "entailment", "--train", folder / "train.jsonl", *dev, "--samples", 2)
    assert found.code == 0
    assert "2 pairs\naccuracy 100.00 (95% interval" in found.out
    assert "trained on 12 pairs" in found.out
    assert " features)" in found.out
    again = run("train", "entailment", "--train", folder / "more.tsv", *dev, "--input-format", "tsv")
    assert "2 pairs of dev are in the training data" in again.err


def test_annotate_writes_labels_and_probabilities(run: Run, folder: Path, tmp_path: Path) -> None:
    assert run("annotate", "-m", folder / "m", folder / "bare.jsonl", "-o", tmp_path / "out.jsonl").code == 0
    [pair] = read_pairs(tmp_path / "out.jsonl")
    assert pair.label == "yes"
    assert pair.probability is not None
    assert 0.5 < pair.probability < 1
    piped = run("annotate", "-m", folder / "m", stdin=(folder / "bare.jsonl").read_text())
    assert json.loads(piped.out)["probability"] == pair.probability
    for wrong, told in (
        (("Ada slept.",), "give a file of them"),
        ((folder / "bare.jsonl", "--k-best", 2), "not for this kind of model"),
        ((folder / "bare.jsonl", "--output-format", "conll"), "written as jsonl"),
    ):
        result = run("annotate", "-m", folder / "m", *wrong)
        assert result.code == 2
        assert told in result.err


def test_evaluate_a_model_or_a_file(run: Run, folder: Path, tmp_path: Path) -> None:
    scores = json.loads(run("evaluate", "-m", folder / "m", folder / "train.jsonl", "--json").out)
    assert (scores["pairs"], scores["accuracy"], scores["average_precision"]) == (12, 100.0, 100.0)
    run("annotate", "-m", folder / "m", folder / "train.jsonl", "-o", tmp_path / "out.jsonl")
    files = ("--gold", folder / "train.jsonl", "--predicted", tmp_path / "out.jsonl", "--layer", "entailment")
    assert json.loads(run("evaluate", *files, "--json").out) == scores
    other = run(
        "evaluate", "--gold", folder / "train.jsonl", "--predicted", folder / "more.tsv", "--layer", "entailment"
    )
    assert "other pairs than those of the gold file" in other.err
    assert "pair 1 has no label" in run("evaluate", "-m", folder / "m", folder / "bare.jsonl").err
    (tmp_path / "none.jsonl").write_text("")
    assert "no pairs in this file" in run("evaluate", "-m", folder / "m", tmp_path / "none.jsonl").err


def test_explain_and_info(run: Run, folder: Path) -> None:
    told = run("explain", "-m", folder / "m", folder / "bare.jsonl", "--top", 2).out
    assert told.startswith("Ada slept.  yes, probability of yes 0.")
    assert "   aligned  Ada slept .\n   for " in told
    [found] = json.loads(run("explain", "-m", folder / "m", folder / "bare.jsonl", "--top", 2, "--json").out)["pairs"]
    assert len(found["for"]) <= 2
    assert found["aligned"][0] == ["Ada", "Ada"]
    assert json.loads(run("info", folder / "m", "--json").out)["labels"] == ["no", "yes"]
