"""All nested segmentations of a short sentence, written down one by one: the brute-force twin."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from dovetail.structures.nested.batch import NestedBatch, NestedPotentials, NestedSegments

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


def score(p: NestedPotentials, n: int, segments: list[Segment]) -> float:
    """The score of nested segments, by the book."""
    labels = p.labels
    phrases = len(p.phrase) // max(len(p.word), 1)
    total = 0.0

    def context(p_: int, i: int, j: int, inside: list[Segment]) -> None:
        nonlocal total
        elements = []
        at = i
        while at < j:
            segment = next((s for s in inside if s[0] == at), None)
            if segment is None:
                elements.append(0)
                total += p.word[at, p_]
                at += 1
                continue
            first = inside.index(segment)
            after = next((k for k in range(first + 1, len(inside)) if inside[k][0] >= segment[1]), len(inside))
            start, end, x = segment
            elements.append(1 + x)
            kind = labels + x if p_ else x
            total += p.nest[p_, x] + p.start[start, kind] + p.end[end - 1, kind] + p.inside[start:end, kind].sum()
            if end - start <= phrases:
                total += p.phrase[start * phrases + end - start - 1, kind]
            context(1 + x, start, end, inside[first + 1 : after])
            inside = inside[after:]
            at = end
        total += p.first[p_, elements[0]] + p.last[p_, elements[-1]]
        total += sum(p.sibling[p_, e, f] for e, f in pairwise(elements))

    context(0, 0, n, segments)
    return float(total)


class EnumeratedNested:
    """Every answer a batch of one sentence gives, by enumeration."""

    def __init__(self, batch: NestedBatch) -> None:
        n = int(batch.offsets[-1])
        self.batch = batch
        self.trees = list(rows(0, n, batch.potentials.labels, batch.longest, False))
        self.scores = np.array([score(batch.potentials, n, tree) for tree in self.trees])
        self.log_z = float(np.logaddexp.reduce(self.scores))
        self.probability = np.exp(self.scores - self.log_z) if self.log_z > -np.inf else np.zeros(len(self.scores))

    def marginals(self) -> NestedPotentials:
        """Expected counts of all parts."""
        counts = NestedPotentials(*map(np.zeros_like, self.batch.potentials))
        for tree, probability in zip(self.trees, self.probability, strict=True):
            if probability > 0:
                for total, part in zip(counts, self.batch.indicator(NestedSegments.of([tree])), strict=True):
                    total += probability * part
        return counts

    def segments(self) -> dict[Segment, float]:
        """The probability of every segment."""
        found: dict[Segment, float] = {}
        for tree, probability in zip(self.trees, self.probability, strict=True):
            for segment in tree:
                found[segment] = found.get(segment, 0.0) + probability
        return found
