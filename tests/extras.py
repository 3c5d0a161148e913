"""Packages that not every environment has: a test that needs one is skipped, and the reason names the extra.

``torch = pytest.importorskip("torch", reason=NEEDS["torch"])`` skips a test, or the file that it stands in.
"""

from __future__ import annotations

import re
from importlib.util import find_spec

from dovetail.cli.doctor import EXTRAS
from dovetail.errors import DovetailError

EXTRA_OF = {package: extra for extra, packages in EXTRAS.items() for package in packages} | {
    "starlette": "serve",  # which fastapi is made of
    "mkdocs": "docs",
    "mkdocstrings_handlers": "docs",
    **dict.fromkeys(("sklearn", "seqeval", "httpx2", "playwright", "xdist"), "dev"),
}
NEEDS = {package: f"needs {package}: pip install '.[{extra}]'" for package, extra in EXTRA_OF.items()}
"""Why a test of a package is skipped where the package is not installed."""

_LACK = re.compile(r"needs (\w+): pip install 'dovetail\[\w+\]'")


def lack(error: BaseException | None) -> str | None:
    """Return the reason to skip where an error only says that a package is not installed, else None."""
    if isinstance(error, ModuleNotFoundError):
        return NEEDS.get((error.name or "").partition(".")[0])
    match = _LACK.search(str(error)) if isinstance(error, DovetailError) else None
    return match[0] if match and find_spec(match[1]) is None else None
