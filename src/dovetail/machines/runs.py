"""Tasks that have nothing to do with each other, carried out by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from dovetail.machines.ray import cluster, imported, lost

Job = TypeVar("Job")
Result = TypeVar("Result")
RETRIES = 3
"""How often a task is tried again whose worker died."""


def worked(
    function: Callable[[Job, Any], Result],
    tasks: Sequence[Job],
    data: Any,
    following: Callable[[Job, Result], Job | None] = lambda task, result: None,
    workers: int | None = None,
) -> Iterator[Result]:
    """``function(task, data)`` of all tasks as they finish; ``following(task, result)`` may name one more.

    As ``curves.work.worked``, on a cluster: the data is sent once, and a task whose worker dies is tried again.
    """
    ray = imported()
    with cluster(workers):
        call = ray.remote(num_cpus=1, max_retries=RETRIES)(_call)
        sent = ray.put(data)
        pending = {call.remote(function, task, sent): task for task in tasks}
        try:
            while pending:
                [done], _ = ray.wait(list(pending), num_returns=1)
                task = pending.pop(done)
                try:
                    result = ray.get(done)
                except ray.exceptions.RayError as error:
                    raise lost(error, "a run") from None
                if (after := following(task, result)) is not None:
                    pending[call.remote(function, after, sent)] = after
                yield result
        finally:
            for reference in pending:
                ray.cancel(reference, force=True)


def _call(function: Callable[[Any, Any], Any], task: Any, data: Any) -> Any:
    return function(task, data)
