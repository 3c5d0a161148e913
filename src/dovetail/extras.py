"""Packages that not every installation has: what each extra brings, and one line that tells how to get what is missing.

No message names a distribution: PyPI has a package called dovetail that is not this one. Messages name the packages
that are missing themselves, with the versions that the metadata of this distribution asks for.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from functools import cache
from importlib import import_module, metadata
from typing import Any

from dovetail.errors import DovetailError

DISTRIBUTION = "dovetail-nlp"
"""What this package is called where packages are installed from."""
EXTRAS = {
    "plot": ("matplotlib",),
    "neural": ("torch", "transformers"),
    "serve": ("fastapi", "uvicorn"),
    "spacy": ("spacy",),
    "arrow": ("pyarrow",),
    "pandas": ("pandas",),
    "cluster": ("ray",),
}
"""Packages of each extra. Each name is both what Python imports and what pip installs."""


def extra(package: str, what: str) -> Any:
    """Import a package, or raise an error that says what needs it and how to install it.

    >>> extra("json", "JSON").__name__
    'json'
    >>> extra("nosuch.deep", "A test")
    Traceback (most recent call last):
    dovetail.errors.DovetailError: A test needs nosuch: pip install nosuch
    """
    try:
        return import_module(package)
    except ImportError as error:
        top = package.partition(".")[0]
        if (error.name or top).partition(".")[0] != top:  # it is there, and lacks something itself
            raise DovetailError(f"{what} needs {top}, which cannot be imported: {error}") from None
        raise lacking(what, top) from None


def lacking(what: str, package: str) -> DovetailError:
    """Return the error that says what needs a package, and how to install it with what else its extra brings.

    >>> lacking("A server", "uvicorn").args[0].partition(":")[0]
    'A server needs fastapi and uvicorn'
    """
    brought = next((packages for packages in EXTRAS.values() if package in packages), (package,))
    return DovetailError(f"{what} needs {' and '.join(brought)}: {install(brought)}")


def install(packages: Iterable[str]) -> str:
    """Return the command that installs packages, in the versions that dovetail asks for.

    >>> install(["nosuch"])
    'pip install nosuch'
    """
    return shlex.join(["pip", "install", *(requirements().get(name, name) for name in packages)])


@cache
def requirements() -> dict[str, str]:
    """Return what the metadata of this distribution ask for, by package: ``{"fastapi": "fastapi>=0.115", ...}``.

    What only extras for contributors ask for gives way to what an extra for users does. Empty where dovetail runs from
    a folder of its source that nobody has installed.
    """
    try:
        lines = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return {}
    found: dict[str, str] = {}
    for line in lines:
        wanted, _, condition = line.partition(";")
        name = re.split(r"[^\w.-]", wanted.strip(), maxsplit=1)[0]
        extras = re.findall(r"extra == ['\"]([\w-]+)['\"]", condition)
        if not extras or extras[0] in EXTRAS:
            found[name] = wanted.strip()
    return found
