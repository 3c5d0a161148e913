"""Run the blocks of one page of the documentation in a temporary folder, and print what is wrong with them.

    python -m tests.docs.run_page docs/trees.md [FOLDER]

The temporary folder begins as a copy of FOLDER; without one, of docs/examples with the model that is trained there.
Python blocks run in this process, which imports nothing of dovetail by itself: a page whose code works only because
something else was imported before fails here as it would for a reader. Commands run in a second process, so that they
leave nothing behind for the Python blocks after them; it is a fork of the first, made before anything was imported.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.docs.pages import EXAMPLES, Block, Command, blocks, commands, difference

TRAINING = """
    train tagger --train people-train.conll --dev people-dev.conll --features people.toml
    --l2 0.3 --min-count 1 --output people.dovetail --quiet
"""  # as docs/examples/README.md says
SHELL = ("cat", "head", "printf")  # harmless commands that pages show beside our own


def copy_examples(folder: Path) -> None:
    """Put into a folder what all pages have: the files of docs/examples, and the model that is made of them."""
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True)
    subprocess.run([sys.executable, "-m", "dovetail", *TRAINING.split()], cwd=folder, check=True)


def problems_in_copy(page: Path, examples: Path | None = None) -> list[str]:
    """Return what is wrong with a page when it is run in a temporary copy of a folder."""
    with TemporaryDirectory() as folder:
        if examples is None:
            copy_examples(Path(folder))
        else:
            shutil.copytree(examples, folder, dirs_exist_ok=True)
        sys.path.insert(0, folder)  # files that a page shows can be imported
        with contextlib.chdir(folder):
            return problems(page)


def problems(page: Path) -> list[str]:
    """Return what is wrong with the blocks of a page in the current folder, each with its line."""
    namespace: dict[str, Any] = {"__name__": "snippet"}
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as commander:
        commander.submit(int).result()  # the fork is made at the first call
        found = []
        for block in blocks(page):
            found += [f"{page.name}:{block.line}: {problem}" for problem in _run(block, namespace, page, commander)]
    return found


def _run(block: Block, namespace: dict[str, Any], page: Path, commander: Executor) -> list[str]:
    if block.title is not None:
        Path(block.title).write_text(block.body, encoding="utf-8")
    elif block.language == "python":
        return _run_python(block, namespace, page)
    elif block.language == "console":
        found = [_run_command(command, commander) for command in commands(block)]
        return [problem for problem in found if problem is not None]
    return []


def _run_python(block: Block, namespace: dict[str, Any], page: Path) -> list[str]:
    code = compile("\n" * block.line + block.body, str(page), "exec")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, namespace)
    problem = difference(block.output, printed.getvalue()) if block.output is not None else None
    return [] if problem is None else [problem]


def _run_command(command: Command, commander: Executor) -> str | None:
    """Run a command of ours, in a shell where it is in a pipe; others only if they are harmless."""
    name = command.line.split()[0]
    if name == "dovetail" and not set("|<>") & set(command.line):
        code, output, messages = commander.submit(_run_main, shlex.split(command.line)[1:]).result()
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


def _run_main(arguments: list[str]) -> tuple[int, str, str]:
    from dovetail.cli.main import main

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


if __name__ == "__main__":
    print("\n\n".join(problems_in_copy(*(Path(argument).resolve() for argument in sys.argv[1:]))))
