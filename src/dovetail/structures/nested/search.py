"""Walks along given nested segmentations."""

from __future__ import annotations

import numpy as np

from dovetail.kernel import kernel
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.nested.parts import NestedPotentials


@kernel
def walk(
    offsets: Integers, low: int, high: int, phrases: int, start: Integers, end: Integers, label: Labels,
    segment_offsets: Integers, p: NestedPotentials, amount: float, counts: NestedPotentials, score: Floats,
) -> None:  # fmt: skip
    """Add an amount to the count of every part of given nested segments, and fill score [n] of sentences low to high.
    Segments are listed each before those within it, from left to right; a label of -1 is no answer."""
    labels = p.nest.shape[1]
    deepest = 1
    for s in range(low, high):
        deepest = max(deepest, segment_offsets[s + 1] - segment_offsets[s] + 1)
    context, until, before = np.empty(deepest, np.int64), np.empty(deepest, np.int64), np.empty(deepest, np.int64)
    for s in range(low, high):
        a, n = offsets[s], offsets[s + 1] - offsets[s]
        total, i, depth, q = 0.0, 0, 0, segment_offsets[s]
        if q < segment_offsets[s + 1] and label[q] < 0:
            score[s] = -np.inf
            continue
        context[0], until[0], before[0] = 0, n, -1
        while n > 0:
            while depth > 0 and until[depth] == i:
                total += p.last[context[depth], before[depth]]
                counts.last[context[depth], before[depth]] += amount
                depth -= 1
            here = context[depth]
            if i == n:
                total += p.last[0, before[0]]
                counts.last[0, before[0]] += amount
                break
            is_segment = q < segment_offsets[s + 1] and start[q] == i
            element = 1 + label[q] if is_segment else 0
            if before[depth] < 0:
                total += p.first[here, element]
                counts.first[here, element] += amount
            else:
                total += p.sibling[here, before[depth], element]
                counts.sibling[here, before[depth], element] += amount
            before[depth] = element
            if not is_segment:
                total += p.word[a + i, here]
                counts.word[a + i, here] += amount
                i += 1
                continue
            u = a + end[q] - 1
            x = label[q] + (labels if here > 0 else 0)
            total += p.nest[here, label[q]] + p.start[a + i, x] + p.end[u, x]
            counts.nest[here, label[q]] += amount
            counts.start[a + i, x] += amount
            counts.end[u, x] += amount
            for t in range(a + i, u + 1):
                total += p.inside[t, x]
                counts.inside[t, x] += amount
            if u - a - i < phrases:
                total += p.phrase[(a + i) * phrases + u - a - i, x]
                counts.phrase[(a + i) * phrases + u - a - i, x] += amount
            depth += 1
            context[depth], until[depth], before[depth] = 1 + label[q], end[q], -1
            q += 1
        score[s] = total
