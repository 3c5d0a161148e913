"""Typed decorators for every compiled loop, so that all kernels are built with the same settings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
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
    return _compiled(function, SETTINGS)


def inner(function: Function) -> Function:
    """Compile a function that only kernels call: without a way in from Python it takes half the time."""
    return _compiled(function, SETTINGS | {"no_cpython_wrapper": True})


def _compiled(function: Function, settings: dict[str, Any]) -> Function:
    """With a cache if there is a folder for it: beside the code, in the user's home, or where NUMBA_CACHE_DIR says."""
    try:
        return cast(Function, njit(**settings)(function))
    except RuntimeError:
        _warn_of_no_cache()
        return cast(Function, njit(**(settings | {"cache": False}))(function))


@cache
def _warn_of_no_cache() -> None:
    message = "no folder to keep compiled code in, so every start takes long; set NUMBA_CACHE_DIR to one"
    warnings.warn(message, RuntimeWarning, stacklevel=5)
