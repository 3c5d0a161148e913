"""All nested segmentations of a short sentence, written down one by one: the brute-force twin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

Segment = tuple[int, int, int]


def rows(i: int, j: int, labels: int, longest: int, fills: bool) -> Iterator[list[Segment]]:
    """The segments of every row from i to j; one that fills a segment does not begin with one over everything."""
    if i == j:
        yield []
        return
    for rest in rows(i + 1, j, labels, longest, False):
        yield rest
    for k in range(i + 1, min(j - fills, i + longest) + 1):
        for x in range(labels):
            for inner in contents(i, k, x, labels, longest, True):
                for rest in rows(k, j, labels, longest, False):
                    yield [(i, k, x), *inner, *rest]


def contents(i: int, j: int, x: int, labels: int, longest: int, may_be_filled: bool) -> Iterator[list[Segment]]:
    """What a segment of label x from i to j may hold."""
    yield from rows(i, j, labels, longest, True)
    if may_be_filled:
        for y in range(labels):
            if y != x:
                for inner in contents(i, j, y, labels, longest, False):
                    yield [(i, j, y), *inner]


def uses(labels: int, phrases: int, n: int, segments: Sequence[Segment]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The parts of nested segments over n tokens, by the book: names of tables, and places in them."""

    def context(p: int, i: int, j: int, inside: Sequence[Segment]) -> Iterator[tuple[str, tuple[int, ...]]]:
        elements = []
        at = i
        while at < j:
            segment = next((s for s in inside if s[0] == at), None)
            if segment is None:
                elements.append(0)
                yield "word", (at, p)
                at += 1
                continue
            first = inside.index(segment)
            after = next((k for k in range(first + 1, len(inside)) if inside[k][0] >= segment[1]), len(inside))
            start, end, x = segment
            elements.append(1 + x)
            kind = labels + x if p else x
            yield "nest", (p, x)
            yield "start", (start, kind)
            yield "end", (end - 1, kind)
            yield from (("inside", (t, kind)) for t in range(start, end))
            if end - start <= phrases:
                yield "phrase", (start * phrases + end - start - 1, kind)
            yield from context(1 + x, start, end, inside[first + 1 : after])
            inside = inside[after:]
            at = end
        yield "first", (p, elements[0])
        yield "last", (p, elements[-1])
        yield from (("sibling", (p, e, f)) for e, f in pairwise(elements))

    return context(0, 0, n, segments) if n else iter(())


def contexts(n: int, segments: Sequence[Segment]) -> list[int]:
    """The context that every token lies in directly."""
    return [next((1 + x for i, j, x in reversed(segments) if i <= t < j), 0) for t in range(n)]
