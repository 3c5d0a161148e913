"""Packages that not every environment has: a test that needs one is skipped, and the reason names the extra.

``pytest.importorskip("torch", reason=NEEDS["torch"])`` skips a file of tests, ``@requires("torch")`` a test, and
``of_formats`` those of the formats that a package reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

import pytest

from dovetail.extras import EXTRAS

EXTRA_OF = {package: extra for extra, packages in EXTRAS.items() for package in packages} | {
    "starlette": "serve",  # which fastapi is made of
    "mkdocs": "docs",
    "mkdocstrings_handlers": "docs",
    **dict.fromkeys(("httpx2", "mypy", "playwright", "seqeval", "sklearn", "xdist"), "dev"),
}
NEEDS = {package: f"needs {package}: pip install '.[{extra}]'" for package, extra in EXTRA_OF.items()}
"""Why a test of a package is skipped where the package is not installed."""

PACKAGE_OF_FORMAT = {
    "spacy": "spacy", "spacy-message": "spacy", "huggingface": "pyarrow", "parquet": "pyarrow", "arrow": "pyarrow",
}  # fmt: skip
_LACK = re.compile(r"No module named '(\w+)|needs (\w+)(?: and \w+)*: pip install ")


def requires(package: str) -> pytest.MarkDecorator:
    """Return the mark of a test that is skipped where a package is not installed."""
    return pytest.mark.skipif(find_spec(package) is None, reason=NEEDS[package])


def of_formats(values: Iterable[Any], name: Callable[[Any], str] = str) -> list[Any]:
    """Return parameters with the names of formats; those whose package is not installed are skipped."""
    packages = [(value, PACKAGE_OF_FORMAT.get(name(value))) for value in values]
    return [pytest.param(v, id=name(v), marks=[requires(package)] if package else []) for v, package in packages]


def lack(message: str) -> str | None:
    """Return the reason to skip where a message says that a package is not installed, and it is not; else None."""
    packages = [match[1] or match[2] for match in _LACK.finditer(message)]
    return next((NEEDS[name] for name in packages if name in NEEDS and find_spec(name) is None), None)
