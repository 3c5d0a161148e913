"""Work on several processes, each of which gets the data once; Ctrl-C ends them all."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from queue import SimpleQueue
from typing import Any, TypeVar

from dovetail.errors import DovetailError

Job = TypeVar("Job")
Result = TypeVar("Result")

_data: Any = None  # of a worker: what every task works on


def worked(
    function: Callable[[Any, Job], Result],
    tasks: Sequence[Job],
    data: Any,
    jobs: int,
    following: Callable[[Job, Result], Job | None],
) -> Iterator[Result]:
    """``function(data, task)`` of all tasks as they finish; ``following(task, result)`` may name one more.

    With one job everything happens in this process. With more, ``function`` must be importable, and a program that
    calls this must guard its main part with ``if __name__ == "__main__"``.

    >>> list(worked(lambda data, task: data + task, [1, 2], 10, 1, lambda task, result: 5 if task == 1 else None))
    [11, 12, 15]
    """
    if jobs == 1 or not tasks:
        yield from _here(function, tasks, data, following)
        return
    children = set(multiprocessing.active_children())
    # Spawned, not forked: the compiled loops and their threads do not outlive a fork.
    pool = ProcessPoolExecutor(
        min(jobs, len(tasks)), multiprocessing.get_context("spawn"), initializer=_begin, initargs=(data,)
    )
    # Not concurrent.futures.wait: it takes the locks of all futures, and a Ctrl-C meanwhile would leave them taken.
    finished: SimpleQueue[Future[Result]] = SimpleQueue()
    pending: dict[Future[Result], Job] = {}

    def submit(task: Job) -> None:
        future = pool.submit(_call, function, task)
        pending[future] = task
        future.add_done_callback(finished.put)

    try:
        for task in tasks:
            submit(task)
        while pending:
            future = finished.get()
            task, result = pending.pop(future), future.result()
            after = following(task, result)
            if after is not None:
                submit(after)
            yield result
    except BrokenProcessPool:
        raise DovetailError("a process was killed, most likely for want of memory; run fewer at a time") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in set(multiprocessing.active_children()) - children:
            child.terminate()


def _here(
    function: Callable[[Any, Job], Result],
    tasks: Sequence[Job],
    data: Any,
    following: Callable[[Job, Result], Job | None],
) -> Iterator[Result]:
    waiting = deque(tasks)
    while waiting:
        task = waiting.popleft()
        result = function(data, task)
        after = following(task, result)
        if after is not None:
            waiting.append(after)
        yield result


def _begin(data: Any) -> None:
    global _data
    _data = data
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; the process that waits for us ends us


def _call(function: Callable[[Any, Job], Result], task: Job) -> Result:
    return function(_data, task)
