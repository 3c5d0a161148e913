"""Every page of the documentation does what it says: its code runs, its commands print what it shows."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT
from tests.docs.run_page import copy_examples, problems_in_copy
from tests.extras import lack

LIBRARIES = ["numpy", "numba", "scipy.sparse", "scipy.special", "scipy.optimize", "safetensors.numpy", "typer", "rich"]
"""What nearly every page imports by way of dovetail: imported once, in the process that all pages fork from."""


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that all pages have."""
    folder = tmp_path_factory.mktemp("examples")
    copy_examples(folder)
    return folder


@pytest.fixture(scope="session")
def runner() -> Iterator[Executor]:
    """Each page has a process of its own, which has imported nothing of dovetail, as a reader's does."""
    context = get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as processes:
        yield processes


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_page(page: Path, examples: Path, runner: Executor) -> None:
    try:
        problems = runner.submit(problems_in_copy, page, examples).result()
    except Exception as error:
        if missing := lack(str(error)):
            pytest.skip(missing)
        raise
    if missing := lack("".join(problems)):
        pytest.skip(missing)
    assert not problems, "\n\n".join(problems)


def test_a_page_that_leans_on_earlier_imports_fails(tmp_path: Path, runner: Executor) -> None:
    page, examples = tmp_path / "page.md", tmp_path / "examples"
    examples.mkdir()
    first, second = "$ dovetail --version\n", "import sys\nprint('dovetail.cli.main' in sys.modules)\n"
    page.write_text(f"```console\n{first}```\n\n```python\n{second}```\n\n```text\nTrue\n```\n")
    assert "page.md:5" in "".join(runner.submit(problems_in_copy, page, examples).result())


def test_a_page_leaves_nothing_behind(tmp_path: Path, runner: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    page, examples, here = tmp_path / "page.md", tmp_path / "examples", tmp_path / "here"
    examples.mkdir()
    here.mkdir()
    reading, writing = "print(open('a.txt').read())", "open('b.txt', 'w').close()"
    page.write_text(f'```text title="a.txt"\nAda\n```\n\n```python\n{reading}\n{writing}\n```\n\n```text\nAda\n```\n')
    monkeypatch.chdir(here)
    assert not runner.submit(problems_in_copy, page, examples).result()
    assert not list(here.iterdir())
    assert not list(examples.iterdir())
