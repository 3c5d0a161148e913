"""Text in batches: as much at once as keeps threads busy and memory bounded, and documents in one piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any


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
