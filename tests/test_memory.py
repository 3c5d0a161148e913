"""Memory is given back where that is safe."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from dovetail.features.compile.hashing import string_key
from dovetail.memory import COMPILER, release_memory, untouched_code

SMAPS = """\
7f0000000000-7f0000001000 r--p 00000000 08:01 1 /lib/libllvmlite.so
Private_Dirty:         0 kB
7f0000001000-7f0000003000 r-xp 00001000 08:01 1 /lib/libllvmlite.so
Rss:                   8 kB
Private_Dirty:         {dirty} kB
7f0000003000-7f0000004000 rw-p 00003000 08:01 1 /lib/libllvmlite.so
Private_Dirty:         4 kB
7f0000004000-7f0000005000 r-xp 00000000 08:01 2 /lib/libc.so
Private_Dirty:         0 kB
7f0000005000-7f0000006000 rw-p 00000000 00:00 0
Private_Dirty:         0 kB
"""


@pytest.mark.parametrize(("dirty", "found"), [(0, [(0x7F0000001000, 0x7F0000003000)]), (4, [])])
def test_only_code_that_equals_its_file_is_dropped(dirty: int, found: list[tuple[int, int]]) -> None:
    assert list(untouched_code(SMAPS.format(dirty=dirty).splitlines(), COMPILER)) == found


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep their memory")
def test_kernels_run_on_after_memory_was_released() -> None:
    before = string_key("word")
    held = resident()
    release_memory()
    assert resident() < held
    assert string_key("word") == before
    assert string_key("other") != before  # as is any number of calls later


def test_releasing_twice_does_no_harm() -> None:
    release_memory()
    release_memory()
    assert np.ones(3).sum() == 3
