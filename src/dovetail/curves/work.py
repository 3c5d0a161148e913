"""Work on several processes, each of which gets the data once; Ctrl-C ends them all.

Not joblib: it takes no tasks that follow from others' results, and would send the data with every task (0.34 s for
14,000 sentences).
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, Literal, TypeVar

from dovetail.errors import DovetailError

Job = TypeVar("Job")
Result = TypeVar("Result")

_data: Any = None  # of a worker: what every task works on


def worked(
    function: Callable[[Job, Any], Result],
    tasks: Sequence[Job],
    data: Any,
    jobs: int | Literal["ray"],
    following: Callable[[Job, Result], Job | None],
) -> Iterator[Result]:
    """``function(task, data)`` of all tasks as they finish; ``following(task, result)`` may name one more.

    With ``ray`` they are shared out over a cluster. With one job everything happens in this process. With more,
    ``function`` must be importable, and a program that calls this must guard its main part with ``if __name__ ==
    "__main__"``.

    >>> list(worked(lambda task, data: data + task, [1, 2], 10, 1, lambda task, result: 5 if task == 1 else None))
    [11, 12, 15]
    """
    if jobs == "ray":
        from dovetail.machines.runs import worked as shared_out

        yield from shared_out(function, tasks, data, following)
        return
    if jobs == 1 or not tasks:
        waiting = deque(tasks)
        while waiting:
            task = waiting.popleft()
            result = function(task, data)
            if (after := following(task, result)) is not None:
                waiting.append(after)
            yield result
        return
    children = set(multiprocessing.active_children())
    # Spawned, not forked: the compiled loops and their threads do not outlive a fork.
    pool = ProcessPoolExecutor(
        min(jobs, len(tasks)), multiprocessing.get_context("spawn"), initializer=_begin, initargs=(data,)
    )
    # A Ctrl-C that is raised while a future's lock is taken would leave it so, and the pool would wait for it for ever:
    # it is queued as None, and raised when no lock is.
    finished: SimpleQueue[Future[Result] | None] = SimpleQueue()
    pending: dict[Future[Result], Job] = {}

    def submit(task: Job) -> None:
        future = pool.submit(_call, function, task)
        pending[future] = task
        future.add_done_callback(finished.put)

    with _interrupts_to(lambda: finished.put(None)):
        try:
            for task in tasks:
                submit(task)
            while pending:
                future = finished.get()
                if future is None:
                    raise KeyboardInterrupt
                task, result = pending.pop(future), future.result()
                if (after := following(task, result)) is not None:
                    submit(after)
                yield result
        except BrokenProcessPool:
            raise DovetailError("a process was killed, most likely for want of memory; run fewer at a time") from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in set(multiprocessing.active_children()) - children:
                child.terminate()


@contextmanager
def _interrupts_to(note: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C calls ``note`` instead of raising, where signals can be handled: in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGINT, lambda number, frame: note())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _begin(data: Any) -> None:
    global _data
    _data = data
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all; the process that waits for us ends us


def _call(function: Callable[[Job, Any], Result], task: Job) -> Result:
    return function(task, _data)
