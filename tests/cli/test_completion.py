"""Shells complete commands, options and values."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def shell(run: Run, tmp_path: Path) -> Path:
    """The script for bash, and a ``dovetail`` on the path."""
    command = tmp_path / "dovetail"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m dovetail "$@"\n')
    command.chmod(0o755)
    script = tmp_path / "complete.bash"
    script.write_text(run("completion", "bash").out)
    return script


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("dovetail tra", {"train"}),
        ("dovetail tune segm", {"segmenter"}),
        ("dovetail train tagger --save", {"--save-clusters", "--save-config"}),
        ("dovetail train tagger --scheme io", {"iob2", "iobes"}),
    ],
)
def test_bash(shell: Path, line: str, found: set[str]) -> None:
    words = line.split(" ")
    asked = f"source {shell}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _dovetail_completion dovetail"
    environment = {**os.environ, "PATH": f"{shell.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", f'{asked}; printf "%s\\n" "${{COMPREPLY[@]}}"'], env=environment, capture_output=True, text=True
    )
    assert set(done.stdout.split()) == found, done.stderr


@pytest.mark.parametrize(("name", "word"), [("zsh", "compdef"), ("fish", "complete --command dovetail")])
def test_other_shells_have_scripts(run: Run, name: str, word: str) -> None:
    code, out, _ = run("completion", name)
    assert code == 0
    assert word in out
    assert "_DOVETAIL_COMPLETE" in out


def test_an_unknown_shell(run: Run) -> None:
    assert run("completion", "csh").code == 2
