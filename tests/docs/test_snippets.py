"""Every page of the documentation does what it says: its code runs, its commands print what it shows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT
from tests.docs.run_page import copy_examples
from tests.extras import lack


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that all pages have."""
    folder = tmp_path_factory.mktemp("examples")
    copy_examples(folder)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_page(page: Path, examples: Path) -> None:
    done = _run_page(page, examples)
    if missing := lack(done.stdout + done.stderr):
        pytest.skip(missing)
    assert done.returncode == 0, done.stderr
    assert not done.stdout.strip(), done.stdout


def test_a_page_that_leans_on_earlier_imports_fails(tmp_path: Path) -> None:
    page, examples = tmp_path / "page.md", tmp_path / "examples"
    examples.mkdir()
    first, second = "$ dovetail --version\n", "import sys\nprint('numba' in sys.modules)\n"
    page.write_text(f"```console\n{first}```\n\n```python\n{second}```\n\n```text\nTrue\n```\n")
    assert "page.md:5" in _run_page(page, examples).stdout


def test_a_page_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, examples, here = tmp_path / "page.md", tmp_path / "examples", tmp_path / "here"
    examples.mkdir()
    here.mkdir()
    reading, writing = "print(open('a.txt').read())", "open('b.txt', 'w').close()"
    page.write_text(f'```text title="a.txt"\nAda\n```\n\n```python\n{reading}\n{writing}\n```\n\n```text\nAda\n```\n')
    monkeypatch.chdir(here)
    done = _run_page(page, examples)
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr
    assert not list(here.iterdir())
    assert not list(examples.iterdir())


def _run_page(page: Path, examples: Path) -> subprocess.CompletedProcess[str]:
    """Each page has a process of its own, which begins with nothing imported, as a reader's does."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "tests.docs.run_page", str(page), str(examples)]
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, encoding="utf-8")
