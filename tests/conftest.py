"""Settings for all tests: machines are noisy and first calls compile, so no example has a deadline.

Pytest fails at the end if tests left files in the checkout, and the home folder is a temporary one
(``tests/worktree.py``).

A shell that starts tests in the background has them ignore Ctrl-C, and tests of interrupts would wait for ever: here
it is heard again.
"""

from __future__ import annotations

import os
import signal
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

from tests.worktree import pytest_configure, pytest_sessionfinish, pytest_sessionstart, pytest_terminal_summary

__all__ = ["pytest_configure", "pytest_sessionfinish", "pytest_sessionstart", "pytest_terminal_summary"]

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the workers of ``-n auto``: one more than cores, as tests of browsers and servers mostly wait."""
    return (os.cpu_count() or 1) + 1


def compile_once(session: str) -> None:
    """Let one worker compile a kernel while others that want the same wait, and then find it in numba's cache.

    The locks are files in the temporary home folder of the session, which is deleted at its end.
    """
    import fcntl  # not on Windows, where every worker compiles for itself

    folder, compile = Path.home() / f"kernels-{session}", Dispatcher.compile
    folder.mkdir(exist_ok=True)
    held: set[str] = set()

    def locked(self: Any, signature: Any) -> Any:
        known = f"{self.py_func.__module__}.{self.py_func.__qualname__}{signature}"
        with global_compiler_lock:  # first, or two threads could wait for each other
            if known in held:
                return compile(self, signature)
            with (folder / f"{zlib.crc32(known.encode()):08x}").open("w") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                held.add(known)
                try:
                    return compile(self, signature)
                finally:
                    held.remove(known)

    Dispatcher.compile = locked


with suppress(KeyError, ImportError):  # the name is set in the workers of pytest-xdist
    compile_once(os.environ["PYTEST_XDIST_TESTRUNUID"])
