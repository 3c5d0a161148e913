"""Every page of the documentation does what it says: its code runs, its commands print what it shows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dovetail.cli.main import main
from tests.docs.pages import EXAMPLES, PAGES, ROOT

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


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_page(page: Path, examples: Path, tmp_path: Path) -> None:
    folder = tmp_path / "page"
    shutil.copytree(examples, folder)
    done = _run_page(page, folder)
    assert done.returncode == 0, done.stderr
    assert not done.stdout.strip(), done.stdout


def test_a_page_that_leans_on_earlier_imports_fails(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    first, second = "$ dovetail --version\n", "import sys\nprint('numba' in sys.modules)\n"
    page.write_text(f"```console\n{first}```\n\n```python\n{second}```\n\n```text\nTrue\n```\n")
    assert "page.md:5" in _run_page(page, tmp_path).stdout


def _run_page(page: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Each page has a process of its own, which begins with nothing imported, as a reader's does."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "tests.docs.run_page", str(page)]
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
