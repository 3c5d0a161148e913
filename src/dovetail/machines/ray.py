"""A Ray cluster: the one that is running, or one of this machine that is started here and stopped again."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dovetail.errors import DovetailError
from dovetail.extras import extra

ADDRESS = "RAY_ADDRESS"
NOBODY = f"no Ray cluster answers at {{}}: start one with 'ray start --head', or unset {ADDRESS} to use this machine"
OPTIONS = {"include_dashboard": False, "logging_level": logging.ERROR, "log_to_driver": False}
"""What a cluster is started with: no page in a browser, and no lines of its own among those of a command."""


def imported() -> Any:
    """The module ``ray``, or an error that says how to install it."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # or it warns of what it will do one day
    return extra("ray", "sharing work out")


@contextmanager
def cluster(workers: int | None = None) -> Iterator[int]:
    """A cluster to work on, and how many workers it has room for: as many as it has processors, or as are asked for.

    It is the one that is connected already, the one that the environment names (``RAY_ADDRESS``), or else one of this
    machine, which is stopped in the end.
    """
    ray = imported()
    if ray.is_initialized():
        yield _room(ray, workers)
        return
    address = os.environ.get(ADDRESS)
    if address:
        _check_there(address)
    try:
        if address:
            ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
        else:
            ray.init(num_cpus=workers, **OPTIONS)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        reason = str(error).strip().split("\n")[0]
        raise DovetailError(f"{NOBODY.format(address)} ({reason})" if address else f"Ray: {reason}") from None
    try:
        yield _room(ray, workers)
    finally:
        ray.shutdown()


def _check_there(address: str) -> None:
    """An error where nobody listens at host:port: Ray would wait for a long time, and then end the program."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not port.isdigit():
        return  # "auto" and the like, which Ray finds out about itself
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        raise DovetailError(f"{NOBODY.format(address)} ({error.strerror or error})") from None


def _room(ray: Any, workers: int | None) -> int:
    return workers or max(1, int(ray.cluster_resources().get("CPU", 1)))


def lost(error: Exception, what: str) -> DovetailError:
    """The error of work that no worker could do, in one line."""
    cause = getattr(error, "cause", None) or error
    if isinstance(cause, DovetailError):
        return cause
    reason = str(cause).strip().split("\n")[-1] or type(cause).__name__
    return DovetailError(f"{what} failed on its worker, and on those that replaced it: {reason}")


def spread(numbers: Sequence[int], workers: int) -> list[list[int]]:
    """Numbers dealt out to workers, in turn.

    >>> spread([0, 1, 2], 2)
    [[0, 2], [1]]
    """
    return [list(numbers[worker::workers]) for worker in range(min(workers, len(numbers)))]
