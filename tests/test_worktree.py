"""Tests that leave files in the checkout make pytest fail, and the message names the files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.extras import NEEDS

HERE = Path(__file__).parent
LITTER = {
    "left.txt": "pathlib.Path('left.txt').touch()",
    "build/": "pathlib.Path('build/folder').mkdir(parents=True)",  # which git ignores
    "changed.txt": "pathlib.Path('changed.txt').write_text('changed')",
    "deleted.txt": "pathlib.Path('deleted.txt').unlink()",
    "dirty.txt": "pathlib.Path('dirty.txt').write_text('changed again')",
}
"""What tests of the checkout do, by the file that the message must name."""
CACHES = "pathlib.Path('__pycache__').mkdir(); (pathlib.Path.home() / 'a.cache').touch()"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small checkout with uncommitted files, whose tests have this conftest.py."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    root = tmp_path / "checkout"
    (root / "tests").mkdir(parents=True)
    for name in ("__init__.py", "conftest.py", "worktree.py"):
        shutil.copy(HERE / name, root / "tests")
    bodies = [f"def test_litter_{i}():\n    {body}\n" for i, body in enumerate(LITTER.values())]
    tests = "\n".join(["import pathlib\n", *bodies, f"def test_caches():\n    {CACHES}\n"])
    (root / "tests" / "test_files.py").write_text(tests)
    (root / ".gitignore").write_text("build/\n__pycache__/\n")
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-q -p no:cacheprovider'\n")
    for name in ("changed.txt", "deleted.txt"):
        (root / name).write_text("as committed")
    identity = ["-c", "user.name=Tests", "-c", "user.email=tests@example.org"]
    for command in (["init", "--quiet"], ["add", "."], [*identity, "commit", "--quiet", "--message", "All"]):
        subprocess.run(["git", *command], cwd=root, check=True, capture_output=True)
    (root / "dirty.txt").write_text("was there before")
    return root


def run(root: Path, *arguments: str) -> tuple[int, list[str]]:
    """Run the tests of a checkout as a user does: the exit status, and the files that are named as left behind."""
    home = root.parent / "home"
    home.mkdir(exist_ok=True)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "GIT_"))}
    command = [sys.executable, "-m", "pytest", *arguments]
    done = subprocess.run(command, cwd=root, env={**inherited, "HOME": str(home)}, capture_output=True, text=True)
    assert "[100%]" in done.stdout, done.stdout + done.stderr
    assert "failed" not in done.stdout, done.stdout
    assert not list(home.iterdir())
    _, _, named = done.stdout.partition("Tests write into tmp_path only.")
    return done.returncode, sorted(line for line in named.splitlines() if line in LITTER)


def test_files_left_behind_fail_the_run(checkout: Path) -> None:
    assert run(checkout, "-k", "test_litter_0") == (pytest.ExitCode.TESTS_FAILED, ["left.txt"])
    assert run(checkout, "-k", "test_litter_0") == (pytest.ExitCode.TESTS_FAILED, ["left.txt"])  # written once more


def test_workers_leave_the_check_to_their_controller(checkout: Path) -> None:
    pytest.importorskip("xdist", reason=NEEDS["xdist"])
    assert run(checkout, "-n", "2") == (pytest.ExitCode.TESTS_FAILED, sorted(LITTER))


def test_caches_are_no_litter(checkout: Path) -> None:
    assert run(checkout, "-k", "test_caches") == (pytest.ExitCode.OK, [])


def test_without_a_checkout_nothing_is_checked(checkout: Path) -> None:
    shutil.rmtree(checkout / ".git")
    assert run(checkout, "-k", "test_litter") == (pytest.ExitCode.OK, [])
