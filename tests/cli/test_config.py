"""Options from a file, and as one."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import dovetail
from dovetail.cli.app import app
from dovetail.cli.train import KINDS
from tests.cli.conftest import Run
from tests.cli.test_paths import COMMANDS

assert app


@pytest.fixture
def folder(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("train.conll", "features.toml"):
        (tmp_path / name).write_bytes((data / name).read_bytes())
    (tmp_path / "names.txt").write_text("Ada\n")
    (tmp_path / "configs").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


USUAL = 'train = "../train.conll"\nfeatures = "../features.toml"\niterations = 4\ncross-validate = 0\n'


def test_options_come_from_a_file_and_the_command_line_wins(run: Run, folder: Path) -> None:
    config = folder / "configs" / "a.toml"
    config.write_text(USUAL + 'l2 = 2.5\nbalance = false\nignore = ["pos", "chunk"]\noutput = "../a.dovetail"\n')
    assert run("train", "tagger", "--config", config, "--l2", 0.5, "--quiet").code == 0
    model = dovetail.Tagger.load("a.dovetail")
    assert (model.l2, model.balance, model.iterations, tuple(model.ignore)) == (0.5, False, 4, ("pos", "chunk"))
    assert run("train", "tagger", f"--config={config}", "--balance", "--quiet").code == 0
    assert dovetail.Tagger.load("a.dovetail").balance
    assert dovetail.Tagger.load("a.dovetail").l2 == 2.5


def test_what_is_saved_trains_the_same_model(run: Run, folder: Path) -> None:
    options = "--iterations 4 --cross-validate 0 --lexicon people=names.txt --no-balance --loss softmax-margin"
    told = ["--features", "features.toml", *options.split(), "--save-config", "configs/b.toml", "--quiet"]
    assert run("train", "tagger", "--train", "train.conll", "--output", "a.dovetail", *told).code == 0
    saved = tomllib.loads((folder / "configs" / "b.toml").read_text())
    assert saved == {
        "train": "../train.conll", "features": "../features.toml", "lexicon": ["people=../names.txt"],
        "loss": "softmax-margin", "iterations": 4, "cross-validate": 0, "balance": False, "output": "../a.dovetail",
    }  # fmt: skip
    before = (folder / "a.dovetail").read_bytes()
    assert run("train", "tagger", "--config", "configs/b.toml", "--quiet").code == 0
    assert (folder / "a.dovetail").read_bytes() == before
    tables = (folder / "configs" / "b.toml").read_text().replace('["people=../names.txt"]', '{people = "../names.txt"}')
    (folder / "configs" / "c.toml").write_text(tables)
    assert run("train", "tagger", "--config", "configs/c.toml", "--output", "c.dovetail", "--quiet").code == 0
    assert (folder / "c.dovetail").read_bytes() == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("l3 = 1", "a.toml: there is no option 'l3'; did you mean 'l2'?"),
        ("minimum_count = 1", "a.toml: there is no option 'minimum_count'; did you mean 'min-count'?"),
        ("zzzz = 1", "a.toml: there is no option 'zzzz'; see dovetail train tagger --help"),
        ('config = "b.toml"', "a.toml: there is no option 'config'; did you mean"),
        ('balance = "no"', 'a.toml: balance = "no": expected true or false'),
        ("l2 = true", "a.toml: l2 = true: expected a number or a text in quotes"),
        ("l2 = [", "a.toml: not TOML:"),
        ('l2 = "x"', "Invalid value for '--l2': this must be a number"),
        ('train = "nosuch.conll"', "nosuch.conll: no such file"),
    ],
)
def test_mistakes_are_named(run: Run, folder: Path, text: str, message: str) -> None:
    Path("a.toml").write_text(text)
    code, _, err = run("train", "tagger", "--config", "a.toml", "--output", "m.dovetail")
    assert code == 2
    assert message in err
    assert len([line for line in err.splitlines() if "error" in line]) == 1


def test_a_config_that_is_not_there(run: Run, folder: Path) -> None:
    code, _, err = run("train", "parser", "--config", "nosuch.toml")
    assert (code, err) == (2, "dovetail: error: nosuch.toml: no such file\n")


def test_neither_overwrites_what_it_reads(run: Run, folder: Path) -> None:
    Path("a.toml").write_text('train = "train.conll"\noutput = "m.dovetail"\n')
    for more in (["--output", "a.toml"], ["--save-config", "a.toml"], ["--save-config", "train.conll"]):
        code, _, err = run("train", "tagger", "--config", "a.toml", *more)
        assert code == 2
        assert "would overwrite" in err


def test_every_kind_has_both() -> None:
    for training in KINDS:
        flags = {one for param in COMMANDS[f"dovetail train {training.kind}"].params for one in param.opts}
        assert {"--config", "--save-config"} <= flags
