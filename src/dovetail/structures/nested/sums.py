"""Inside and outside sums over nested segmentations, in probability space with a scale for every span.

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
The outside values are derivatives of log Z by the stored ones. The sum over the splits of spans takes T * T products
each: it is what grows with the cube of the length.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.chain.parts import Floats, Integers
from dovetail.structures.nested.parts import NestedPotentials

NEGLIGIBLE = 1e-18  # a probability below the rounding error of those that it would be added to
LOG_TWO = math.log(2.0)
POWERS = 2.0 ** -np.arange(1080.0)
NEVER = -(1 << 40)  # the scale of what is impossible


class Chart(NamedTuple):
    """Sums of a sentence; see above. Cells are numbered ``i * D + length - 1``, for segments of up to D tokens.

    Those of ``after``, which are read at the right of a split, are numbered ``(j - 1) * D + length - 1`` instead:
    what one split after the other asks for then lies side by side.
    """

    split: Floats
    """``[cells, T, T + 1]``."""
    after: Floats
    """``[cells, T, T + 1]``."""
    content: Floats
    """``[cells, T]``."""
    inner: Floats
    """``[cells, T]``."""
    outer: Floats
    """``[cells, T]``."""
    score: Floats
    """``[cells, 2 * T]``: log scores of segments in no other, and of segments in others."""
    weight: Floats
    """``[cells, T]``: exponentials of the scores of segments in others."""
    after_scale: Integers
    """``[cells]``, numbered like ``after``: the scale of split, rest and after."""
    inner_scale: Integers
    """``[cells]``."""
    scale: Integers
    """``[cells, 3]``: the scales of content, outer and weight."""
    word: Floats
    """``[n, T + 1]``: exponentials of the scores of words, each over its largest but for that in no segment."""
    word_scale: Integers
    """``[n, 2]``: the scales of words in segments, and of those in none."""
    top: Floats
    """``[n + 1, T + 1]``: the sum over all that follows from a token on, by its first element."""
    top_after: Floats
    """``[n + 1, T + 1]``: the same, by the element before."""
    top_scale: Integers
    """``[n + 1]``."""


class Tables(NamedTuple):
    """The exponentials of the tables of potentials, and products of them."""

    nest: Floats
    first: Floats
    sibling: Floats
    last: Floats
    closing: Floats
    """``[T + 1, T]``: nest * last, of a segment that ends its context."""
    filling: Floats
    """``[T, T]``: first * nest * last, of a segment that fills another; 0 where the labels are the same."""

    @classmethod
    def of(cls, p: NestedPotentials) -> Tables:
        """The exponentials of potentials."""
        nest, first, sibling, last = (np.exp(table) for table in (p.nest, p.first, p.sibling, p.last))
        closing = nest * last[:, 1:]
        filling = first[1:, 1:] * closing[1:]
        np.fill_diagonal(filling, 0.0)
        return cls(nest, first, sibling, last, closing, filling)


@inner
def new_chart(tokens: int, cells: int, labels: int) -> Chart:
    """Space for the sums of any sentence of so many tokens and cells."""
    return Chart(
        np.zeros((cells, labels, labels + 1)),
        np.zeros((cells, labels, labels + 1)),
        np.zeros((cells, labels)),
        np.zeros((cells, labels)),
        np.zeros((cells, labels)),
        np.zeros((cells, 2 * labels)),
        np.zeros((cells, labels)),
        np.zeros(cells, np.int64),
        np.zeros(cells, np.int64),
        np.zeros((cells, 3), np.int64),
        np.zeros((tokens, labels + 1)),
        np.zeros((tokens, 2), np.int64),
        np.zeros((tokens + 1, labels + 1)),
        np.zeros((tokens + 1, labels + 1)),
        np.zeros(tokens + 1, np.int64),
    )


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
def fill_words(a: int, n: int, p: NestedPotentials, chart: Chart) -> None:
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
def add_splits(i: int, d: int, longest: int, tables: Tables, chart: Chart) -> int:
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
def close_span(i: int, d: int, longest: int, base: int, tables: Tables, chart: Chart, proper: Floats) -> None:
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
def add_top(i: int, n: int, longest: int, tables: Tables, chart: Chart) -> None:
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
def inside(a: int, n: int, longest: int, phrases: int, p: NestedPotentials, tables: Tables, chart: Chart) -> float:
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


class Slopes(NamedTuple):
    """Derivatives of log Z by the sums of a chart, cells as in :class:`Chart`; and the probability of every segment."""

    after: Floats
    """``[cells, T, T + 1]``."""
    inner: Floats
    """``[cells, T]``."""
    content: Floats
    """``[cells, T]``."""
    segment: Floats
    """``[cells, 2 * T]``: probabilities of segments in no other, and of segments in others."""


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
    a: int, n: int, longest: int, tables: Tables, chart: Chart, slopes: Slopes, counts: NestedPotentials
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
def negligible(c: int, right: int, chart: Chart, slopes: Slopes) -> bool:
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
    c: int,
    right: int,
    tables: Tables,
    chart: Chart,
    slopes: Slopes,
    counts: NestedPotentials,
    slope: Floats,
    proper: Floats,
) -> None:
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
    a: int,
    i: int,
    d: int,
    longest: int,
    tables: Tables,
    chart: Chart,
    slopes: Slopes,
    counts: NestedPotentials,
    slope: Floats,
) -> None:
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
    a: int, n: int, longest: int, tables: Tables, chart: Chart, slopes: Slopes, counts: NestedPotentials
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
    offsets: Integers,
    low: int,
    high: int,
    bound: int,
    phrases: int,
    p: NestedPotentials,
    tables: Tables,
    counts: NestedPotentials,
    with_counts: bool,
    log_z: Floats,
) -> None:
    """log Z [n] of sentences low to high, and with_counts the expected counts of all parts, added to ``counts``."""
    labels = p.nest.shape[1]
    most = 0
    for s in range(low, high):
        most = max(most, offsets[s + 1] - offsets[s])
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
    a: int,
    n: int,
    longest: int,
    phrases: int,
    p: NestedPotentials,
    tables: Tables,
    counts: NestedPotentials,
    out: Floats,
) -> None:
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
