"""Every example in a docstring of the source, the tools and the tests runs, and prints what it shows."""

from __future__ import annotations

import doctest
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import pytest

from tests.docs.pages import ROOT
from tests.extras import NEEDS, lack

EXAMPLE = re.compile(r"^\s*>>> ", re.MULTILINE)
HOMES = {ROOT / "src": ROOT / "src", ROOT / "tests": ROOT, ROOT / "tools": ROOT / "tools"}
"""The folders with docstrings, each with the folder that the names of its modules begin at."""


def examples_in(path: Path) -> int:
    """Return the number of examples that the text of a file shows."""
    return len(EXAMPLE.findall(path.read_text(encoding="utf-8")))


def modules() -> dict[str, Path]:
    """Return the files that show examples, by the names of their modules."""
    return {
        ".".join(path.relative_to(start).with_suffix("").parts).removesuffix(".__init__"): path
        for folder, start in HOMES.items()
        for path in sorted(folder.rglob("*.py"))
        if examples_in(path)
    }


class Runner(doctest.DocTestRunner):
    """A runner that skips what needs a package that is not installed."""

    def report_unexpected_exception(
        self,
        out: Any,
        test: doctest.DocTest,
        example: doctest.Example,
        exc_info: tuple[type[BaseException], BaseException, TracebackType],
    ) -> None:
        """Report the exception, unless it only says that a package is not installed."""
        if missing := lack(str(exc_info[1])):
            pytest.skip(missing)
        super().report_unexpected_exception(out, test, example, exc_info)


def run_examples(module: ModuleType) -> doctest.TestResults:
    """Run all examples of a module; failures are printed."""
    runner = Runner(verbose=False)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, module.__name__):
        runner.run(test)
    return runner.summarize(verbose=False)


@pytest.mark.parametrize(("name", "path"), [pytest.param(*item, id=item[0]) for item in modules().items()])
def test_examples_run(name: str, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT / "tools")])
    try:
        module = import_module(name)
    except Exception as error:
        if missing := lack(str(error)):
            pytest.skip(missing)
        raise
    failed, tried = run_examples(module)
    assert failed == 0
    assert tried == examples_in(path), "an example stands where none is looked for"
    assert not list(tmp_path.iterdir()), "an example leaves files behind"


def test_an_example_that_is_wrong_fails() -> None:
    module = ModuleType("wrong", ">>> 1 + 1\n3\n>>> 1 + 2\n3\n")
    assert run_examples(module) == (1, 2)


def test_an_example_without_its_package_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NEEDS, "nosuch", "needs nosuch")
    imported, called = "from dovetail.extras import extra", "extra('nosuch', 'a test')"
    with pytest.raises(pytest.skip.Exception, match="needs nosuch"):
        run_examples(ModuleType("lacking", f">>> {imported}\n>>> {called}\n"))
