"""Settings for all tests: machines are noisy and first calls compile, so no example has a deadline.

Pytest fails at the end if tests left files in the checkout, and the home folder is a temporary one
(``tests/worktree.py``).

A shell that starts tests in the background has them ignore Ctrl-C, and tests of interrupts would wait for ever: here
it is heard again.
"""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

from tests.worktree import pytest_configure, pytest_sessionfinish, pytest_sessionstart, pytest_terminal_summary

__all__ = ["pytest_configure", "pytest_sessionfinish", "pytest_sessionstart", "pytest_terminal_summary"]

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return the workers of ``-n auto``: one more than cores, as tests of browsers and servers mostly wait."""
    return (os.cpu_count() or 1) + 1
