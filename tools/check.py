"""Check a change in two minutes: lint, types, import contracts, and the tests that the change can touch, nearest first.

    python tools/check.py              # the working tree against the last commit, or the last commit if nothing changed
    python tools/check.py --base main  # everything since main

A test can be touched by a change if its file imports a changed file, directly or by way of others; it runs the sooner,
the fewer steps there are between the two. When the time is over, the report says how many test files are left: then
`make test` runs them. A change to a page of the documentation runs that page's tests; one to what the whole
suite stands on (pyproject.toml, tests/conftest.py) is a case for `make test`, and the report says so.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from imports import ROOT, distances, files_by_module, module_of

DEFAULT_TEST_SECONDS = 75.0
"""Time for tests in ``make check``; lint and types take up to 40 s of its two minutes."""
MAX_STEPS = 4
"""Test files that are more imports away from a change than this are left to ``make test``."""
WHOLE_SUITE = {"pyproject.toml", "tests/conftest.py", "Makefile"}
BIN = Path(sys.executable).parent


def git(*arguments: str) -> list[str]:
    """Return the lines that a git command prints."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def changed_files(base: str | None) -> list[str]:
    """Return the files that differ from a commit, or those of the last commit where none differs."""
    if base is not None:
        base = git("merge-base", base, "HEAD")[0]
    untracked = git("ls-files", "--others", "--exclude-standard")
    changed = git("diff", "--name-only", base or "HEAD") + untracked
    return sorted(set(changed or git("diff", "--name-only", "HEAD~1")))


def touched_tests(changed: Sequence[str]) -> list[tuple[int, str]]:
    """Return the test files that a change can touch, each with its number of imports between, nearest first.

    Of the tests at one distance, those in the folder that mirrors the changed file come first.
    """
    modules = [module for file in changed if (module := module_of(ROOT / file)) is not None]
    rooms = {file.removeprefix("src/dovetail/").partition("/")[0] for file in changed}
    steps = distances(modules)
    tests = {}
    for module, file in files_by_module().items():
        if file.name.startswith("test_") and module in steps:
            tests[str(file.relative_to(ROOT))] = steps[module]
    if any(file.endswith(".md") for file in changed):
        tests |= {str(file.relative_to(ROOT)): 1 for file in (ROOT / "tests" / "docs").glob("test_*.py")}
    return sorted(((away, file) for file, away in tests.items()), key=lambda t: (t[0], t[1].split("/")[1] not in rooms))


class TimeLimit:
    """A pytest plugin that ends a run, also a distributed one, when its time is over, and remembers what has run."""

    def __init__(self, seconds: float) -> None:
        self.end = time.monotonic() + seconds
        self.files: set[str] = set()
        self.failed = False
        self._config: pytest.Config | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        """Keep the configuration, by which the distributor is found."""
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the outcome of a test, and ask the distributor to stop when the time is over."""
        self.files.add(report.nodeid.partition("::")[0])
        self.failed |= report.failed
        if time.monotonic() > self.end and self._config is not None:
            runner = self._config.pluginmanager.get_plugin("dsession")
            runner.shouldstop = "the time for tests is over"


def lint() -> dict[str, subprocess.Popen[str]]:
    """Start everything that is no test, and return the process of each command."""
    return {
        command: subprocess.Popen(
            [str(BIN / command.split()[0]), *command.split()[1:]],
            cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )
        for command in ("ruff check .", "ruff format --check .", "lint-imports", "mypy")
    }  # fmt: skip


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", help="the commit that the change began with; default: the last commit")
    parser.add_argument("--seconds", type=float, default=DEFAULT_TEST_SECONDS, help="time for tests")
    parser.add_argument("--list", action="store_true", help="print the test files with their distance, and run nothing")
    arguments = parser.parse_args()
    began, failed = time.monotonic(), []
    changed = changed_files(arguments.base)
    tests = touched_tests(changed)
    if arguments.list:
        print("\n".join(f"{away} {file}" for away, file in tests))
        return 0
    print(f"changed: {', '.join(changed)}")
    for name, process in lint().items():
        output, _ = process.communicate()
        if process.returncode:
            failed.append(name)
            print(output)
    print(f"lint and types: {time.monotonic() - began:.0f} s", flush=True)
    near = [file for away, file in tests if away <= MAX_STEPS]
    limit = TimeLimit(arguments.seconds)
    if (
        near
        and pytest.main(["-q", "-n", "2", "--dist", "loadfile", *near], plugins=[limit]) == pytest.ExitCode.USAGE_ERROR
    ):
        failed.append("the start of the tests")
    if limit.failed:
        failed.append("tests")
    left = len(tests) - len(limit.files)
    print(
        f"{time.monotonic() - began:.0f} s; {len(limit.files)} of {len(tests)} test files that the change can touch ran"
    )
    if left or WHOLE_SUITE & set(changed):
        print("before you hand the change in: make test")
    if failed:
        print(f"failed: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
