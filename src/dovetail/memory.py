"""Giving memory back to the system where Python keeps it: freed heap, and the idle code of the compiler."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

COMPILER = "libllvmlite"
MADV_DONTNEED = 4


def release_memory() -> None:
    """Return what is freed or idle to the system; does nothing where the system has no way to.

    Making features leaves holes in the heap, and loading kernels leaves 50 MB of the compiler's code in memory that
    training never runs. Dropped pages of code are read again from their file if they are needed after all.
    """
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)
    try:
        with Path("/proc/self/smaps").open(encoding="utf-8", errors="replace") as lines:
            for start, end in untouched_code(lines, COMPILER):
                libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), MADV_DONTNEED)
    except OSError:
        return


def untouched_code(smaps: Iterable[str], library: str) -> Iterator[tuple[int, int]]:
    """Where the code of a library lies in memory just as in its file, from the lines of ``/proc/self/smaps``.

    >>> lines = ["7f00-7f10 r-xp 0 0:1 2 /lib/libllvmlite.so", "Rss: 64 kB", "Private_Dirty: 0 kB"]
    >>> [(hex(start), hex(end)) for start, end in untouched_code(lines, "libllvmlite")]
    [('0x7f00', '0x7f10')]
    """
    code = None
    for line in smaps:
        fields = line.split()
        if not fields[0].endswith(":"):
            code = fields[0] if len(fields) > 5 and library in fields[5] and fields[1] == "r-xp" else None
        elif code is not None and fields[0] == "Private_Dirty:" and fields[1] == "0":
            start, end = code.split("-")
            yield int(start, 16), int(end, 16)
