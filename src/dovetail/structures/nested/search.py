"""The best nested segmentation, and walks along given ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.nested.parts import NestedPotentials
from dovetail.structures.nested.sums import fill_scores


class NestedBestChart(NamedTuple):
    """The best scores where :class:`~dovetail.structures.nested.sums.NestedChart` has sums; no scales are needed."""

    split: Floats
    after: Floats
    content: Floats
    inner: Floats
    score: Floats
    top: Floats
    top_after: Floats


@inner
def new_best_chart(tokens: int, cells: int, labels: int) -> NestedBestChart:
    """Space for the best scores of any sentence of so many tokens and cells."""
    return NestedBestChart(
        np.zeros((cells, labels, labels + 1)),
        np.zeros((cells, labels, labels + 1)),
        np.zeros((cells, labels)),
        np.zeros((cells, labels)),
        np.zeros((cells, 2 * labels)),
        np.zeros((tokens + 1, labels + 1)),
        np.zeros((tokens + 1, labels + 1)),
    )


@inner
def proper_content(c: int, x: int, p: NestedPotentials, chart: NestedBestChart) -> float:
    """The best row of two or more elements, or of one token, in a segment of label x."""
    best = -np.inf
    for e in range(p.first.shape[1]):
        best = max(best, p.first[1 + x, e] + chart.split[c, x, e])
    return best


@inner
def held_score(c: int, x: int, y: int, p: NestedPotentials, chart: NestedBestChart) -> float:
    """The best score of a segment of label y that fills one of label x, which itself is not counted."""
    labels = p.nest.shape[1]
    table = p.first[1 + x, 1 + y] + p.nest[1 + x, y] + p.last[1 + x, 1 + y]
    return float(table + chart.score[c, labels + y] + proper_content(c, y, p, chart))


@inner
def fill_best(a: int, n: int, longest: int, phrases: int, p: NestedPotentials, chart: NestedBestChart) -> None:
    """Fill the chart of the sentence of n tokens from token a on."""
    labels = p.nest.shape[1]
    fill_scores(a, n, longest, phrases, p, chart.score)
    proper, filling = np.empty(labels), p.first[1:, 1:] + p.nest[1:] + p.last[1:, 1:]
    np.fill_diagonal(filling, -np.inf)
    for d in range(1, min(longest, n) + 1):
        for i in range(n - d + 1):
            c, right = i * longest + d - 1, (i + 1) * longest + d - 2
            split, after, content, inner = chart.split[c], chart.after[c], chart.content[c], chart.inner[c]
            for y in range(labels):
                split[y, 0] = p.word[a + i, 1 + y] + (p.last[1 + y, 0] if d == 1 else chart.after[right, y, 0])
                for x in range(labels):
                    split[y, 1 + x] = -np.inf
            for e in range(1, d):
                left, rest = i * longest + e - 1, (i + e) * longest + d - e - 1
                of_left, of_rest = chart.inner[left], chart.after[rest]
                for y in range(labels):
                    for x in range(labels):
                        split[y, 1 + x] = max(split[y, 1 + x], of_left[x] + of_rest[y, 1 + x])
            for y in range(labels):
                for x in range(labels):
                    split[y, 1 + x] += p.nest[1 + y, x]
            for x in range(labels):
                proper[x] = proper_content(c, x, p, chart)
            for x in range(labels):
                content[x] = proper[x]
                for y in range(labels):
                    held = filling[x, y] + chart.score[c, labels + y] + proper[y]
                    content[x] = max(content[x], held)
                inner[x] = chart.score[c, labels + x] + content[x]
            for y in range(labels):
                for e in range(labels + 1):
                    after[y, e] = -np.inf
                for f in range(labels + 1):
                    rest_score = split[y, f]
                    if f > 0:
                        rest_score = max(rest_score, inner[f - 1] + p.nest[1 + y, f - 1] + p.last[1 + y, f])
                    for e in range(labels + 1):
                        after[y, e] = max(after[y, e], p.sibling[1 + y, e, f] + rest_score)
    for i in range(n - 1, -1, -1):
        chart.top[i, 0] = p.word[a + i, 0] + (chart.top_after[i + 1, 0] if i + 1 < n else p.last[0, 0])
        chart.top[i, 1:] = -np.inf
        for d in range(1, min(longest, n - i) + 1):
            c = i * longest + d - 1
            for x in range(labels):
                following = chart.top_after[i + d, 1 + x] if i + d < n else p.last[0, 1 + x]
                score = chart.score[c, x] + chart.content[c, x] + p.nest[0, x] + following
                chart.top[i, 1 + x] = max(chart.top[i, 1 + x], score)
        for e in range(labels + 1):
            chart.top_after[i, e] = -np.inf
            for f in range(labels + 1):
                chart.top_after[i, e] = max(chart.top_after[i, e], p.sibling[0, e, f] + chart.top[i, f])


@inner
def follow_row(
    i: int,
    j: int,
    n: int,
    y: int,
    element: int,
    limit: int,
    longest: int,
    p: NestedPotentials,
    chart: NestedBestChart,
    out: Labels,
    found: int,
) -> int:
    """List the segments of the best row from token i to the end j of context y + 1, or y = -1 for the sentence.

    ``element`` is the one it begins with, of at most ``limit`` tokens. out: [., 4] start, end, label and what
    :func:`best_segments` notes; returns how many are listed.
    """
    labels = p.nest.shape[1]
    while i < j:
        length = 1
        if element > 0:  # where the segment ends: whatever gives the best score
            x, best = element - 1, -np.inf
            for d in range(1, min(limit, j - i) + 1):
                c = i * longest + d - 1
                if y < 0:
                    score = chart.score[c, x] + chart.content[c, x]
                    score += chart.top_after[i + d, element] if i + d < n else p.last[0, element]
                else:
                    rest = (i + d) * longest + j - i - d - 1
                    score = chart.inner[c, x] + (chart.after[rest, y, element] if i + d < j else p.last[1 + y, element])
                if score > best:
                    best, length = score, d
            out[found, 0], out[found, 1], out[found, 2] = i, i + length, x
            found += 1
        i, limit = i + length, longest
        if i < j:
            best, before = -np.inf, element
            for f in range(labels + 1):
                if y < 0:
                    score = p.sibling[0, before, f] + chart.top[i, f]
                else:
                    c = i * longest + j - i - 1
                    score = chart.split[c, y, f]
                    if f > 0:
                        score = max(score, chart.inner[c, f - 1] + p.nest[1 + y, f - 1] + p.last[1 + y, f])
                    score += p.sibling[1 + y, before, f]
                if score > best:
                    best, element = score, f
    return found


@inner
def follow_content(
    i: int,
    j: int,
    n: int,
    x: int,
    held: bool,
    longest: int,
    p: NestedPotentials,
    chart: NestedBestChart,
    out: Labels,
    found: int,
) -> int:
    """List the segments directly inside the best segment of label x from i to j; ``held`` if it fills another."""
    labels = p.nest.shape[1]
    c = i * longest + j - i - 1
    best = proper_content(c, x, p, chart)
    if not held:
        filler = -1
        for y in range(labels):
            if y != x and held_score(c, x, y, p, chart) > best:
                best, filler = held_score(c, x, y, p, chart), y
        if filler >= 0:
            out[found, 0], out[found, 1], out[found, 2] = i, j, filler
            return found + 1
    element, best = 0, -np.inf
    for e in range(labels + 1):
        if p.first[1 + x, e] + chart.split[c, x, e] > best:
            element, best = e, p.first[1 + x, e] + chart.split[c, x, e]
    return follow_row(i, j, n, x, element, j - i - 1, longest, p, chart, out, found)


@kernel
def best_segments(
    offsets: Integers, low: int, high: int, bound: int, phrases: int, p: NestedPotentials, out: Labels, count: Labels
) -> None:
    """The best segments of sentences low to high.

    out: [4 * N, 4] start, end, label and whether it fills another, those of a sentence of which a is the first token
    from 4 * a on; count: [n], how many, or -1 where none is possible.
    """
    labels = p.nest.shape[1]
    most = 0
    for s in range(low, high):
        most = max(most, offsets[s + 1] - offsets[s])
    chart = new_best_chart(most, most * min(most, bound), labels)
    for s in range(low, high):
        a, n = offsets[s], offsets[s + 1] - offsets[s]
        count[s] = 0
        if n == 0:
            continue
        longest = min(n, bound)
        fill_best(a, n, longest, phrases, p, chart)
        element, best = 0, -np.inf
        for e in range(labels + 1):
            if p.first[0, e] + chart.top[0, e] > best:
                element, best = e, p.first[0, e] + chart.top[0, e]
        if best == -np.inf:
            count[s] = -1
            continue
        mine = out[4 * a : 4 * (a + n)]
        found = follow_row(0, n, n, -1, element, longest, longest, p, chart, mine, 0)
        q = 0
        while q < found:  # segments are listed before those within them, which are then looked for in turn
            i, j, x = mine[q, 0], mine[q, 1], mine[q, 2]
            held = q > 0 and mine[q, 3] == 1
            before = found
            found = follow_content(i, j, n, x, held, longest, p, chart, mine, found)
            for r in range(before, found):
                mine[r, 3] = 1 if mine[r, 0] == i and mine[r, 1] == j else 0
            q += 1
        count[s] = found


@kernel
def walk(
    offsets: Integers,
    low: int,
    high: int,
    phrases: int,
    start: Integers,
    end: Integers,
    label: Labels,
    segment_offsets: Integers,
    p: NestedPotentials,
    amount: float,
    counts: NestedPotentials,
    score: Floats,
) -> None:
    """Add an amount to the count of every part of given nested segments, and fill score [n] of sentences low to high.

    Segments are listed each before those within it, from left to right; a label of -1 is no answer.
    """
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
