"""``dovetail train roles``, and what other commands do with its models."""

from __future__ import annotations

import json

import pytest

from dovetail.text.formats import write
from tests.models.kinds import KINDS

FRAMED = KINDS["roles"].sentences


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("roles")
    write(FRAMED, path / "train.jsonl")
    return path


@pytest.fixture(scope="module")
def model(folder):
    from dovetail.cli.app import run_command

    out = folder / "roles.dovetail"
    given = ["train", "roles", "--train", str(folder / "train.jsonl"), "--dev", str(folder / "train.jsonl")]
    given += ["--output", str(out), "--iterations", "3", "--folds", "2", "--ranked", "2", "--quiet", "--threads", "1"]
    run_command(given)
    return out


def run(capsys, *arguments):
    from dovetail.cli.app import run_command

    run_command(list(map(str, arguments)))
    return capsys.readouterr().out


def test_scores_with_and_without_what_is_given(model, folder, capsys):
    record = json.loads(run(capsys, "evaluate", folder / "train.jsonl", "--model", model, "--gold-trees", "--json"))
    assert record["f1"] == record["predicate_f1"] == 100.0
    shown = run(capsys, "evaluate", folder / "train.jsonl", "--model", model, "--find-predicates")
    assert "predicates" in shown
    assert "senses" in shown
    both = ("--gold", folder / "train.jsonl", "--predicted", folder / "train.jsonl", "--layer", "frames", "--json")
    assert json.loads(run(capsys, "evaluate", *both))["core_f1"] == 100.0


def test_annotation_and_explanation(model, capsys):
    shown = run(capsys, "annotate", "Bob saw Ada", "--model", model, "--output-format", "pretty")
    assert "saw  see.01" in shown
    assert "ARG1" in shown
    told = json.loads(run(capsys, "annotate", "Bob saw Ada", "--model", model, "--k-best", 2, "--marginals"))
    assert told["frames"][0]["sense"] == "see.01"
    assert told["k_best"][0]["frames"][0]["arguments"]
    assert told["marginals"][0]["predicate"] == 1
    why = run(capsys, "explain", "Bob saw Ada", "--model", model, "--token", "saw", "--span", "3-3")
    assert why.startswith("saw: 3-3  ARG1")
    assert "ARGM-PRR" in run(capsys, "info", model)


def test_bad_use(model, folder, capsys):
    from dovetail.errors import DovetailError

    trees = folder / "trees.jsonl"
    trees.write_text('{"words": ["a"], "tree": "(NP (NN a))"}\n')
    with pytest.raises(DovetailError, match="no frames in this file"):
        run(capsys, "train", "roles", "--train", trees, "--output", folder / "x.dovetail", "--quiet")
    with pytest.raises(DovetailError, match="for models of semantic roles"):
        run(capsys, "evaluate", folder / "train.jsonl", "--gold-trees")
    with pytest.raises(DovetailError, match="no such predicate; there are saw"):
        run(capsys, "explain", "Bob saw Ada", "--model", model, "--token", "Ada")
