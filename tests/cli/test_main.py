"""The command as a whole: help, version, and how failures are told."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dovetail
from dovetail.cli import annotate as annotate_command
from tests.cli.conftest import Run

COMMAND = [sys.executable, "-m", "dovetail"]


def test_version(run: Run) -> None:
    assert run("--version") == (0, f"{dovetail.__version__}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        ["-h"],
        ["train"],
        *([c, "--help"] for c in ("annotate", "evaluate", "explain", "info", "demo")),
    ],
)
def test_help(run: Run, arguments: list[str]) -> None:
    code, out, err = run(*arguments)
    assert code == 0
    assert out.startswith("Usage: dovetail")
    assert err == ""


def test_a_wrong_command_is_one_line(run: Run) -> None:
    code, out, err = run("evalute")
    assert (code, out) == (2, "")
    assert err.startswith("dovetail: error: No such command 'evalute'")
    assert err.count("\n") == 1


def test_a_wrong_option_names_the_help(run: Run) -> None:
    code, _, err = run("annotate", "--nosuch")
    assert code == 2
    assert "see dovetail annotate --help" in err


def test_a_missing_option_is_named(run: Run) -> None:
    code, _, err = run("train", "tagger", "--train", "x.conll")
    assert code == 2
    assert "--output" in err


def test_unexpected_errors_are_one_line_and_exit_with_1(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr(annotate_command, "Input", fail)
    code, _, err = run("annotate", "some text")
    assert code == 1
    assert err == "dovetail: error: unexpected RuntimeError: first line (run it again with --debug to see where)\n"


def test_debug_shows_the_traceback_wherever_it_stands(run: Run) -> None:
    for arguments in (["--debug", "annotate", "nosuch.txt"], ["annotate", "nosuch.txt", "--debug"]):
        code, _, err = run(*arguments)
        assert code == 2
        assert "Traceback" in err
        assert "dovetail: error: nosuch.txt: no such file" in err


def test_debug_by_the_environment(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOVETAIL_DEBUG", "1")
    assert "Traceback" in run("annotate", "nosuch.txt").err
    monkeypatch.setenv("DOVETAIL_DEBUG", "0")
    assert "Traceback" not in run("annotate", "nosuch.txt").err


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError(), "not enough memory"),
        (PermissionError(13, "Permission denied", "there.conll"), "there.conll: Permission denied"),
        (OSError(28, "No space left on device"), "No space left on device"),
    ],
)
def test_errors_of_the_machine(run: Run, monkeypatch: pytest.MonkeyPatch, error: Exception, message: str) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(annotate_command, "Input", fail)
    code, _, err = run("annotate", "some text")
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_interrupt_exits_with_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(annotate_command, "Input", interrupt)
    assert run("annotate", "some text") == (130, "", "dovetail: interrupted\n")


def test_head_ends_the_command_in_silence(model: Path, tmp_path: Path) -> None:
    text = tmp_path / "long.txt"
    text.write_text("Ada Lovelace visited London .\n\n" * 20_000)
    pipe = subprocess.Popen(
        [*COMMAND, "annotate", "--model", model, text], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert pipe.stdout is not None
    assert pipe.stderr is not None
    assert pipe.stdout.readline().startswith(b'{"words":["Ada"')
    pipe.stdout.close()
    assert pipe.wait() == 0
    assert pipe.stderr.read() == b""
    pipe.stderr.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_the_standard_output(model: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, "annotate", "--model", model, "in London"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_import_and_help_load_nothing_heavy() -> None:
    code = (
        "import sys, dovetail, dovetail.cli.app\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'scipy', 'numba', 'rich')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_ascii_terminals_get_question_marks_not_errors(model: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*COMMAND, "annotate", "--model", model, "Zoë saw Müller", "--output-format", "pretty"],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert "Zo? " in done.stdout
