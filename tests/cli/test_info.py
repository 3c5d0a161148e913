"""``dovetail info``: what every kind of model file says about itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dovetail
from dovetail import (
    DependencyParser,
    JointParser,
    MultiDomainParser,
    MultiDomainTagger,
    NestedTagger,
    Parser,
    Segmenter,
    Tagger,
)
from tests.cli.conftest import Run, trained
from tests.models.corpus import made
from tests.models.test_joint_parser import annotated
from tests.models.test_nested import CORPUS
from tests.models.treebank import treebank as dependencies
from tests.trees import treebank


def tagger() -> Tagger:
    return Tagger(features=["word[0]", "shape[0]"], iterations=3)


MODELS: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "tagger": (lambda: tagger().fit(made(20)), {"PER", "LOC"}),
    "domains": (
        lambda: MultiDomainTagger(tagger=tagger()).fit({"web": made(20), "news": made(20, seed=2)}),
        {"PER", "LOC"},
    ),
    "segmenter": (lambda: Segmenter(iterations=3).fit([["ab", "c"], ["c", "ab", "ab"]] * 5), set()),
    "nested": (lambda: NestedTagger(iterations=1, threads=1).fit(CORPUS), {"ORG", "LOC"}),
    "dependency": (lambda: DependencyParser(bits=12, iterations=5).fit(dependencies(30)), {"amod"}),
    "parser": (lambda: Parser(iterations=1, folds=2, batch=8).fit(treebank(30)), {"NP", "VP"}),
    "joint": (lambda: JointParser(iterations=1, folds=2, batch=8).fit(annotated(40)), {"NP", "PER"}),
    "domain-parsers": (
        lambda: MultiDomainParser(parser=Parser(iterations=1, folds=2, batch=8)).fit(
            {"web": treebank(30), "news": treebank(30, seed=2)}
        ),
        {"NP", "VP"},
    ),
}


@pytest.mark.parametrize("kind", MODELS)
def test_every_kind(run: Run, tmp_path: Path, kind: str) -> None:
    make, labels = MODELS[kind]
    path = tmp_path / "model.dovetail"
    make().save(path, card={"licence": "of our own"})
    code, out, err = run("info", path, "--json")
    assert (code, err) == (0, "")
    record = json.loads(out)
    assert record["kind"] == kind
    assert labels <= set(record["labels"])
    assert record["weights"] > 0
    assert record["bytes"] == path.stat().st_size
    assert record["card"]["licence"] == "of our own"
    assert record["domains"] == (["web", "news"] if "domain" in kind else [])
    assert bool(record["templates"]) == (kind != "dependency")
    shown = run("info", path).out
    assert f"kind        {kind}, written by dovetail" in shown
    assert "licence     of our own" in shown
    assert all(len(line) <= 80 for line in shown.splitlines()[1:])  # the first has the path


def test_the_english_model_needs_no_name(run: Run) -> None:
    code, out, _ = run("info")
    assert code == 0
    assert "labels      3: LOC, ORG, PER\n" in out
    assert "CC BY-SA" in out
    card = dovetail.embedded("english-names.md").read_text(encoding="utf-8")
    weights = re.search(r"^weights +(\S+) weights$", out, re.MULTILINE)
    assert weights is not None
    assert f"{weights[1]} weights" in " ".join(card.split())


@pytest.mark.parametrize("more", [[], ["--compact"]])
def test_weights_are_counted_as_in_training(run: Run, data: Path, tmp_path: Path, more: list[str]) -> None:
    out = run("train", "tagger", "--train", data / "train.conll", "--output", tmp_path / "m", "--quiet", *more).out
    weights = json.loads(run("info", tmp_path / "m", "--json").out)["weights"]
    assert f"{weights:,} weights" in out


def test_layers_that_a_model_needs(run: Run, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "words only: it can annotate plain text" in run("info", model).out
    monkeypatch.setattr(Tagger, "needs", property(lambda self: ("pos", "chunk")), raising=False)
    assert "pos, chunk: it can annotate files with this, not plain text" in run("info", model).out


def test_resources_are_named(run: Run, data: Path, tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("Ada Lovelace\n")
    files = ["--train", data / "train.conll", "--lexicon", f"people={tmp_path / 'names.txt'}", "--iterations", 3]
    assert run("train", "tagger", *files, "--output", tmp_path / "m", "--quiet").code == 0
    assert "resources   people (lexicon)" in run("info", tmp_path / "m").out


def test_a_file_that_is_no_model(run: Run, data: Path) -> None:
    code, out, err = run("info", data / "train.conll")
    assert (code, out) == (2, "")
    assert "not a dovetail model" in err


def test_a_tagger_that_reads_parts_of_speech_says_so(run: Run, data: Path, tmp_path: Path) -> None:
    how = ("--columns", "word,pos,ner", "--features", "plain", "--no-predict-layers")
    model = trained(data, tmp_path / "m", "pos.conll", *how)
    assert json.loads(run("info", model, "--json").out)["needs"] == ["pos"]
    assert "needs       pos: it can annotate files with this, not plain text" in run("info", model).out
