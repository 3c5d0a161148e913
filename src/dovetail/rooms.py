"""Packages whose modules are imported at their first use, so that ``import dovetail`` is enough for all of them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def modules_of(package: str) -> Callable[[str], ModuleType]:
    """The ``__getattr__`` of a package: a name that it lacks may be one of its modules.

    >>> modules_of("dovetail.text")("brackets").__name__
    'dovetail.text.brackets'
    """

    def find(name: str) -> ModuleType:
        if name.startswith("_") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return find
