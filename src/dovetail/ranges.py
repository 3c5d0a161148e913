"""Sharing a loop over lo..hi among threads, each with about the same amount of work."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="dovetail")


def run_ranges(function: Callable[[int, int], Any], work: int | NDArray[np.int64], threads: int) -> None:
    """Call ``function(lo, hi)`` on ranges that cover all items.

    ``work`` is the number of items, or the cumulative work before each item, [items + 1].
    """
    items = work if isinstance(work, int) else len(work) - 1
    if threads <= 1 or items < 2 * threads:
        function(0, items)
        return
    if isinstance(work, int):
        edges = np.linspace(0, items, threads + 1).astype(np.int64)
    else:
        edges = np.searchsorted(work, np.linspace(0, work[-1], threads + 1))
        edges[0], edges[-1] = 0, items
    for future in [_pool(threads).submit(function, int(a), int(b)) for a, b in zip(edges, edges[1:], strict=False)]:
        future.result()
