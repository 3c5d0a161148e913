"""Work spread over threads, with results that do not depend on how many there are."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from threading import current_thread
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Shard = TypeVar("Shard")
Result = TypeVar("Result")
UNEVEN = 0.25  # of a thread's share of the work
PREFIX = "dovetail-pool"


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix=PREFIX)


def _within_pool() -> bool:
    """Whether this is a thread of a pool: if it waited for others of the same pool, all might wait for each other."""
    return current_thread().name.startswith(PREFIX)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a fork has the pool's memory, but not its threads


def run_shards(
    function: Callable[[Shard], Result], shards: Sequence[Shard], threads: int | None = None
) -> list[Result]:
    """Apply a function to every shard, on so many threads (all processors unless said); results are in order.

    Threads run abreast only where the function lets go of the interpreter lock, as kernels do. Cut the work
    into shards without regard to the number of threads, and add the results up in order: then the same input
    gives the same bits for any number.

    >>> run_shards(lambda shard: sum(shard), [range(3), range(4)], threads=2)
    [3, 6]
    """
    threads = min(threads or os.cpu_count() or 1, len(shards))
    if threads <= 1 or _within_pool():
        return [function(shard) for shard in shards]
    return list(_pool(threads).map(function, shards))


def sentence_shards(offsets: NDArray[np.int64], most: int, tokens: int) -> list[tuple[int, int]]:
    """Ranges of sentences with about equal numbers of tokens: at most so many, of at least about so many tokens.

    They depend on the sentences alone. Sentence i is tokens offsets[i] to offsets[i + 1].

    >>> sentence_shards(np.array([0, 3, 5, 9, 10]), most=2, tokens=1)
    [(0, 2), (2, 4)]
    """
    whole = int(offsets[-1])
    cuts = np.linspace(0, whole, min(most, 1 + whole // tokens) + 1)[1:-1]
    edges = np.unique(np.concatenate([[0], np.searchsorted(offsets, cuts), [len(offsets) - 1]]))
    return list(pairwise(edges.tolist()))


def run_ranges(
    function: Callable[[int, int], Any], work: int | NDArray[np.integer] | list[tuple[int, int]], threads: int
) -> None:
    """Call ``function(lo, hi)`` on ranges that cover all items: given ones, or those that ``work`` is cut into.

    ``work`` is the number of items, or the cumulative work before each item, [items + 1].
    """
    ranges = work if isinstance(work, list) else ranges_of(work, threads)
    if len(ranges) == 1 or _within_pool():
        for low, high in ranges:
            function(low, high)
        return
    for future in [_pool(threads).submit(function, low, high) for low, high in ranges]:
        future.result()


def ranges_of(work: int | NDArray[np.integer], threads: int) -> list[tuple[int, int]]:
    """A range for each thread, with about as much work.

    >>> ranges_of(8, threads=1), ranges_of(np.array([0, 6, 7, 8, 9]), threads=2)
    ([(0, 8)], [(0, 1), (1, 4)])
    """
    items = work if isinstance(work, int) else len(work) - 1
    if threads <= 1 or items < 2 * threads:
        return [(0, items)]
    if isinstance(work, int):
        edges = np.linspace(0, items, threads + 1).astype(np.int64)
    else:
        edges = np.searchsorted(work, np.linspace(0, work[-1], threads + 1).astype(work.dtype))
        edges[0], edges[-1] = 0, items
    return list(pairwise(edges.tolist()))


def block_ranges(work: NDArray[np.integer], edges: NDArray[np.integer], threads: int) -> list[tuple[int, int]]:
    """As :func:`ranges_of`, but cut at one of ``edges`` where that leaves the threads about as busy.

    For work that comes in blocks, each of which costs something to whoever has any part of it.

    >>> block_ranges(np.arange(11), np.array([0, 4, 10]), threads=2)
    [(0, 4), (4, 10)]
    >>> block_ranges(np.arange(11), np.array([0, 1, 10]), threads=2)
    [(0, 5), (5, 10)]
    """
    ranges = ranges_of(work, threads)
    share = int(work[-1]) / threads
    cuts = [0]
    for _, cut in ranges[:-1]:
        near = int(edges[np.argmin(np.abs(work[edges] - work[cut]))])
        cuts.append(near if abs(int(work[near]) - int(work[cut])) <= UNEVEN * share and near > cuts[-1] else cut)
    return list(pairwise([*cuts, ranges[-1][1]]))
