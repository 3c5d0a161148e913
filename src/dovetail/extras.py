"""Packages that not every installation has: one line tells of their lack, and how to get them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dovetail.errors import DovetailError


def extra(package: str, what: str, name: str | None = None) -> Any:
    """A package, imported; an error that says what needs it if it is not there.

    ``name`` is that of dovetail's extra that brings the package, if it is another than the package's own.

    >>> extra("json", "JSON").__name__
    'json'
    >>> extra("nosuch.deep", "a test", "some")
    Traceback (most recent call last):
    dovetail.errors.DovetailError: a test needs nosuch: pip install 'dovetail[some]'
    """
    try:
        return import_module(package)
    except ImportError as error:
        top = package.partition(".")[0]
        if (error.name or top).partition(".")[0] != top:  # it is there, and lacks something itself
            raise DovetailError(f"{what} needs {top}, which cannot be imported: {error}") from None
        raise DovetailError(f"{what} needs {top}: pip install 'dovetail[{name or top}]'") from None
