"""torch, which not every installation has: all who need it have it from here, so that one line tells of its lack."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from dovetail.errors import DovetailError
from dovetail.extras import lacking

try:
    import torch
except ImportError:
    raise lacking("a neural network", "torch") from None

__all__ = ["device_of", "one_thread", "seeded", "torch"]


def device_of(name: str | None = None) -> torch.device:
    """The device of this name, by default the one that the environment variable DOVETAIL_DEVICE names, if it is there.

    >>> device_of("cpu")
    device(type='cpu')
    """
    name = name or os.environ.get("DOVETAIL_DEVICE") or "cpu"
    try:
        found = torch.device(name)
    except RuntimeError:
        raise DovetailError(f"device={name!r}: choose cpu, cuda or, of several, cuda:0, cuda:1 ...") from None
    if found.type == "cuda":
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if not count:
            raise DovetailError(f"device={name!r}: there is no CUDA device that torch can use here; choose cpu")
        if (found.index or 0) >= count:
            raise DovetailError(f"device={name!r}: the last CUDA device here is cuda:{count - 1}; choose that or cpu")
    elif found.type == "mps" and not torch.backends.mps.is_available():
        raise DovetailError(f"device={name!r}: there is no such device here; choose cpu")
    return found


@contextmanager
def one_thread() -> Iterator[None]:
    """While torch works on one thread: then sums are added up in one order, whatever machine it is."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def seeded(seed: int, device: torch.device) -> Iterator[None]:
    """While random numbers of torch are those of a seed; afterwards its generators are as they were."""
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(seed)
        yield
