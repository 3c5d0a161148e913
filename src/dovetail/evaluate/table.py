"""Plain text tables for terminals and logs."""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.text.width import display_width


def align_columns(rows: Sequence[Sequence[str]]) -> str:
    """The rows as lines with aligned columns: the first flush left, the others flush right.

    >>> print(align_columns([["label", "F1"], ["LOC", "85.00"], ["人物", "9.50"]]))
    label     F1
    LOC    85.00
    人物    9.50
    """
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        spaces = [" " * (width - display_width(cell)) for cell, width in zip(row, widths, strict=True)]
        right_aligned = [space + cell for space, cell in zip(spaces, row, strict=True)]
        lines.append("  ".join([row[0] + spaces[0], *right_aligned[1:]]).rstrip())
    return "\n".join(lines)
