"""More of what new users tried: each gets one clear line, or works."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numba.core.caching
import numpy as np
import pytest

from dovetail import kernel
from tests.cli.conftest import Run


def test_without_a_folder_for_compiled_code_everything_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.core.caching.CompileResultCacheImpl, "_locator_classes", [])
    kernel._warn_of_no_cache.cache_clear()
    with pytest.warns(RuntimeWarning, match="set NUMBA_CACHE_DIR"):
        double = kernel.kernel(lambda x: 2.0 * x)
    assert double(np.float64(2.0)) == 4.0


def test_an_option_given_twice_is_refused_unless_it_may_be_repeated(run: Run, data: Path, tmp_path: Path) -> None:
    twice = ["--train", data / "train.conll", "--train", data / "dev.conll", "--output", tmp_path / "m"]
    code, _, err = run("train", "tagger", *twice)
    assert code == 2
    assert "--train" in err
    assert "more than once" in err
    domains = [f"--domain={name}={data / 'train.conll'}" for name in ("web", "news")]
    assert run("train", "tagger", *domains, "--iterations", 2, "--output", tmp_path / "m").code == 0


def test_a_list_without_a_name_is_not_taken_for_a_folder(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "names.txt").write_text("Ada\n")
    code, _, err = run("train", "tagger", "--train", data / "train.conll", "--lexicon", "names.txt", "--output", "m")
    assert code == 2
    assert "NAME=FILE" in err


def test_output_beside_the_texts_of_a_folder_is_no_input(run: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ada visited London .\n")
    output = tmp_path / "out.jsonl"
    for _ in range(2):
        assert run("annotate", "--model", model, tmp_path, "--output", output).code == 0
    assert output.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04\x14\x00", "this is a zip file"),
        (b"%PDF-1.4\n", "this is a PDF"),
        (b"Ada\x00slept", "this is a binary file"),
        (b"caf\xe9 noir", "--encoding"),
    ],
)
def test_files_that_are_no_text(run: Run, tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "odd.txt"
    file.write_bytes(content)
    code, _, err = run("annotate", file)
    assert (code, message in err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["annotate", "read notes.txt"], "must not end like a file name"),
        (["annotate", "I", "read", "a", "book"], "put a text in quotes"),
        (["annotate", "-5 degrees in London"], "write -- before"),
        (["evaluate", "x.conll", "--json", "--conlleval"], "choose one"),
    ],
)
def test_advice_fits_what_was_done(run: Run, arguments: list[str], message: str) -> None:
    code, _, err = run(*arguments)
    assert (code, message in err) == (2, True), err


def test_running_text_is_no_annotated_corpus(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("Ada met Bob in London.\n")
    for command in (["evaluate"], ["train", "tagger", "--output", tmp_path / "m", "--train"]):
        code, _, err = run(*command, tmp_path / "s.txt")
        assert (code, "looks like running text" in err) == (2, True), err


def test_labels_without_prefixes_and_headings_are_doubted(run: Run, tmp_path: Path) -> None:
    train = ["train", "tagger", "--min-count", 1, "--iterations", 2, "--output", tmp_path / "m", "--train"]
    (tmp_path / "plain.conll").write_text("Ada\tPER\nslept\tO\n")
    assert "write B-PER" in run(*train, tmp_path / "plain.conll").err
    (tmp_path / "heading.tsv").write_text("word\ttag\n\nAda\tB-PER\nslept\tO\n")
    assert "heading of the columns" in run(*train, tmp_path / "heading.tsv").err


def test_names_of_layers_and_attributes_are_checked(run: Run, data: Path, tmp_path: Path) -> None:
    train = ["train", "tagger", "--train", data / "train.conll", "--iterations", 2, "--output", tmp_path / "m"]
    assert "no sentence has a layer of this name" in run(*train, "--ignore", "nonsense").err
    (tmp_path / "typo.toml").write_text('templates = ["wrd[0]"]\n')
    code, _, err = run(*train, "--features", tmp_path / "typo.toml")
    assert (code, "did you mean word?" in err) == (2, True), err


def test_closed_output(model: Path) -> None:
    line = f"{sys.executable} -m dovetail annotate --model {model} 'Ada slept here' >&-"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert "unexpected" not in done.stderr


def test_predictions_of_another_length_name_their_file(run: Run, data: Path) -> None:
    code, _, err = run("evaluate", "--gold", data / "dev.conll", "--predicted", data / "train.conll")
    assert code == 2
    assert "train.conll: 60 sentences, but the gold file has 20" in err


def test_tasks_without_an_annotation_are_annotated(run: Run, model: Path, tmp_path: Path) -> None:
    tasks = [{"data": {"text": "Ada left London ."}, "annotations": []}, {"text": "Ada slept .", "answer": "reject"}]
    for number, task in enumerate(tasks):
        (tmp_path / f"{number}.json").write_text(json.dumps([task]))
        code, out, err = run("annotate", "--model", model, tmp_path / f"{number}.json", "--output-format", "conll")
        assert (code, err) == (0, "")
        assert "Ada\tB-PER" in out


def test_a_text_written_as_brat_keeps_its_name(run: Run, model: Path, tmp_path: Path) -> None:
    for name in ("letter", "diary"):
        (tmp_path / f"{name}.txt").write_text(f"Ada left London . She wrote a {name} .\n")
        code, _, err = run("annotate", "--model", model, tmp_path / f"{name}.txt", "--output-format", "brat", "-o",
                           tmp_path / "out")  # fmt: skip
        assert (code, err) == (0, "")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "diary.ann",
        "diary.txt",
        "letter.ann",
        "letter.txt",
    ]
