"""Peak memory of the process that asks, for benchmarks that measure each run in a process of its own."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_memory_mb() -> float:
    """Return the most memory that this process has had resident, in MB of 2**20 bytes, as the system counts it.

    Files mapped into memory and the code of libraries count. On Linux this is ``VmHWM``: ``ru_maxrss`` would be at
    least the peak of the process that started this one, which has read the corpus as well.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)
