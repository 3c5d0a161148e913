"""Plain text tables for terminals and logs."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width


def align_columns(rows: Sequence[Sequence[str]]) -> str:
    """The rows as lines with aligned columns: the first flush left, the others flush right.

    >>> print(align_columns([["label", "F1"], ["LOC", "85.00"], ["人物", "9.50"]]))
    label     F1
    LOC    85.00
    人物    9.50
    """
    widths = [max(map(_display_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        spaces = [" " * (width - _display_width(cell)) for cell, width in zip(row, widths, strict=True)]
        right_aligned = [space + cell for space, cell in zip(spaces, row, strict=True)]
        lines.append("  ".join([row[0] + spaces[0], *right_aligned[1:]]).rstrip())
    return "\n".join(lines)


def _display_width(text: str) -> int:
    """Columns of a terminal that the text takes: Chinese, Japanese and Korean characters take two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)
