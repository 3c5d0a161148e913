"""Return of freed heap to the operating system, which the allocator of C otherwise keeps for later."""

from __future__ import annotations

import ctypes
import sys


def release_memory() -> None:
    """Return freed heap to the operating system; do nothing where the allocator has no function for it.

    Compiling features and loading kernels leaves holes in the heap that training would not fill.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)
