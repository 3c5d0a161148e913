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


def steady(function: Function) -> Function:
    """As ``kernel``, with sums in the order in which they are written.

    Where a loop adds up and stores, the compiler looks whether its arrays overlap before it takes several steps at
    once, and where they lie may then decide about the last bit. So whoever promises the same bits uses this.
    """
    return _compiled(function, SETTINGS | {"fastmath": False})


def steady_inner(function: Function) -> Function:
    """As ``inner``, with sums in the order in which they are written: see ``steady``."""
    return _compiled(function, SETTINGS | {"fastmath": False, "no_cpython_wrapper": True})


def _compiled(function: Function, settings: dict[str, Any]) -> Function:
    """With a cache if there is a folder for it: beside the code, in the user's home, or where NUMBA_CACHE_DIR says."""
    try:
        return cast(Function, _with_safe_cache(njit(**settings)(function)))
    except RuntimeError:
        _warn_of_no_cache()
        return cast(Function, njit(**(settings | {"cache": False}))(function))


def _with_safe_cache(dispatcher: Any) -> Any:
    """Let old indices of compiled code count as none where they name classes that have moved since.

    Numba reads an index before it looks whether it is out of date, and fails where a class in it is gone. Such files
    stay beside the code when a package is upgraded.
    """
    file = dispatcher._cache._cache_file
    load = file._load_index

    def load_index() -> Any:
        try:
            return load()
        except (ImportError, AttributeError):
            return {}

    file._load_index = load_index
    return dispatcher


@cache
def _warn_of_no_cache() -> None:
    message = "no folder to keep compiled code in, so every start takes long; set NUMBA_CACHE_DIR to one"
    warnings.warn(message, RuntimeWarning, stacklevel=5)
