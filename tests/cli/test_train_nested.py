"""``dovetail train nested``, and what annotate and evaluate do with its models."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from dovetail.text.jsonl import write_jsonl
from dovetail.text.sentence import Sentence, Span
from tests.cli.conftest import Run
from tests.models.test_nested import CORPUS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nested")
    write_jsonl(CORPUS[::2], folder / "train.jsonl")
    write_jsonl(CORPUS[1::2], folder / "dev.jsonl.gz")
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    from dovetail.cli.main import main

    files = ["--train", folder / "train.jsonl", "--dev", folder / "dev.jsonl.gz", "--output", folder / "m"]
    settings = ["--ignore", "pos", "--l2", 0.1, "--iterations", 5, "--threads", 1, "--quiet"]
    assert main(["train", "nested", *map(str, [*files, *settings])]) == 0
    return folder / "m"


def test_train_prints_scores_at_all_depths(run: Run, folder: Path, tmp_path: Path) -> None:
    result = run("train", "nested", "--train", folder / "train.jsonl", "--dev", folder / "dev.jsonl.gz", "--output",
                 tmp_path / "m", "--iterations", 2, "--threads", 1, "--max-length", 40)  # fmt: skip
    assert result.code == 0
    assert all(word in result.out for word in ("outermost", "inner", "LOC", "95% interval", "stopped"))
    assert "iteration" in result.err


def test_evaluate_gives_json_at_all_depths(run: Run, model: Path, folder: Path) -> None:
    result = run("evaluate", "--model", model, folder / "dev.jsonl.gz", "--json")
    record = json.loads(result.out)
    assert record["f1"] > 95
    assert record["f1_outermost"] > 95
    assert record["f1_inner"] > 95
    assert record["gold_inner"] == len(CORPUS[1::2])
    assert 0 <= record["expected_calibration_error"] < 0.2
    shown = run("evaluate", "--model", model, folder / "dev.jsonl.gz")
    assert "inner" in shown.out


def test_annotate_writes_nested_entities_with_probabilities(
    run: Run, model: Path, folder: Path, tmp_path: Path
) -> None:
    text = "University of Bern hired Ada of Basel"
    shown = run("annotate", "--model", model, text, "--output-format", "pretty", "--tokenised")
    assert shown.out.startswith("[University of [Bern LOC ")
    piped = json.loads(run("annotate", "--model", model, "--tokenised", stdin=text).out)
    assert [(e["start"], e["end"], e["label"]) for e in map(_entity, piped["entities"])] == [
        (0, 3, "ORG"), (2, 3, "LOC"), (4, 5, "PER"), (6, 7, "LOC"),
    ]  # fmt: skip
    assert all(0 < _entity(e)["probability"] <= 1 for e in piped["entities"])
    assert run("annotate", "--model", model, folder / "dev.jsonl.gz", "-o", tmp_path / "out.jsonl.gz").code == 0
    scored = run("evaluate", "--gold", folder / "dev.jsonl.gz", "--predicted", tmp_path / "out.jsonl.gz",
                 "--layer", "nested", "--json")  # fmt: skip
    assert json.loads(scored.out)["f1_inner"] > 95


def _entity(given: object) -> dict[str, object]:
    if isinstance(given, dict):
        return given
    assert isinstance(given, list)
    return dict(zip(("start", "end", "label", "probability"), given, strict=False))


def test_annotate_tells_of_alternatives(run: Run, model: Path) -> None:
    text = "University of Bern hired Ada of Basel"
    result = run("annotate", "--model", model, "--tokenised", "--k-best", 2, "--marginals", stdin=text)
    fields = json.loads(result.out)
    assert fields["k_best"][0]["entities"][:2] == [[0, 3, "ORG"], [2, 3, "LOC"]]
    assert fields["k_best"][0]["probability"] > fields["k_best"][1]["probability"]
    assert len(fields["marginals"]) >= 4
    sure = run("annotate", "--model", model, "--tokenised", "--threshold", 1.0, stdin=text)
    assert json.loads(sure.out).get("entities", []) == []


def test_what_cannot_be_learnt_is_told(run: Run, folder: Path, tmp_path: Path) -> None:
    crossing = Sentence(("a", "b", "c"), spans=(Span(0, 2, "ORG"), Span(1, 3, "ORG")))
    unseen = Sentence(("a", "b"), spans=(Span(0, 1, "NEW"),))
    write_jsonl([*CORPUS[:10], crossing, Sentence(("very",) * 50)], tmp_path / "train.jsonl")
    write_jsonl([unseen], tmp_path / "dev.jsonl")
    result = run("train", "nested", "--train", tmp_path / "train.jsonl", "--dev", tmp_path / "dev.jsonl", "--output",
                 tmp_path / "m", "--iterations", 1, "--max-length", 40, "--quiet", "--ignore", "pos")  # fmt: skip
    assert result.code == 0
    assert "1 training entity left out: crossing a longer entity" in result.err
    assert "1 training sentence left out" in result.err
    assert "labels in dev that are not in the training data" in result.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--train", "nowhere.jsonl", "--output", "m"], "nowhere.jsonl"),
        (["--train", "train.jsonl", "--output", "m", "--patience", "2", "--cross-validate", "0"], "needs --dev"),
        (["--train", "train.jsonl", "--output", "m", "--clusters", "none.paths"], "none.paths"),
        (["--train", "empty.jsonl", "--output", "m"], "empty.jsonl: no sentences to learn from"),
    ],
)
def test_errors_take_one_line(
    run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], told: str
) -> None:
    write_jsonl(CORPUS[:3], tmp_path / "train.jsonl")
    (tmp_path / "empty.jsonl").write_text("")
    monkeypatch.chdir(tmp_path)
    result = run("train", "nested", *arguments, "--quiet")
    assert result.code == 2
    assert told in result.err
    assert len(result.err.strip().splitlines()) == 1
    assert not (tmp_path / "m").exists()


def test_clusters_from_a_file_are_used(run: Run, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "c.paths").write_text("".join(f"01\t{p}\t5\n" for p in ("Bern", "Delft", "Basel")), encoding="utf-8")
    result = run("train", "nested", "--train", folder / "train.jsonl", "--output", tmp_path / "m", "--iterations", 1,
                 "--clusters", tmp_path / "c.paths", "--quiet", "--half")  # fmt: skip
    assert result.code == 0
    with gzip.open(folder / "dev.jsonl.gz", "rt", encoding="utf-8") as file:
        assert run("annotate", "--model", tmp_path / "m", "--input-format", "jsonl", stdin=file.read()).code == 0
