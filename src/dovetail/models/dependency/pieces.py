"""The trees of the pieces of a sentence that is too long for a chart, joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def joined(pieces: Iterable[Sequence[int]]) -> list[int]:
    """The heads of a sentence from those of its pieces, positions from 0: later roots hang on the first.

    >>> joined([[1, -1], [-1, 0]])
    [1, -1, 1, 2]
    """
    heads: list[int] = []
    root = -1
    for piece in pieces:
        start = len(heads)
        heads.extend(start + head if head >= 0 else root for head in piece)
        if root < 0 and -1 in piece:
            root = start + piece.index(-1)
    return heads
