"""Sentences too long for a chart: parsed in pieces, and their trees joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

END = frozenset(".!?;:,")


def cut_points(words: Sequence[str], longest: int) -> list[int]:
    """Where to cut a sentence into pieces of at most so many words: after punctuation where there is some.

    >>> cut_points("a b , c d e f".split(), 4), cut_points("a b".split(), 4)
    ([0, 3, 7], [0, 2])
    """
    cuts = [0]
    while len(words) - cuts[-1] > longest:
        first, last = cuts[-1], cuts[-1] + longest
        marks = [i + 1 for i in range(first + longest // 2, last) if words[i] in END]
        cuts.append(marks[-1] if marks else last)
    return [*cuts, len(words)]


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
