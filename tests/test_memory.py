"""Memory is given back where that is safe."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from dovetail.memory import release_memory


def resident_bytes() -> int:
    """Return the memory of this process that is resident, as the system counts it."""
    return os.sysconf("SC_PAGE_SIZE") * int(Path("/proc/self/statm").read_text().split()[1])


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="needs malloc_trim, of glibc"
)
def test_holes_in_the_heap_are_given_back() -> None:
    size, count = 1 << 16, 1000  # too small for pages of their own, so that they lie in the heap
    arrays = [np.ones(size, np.uint8) for _ in range(count)]
    kept = arrays[::10]
    del arrays
    held = resident_bytes()
    release_memory()
    assert held - resident_bytes() > size * count // 2
    assert all(array.sum() == size for array in kept)


def test_releasing_twice_does_no_harm() -> None:
    release_memory()
    release_memory()
    assert np.ones(3).sum() == 3
