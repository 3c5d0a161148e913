"""``dovetail train tagger``."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dovetail.cli import progress
from dovetail.cli.train.options import choices_of
from dovetail.learning.losses import LOSSES
from dovetail.models.base import OPTIMISERS
from dovetail.models.tagger.estimator import Tagger
from dovetail.models.tagger.settings import TaggerSettings
from dovetail.text.formats import read, write
from tests.cli.conftest import Run, trained


def train(run: Run, data: Path, output: Path, *more: object, file: str = "train.conll") -> tuple[int, str, str]:
    features = ("--features", data / "features.toml", "--iterations", 5)
    return run("train", "tagger", "--train", data / file, "--output", output, *features, *more)


def given(tmp_path: Path, text: str | bytes, name: str = "given.conll") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def nothing_left(folder: Path, *expected: str) -> bool:
    return sorted(path.name for path in folder.iterdir()) == sorted(expected)


def test_train_and_score(run: Run, data: Path, tmp_path: Path) -> None:
    code, out, err = train(run, data, tmp_path / "m", "--dev", data / "dev.conll")
    assert code == 0
    assert re.search(r"^micro +\d+\.\d\d", out, re.MULTILINE)
    assert "trained on 60 sentences" in out
    assert f"model: {tmp_path / 'm'} (" in out
    assert "iteration 5/5, objective" in err
    assert Tagger.load(tmp_path / "m").classes_ == ("O", "B-LOC", "I-LOC", "B-PER", "I-PER")
    assert nothing_left(tmp_path, "m")


def test_the_format_of_dev_changes_no_score(run: Run, data: Path, tmp_path: Path) -> None:
    dev = given(tmp_path, "Ada\tB-PER\nand\tO\nvisited\tB-ORG\n\n")  # one entity that no model would find
    write(read(dev), tmp_path / "dev.jsonl")
    tables = [
        train(run, data, tmp_path / "m", "--dev", path)[1].split("trained on")[0]
        for path in (dev, tmp_path / "dev.jsonl")
    ]
    assert tables[0] == tables[1]
    assert re.search(r"^ORG +0.00", tables[0], re.MULTILINE)


def test_without_dev_there_are_no_scores(run: Run, data: Path, tmp_path: Path) -> None:
    code, out, _ = train(run, data, tmp_path / "m")
    assert code == 0
    assert "micro" not in out
    assert "stopped: reached the maximum number of iterations" in out


def test_quiet_says_nothing_beside_the_results(run: Run, data: Path, tmp_path: Path) -> None:
    assert train(run, data, tmp_path / "m", "--quiet")[2] == ""


def test_the_same_bytes_for_any_number_of_threads(run: Run, data: Path, tmp_path: Path) -> None:
    for threads in (1, 2):
        train(run, data, tmp_path / f"m{threads}", "--threads", threads, "--seed", 3, "--optimiser", "sgd")
    one, two = (Tagger.load(tmp_path / f"m{threads}").model_ for threads in (1, 2))
    assert one is not None
    assert two is not None
    assert one.node.weight.tobytes() == two.node.weight.tobytes()


@pytest.mark.parametrize(
    "more",
    [
        ["--order", "0"],
        ["--order", "2"],
        ["--scheme", "iobes", "--half"],
        ["--l1", "0.1", "--l2", "0"],
        ["--loss", "softmax-margin"],
        ["--optimiser", "sgd", "--batch", "4", "--gain", "0.2"],
        ["--optimiser", "adagrad"],
        ["--optimiser", "perceptron"],
        ["--min-count", "2"],
        ["--hash-bits", "10"],
        ["--compact"],
    ],
)
def test_every_way_to_train(run: Run, data: Path, tmp_path: Path, more: list[str]) -> None:
    code, out, _ = train(run, data, tmp_path / "m", "--dev", data / "dev.conll", *more)
    assert code == 0
    f1 = re.search(r"^micro +\S+ +\S+ +(\S+)", out, re.MULTILINE)
    assert f1 is not None
    assert float(f1[1]) > 50


def test_named_features_and_missing_layers(run: Run, data: Path, tmp_path: Path) -> None:
    arguments = ("--train", data / "train.conll", "--output", tmp_path / "m", "--iterations", 2)
    code, _, err = run("train", "tagger", *arguments, "--features", "plain")
    assert code == 0
    assert "warning" not in err  # a named set does without layers that are not there
    assert "warning" not in run("train", "tagger", *arguments, "--features", "plain", "--ignore", "pos").err


def test_another_target_and_columns(run: Run, data: Path, tmp_path: Path) -> None:
    columns = ("--columns", "word,tag,ner", "--target", "tag")
    code, _, _ = train(run, data, tmp_path / "m", *columns, file="pos.conll")
    assert code == 0
    assert Tagger.load(tmp_path / "m").classes_ == (".", "NNP", "VBD")


def test_the_target_is_no_feature(run: Run, data: Path, tmp_path: Path) -> None:
    options = ("--features", "plain", "--iterations", 2, "--target", "pos", "--output", tmp_path / "m")
    assert run("train", "tagger", "--train", data / "pos.conll", *options).code == 0
    assert run("annotate", "--model", tmp_path / "m", "Ada left").code == 0


def test_init_starts_from_a_model(run: Run, data: Path, tmp_path: Path, model: Path) -> None:
    def objective(err: str) -> float:
        found = re.search(r"iteration 1/1, objective ([\d,.]+),", err)
        assert found is not None
        return float(found[1].replace(",", ""))

    cold = train(run, data, tmp_path / "cold", "--iterations", 1)
    warm = train(run, data, tmp_path / "warm", "--iterations", 1, "--init", model)
    assert objective(warm[2]) < objective(cold[2]) / 2


def test_resume_goes_on_from_the_checkpoint(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt_at_3(self: progress.Lines, passed: progress.Progress) -> None:
        if passed.iteration == 3:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patched:
        patched.setattr(progress.Lines, "trained", interrupt_at_3)
        code, out, err = train(run, data, tmp_path / "m", "--resume", "--iterations", 40)
    assert code == 0
    assert "stopped: interrupted; these are the best weights so far" in out
    assert f"run the same command again to continue from {tmp_path / 'm.checkpoint'}" in err
    assert nothing_left(tmp_path, "m", "m.checkpoint")
    first = []
    monkeypatch.setattr(progress.Lines, "trained", lambda self, passed: first.append(passed.iteration))
    code, out, _ = train(run, data, tmp_path / "m", "--resume", "--iterations", 40)
    assert code == 0
    assert first[0] > 3
    assert nothing_left(tmp_path, "m")


def test_a_checkpoint_of_another_run(run: Run, data: Path, tmp_path: Path) -> None:
    given(tmp_path, "nothing useful", "m.checkpoint")
    code, _, err = train(run, data, tmp_path / "m", "--resume")
    assert code == 2
    assert "delete it to start anew" in err


@pytest.mark.skipif(os.name == "nt", reason="needs signals")
def test_ctrl_c_saves_the_best_so_far(data: Path, tmp_path: Path) -> None:
    arguments = [
        "--train",
        data / "train.conll",
        "--output",
        tmp_path / "m",
        "--iterations",
        "1000000",
        "--l2",
        "0",
    ]
    work = subprocess.Popen(
        [sys.executable, "-m", "dovetail", "train", "tagger", *arguments, "--optimiser", "sgd"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert work.stderr is not None
    while not work.stderr.readline().startswith("iteration"):
        assert work.poll() is None
    time.sleep(0.1)
    work.send_signal(signal.SIGINT)
    out, _ = work.communicate(timeout=300)
    assert work.returncode == 0
    assert "stopped: interrupted" in out
    assert Tagger.load(tmp_path / "m").model_ is not None
    assert nothing_left(tmp_path, "m")


# Bad input


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "given.conll: no sentences to learn from in this file, read as conll"),
        ("\n\n \n", "given.conll: no sentences to learn from in this file, read as conll"),
        ("Ada B-PER\nleft O\n\nVienna\n", "given.conll:4: 1 column, expected 2"),
        (b"M\xfcller B-PER\n", "given.conll:1: not valid UTF-8"),
        ("Ada\nleft\n", "given.conll: one column, so no layer 'ner' to learn"),
        (
            "Ada,B-PER\nleft,O\n",
            "given.conll: one column, so no layer 'ner' to learn: labels come after tabs or spaces",
        ),
        ("Ada,B-PER\nleft,O\n", "seems to have ',' between its columns: replace it by a tab"),
        ("Ada B-PER\nleft O\nBern B\n", "given.conll:3: 'B' in the layer 'ner': 'B' has no type, but 'B-PER' has one"),
    ],
)
def test_bad_training_data(run: Run, data: Path, tmp_path: Path, text: str | bytes, message: str) -> None:
    path = given(tmp_path, text)
    code, out, err = run("train", "tagger", "--train", path, "--output", tmp_path / "m", "--quiet")
    assert (code, out) == (2, "")
    assert message in err
    assert err.splitlines()[-1].startswith("dovetail: error: ")
    assert nothing_left(tmp_path, "given.conll")


def test_encodings(run: Run, data: Path, tmp_path: Path) -> None:
    path = given(tmp_path, "Müller B-PER\nleft O\n".encode("latin-1"))
    options = ("--output", tmp_path / "m", "--features", data / "features.toml", "--min-count", "1", "--quiet")
    assert run("train", "tagger", "--train", path, *options, "--encoding", "latin-1").code == 0
    code, _, err = run("train", "tagger", "--train", path, *options, "--encoding", "klingon")
    assert code == 2
    assert "unknown encoding 'klingon'" in err


def test_illegal_tags_are_counted(run: Run, data: Path, tmp_path: Path) -> None:
    given(tmp_path, "Ada B-PER\nleft O\n\nAlan O\nTuring I-PER\n\n" * 2)
    code, _, err = run(
        "train", "tagger", "--train", tmp_path / "given.conll", "--output", tmp_path / "m", "--iterations", 2
    )
    assert code == 0
    assert "warning: 2 times: illegal iob2 tag sequence" in err
    assert "given.conll:5" in err


def test_slips_among_entity_tags(run: Run, data: Path, tmp_path: Path) -> None:
    path = given(tmp_path, "Ada B-PER\nleft O\nVienna BLOC\n\n")
    err = run("train", "tagger", "--train", path, "--output", tmp_path / "m", "--iterations", 2).err
    assert "correct these: BLOC" in err


def test_labels_only_in_dev(run: Run, data: Path, tmp_path: Path) -> None:
    dev = given(tmp_path, "Ada B-PER\nleft O\nAcme B-ORG\n\n")
    code, out, err = train(run, data, tmp_path / "m", "--dev", dev)
    assert code == 0
    assert "warning: labels in dev that are not in the training data, so they cannot be learnt: ORG" in err
    assert re.search(r"^ORG +0.00 +0.00 +0.00 +1 ", out, re.MULTILINE)


def test_one_label_only(run: Run, data: Path, tmp_path: Path) -> None:
    path = given(tmp_path, "It O\nrains O\n\n")
    code, _, err = run("train", "tagger", "--train", path, "--output", tmp_path / "m", "--iterations", 2)
    assert code == 0
    assert "every word of the training data has the label 'O'" in err
    assert Tagger.load(tmp_path / "m").predict([["Ada", "left"]]) == [["O", "O"]]


def test_an_empty_dev_is_told_and_not_used(run: Run, data: Path, tmp_path: Path) -> None:
    code, out, err = train(run, data, tmp_path / "m", "--dev", given(tmp_path, ""))
    assert code == 0
    assert "warning: the dev data has no sentences" in err
    assert "micro" not in out


def test_dev_without_a_layer_that_the_features_read(run: Run, data: Path, tmp_path: Path) -> None:
    arguments = ("--train", data / "pos.conll", "--dev", data / "dev.conll", "--output", tmp_path / "m")
    assert run("train", "tagger", *arguments, "--features", "plain", "--iterations", 2).code == 0
    (tmp_path / "m").unlink()
    code, _, err = run("train", "tagger", *arguments, "--features", "plain", "--no-predict-layers")
    assert code == 2
    assert "'pos', which sentence 1 lacks" in err
    assert nothing_left(tmp_path)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--features", "nosuch"], "no feature set 'nosuch'"),
        (["--features", "nosuch.toml"], "nosuch.toml: cannot be read"),
        (["--order", "3"], "--order"),
        (["--columns", "a,b"], "one of them must be word"),
        (["--columns", "word"], "2 columns, expected 1"),
        (["--target", "pos"], "no layer 'pos'"),
        (["--dev", "nosuch.conll"], "nosuch.conll: no such file"),
        (["--init", "nosuch.dovetail"], "nosuch.dovetail: cannot be read"),
        (["--loss", "perceptron"], "not smooth"),
        (["--batch", "4"], "--batch is for --optimiser"),
        (["--patience", "4", "--cross-validate", "0"], "needs --dev"),
        (["--cross-validate", "3", "--dev", "train.conll"], "--cross-validate is for training without dev data"),
        (["--cross-validate", "1"], "cross_validate=1: choose 0, or 2 or more"),
        (["--cross-validate", "99"], "there are 60 training sentences to hold out; choose fewer parts, or 0"),
        (["--half", "--compact"], "choose one"),
    ],
)
def test_wrong_options(run: Run, data: Path, tmp_path: Path, more: list[str], message: str) -> None:
    code, out, err = train(run, data, tmp_path / "m", *more)
    assert (code, out) == (2, "")
    assert message in err
    assert nothing_left(tmp_path)


def test_missing_training_file_and_folder(run: Run, data: Path, tmp_path: Path) -> None:
    assert "nosuch: no such file" in train(run, data, tmp_path / "m", file="nosuch")[2]
    empty = tmp_path / "empty"
    empty.mkdir()
    code, _, err = run("train", "tagger", "--train", empty, "--output", tmp_path / "m")
    assert code == 2
    assert f"{empty}: no pair of files x.txt and x.ann in this folder" in err


# Bad output


def test_output_into_a_missing_folder(run: Run, data: Path, tmp_path: Path) -> None:
    code, _, err = train(run, data, tmp_path / "nosuch" / "m")
    assert code == 2
    assert "the folder" in err
    assert "reading" not in err  # told before any work


def test_output_over_a_folder(run: Run, data: Path, tmp_path: Path) -> None:
    code, _, err = train(run, data, tmp_path)
    assert code == 2
    assert "this is a directory" in err


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_output_without_permission(run: Run, data: Path, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    code, _, err = train(run, data, tmp_path / "m")
    tmp_path.chmod(0o700)
    assert code == 2
    assert "permission denied" in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk(run: Run, data: Path) -> None:
    code, out, err = train(run, data, Path("/dev/full"))
    assert (code, out) == (2, "")
    assert "No space left on device" in err


# The options are those of Tagger


def test_choices_are_those_of_the_tagger() -> None:
    assert tuple(choices_of(TaggerSettings, "loss")) == tuple(LOSSES)
    assert tuple(choices_of(TaggerSettings, "optimiser")) == tuple(OPTIMISERS)


def test_defaults_in_the_help_are_those_of_the_tagger(run: Run) -> None:
    text = " ".join(run("train", "tagger", "--help").out.split())
    for name in (
        "target",
        "features",
        "order",
        "scheme",
        "loss",
        "optimiser",
        "l2",
        "patience",
        "min_count",
        "seed",
    ):
        shown = re.search(rf"--{name.replace('_', '-')} .*?\[default: (.*?)[;\]]", text)
        assert shown is not None
        assert shown[1] == str(getattr(Tagger(), name))


def test_the_checkpoint_is_beside_the_output(data: Path, tmp_path: Path) -> None:
    trained(data, tmp_path / "m.v1", "train.conll", "--resume")
    assert nothing_left(tmp_path, "m.v1")
