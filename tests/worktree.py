"""Tests leave the checkout as they found it: pytest fails at the end if files appeared, changed or disappeared.

The hooks are imported by ``conftest.py``. Files that were changed before the tests began are no fault; what counts is
the difference. Caches may grow; everything else that git ignores counts as well. Where there is no checkout, as in an
unpacked source distribution, nothing is checked.

The session has a home folder of its own, in which libraries may keep lists of fonts, crash reports and tokens.
"""

from __future__ import annotations

import os
import site
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

CACHES = {
    "__pycache__", ".pytest_cache", ".hypothesis", ".ruff_cache", ".mypy_cache", ".import_linter_cache", ".coverage",
}  # fmt: skip
"""What tools keep for later runs: names of folders, and of a file."""

ENVIRONMENT = dict(os.environ)
"""The environment before the home folder is another one: git may read its settings there."""

State = dict[str, tuple[str, int | None]]
"""What git says of each file that differs from the last commit, and the time of its last change (None if deleted)."""

_before = pytest.StashKey[State | None]()
_left = pytest.StashKey[list[str]]()


def state(root: Path) -> State | None:
    """Return the files of a checkout that differ from the last commit or are ignored, None without a checkout."""
    if not (root / ".git").exists():
        return None
    what = ["--porcelain", "-z", "--no-renames", "--untracked-files=all", "--ignored=matching"]
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "status", *what], capture_output=True, check=True, env=ENVIRONMENT
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    entries = [(entry[:2], entry[3:]) for entry in done.stdout.decode("utf-8", "surrogateescape").split("\0") if entry]
    return {name: (code, _changed(root / name)) for code, name in entries if not CACHES & set(Path(name).parts)}


def _changed(path: Path) -> int | None:
    return path.lstat().st_mtime_ns if path.is_symlink() or path.exists() else None


def differences(before: State, after: State) -> list[str]:
    """Return the names of files whose state is another one.

    >>> differences({"a": ("??", 5), "b": (" M", 5)}, {"b": (" M", 6), "c": ("!!", None)})
    ['a', 'b', 'c']
    """
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def pytest_configure(config: pytest.Config) -> None:
    """Set a temporary home folder for the session, its workers and all processes that tests start."""
    if hasattr(config, "workerinput"):
        return
    home = TemporaryDirectory(prefix="dovetail-home-", ignore_cleanup_errors=True)
    config.add_cleanup(home.cleanup)
    os.environ.setdefault("PYTHONUSERBASE", site.getuserbase())  # packages may lie in the home folder
    os.environ["HOME"] = home.name
    for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
        os.environ.pop(name, None)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Remember the state of the checkout; workers of pytest-xdist leave that to their controller."""
    if not hasattr(session.config, "workerinput"):
        session.config.stash[_before] = state(session.config.rootpath)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Compare the checkout with its state at the beginning, and fail if it is another one."""
    before = session.config.stash.get(_before, None)
    after = state(session.config.rootpath) if before is not None else None
    if before is None or after is None:
        return
    session.config.stash[_left] = differences(before, after)
    if session.config.stash[_left] and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the files."""
    if names := terminalreporter.config.stash.get(_left, []):
        terminalreporter.section("files left behind", red=True)
        terminalreporter.line("The checkout changed while the tests ran. Tests write into tmp_path only.", red=True)
        for name in names:
            terminalreporter.line(name)
