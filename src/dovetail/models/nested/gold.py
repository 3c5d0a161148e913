"""From the entities of a sentence to a tree of segments: what no tree can hold is left out, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from dovetail.text.sentence import Span

CROSSING = "crossing a longer entity"
REPEATED = "given twice"
THIRD = "a third label of the same words"
TOO_LONG = "longer than the model allows"


def as_tree(spans: Iterable[Span], longest: int, left_out: Counter[str]) -> list[Span]:
    """The spans that a tree can hold, each before those within it, from left to right.

    Of two that cross, the longer is kept, of equally long ones the first. Of two over the same words, that whose label
    comes first in the alphabet is the outer one. ``left_out`` counts the others by reason.

    >>> reasons = Counter()
    >>> as_tree([Span(2, 4, "B"), Span(0, 3, "A"), Span(1, 2, "A")], 10, reasons)
    [Span(start=0, end=3, label='A', probability=None), Span(start=1, end=2, label='A', probability=None)]
    >>> reasons
    Counter({'crossing a longer entity': 1})
    """
    kept: list[Span] = []
    seen: set[tuple[int, int, str]] = set()
    same: Counter[tuple[int, int]] = Counter()
    for span in sorted(spans, key=lambda s: (s.start - s.end, s.start, s.label)):
        where = (span.start, span.end)
        if span.end - span.start > longest:
            left_out[TOO_LONG] += 1
        elif (*where, span.label) in seen:
            left_out[REPEATED] += 1
        elif same[where] == 2:
            left_out[THIRD] += 1
        elif any(crossing(span, other) for other in kept):
            left_out[CROSSING] += 1
        else:
            seen.add((*where, span.label))
            same[where] += 1
            kept.append(span)
    return sorted(kept, key=lambda s: (s.start, -s.end))


def crossing(a: Span, b: Span) -> bool:
    """Whether two spans have words in common, and each has others as well."""
    return a.start < b.start < a.end < b.end or b.start < a.start < b.end < a.end


def has_nested(tree: Sequence[Span]) -> bool:
    """Whether some span of a tree lies in another."""
    return any(b.start < a.end for a, b in pairwise(tree))
