"""What commands make of what they are given: files, folders, text, and files that hold nothing to learn from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run


def records(out: str) -> list[dict]:
    return [json.loads(line) for line in out.splitlines()]


def given(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


# Text or file


def test_a_sentence_that_ends_like_a_file_is_text(run: Run, model: Path) -> None:
    result = run("annotate", "--model", model, "I read notes.txt")
    assert result.code == 0
    assert [record["words"] for record in records(result.out)] == [["I", "read", "notes.txt"]]
    assert "I read notes.txt: taken as text, because there is no such file" in result.err


def test_a_plain_sentence_is_text_without_a_word(run: Run, model: Path) -> None:
    assert "taken as text" not in run("annotate", "--model", model, "Ada left.").err


@pytest.mark.parametrize(
    "name", ["notes.txt", "my notes.txt", "data/my old notes.txt", "./my own notes.conll.gz", "Ada"]
)
def test_what_looks_like_a_path_is_one(run: Run, model: Path, name: str) -> None:
    code, out, err = run("annotate", "--model", model, name)
    assert (code, out) == (2, "")
    assert f"{name}: no such file" in err


# Folders


def test_a_folder_of_texts_is_annotated_and_counted(run: Run, model: Path, tmp_path: Path) -> None:
    given(tmp_path, "a.txt", "Ada left.")
    given(tmp_path, "b.txt", "Alan left.")
    given(tmp_path, "b.ann", "")
    given(tmp_path, "table.csv", "1,2")
    result = run("annotate", "--model", model, tmp_path)
    assert [record["doc"] for record in records(result.out)] == ["a", "b"]
    assert f"{tmp_path}: reading 2 texts (.txt), 1 of them with an .ann file" in result.err


def test_a_folder_without_texts_is_refused(run: Run, model: Path, tmp_path: Path) -> None:
    given(tmp_path, "a.csv", "Ada,B-PER")
    code, out, err = run("annotate", "--model", model, tmp_path)
    assert (code, out) == (2, "")
    assert f"{tmp_path}: no .txt file in this folder" in err


def test_a_folder_without_annotations_cannot_be_trained_on(run: Run, tmp_path: Path) -> None:
    given(tmp_path, "a.txt", "Ada left.")
    code, _, err = run("train", "tagger", "--train", tmp_path, "--output", tmp_path / "m", "--quiet")
    assert code == 2
    assert f"{tmp_path}: no pair of files x.txt and x.ann in this folder" in err


# Line ends


def test_what_a_line_end_means(run: Run, model: Path) -> None:
    text = "Best wishes\nAda Lovelace. Alan\n"

    def sentences(*options: str) -> int:
        return len(records(run("annotate", "--model", model, *options, stdin=text).out))

    assert sentences() == sentences("--lines", "auto") == 3
    assert sentences("--lines", "paragraphs") == 2
    assert sentences("--lines", "sentences") == sentences("--sentence-per-line") == 2


def test_line_ends_of_json_documents(run: Run, model: Path, tmp_path: Path) -> None:
    path = given(tmp_path, "a.jsonl", json.dumps({"text": "Best wishes\nAda"}))
    assert len(records(run("annotate", "--model", model, path).out)) == 2
    assert len(records(run("annotate", "--model", model, "--lines", "paragraphs", path).out)) == 1


def test_line_options_that_contradict_each_other_or_the_format(run: Run, model: Path, data: Path) -> None:
    err = run("annotate", "--model", model, "--lines", "auto", "--sentence-per-line", stdin="Ada").err
    assert "--sentence-per-line means --lines sentences, and --lines auto was given" in err
    err = run("annotate", "--model", model, "--lines", "auto", data / "dev.conll").err
    assert "--lines is for running text, and conll has its sentences marked" in err


# Training data


def train(run: Run, kind: str, path: Path, *more: object) -> tuple[int, str, str]:
    return run("train", kind, "--train", path, "--output", path.parent / "m", "--quiet", *more)


@pytest.mark.parametrize(("kind", "name"), [
    ("tagger", "a.conll"), ("tagger", "a.jsonl"), ("nested", "a.jsonl"), ("parser", "a.mrg"), ("joint", "a.jsonl"),
    ("dependency", "a.conllu"), ("segmenter", "a.conll"),
])  # fmt: skip
def test_an_empty_file_is_named(run: Run, tmp_path: Path, kind: str, name: str) -> None:
    code, _, err = train(run, kind, given(tmp_path, name, "\n"))
    assert code == 2
    assert f"{name}: no sentences to learn from in this file, read as " in err
    assert "name its format with --input-format" in err


@pytest.mark.parametrize("kind", ["tagger", "parser", "dependency"])
def test_an_empty_file_of_a_domain_is_named(run: Run, tmp_path: Path, kind: str) -> None:
    files = [f"--domain=a={given(tmp_path, 'a.jsonl', '')}", f"--domain=b={given(tmp_path, 'b.jsonl', '')}"]
    code, _, err = run("train", kind, *files, "--output", tmp_path / "m", "--quiet")
    assert code == 2
    assert "a.jsonl: no sentences to learn from in this file, read as jsonl" in err


def test_an_empty_file_of_words_is_named(run: Run, tmp_path: Path) -> None:
    code, _, err = train(run, "segmenter", given(tmp_path, "a.txt", " \n"))
    assert code == 2
    assert "a.txt: no words to learn from in this file; give a sentence a line" in err


@pytest.mark.parametrize("kind", ["parser", "joint"])
def test_a_file_without_trees_is_named(run: Run, data: Path, tmp_path: Path, kind: str) -> None:
    code, _, err = run("train", kind, "--train", data / "train.conll", "--output", tmp_path / "m", "--quiet")
    assert code == 2
    assert "train.conll: no trees in this file, read as conll; give trees in brackets (.mrg)" in err


def test_a_missing_layer_is_named_with_those_that_are_there(run: Run, tmp_path: Path) -> None:
    path = given(tmp_path, "a.jsonl", json.dumps({"words": ["Ada"], "pos": ["NNP"]}))
    code, _, err = train(run, "tagger", path)
    assert code == 2
    assert "a.jsonl: no layer 'ner' to learn (read as jsonl, it has: word, pos); see --target" in err


def test_csv_with_quotes_is_recognised(run: Run, tmp_path: Path) -> None:
    path = given(tmp_path, "a.csv", 'Ada,B-PER\n"New York",B-LOC\n')
    code, _, err = train(run, "tagger", path, "--input-format", "conll")
    assert code == 2
    assert "a.csv:2: 2 columns, expected 1: word, separated by spaces; is this CSV?" in err
    code, _, err = train(run, "tagger", path)  # a table of texts
    assert code == 2
    assert "a.csv:1: no column 'text' in the first line ('Ada', 'B-PER'); name the columns there" in err


@pytest.mark.parametrize("option", ["--unlabelled", "--association"])
def test_empty_raw_text_is_named(run: Run, data: Path, tmp_path: Path, option: str) -> None:
    raw = given(tmp_path, "raw.txt", " \n")
    code, _, err = run(
        "train", "tagger", "--train", data / "train.conll", "--output", tmp_path / "m", option, raw, "-q"
    )
    assert code == 2
    assert f"{raw}: no " in err


def test_columns_in_the_wrong_order_are_doubted(run: Run, data: Path, tmp_path: Path) -> None:
    options = ("--output", tmp_path / "m", "--iterations", 2, "--features", data / "features.toml", "--quiet")
    swapped = run("train", "tagger", "--train", data / "train.conll", "--columns", "ner,word", *options).err
    assert "are the columns in the wrong order? See --columns" in swapped
    right = run("train", "tagger", "--train", data / "train.conll", "--columns", "word,ner", *options).err
    assert "wrong order" not in right
    plain = run("train", "tagger", "--train", data / "pos.conll", "--target", "pos", *options).err
    assert "wrong order" not in plain


def test_label_studio_can_be_trained_on(run: Run, data: Path, tmp_path: Path) -> None:
    value = {"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}
    tasks = [{"data": {"text": "Ada left."}, "annotations": [{"result": [{"value": value, "type": "labels"}]}]}] * 3
    path = given(tmp_path, "project.json", json.dumps(tasks, indent=1))
    code, out, _ = train(run, "tagger", path, "--iterations", 2, "--features", data / "features.toml")
    assert code == 0
    assert "trained on 3 sentences" in out
