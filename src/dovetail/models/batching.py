"""Text in batches: as much at once as keeps threads busy and memory bounded, and documents in one piece.

Sentences too long for a chart are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

STOPS = frozenset(".;:?!,")


def in_batches(items: Iterable[Any], most: int, size: Callable[[Any], int] = len) -> Iterator[list[Any]]:
    """Items of about ``most`` in all at a time; sentences of one document together, unless it is twice as long.

    >>> list(in_batches(["ab", "c", "defg"], 3))
    [['ab', 'c'], ['defg']]
    """
    some: list[Any] = []
    total = 0
    for item in items:
        document = getattr(item, "document", None)
        same = bool(some) and document is not None and document == some[-1].document
        if total >= (2 * most if same else most):
            yield some
            some, total = [], 0
        some.append(item)
        total += size(item)
    if some:
        yield some


def cut(words: Sequence[str], longest: int) -> list[tuple[int, int]]:
    """Where to cut a sentence that is too long: after the last stop before the bound, else at the bound.

    >>> cut(["a", ",", "b", "c", "d"], 3)
    [(0, 2), (2, 5)]
    """
    parts, begin = [], 0
    while len(words) - begin > longest:
        stops = [i + 1 for i in range(begin + longest // 2, begin + longest) if words[i] in STOPS]
        end = stops[-1] if stops else begin + longest
        parts.append((begin, end))
        begin = end
    return [*parts, (begin, len(words))]
