"""Outside sums over nested segmentations: derivatives of log Z by the stored inside sums, and from them all counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.contract import Floats, Integers
from dovetail.structures.loops import most_tokens
from dovetail.structures.nested.parts import NestedPotentials
from dovetail.structures.nested.sums import NestedChart, Tables, inside, new_chart, power

NEGLIGIBLE = 1e-18  # a probability below the rounding error of those that it would be added to


class Slopes(NamedTuple):
    """Derivatives of log Z by the sums of a chart, cells as there; and the probability of every segment."""

    after: Floats  # [cells, T, T + 1]
    inner: Floats  # [cells, T]
    content: Floats  # [cells, T]
    segment: Floats  # [cells, 2 * T]: probabilities of segments in no other, and of segments in others


@inner
def new_slopes(cells: int, labels: int) -> Slopes:
    """Space for the slopes of any sentence of so many cells."""
    return Slopes(
        np.zeros((cells, labels, labels + 1)),
        np.zeros((cells, labels)),
        np.zeros((cells, labels)),
        np.zeros((cells, 2 * labels)),
    )


@inner
def outside_top(
    a: int, n: int, longest: int, tables: Tables, chart: NestedChart, slopes: Slopes, counts: NestedPotentials
) -> None:
    """From the whole sentence to the contents of its outermost segments."""
    labels = chart.inner.shape[1]
    slope_after = np.zeros((n + 1, labels + 1))
    slope = np.zeros(labels + 1)
    total = 0.0
    for e in range(labels + 1):
        total += tables.first[0, e] * chart.top[0, e]
    for i in range(n):
        for f in range(labels + 1):
            if i == 0:
                slope[f] = tables.first[0, f] / total
                counts.first[0, f] += slope[f] * chart.top[0, f]
            else:
                slope[f] = 0.0
                for e in range(labels + 1):
                    used = slope_after[i, e] * tables.sibling[0, e, f]
                    slope[f] += used
                    counts.sibling[0, e, f] += used * chart.top[i, f]
        used = slope[0] * chart.top[i, 0]
        counts.word[a + i, 0] += used
        if i + 1 == n:
            counts.last[0, 0] += used
        else:
            factor = power(chart.word_scale[i, 1] + chart.top_scale[i + 1] - chart.top_scale[i])
            slope_after[i + 1, 0] += slope[0] * chart.word[i, 0] * factor
        for d in range(1, min(longest, n - i) + 1):
            c = i * longest + d - 1
            factor = power(chart.scale[c, 1] + chart.top_scale[i + d] - chart.top_scale[i])
            for x in range(labels):
                following = chart.top_after[i + d, 1 + x] if i + d < n else tables.last[0, 1 + x]
                above = slope[1 + x] * tables.nest[0, x] * factor
                used = above * chart.outer[c, x] * following
                if used > NEGLIGIBLE:
                    slopes.segment[c, x] += used
                    counts.nest[0, x] += used
                    slopes.content[c, x] += used / chart.content[c, x]
                    if i + d == n:
                        counts.last[0, 1 + x] += used
                    else:
                        slope_after[i + d, 1 + x] += above * chart.outer[c, x]


@inner
def negligible(c: int, right: int, chart: NestedChart, slopes: Slopes) -> bool:
    """Whether no sum of a span is used with a probability that is worth counting; ``right`` is its cell in after."""
    labels = chart.inner.shape[1]
    used = 0.0
    for y in range(labels):
        used += slopes.inner[c, y] * chart.inner[c, y] + slopes.content[c, y] * chart.content[c, y]
        for e in range(labels + 1):
            used += slopes.after[right, y, e] * chart.after[right, y, e]
    return used <= NEGLIGIBLE


@inner
def open_span(
    c: int, right: int, tables: Tables, chart: NestedChart, slopes: Slopes, counts: NestedPotentials, slope: Floats,
    proper: Floats,
) -> None:  # fmt: skip
    """From the slopes of a span's other sums that of its ``split``, [T, T + 1]. proper: [T] to work in."""
    labels = chart.inner.shape[1]
    split, inner, content = chart.split[c], chart.inner[c], chart.content[c]
    of_inner = power(chart.inner_scale[c] - chart.after_scale[right])
    for y in range(labels):
        for f in range(labels + 1):
            held = of_inner * inner[f - 1] * tables.closing[1 + y, f - 1] if f > 0 else 0.0
            rest = split[y, f] + held
            above = 0.0
            for e in range(labels + 1):
                used = slopes.after[right, y, e] * tables.sibling[1 + y, e, f]
                above += used
                counts.sibling[1 + y, e, f] += used * rest
            slope[y, f] = above
            if f > 0:
                slopes.inner[c, f - 1] += above * of_inner * tables.closing[1 + y, f - 1]
                counts.nest[1 + y, f - 1] += above * held
                counts.last[1 + y, f] += above * held
    for x in range(labels):
        used = slopes.inner[c, x] * inner[x]
        if used > NEGLIGIBLE:
            slopes.segment[c, labels + x] += used
            slopes.content[c, x] += used / content[x]
        proper[x] = 0.0
        for e in range(labels + 1):
            proper[x] += tables.first[1 + x, e] * split[x, e]
    of_proper = power(chart.after_scale[right] - chart.scale[c, 0])
    of_filling = power(chart.after_scale[right] + chart.scale[c, 2] - chart.scale[c, 0])
    for y in range(labels):
        above = slopes.content[c, y] * of_proper
        for x in range(labels):
            held = slopes.content[c, x] * tables.filling[x, y] * chart.weight[c, y] * of_filling
            used = held * proper[y]
            if used > NEGLIGIBLE:
                above += held
                slopes.segment[c, labels + y] += used
                counts.first[1 + x, 1 + y] += used
                counts.nest[1 + x, y] += used
                counts.last[1 + x, 1 + y] += used
        for e in range(labels + 1):
            counts.first[1 + y, e] += above * tables.first[1 + y, e] * split[y, e]
            slope[y, e] += above * tables.first[1 + y, e]


@inner
def outside_splits(
    a: int, i: int, d: int, longest: int, tables: Tables, chart: NestedChart, slopes: Slopes, counts: NestedPotentials,
    slope: Floats,
) -> None:  # fmt: skip
    """From the slope of ``split`` of a span, [T, T + 1], to the parts of its splits."""
    labels = chart.inner.shape[1]
    c, first, last = i * longest + d - 1, i * longest - 1, (i + d - 1) * longest + d - 1
    scale = chart.after_scale[last]
    factor = power(chart.word_scale[i, 0] + chart.after_scale[last - 1] - scale) if d > 1 else 0.0
    for y in range(labels):
        used = slope[y, 0] * chart.split[c, y, 0]
        counts.word[a + i, 1 + y] += used
        if d == 1:
            counts.last[1 + y, 0] += used
            continue
        slopes.after[last - 1, y, 0] += slope[y, 0] * chart.word[i, 1 + y] * factor
        for x in range(labels):
            counts.nest[1 + y, x] += slope[y, 1 + x] * chart.split[c, y, 1 + x]
            slope[y, 1 + x] *= tables.nest[1 + y, x]
    for e in range(1, d):
        factor = power(chart.inner_scale[first + e] + chart.after_scale[last - e] - scale)
        if factor > 0.0:
            for y in range(labels):
                for x in range(labels):
                    above = factor * slope[y, 1 + x]
                    slopes.after[last - e, y, 1 + x] += above * chart.inner[first + e, x]
                    slopes.inner[first + e, x] += above * chart.after[last - e, y, 1 + x]


@inner
def share_segments(
    a: int, n: int, longest: int, phrases: int, segment: Floats, counts: NestedPotentials, difference: Floats
) -> None:
    """Add the probabilities of segments [cells, 2 * T] to the counts of their parts. difference: [n + 1, 2 * T]."""
    kinds = segment.shape[1]
    difference[: n + 1] = 0.0
    for i in range(n):
        for d in range(min(longest, n - i)):
            for x in range(kinds):
                probability = segment[i * longest + d, x]
                if probability > 0.0:
                    counts.start[a + i, x] += probability
                    counts.end[a + i + d, x] += probability
                    difference[i, x] += probability
                    difference[i + d + 1, x] -= probability
                    if d < phrases:
                        counts.phrase[(a + i) * phrases + d, x] += probability
    for x in range(kinds):
        running = 0.0
        for i in range(n):
            running += difference[i, x]
            counts.inside[a + i, x] += max(running, 0.0)


@kernel
def outside(
    a: int, n: int, longest: int, tables: Tables, chart: NestedChart, slopes: Slopes, counts: NestedPotentials
) -> None:
    """From a filled chart whose log Z is finite, the probability of every segment, and all other counts."""
    labels = chart.inner.shape[1]
    cells = n * longest
    slopes.after[:cells] = 0.0
    slopes.inner[:cells] = 0.0
    slopes.content[:cells] = 0.0
    slopes.segment[:cells] = 0.0
    slope, proper = np.empty((labels, labels + 1)), np.empty(labels)
    outside_top(a, n, longest, tables, chart, slopes, counts)
    for d in range(min(longest, n), 0, -1):
        for i in range(n - d + 1):
            c, right = i * longest + d - 1, (i + d - 1) * longest + d - 1
            if not negligible(c, right, chart, slopes):
                open_span(c, right, tables, chart, slopes, counts, slope, proper)
                outside_splits(a, i, d, longest, tables, chart, slopes, counts, slope)


@kernel
def sums(
    offsets: Integers, low: int, high: int, bound: int, phrases: int, p: NestedPotentials, tables: Tables,
    counts: NestedPotentials, with_counts: bool, log_z: Floats,
) -> None:  # fmt: skip
    """log Z [n] of sentences low to high, and with_counts the expected counts of all parts, added to ``counts``."""
    labels = p.nest.shape[1]
    most = most_tokens(offsets, low, high)
    cells = most * min(most, bound)
    chart = new_chart(most, cells, labels)
    slopes = new_slopes(cells if with_counts else 0, labels)
    difference = np.empty((most + 1, 2 * labels))
    for s in range(low, high):
        a, n = offsets[s], offsets[s + 1] - offsets[s]
        if n == 0:
            log_z[s] = 0.0
            continue
        longest = min(n, bound)
        log_z[s] = inside(a, n, longest, phrases, p, tables, chart)
        if with_counts and log_z[s] > -np.inf:
            outside(a, n, longest, tables, chart, slopes, counts)
            share_segments(a, n, longest, phrases, slopes.segment, counts, difference)


@kernel
def segment_probabilities(
    a: int, n: int, longest: int, phrases: int, p: NestedPotentials, tables: Tables, counts: NestedPotentials,
    out: Floats,
) -> None:  # fmt: skip
    """The probability of every segment of one sentence. out: [n, longest, T]; counts are used up."""
    labels = p.nest.shape[1]
    chart, slopes = new_chart(n, n * longest, labels), new_slopes(n * longest, labels)
    out[:] = 0.0
    if inside(a, n, longest, phrases, p, tables, chart) > -np.inf:
        outside(0, n, longest, tables, chart, slopes, counts)
        for i in range(n):
            for d in range(min(longest, n - i)):
                for x in range(labels):
                    both = slopes.segment[i * longest + d, x] + slopes.segment[i * longest + d, labels + x]
                    out[i, d, x] = min(both, 1.0)
