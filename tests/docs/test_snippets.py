"""Every page of the documentation does what it says: its code runs, its commands print what it shows."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dovetail.cli.main import main
from tests.docs.pages import EXAMPLES, PAGES, ROOT, Block, Command, blocks, commands, difference

SHELL = ("cat", "head", "printf")  # harmless commands that pages show beside our own
TRAINING = """
    train tagger --train people-train.conll --dev people-dev.conll --features people.toml
    --l2 0.3 --min-count 1 --output people.dovetail --quiet
"""  # as docs/examples/README.md says


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that all pages have: those of docs/examples, and the model that is made of them."""
    folder = tmp_path_factory.mktemp("examples")
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    arguments = [str(folder / word) if word.startswith("people") else word for word in TRAINING.split()]
    assert main(arguments) == 0
    return folder


@pytest.mark.filterwarnings("ignore::dovetail.text.ReadWarning")
@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_page(page: Path, examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "page"
    shutil.copytree(examples, folder)
    monkeypatch.chdir(folder)
    namespace: dict[str, Any] = {"__name__": "snippet"}
    wrong = []
    for block in blocks(page):
        problems = _run(block, namespace, page)
        wrong += [f"{page.name}:{block.line}: {problem}" for problem in problems]
    assert not wrong, "\n\n".join(wrong)


def _run(block: Block, namespace: dict[str, Any], page: Path) -> list[str]:
    if block.title is not None:
        Path(block.title).write_text(block.body, encoding="utf-8")
    elif block.language == "python":
        return _run_python(block, namespace, page)
    elif block.language == "console":
        found = [_run_command(command) for command in commands(block)]
        return [problem for problem in found if problem is not None]
    return []


def _run_python(block: Block, namespace: dict[str, Any], page: Path) -> list[str]:
    code = compile("\n" * block.line + block.body, str(page), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    problem = difference(block.output, printed.getvalue()) if block.output is not None else None
    return [] if problem is None else [problem]


def _run_command(command: Command) -> str | None:
    """Run a command of ours in this process, or in a shell where it is in a pipe; others only if they are harmless."""
    name = command.line.split()[0]
    if name == "dovetail" and not set("|<>") & set(command.line):
        code, output, messages = _run_here(shlex.split(command.line)[1:])
    elif name in ("dovetail", *SHELL):
        code, output, messages = _run_in_shell(command.line)
    else:
        return None
    told = [line for line in command.output.splitlines() if line.startswith("dovetail: ")]
    expected = 2 if any(line.startswith("dovetail: error: ") for line in told) else 0
    if code != expected:
        return f"$ {command.line}\nexit code {code}, expected {expected}\n{output}{messages}"
    shown = "".join(line for line in command.output.splitlines(keepends=True) if line.rstrip("\n") not in told)
    problem = difference(shown, output) if shown.strip() else None
    if problem is None and told:
        problem = difference("\n".join(told), "\n".join(m for m in messages.splitlines() if m.startswith("dovetail: ")))
    return None if problem is None else f"$ {command.line}\n{problem}"


def _run_here(arguments: list[str]) -> tuple[int, str, str]:
    out, messages = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(messages):
        code = main(arguments)
    texts = []
    for stream in (out, messages):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8"))  # type: ignore[attr-defined]
    return code, texts[0], texts[1]


def _run_in_shell(line: str) -> tuple[int, str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", line], capture_output=True, text=True, encoding="utf-8", env={**os.environ, "PATH": path}
    )
    return done.returncode, done.stdout, done.stderr
