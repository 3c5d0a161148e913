"""Docstrings as the site needs them: their examples as code, so that Markdown reads no links into brackets."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(^ *>>> .*\n(?:^ *\S.*\n?)*(?:\n(?=^ *>>> ))?)+", re.MULTILINE)
_DRAWING = re.compile(r"::\n\n((?: {4}.*\n|\n)+)", re.MULTILINE)


class Fences(griffe.Extension):
    """Puts what follows ``>>>``, up to an empty line, between fences."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of a module, class or function, once."""
        if obj.docstring is not None and "```" not in obj.docstring.value:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """The text of a docstring, with its examples as blocks of code."""
    text = _DRAWING.sub(r":\n\n\1", text + "\n")
    return _EXAMPLE.sub(lambda found: f"```python\n{found[0].rstrip()}\n```\n", text).rstrip()
