"""Searching settings on the command line."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

import dovetail
from dovetail.cli.tune import lines_of
from dovetail.tuning.search import Verdict
from dovetail.tuning.standing import Standing
from tests.cli.conftest import Run


@pytest.fixture
def folder(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("train.conll", "features.toml"):
        (tmp_path / name).write_bytes((data / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


TUNE = "tune tagger --train train.conll --features features.toml --iterations 3 --candidates 2 -o best.toml".split()


def test_what_is_found_can_be_trained(run: Run, folder: Path) -> None:
    code, out, err = run(*TUNE)
    assert code == 0
    assert "the defaults" in out
    assert out.endswith("best.toml: dovetail train tagger --config best.toml --output FILE\n")
    assert " left" in err
    found = tomllib.loads(Path("best.toml").read_text())
    assert {"train", "features", "iterations"} <= found.keys() <= {"train", "features", "iterations", "l2", "min-count"}
    assert run("train", "tagger", "--config", "best.toml", "--output", "m.dovetail", "--quiet").code == 0
    model = dovetail.Tagger.load("m.dovetail")
    assert model.iterations == 3
    assert model.l2 == found.get("l2", 0.1)


def test_the_same_command_does_nothing_again_and_a_larger_one_what_is_new(run: Run, folder: Path) -> None:
    first = run(*TUNE).out
    log = Path("best.toml.trials")
    lines = log.read_text().splitlines()
    assert run(*TUNE).out == first
    assert log.read_text().splitlines() == lines
    assert "trials done already" in run(*TUNE, "--candidates", 3).err
    assert log.read_text().splitlines()[: len(lines)] == lines
    assert len(log.read_text().splitlines()) > len(lines)


def test_data_that_has_changed_is_tried_anew(run: Run, folder: Path) -> None:
    run(*TUNE)
    before = len(Path("best.toml.trials").read_text().splitlines())
    Path("features.toml").write_text('templates = ["word[0]", "shape[0]"]\n')
    run(*TUNE)
    assert len(Path("best.toml.trials").read_text().splitlines()) == 2 * before


def test_a_disk_that_is_full_is_one_line(run: Run, folder: Path) -> None:
    Path("best.toml.trials").symlink_to("/dev/full")
    code, _, err = run(*TUNE, "--quiet")
    assert code == 2
    assert "best.toml.trials: cannot be written: No space left on device; " in err
    assert "make room, then run the same command again" in err
    assert err.count("\n") == 1


def test_what_cannot_be_searched(run: Run, folder: Path) -> None:
    Path("few.conll").write_text("Ada\tB-PER\n\n" * 3)
    code, _, err = run("tune", "tagger", "--train", "few.conll", "-o", "best.toml", "--quiet")
    assert code == 2
    assert "3 sentences are too few to hold some out" in err
    assert run("tune", "tagger", "--train", "few.conll", "-o", "few.conll").code == 2
    assert not Path("best.toml").exists()


def test_a_kill_loses_nothing_but_the_trial_that_ran(run: Run, folder: Path) -> None:
    command = [sys.executable, "-m", "dovetail", *TUNE, "--candidates", "8"]
    log = Path("best.toml.trials")
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (log.exists() and log.read_text().count("\n") >= 2):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "saved in best.toml.trials; run the same command again to continue" in err
    kept = log.read_text()
    assert kept.count("\n") >= 2
    assert run(*TUNE).code == 0
    assert log.read_text().startswith(kept)


def test_defaults_that_stay_are_told() -> None:
    usual = Standing({}, {(1, 0): np.array([10.0, 10.0, 5.0])})
    assert lines_of(Verdict({}, None, {}, (usual,), (usual,)))[-1].startswith("the defaults stay: none of 1")
