"""``dovetail train segmenter``, and what annotate and evaluate do with its models."""

from __future__ import annotations

import gzip
import json
from itertools import product
from pathlib import Path

import pytest

import dovetail
from dovetail.text.conll import write_conll
from tests.cli.conftest import Run
from tests.models.corpus import made

NOUNS, VERBS = ["北京", "上海人", "人", "天坛"], ["爱", "看见"]
LINES = [f"{a} {v} {b}" for a, v, b in product(NOUNS, VERBS, NOUNS)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("words")
    (folder / "train.txt").write_text("\n".join(LINES), encoding="utf-8")
    with gzip.open(folder / "dev.txt.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(LINES[::5]) + "\n\n北京 看见 巴黎\n")
    (folder / "raw.txt").write_text("\n".join(line.replace(" ", "") for line in LINES), encoding="utf-8")
    (folder / "list.txt").write_text("巴黎\n北京\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    from dovetail.cli.main import main

    arguments = ["--train", folder / "train.txt", "--dev", folder / "dev.txt.gz", "--output", folder / "m"]
    extra = ["--unlabelled", folder / "raw.txt", "--lexicon", f"places={folder / 'list.txt'}", "--quiet"]
    assert main(["train", "segmenter", *map(str, [*arguments, *extra])]) == 0
    return folder / "m"


def test_train_prints_scores_of_words(run: Run, folder: Path, tmp_path: Path) -> None:
    result = run("train", "segmenter", "--train", folder / "train.txt", "--dev", folder / "dev.txt.gz",
                 "--output", tmp_path / "m", "--model", "semi-markov", "--threads", 1)  # fmt: skip
    assert result.code == 0
    assert "precision" in result.out
    assert "semi-markov" in result.out
    assert "not in the training data" in result.out
    assert "iteration" in result.err


def test_annotate_prints_words_separated_by_spaces(run: Run, model: Path, folder: Path, tmp_path: Path) -> None:
    assert run("annotate", "--model", model, folder / "raw.txt").out == "\n".join(LINES) + "\n"
    assert run("annotate", "--model", model, stdin="人爱北京\n\n天坛").out == "人 爱 北京\n\n天坛\n"
    assert run("annotate", "--model", model, folder / "raw.txt", "-o", tmp_path / "out.txt.gz").code == 0
    with gzip.open(tmp_path / "out.txt.gz", "rt", encoding="utf-8") as file:
        assert file.read().split("\n")[0] == LINES[0]


def test_annotate_as_json_has_probabilities(run: Run, model: Path) -> None:
    result = run("annotate", "--model", model, "--output-format", "jsonl", stdin="人爱北京\n")
    record = json.loads(result.out)
    assert record["words"] == ["人", "爱", "北京"]
    assert all(0.5 < p <= 1 for p in record["probabilities"])


@pytest.mark.parametrize("more", [("--output-format", "conll"), ("--input-format", "conll")])
def test_other_formats_are_refused(run: Run, model: Path, more: tuple[str, ...]) -> None:
    result = run("annotate", "--model", model, *more, stdin="人\n")
    assert result.code == 2
    assert "words" in result.err


def test_evaluate_scores_words(run: Run, model: Path, folder: Path) -> None:
    record = json.loads(run("evaluate", "--model", model, folder / "dev.txt.gz", "--json").out)
    assert record["f1"] > 80
    assert record["oov_rate"] > 0
    assert {"precision", "recall", "oov_recall", "iv_recall", "f1_interval"} <= record.keys()
    assert "F1" in run("evaluate", "--model", model, folder / "dev.txt.gz").out
    empty = folder / "empty.txt"
    empty.write_text("\n")
    assert run("evaluate", "--model", model, empty).code == 2


def test_entities_by_segments(run: Run, tmp_path: Path) -> None:
    write_conll(made(60, seed=1), tmp_path / "train.conll", columns=("word", "ner"))
    write_conll(made(20, seed=2), tmp_path / "dev.conll", columns=("word", "ner"))
    result = run("train", "segmenter", "--train", tmp_path / "train.conll", "--dev", tmp_path / "dev.conll",
                 "--output", tmp_path / "m", "--iterations", 20, "--min-count", 1, "--quiet")  # fmt: skip
    assert result.code == 0
    assert "semi-markov" in result.out
    assert "PER" in result.out
    assert dovetail.load(tmp_path / "m").family == "semi-markov"
    record = json.loads(run("evaluate", "--model", tmp_path / "m", tmp_path / "dev.conll", "--json").out)
    assert record["f1"] > 90
    assert "calibration" in record
    tagged = run("annotate", "--model", tmp_path / "m", tmp_path / "dev.conll").out
    assert "B-PER" in tagged
    more = ("--k-best", 2, "--marginals", "--output-format", "jsonl")
    told = json.loads(run("annotate", "--model", tmp_path / "m", *more, stdin="Ada").out)
    assert [one["tags"] for one in told["k_best"]] == [["B-PER"], ["O"]]
    assert told["marginals"][0]["label"] == "PER"


def test_patience_is_for_layers_whose_parts_are_scored(run: Run, tmp_path: Path) -> None:
    write_conll(made(60, seed=1), tmp_path / "train.conll", columns=("word", "ner"))
    given = ("--train", tmp_path / "train.conll", "--output", tmp_path / "m", "--iterations", 3)
    assert run("train", "segmenter", *given, "--patience", 2).code == 0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--patience", 3), "--dev"),
        (("--lexicon", "list.txt"), "NAME=FILE"),
        (("--features", "nothing"), "nothing"),
        (("--unlabelled", "nowhere.txt"), "nowhere.txt"),
        (("--unlabelled", "-"), "read twice"),
        (("--dev", "words.conll"), "words.conll"),
    ],
)
def test_mistakes_are_told(run: Run, folder: Path, tmp_path: Path, more: tuple[object, ...], message: str) -> None:
    result = run("train", "segmenter", "--train", folder / "train.txt", "--output", tmp_path / "m", *more)
    assert result.code == 2
    assert message in result.err
    assert not (tmp_path / "m").exists()


def test_a_list_cannot_hide_what_raw_text_gave(run: Run, folder: Path, tmp_path: Path) -> None:
    result = run("train", "segmenter", "--train", folder / "train.txt", "--output", tmp_path / "m",
                 "--unlabelled", folder / "raw.txt", "--lexicon", f"variety={folder / 'list.txt'}")  # fmt: skip
    assert result.code == 2
    assert "--lexicon variety" in result.err


def test_raw_text_has_the_encoding_of_the_training_text(run: Run, folder: Path, tmp_path: Path) -> None:
    for name in ("train.txt", "raw.txt"):
        (tmp_path / name).write_text((folder / name).read_text(encoding="utf-8"), encoding="gb18030")
    code = run("train", "segmenter", "--train", tmp_path / "train.txt", "--unlabelled", tmp_path / "raw.txt",
               "--encoding", "gb18030", "--output", tmp_path / "m", "--iterations", 2).code  # fmt: skip
    assert code == 0
    run("train", "segmenter", "--train", folder / "train.txt", "--unlabelled", folder / "raw.txt",
        "--output", tmp_path / "same", "--iterations", 2)  # fmt: skip
    assert (tmp_path / "m").read_bytes() == (tmp_path / "same").read_bytes()


@pytest.mark.parametrize("more", [("--k-best", 2), ("--marginals",), ("--documents",), ("--threshold", 0.9)])
def test_what_words_do_not_have_is_refused(run: Run, model: Path, more: tuple[object, ...]) -> None:
    assert run("annotate", "--model", model, "--output-format", "jsonl", *more, stdin="人\n").code == 2


def test_files_of_other_formats_are_refused(run: Run, model: Path, tmp_path: Path) -> None:
    file = tmp_path / "words.conll"
    file.write_text("Ada\tB-PER\n", encoding="utf-8")
    assert "conll" in run("evaluate", "--model", model, file).err
    assert run("annotate", "--model", model, "-o", tmp_path / "o.conll", stdin="人\n").code == 2
    assert not (tmp_path / "o.conll").exists()


def test_sentences_beyond_the_bound_are_told(run: Run, folder: Path, tmp_path: Path) -> None:
    result = run("train", "segmenter", "--train", folder / "train.txt", "--output", tmp_path / "m",
                 "--model", "semi-markov", "--longest", 2, "--iterations", 2)  # fmt: skip
    assert result.code == 0
    assert "left out" in result.err
