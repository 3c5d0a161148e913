"""No command overwrites what it reads."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

import dovetail
from dovetail.cli.app import app
from dovetail.cli.command import Command, Commands
from dovetail.cli.paths import Reads, Writes, roles
from tests.cli.conftest import Run

COMMAND = [sys.executable, "-m", "dovetail"]


def every_command(group: Any = None, path: str = "dovetail") -> Iterator[tuple[str, Any]]:
    for name, command in (group or typer.main.get_command(app)).commands.items():
        if hasattr(command, "commands"):
            yield from every_command(command, f"{path} {name}")
        else:
            yield f"{path} {name}", command


COMMANDS = dict(every_command())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_path_of_every_command_has_a_role(name: str) -> None:
    command = COMMANDS[name]
    assert isinstance(command, Command)
    found = roles(inspect.unwrap(command.callback))  # fails for a Path without a role
    for parameter in command.params:
        if re.search(r"FILE|FOLDER|PICTURE|PATHS|RAW|TOML|MODEL|DATA", parameter.metavar or ""):
            assert parameter.name in found, f"{name}: {parameter.name}"
        if set(parameter.opts) & {"-o", "--output", "--save-clusters", "--reliability"}:
            assert isinstance(found[parameter.name], Writes)


def test_a_command_that_forgets_a_role_cannot_run() -> None:
    forgetful = Commands()

    @forgetful.command()
    def copy(source: Annotated[Path, typer.Argument()]) -> None: ...

    with (
        pytest.raises(TypeError, match=r"copy\(source\)"),
        typer.main.get_command(forgetful).make_context("copy", ["a"]) as context,
    ):
        context.command.invoke(context)


@pytest.fixture
def files(data: Path, model: Path, tmp_path: Path) -> Path:
    """A folder with copies of the data and of the model, another name for each, and a brat document."""
    for source, name in ((data / "train.conll", "a.conll"), (data / "dev.conll", "b.conll"), (model, "m.dovetail")):
        (tmp_path / name).write_bytes(source.read_bytes())
    (tmp_path / "link.conll").symlink_to("a.conll")
    os.link(tmp_path / "a.conll", tmp_path / "hard.conll")
    (tmp_path / "features.toml").write_bytes((data / "features.toml").read_bytes())
    (tmp_path / "names.txt").write_text("Ada\n")
    (tmp_path / "c.paths").write_text("01\tAda\t3\n")
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "d.txt").write_text("Ada slept.")
    (tmp_path / "gold" / "d.ann").write_text("T1\tPER 0 3\tAda\n")
    return tmp_path


TRAIN = "train tagger --train a.conll"


@pytest.mark.parametrize(
    ("command", "clash"),
    [
        (f"{TRAIN} --output a.conll", "--train"),
        (f"{TRAIN} --output link.conll", "--train"),
        (f"{TRAIN} --output hard.conll", "--train"),
        (f"{TRAIN} --dev b.conll --output b.conll", "--dev"),
        (f"{TRAIN} --init m.dovetail --output m.dovetail", "--init"),
        (f"{TRAIN} --features features.toml --output features.toml", "--features"),
        (f"{TRAIN} --lexicon people=names.txt --output names.txt", "--lexicon"),
        (f"{TRAIN} --clusters c.paths --output c.paths", "--clusters"),
        (f"{TRAIN} --clusters . --output c.paths", "--clusters"),
        (f"{TRAIN} --association names.txt --output names.txt", "--association"),
        (f"{TRAIN} --unlabelled names.txt --output names.txt", "--unlabelled"),
        ("train tagger --domain x=a.conll --domain y=b.conll --output b.conll", "--domain"),
        ("train tagger --domain x=a.conll --dev-domain x=b.conll --output b.conll", "--dev-domain"),
        *(
            (f"train {kind} --train a.conll --output a.conll", "--train")
            for kind in ("segmenter", "nested", "dependency", "parser", "joint")
        ),
        ("train joint --train a.conll --trees-only b.conll --output b.conll", "--trees-only"),
        ("annotate --model m.dovetail a.conll -o a.conll", "FILE|TEXT"),
        ("annotate --model m.dovetail a.conll -o link.conll", "FILE|TEXT"),
        ("annotate --model m.dovetail a.conll -o m.dovetail", "--model"),
        ("annotate --model m.dovetail gold -o gold", "FILE|TEXT"),
        ("annotate --model m.dovetail gold/d.ann -o gold", "FILE|TEXT"),
        ("annotate --model m.dovetail --input-format brat gold/d.txt -o gold", "FILE|TEXT"),
        ("annotate --model m.dovetail gold/d.ann -o gold/d.txt", "FILE|TEXT"),
        ("evaluate --model m.dovetail a.conll --reliability a.conll", "DATA"),
        ("evaluate --gold a.conll --predicted b.conll --reliability b.conll", "--predicted"),
        ("evaluate --gold a.conll --predicted a.conll --compare b.conll --reliability b.conll", "--compare"),
        ("select --model m.dovetail a.conll -o a.conll", "UNLABELLED"),
        ("select --model m.dovetail a.conll --labelled b.conll -o b.conll", "--labelled"),
        ("cluster brown names.txt -o names.txt", "TEXT"),
        ("cluster exchange names.txt -o names.txt", "TEXT"),
        ("cluster assign c.paths names.txt -o c.paths", "CLUSTERS"),
        ("cluster tree c.paths -o c.paths", "CLUSTERS"),
    ],
)
def test_an_output_that_is_an_input_is_refused(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, command: str, clash: str
) -> None:
    monkeypatch.chdir(files)
    before = {path: path.read_bytes() for path in files.rglob("*") if path.is_file()}
    code, out, err = run(*command.split())
    assert (code, out) == (2, "")
    assert f" would overwrite what {clash} reads; choose another name" in err
    assert err.count("\n") == 1
    assert {path: path.read_bytes() for path in files.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "command",
    ["annotate a.conll -o m.dovetail --output-format conll", "select a.conll -o m.dovetail --output-format conll"],
)
def test_the_model_that_comes_with_dovetail_is_kept(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(files)
    monkeypatch.setattr(dovetail, "embedded", lambda name: files / "m.dovetail")
    before = (files / "m.dovetail").read_bytes()
    code, out, err = run(*command.split())
    assert (code, out) == (2, "")
    assert " would overwrite what --model reads; choose another name" in err
    assert (files / "m.dovetail").read_bytes() == before


@pytest.mark.parametrize("command", ["curve", "simulate"])
def test_a_folder_of_results_may_hold_the_data_but_not_as_a_result(
    run: Run, files: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.chdir(files)
    (files / "curve.csv").write_bytes((files / "a.conll").read_bytes())
    arguments = [command, "--dev", "b.conll", "--output", ".", "--quiet"]
    code, _, err = run(*arguments, "--train", "curve.csv")
    assert code == 2
    assert "curve.csv: --output would overwrite what --train reads" in err
    # the same folder is fine as long as no name is taken: what fails here comes later, and is something else
    code, _, err = run(*arguments, "--train", "a.conll", "--columns", "a,b")
    assert code == 2
    assert "overwrite" not in err


def test_two_outputs_are_two_files(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    code, _, err = run(*f"{TRAIN} --unlabelled names.txt --save-clusters new --output new".split())
    assert code == 2
    assert "--save-clusters and --output are the same file" in err or "--output and --save-clusters are the" in err


def test_an_output_that_is_no_input_may_be_overwritten(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    (files / "out.conll").write_text("old")
    assert run("annotate", "--model", "m.dovetail", "a.conll", "-o", "out.conll").code == 0
    assert (files / "out.conll").read_text() != "old"
    assert run("annotate", "--model", "m.dovetail", "gold/d.txt", "-o", "gold/d.ann").code == 0


def test_input_through_a_pipe_is_guarded_too(files: Path) -> None:
    before = (files / "a.conll").read_bytes()
    arguments = [*COMMAND, "annotate", "--model", "m.dovetail", "--input-format", "conll"]
    with (files / "a.conll").open() as stdin:
        done = subprocess.run(
            [*arguments, "-o", "a.conll"], stdin=stdin, capture_output=True, text=True, cwd=files, check=False
        )
    assert done.returncode == 2
    assert "a.conll: --output would overwrite what FILE|TEXT reads" in done.stderr
    with (files / "a.conll").open("a") as stdout:
        done = subprocess.run(
            [*arguments, "a.conll"], stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=files, check=False
        )
    assert done.returncode == 2
    assert "the standard output is the file of FILE|TEXT" in done.stderr
    assert (files / "a.conll").read_bytes() == before


def test_devices_lose_nothing(run: Run, files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(files)
    assert run("annotate", "--model", "m.dovetail", "/dev/null", "-o", "/dev/null").code == 0


def test_roles_of_names_and_folders() -> None:
    found = roles(inspect.unwrap(COMMANDS["dovetail train tagger"].callback))
    assert found["domain"] == Reads(named=True)
    assert found["features"] == Reads(folders=False)


def test_files_that_a_feature_set_names_are_kept(run: Run, data: Path, tmp_path: Path) -> None:
    (tmp_path / "names.paths").write_text("01\tAda\t3\n")
    features = tmp_path / "own.toml"
    features.write_text('templates = ["cluster(names, 2)[0]"]\n[clusters]\nnames = "names.paths"\n')
    output = tmp_path / "names.paths"
    code, _, err = run("train", "tagger", "--train", data / "train.conll", "--features", features, "--output", output)
    assert code == 2
    assert "--output would overwrite what --features reads" in err
    assert output.read_text() == "01\tAda\t3\n"
