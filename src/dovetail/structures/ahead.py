"""Compile the slowest kernels in a second process, while the first compiles the rest: a first run takes half as long.

The sums over chains take as long to compile as all else that a first training run needs. Numba compiles one function at
a time in a process, but processes share its cache on disk. A command that will train says so at once
(`compile_chains`); whoever needs these kernels waits until they are there (`wait`), and compiles them itself if they
are not.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds after which nobody waits for the other process any longer."""

waits: list[tuple[float, float]] = []
"""When somebody waited, from and until, by ``time.perf_counter``."""
_running: subprocess.Popen[bytes] | None = None


def compile_chains() -> None:
    """Begin to compile sums over chains in a process of its own, unless they are on disk or there is a single core."""
    global _running
    from dovetail.structures.chain.sums import forward_backward

    if _running is not None or (os.cpu_count() or 1) < 2 or _is_cached(forward_backward):
        return
    _running = subprocess.Popen(
        [sys.executable, "-m", "dovetail.structures.ahead"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    atexit.register(_running.kill)


def wait() -> None:
    """Wait for the other process, if there is one."""
    global _running
    if _running is not None:
        began = time.perf_counter()
        try:
            _running.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            _running.kill()
        _running = None
        waits.append((began, time.perf_counter()))


def _is_cached(kernel: Any) -> bool:
    """Whether a kernel was compiled on this machine before; its code may have changed since."""
    module = kernel.py_func.__module__.rpartition(".")[2]
    return any(Path(kernel.stats.cache_path).glob(f"{module}.{kernel.__name__}-*.nbi"))


def main() -> None:
    """Compile what training calls, by calling it on a chain of two tokens."""
    import numpy as np

    from dovetail.structures.chain import ChainBatch, ChainPotentials

    batch = ChainBatch(ChainPotentials.of(np.zeros((2, 2)), np.zeros((2, 2))), np.array([0, 2]), threads=1)
    batch.log_partition_and_marginals()
    batch.best()


if __name__ == "__main__":
    main()
