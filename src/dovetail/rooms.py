"""Packages whose modules are imported at their first use, so that ``import dovetail`` is enough for all of them."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from dovetail.spellings import present


def open_room(package: str) -> None:
    """Let a package find its modules when they are first asked for: it gets a ``__getattr__``, which type checkers,
    who know the modules, need not see.

    >>> import dovetail.text
    >>> dovetail.text.brackets.__name__
    'dovetail.text.brackets'
    """

    def find(name: str) -> Any:
        if (new := present("python", name, package, warn=3)) != name:
            return getattr(sys.modules[package], str(new))
        if name.startswith("_") or find_spec(f"{package}.{name}") is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    vars(sys.modules[package])["__getattr__"] = find
