"""One typed decorator for every compiled loop, so that all kernels are built with the same settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered for speed; infinities and NaN keep their meaning, because masks are minus infinity.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}


def kernel(function: Function) -> Function:
    """Compile a function of plain arrays: cached on disk, and free of the interpreter lock."""
    return cast(Function, njit(cache=True, nogil=True, fastmath=FASTMATH)(function))
