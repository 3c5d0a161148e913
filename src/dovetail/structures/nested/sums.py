"""Inside sums over nested segmentations, in probability space with a scale for every span.

A span of tokens i to j has, for every label p that it may lie in and every element e that it may begin with,

- ``split[p, e]``, the sum over all rows of two or more elements, or of one token, that fill it to its end, ``last``
  included;
- ``content[x]``, the sum over all that a segment of label x may hold: ``split``, or one other segment of another
  label over the very same tokens, which holds no third;
- ``inner[x]`` and ``outer[x]``, those times the segment's own score, in another segment and in none;
- ``rest[p, e] = split[p, e] + inner[e] * nest * last``, the sum over all rows that end a context;
- ``after[p, e]``, the sum over ``rest`` when element e comes before it.

The true value is ``2 ** scale * stored`` with a whole scale for split, rest and after, one for content, one for inner
and one for outer; the stored ones are about 1. Powers of two are looked up: exponentials would take most of the time.
The sum over the splits of spans takes T * T products each: it is what grows with the cube of the length.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.contract import Floats, Integers
from dovetail.structures.nested.parts import NestedPotentials

LOG_TWO = math.log(2.0)
POWERS = 2.0 ** -np.arange(1080.0)
NEVER = -(1 << 40)  # the scale of what is impossible


class NestedChart(NamedTuple):
    """Sums of a sentence; see above. Cells are numbered ``i * D + length - 1``, for segments of up to D tokens. Those
    of ``after``, which are read at the right of a split, are numbered ``(j - 1) * D + length - 1`` instead: what one
    split after the other asks for then lies side by side."""

    split: Floats  # [cells, T, T + 1]
    after: Floats  # [cells, T, T + 1]
    content: Floats  # [cells, T]
    inner: Floats  # [cells, T]
    outer: Floats  # [cells, T]
    score: Floats  # [cells, 2 * T]: log scores of segments in no other, and of segments in others
    weight: Floats  # [cells, T]: exponentials of the scores of segments in others
    after_scale: Integers  # [cells], numbered like ``after``: the scale of split, rest and after
    inner_scale: Integers  # [cells]
    scale: Integers  # [cells, 3]: the scales of content, outer and weight
    word: Floats  # [n, T + 1]: exponentials of the scores of words, each over its largest but for that in no segment
    word_scale: Integers  # [n, 2]: the scales of words in segments, and of those in none
    top: Floats  # [n + 1, T + 1]: the sum over all that follows from a token on, by its first element
    top_after: Floats  # [n + 1, T + 1]: the same, by the element before
    top_scale: Integers  # [n + 1]


class Tables(NamedTuple):
    """The exponentials of the tables of potentials, and products of them."""

    nest: Floats
    first: Floats
    sibling: Floats
    last: Floats
    closing: Floats  # [T + 1, T]: nest * last, of a segment that ends its context
    filling: Floats  # [T, T]: first * nest * last, of a segment that fills another; 0 where the labels are the same

    @classmethod
    def of(cls, p: NestedPotentials) -> Tables:
        """The exponentials of potentials."""
        nest, first, sibling, last = (np.exp(table) for table in (p.nest, p.first, p.sibling, p.last))
        closing = nest * last[:, 1:]
        filling = first[1:, 1:] * closing[1:]
        np.fill_diagonal(filling, 0.0)
        return cls(nest, first, sibling, last, closing, filling)


@inner
def new_chart(tokens: int, cells: int, labels: int) -> NestedChart:
    """Space for the sums of any sentence of so many tokens and cells."""
    rows, each, top = (cells, labels, labels + 1), (cells, labels), (tokens + 1, labels + 1)
    return NestedChart(
        np.zeros(rows), np.zeros(rows), np.zeros(each), np.zeros(each), np.zeros(each), np.zeros((cells, 2 * labels)),
        np.zeros(each), np.zeros(cells, np.int64), np.zeros(cells, np.int64), np.zeros((cells, 3), np.int64),
        np.zeros((tokens, labels + 1)), np.zeros((tokens, 2), np.int64), np.zeros(top), np.zeros(top),
        np.zeros(tokens + 1, np.int64),
    )  # fmt: skip


@inner
def power(k: int) -> float:
    """``2.0 ** k``, zero if that is too small."""
    if k > 0:
        return math.ldexp(1.0, min(k, 1000))
    return POWERS[-k] if k > -1075 else 0.0


@inner
def scale_of(value: float) -> int:
    """The whole k with ``2 ** k`` about the exponential of a value."""
    return int(np.floor(value / LOG_TWO)) if value > -np.inf else NEVER


@inner
def exponent(value: float) -> int:
    """The whole k with a value of ``2 ** k`` or less, and more than half of it; 0 for zero."""
    return math.frexp(value)[1]


@inner
def fill_scores(a: int, n: int, longest: int, phrases: int, p: NestedPotentials, score: Floats) -> None:
    """The scores of all segments of the sentence of n tokens from token a on. score: [cells, 2 * T]."""
    kinds = p.inside.shape[1]
    running = np.empty(kinds)
    for i in range(n):
        running[:] = 0.0
        for d in range(min(longest, n - i)):
            c = i * longest + d
            for x in range(kinds):
                running[x] += p.inside[a + i + d, x]
                score[c, x] = running[x] + p.start[a + i, x] + p.end[a + i + d, x]
            if d < phrases:
                for x in range(kinds):
                    score[c, x] += p.phrase[(a + i) * phrases + d, x]


@inner
def fill_words(a: int, n: int, p: NestedPotentials, chart: NestedChart) -> None:
    """The exponentials of the scores of words."""
    for i in range(n):
        largest = -np.inf
        for q in range(1, p.word.shape[1]):
            largest = max(largest, p.word[a + i, q])
        within, alone = scale_of(largest), scale_of(p.word[a + i, 0])
        chart.word_scale[i, 0], chart.word_scale[i, 1] = within, alone
        chart.word[i, 0] = np.exp(p.word[a + i, 0] - alone * LOG_TWO)
        for q in range(1, p.word.shape[1]):
            chart.word[i, q] = np.exp(p.word[a + i, q] - within * LOG_TWO)


@inner
def add_splits(i: int, d: int, longest: int, tables: Tables, chart: NestedChart) -> int:
    """Sum up ``split`` of a span of d tokens from i on; returns its scale."""
    labels = chart.inner.shape[1]
    c, first, last = i * longest + d - 1, i * longest - 1, (i + d - 1) * longest + d - 1
    split = chart.split
    word = chart.word_scale[i, 0] + (chart.after_scale[last - 1] if d > 1 else 0)
    base = word
    for e in range(1, d):
        base = max(base, chart.inner_scale[first + e] + chart.after_scale[last - e])
    factor = power(word - base)
    for y in range(labels):
        following = chart.after[last - 1, y, 0] if d > 1 else tables.last[1 + y, 0]
        split[c, y, 0] = factor * chart.word[i, 1 + y] * following
        for x in range(labels):
            split[c, y, 1 + x] = 0.0
    for e in range(1, d):
        k = chart.inner_scale[first + e] + chart.after_scale[last - e] - base
        if k > -1075:
            factor = POWERS[-k]
            for y in range(labels):
                for x in range(labels):
                    split[c, y, 1 + x] += factor * chart.inner[first + e, x] * chart.after[last - e, y, 1 + x]
    for y in range(labels):
        for x in range(labels):
            split[c, y, 1 + x] *= tables.nest[1 + y, x]
    return int(base)


@inner
def weigh_segments(c: int, first: int, score: Floats, out: Floats) -> int:
    """``out[c] = exp(score[c, first : first + T])`` over its scale, which is returned. out: [cells, T]."""
    labels = out.shape[1]
    largest = -np.inf
    for x in range(labels):
        largest = max(largest, score[c, first + x])
    scale = scale_of(largest)
    for x in range(labels):
        out[c, x] = np.exp(score[c, first + x] - scale * LOG_TWO)
    return scale


@inner
def close_span(i: int, d: int, longest: int, base: int, tables: Tables, chart: NestedChart, proper: Floats) -> None:
    """From ``split`` of a span and its scale all its other sums. proper: [T] to work in."""
    labels = chart.inner.shape[1]
    c, right = i * longest + d - 1, (i + d - 1) * longest + d - 1
    chart.scale[c, 1] = weigh_segments(c, 0, chart.score, chart.outer)
    chart.scale[c, 2] = weigh_segments(c, labels, chart.score, chart.weight)
    for x in range(labels):
        proper[x] = 0.0
        for e in range(labels + 1):
            proper[x] += tables.first[1 + x, e] * chart.split[c, x, e]
    largest = 0.0
    for x in range(labels):
        chart.content[c, x] = 0.0
        for y in range(labels):
            chart.content[c, x] += tables.filling[x, y] * chart.weight[c, y] * proper[y]
        largest = max(largest, chart.content[c, x])
    lift = max(0, chart.scale[c, 2] + exponent(largest)) if largest > 0.0 else 0
    of_proper, of_filling = power(-lift), power(chart.scale[c, 2] - lift)
    largest = 0.0
    for x in range(labels):
        chart.content[c, x] = proper[x] * of_proper + chart.content[c, x] * of_filling
        largest = max(largest, chart.content[c, x])
    shift = exponent(largest)
    chart.scale[c, 0] = base + lift + shift
    factor = power(-shift)
    largest = 0.0
    for x in range(labels):
        chart.content[c, x] *= factor
        chart.outer[c, x] *= chart.content[c, x]
        chart.inner[c, x] = chart.weight[c, x] * chart.content[c, x]
        largest = max(largest, chart.inner[c, x])
    shift = exponent(largest)
    chart.scale[c, 1] += chart.scale[c, 0]
    chart.inner_scale[c] = chart.scale[c, 0] + chart.scale[c, 2] + shift
    factor = power(-shift)
    for x in range(labels):
        chart.inner[c, x] *= factor
    scale = max(base, chart.inner_scale[c])
    of_split, of_inner = power(base - scale), power(chart.inner_scale[c] - scale)
    largest = 0.0
    for y in range(labels):
        chart.split[c, y, 0] *= of_split
        largest = max(largest, chart.split[c, y, 0])
        for x in range(labels):
            chart.split[c, y, 1 + x] *= of_split
            largest = max(largest, chart.split[c, y, 1 + x] + of_inner * chart.inner[c, x] * tables.closing[1 + y, x])
    shift = exponent(largest)
    factor = power(-shift)
    of_inner *= factor
    for y in range(labels):
        chart.split[c, y, 0] *= factor
        for e in range(labels + 1):
            chart.after[right, y, e] = tables.sibling[1 + y, e, 0] * chart.split[c, y, 0]
        for x in range(labels):
            chart.split[c, y, 1 + x] *= factor
            rest = chart.split[c, y, 1 + x] + of_inner * chart.inner[c, x] * tables.closing[1 + y, x]
            for e in range(labels + 1):
                chart.after[right, y, e] += tables.sibling[1 + y, e, 1 + x] * rest
    chart.after_scale[right] = scale + shift


@inner
def add_top(i: int, n: int, longest: int, tables: Tables, chart: NestedChart) -> None:
    """The sum over all that may follow from token i on, in no segment."""
    labels = chart.inner.shape[1]
    base = chart.word_scale[i, 1] + chart.top_scale[i + 1]
    for d in range(1, min(longest, n - i) + 1):
        base = max(base, chart.scale[i * longest + d - 1, 1] + chart.top_scale[i + d])
    top = chart.top[i]
    factor = power(chart.word_scale[i, 1] + chart.top_scale[i + 1] - base)
    top[0] = factor * chart.word[i, 0] * (chart.top_after[i + 1, 0] if i + 1 < n else tables.last[0, 0])
    top[1:] = 0.0
    for d in range(1, min(longest, n - i) + 1):
        c = i * longest + d - 1
        factor = power(chart.scale[c, 1] + chart.top_scale[i + d] - base)
        if factor > 0.0:
            for x in range(labels):
                following = chart.top_after[i + d, 1 + x] if i + d < n else tables.last[0, 1 + x]
                top[1 + x] += factor * chart.outer[c, x] * following
    largest = top[0]
    for x in range(labels):
        top[1 + x] *= tables.nest[0, x]
        largest = max(largest, top[1 + x])
    shift = exponent(largest)
    for e in range(labels + 1):
        top[e] *= power(-shift)
        chart.top_after[i, e] = 0.0
    for e in range(labels + 1):
        for f in range(labels + 1):
            chart.top_after[i, e] += tables.sibling[0, e, f] * top[f]
    chart.top_scale[i] = base + shift


@kernel
def inside(
    a: int, n: int, longest: int, phrases: int, p: NestedPotentials, tables: Tables, chart: NestedChart
) -> float:
    """Fill the chart of the sentence of n tokens from token a on, and return its log Z."""
    labels = p.nest.shape[1]
    fill_scores(a, n, longest, phrases, p, chart.score)
    fill_words(a, n, p, chart)
    proper = np.empty(labels)
    for d in range(1, min(longest, n) + 1):
        for i in range(n - d + 1):
            base = add_splits(i, d, longest, tables, chart)
            close_span(i, d, longest, base, tables, chart, proper)
    chart.top_scale[n] = 0
    for i in range(n - 1, -1, -1):
        add_top(i, n, longest, tables, chart)
    total = 0.0
    for e in range(labels + 1):
        total += tables.first[0, e] * chart.top[0, e]
    return chart.top_scale[0] * LOG_TWO + np.log(total) if total > 0.0 else -np.inf
