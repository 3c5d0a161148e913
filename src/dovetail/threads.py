"""Work spread over threads, with results that do not depend on how many there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

Shard = TypeVar("Shard")
Result = TypeVar("Result")


@lru_cache(maxsize=None)
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="dovetail")


def run_shards(
    function: Callable[[Shard], Result], shards: Sequence[Shard], threads: int | None = None
) -> list[Result]:
    """Apply a function to every shard, on so many threads (all processors unless said), and give results in order.

    The threads run abreast only where the function lets go of the interpreter lock, as kernels do. Cut the work into
    shards without regard to the number of threads, and add the results up in order: then the same input gives the
    same bits on any machine.

    >>> run_shards(lambda shard: sum(shard), [range(3), range(4)], threads=2)
    [3, 6]
    """
    threads = min(threads or os.cpu_count() or 1, len(shards))
    if threads <= 1:
        return [function(shard) for shard in shards]
    return list(_pool(threads).map(function, shards))
