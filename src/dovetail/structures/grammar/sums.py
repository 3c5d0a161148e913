"""Inside and outside sums over a chart, in probability space with a scale for every span.

Every span holds two values a symbol, as a span takes at most one unary rule: ``bottom`` before it and ``top`` after it.
The true inside value is ``exp(scale[c]) * top[c, A]``, and the largest ``top`` of a span is 1. The exponentials of the
potentials come with the largest of each row taken out (``GrammarWeights``), so that nothing overflows; a symbol that
is smaller than another of its span by a factor of 1e250 counts as impossible. Where that or an underflow happens the
chart says so (``lost``), and sums in log space (posterior.py) are right where these may not be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.contract import Floats, Labels
from dovetail.structures.grammar.parts import GrammarPotentials, Mask, Rules, cell_count

TINY = 1e-250
# A product that is smaller than this, of factors that are not zero, is about to underflow.
UNDERFLOW = 1e-290
# The least log weight, against the largest of its row, of all parts of a use of a rule together.
LEAST_LOG_WEIGHT = -500.0


class Table(NamedTuple):
    """Exponentials of a table of potentials: ``exp(potential[p]) = exp(shift[p]) * weight[p]``, at most 1 in a row."""

    weight: Floats
    shift: Floats
    least: float  # The smallest log of a weight that is not zero, at most 0

    @classmethod
    def of(cls, potentials: Floats) -> Table:
        """The exponentials."""
        shift = potentials.max(axis=1, initial=-np.inf)
        shift[shift == -np.inf] = 0.0
        weight = potentials - shift[:, None]
        least = float(weight.min(initial=0.0))
        if least == -np.inf:
            least = float(weight.min(initial=0.0, where=weight > -np.inf))
        return cls(np.exp(weight, out=weight), shift, least)


class GrammarWeights(NamedTuple):
    """The exponentials of :class:`GrammarPotentials`."""

    tag: Table
    begin: Table
    split: Table
    end: Table
    span: Table
    unary_begin: Table
    unary_end: Table
    root: Table

    @classmethod
    def of(cls, potentials: GrammarPotentials) -> GrammarWeights:
        """The exponentials."""
        return cls._make(map(Table.of, potentials._replace(root=potentials.root[None])))

    def potentials(self) -> GrammarPotentials:
        """What these are the exponentials of, where none was too small for a chart to be trusted."""
        with np.errstate(divide="ignore"):
            logs = GrammarPotentials._make(np.log(table.weight) + table.shift[:, None] for table in self)
        return logs._replace(root=logs.root[0])


class InsideChart(NamedTuple):
    """Inside values: ``bottom`` and ``top`` [cells, S], ``scale`` [cells], and the ``number`` [cells] of symbols that
    are possible over a span, ``active`` [cells, S]; ``lost`` [1] is not 0 where something was too small to be kept."""

    bottom: Floats
    top: Floats
    scale: Floats
    active: Labels
    number: Labels
    lost: Labels

    @classmethod
    def empty(cls, n: int, symbols: int) -> InsideChart:
        """A chart for n words, to be filled."""
        cells, (bottom, top) = cell_count(n), np.zeros((2, cell_count(n), symbols))
        active, number, lost = np.empty((cells, symbols), np.int32), np.zeros(cells, np.int32), np.zeros(1, np.int32)
        return cls(bottom, top, np.zeros(cells), active, number, lost)


@kernel
def cell(i: int, j: int, n: int) -> int:
    """The number of the span from word i to word j."""
    return i * n - i * (i - 1) // 2 + j - i - 1


@kernel
def at(p: int, table: Floats) -> int:
    """Which row of a table holds for position p: the only one, if there is one."""
    return p if table.shape[0] > 1 else 0


@inner
def binary_total(p: GrammarPotentials, i: int, k: int, j: int, c: int, q: int, a: int) -> float:
    """The sum of the parts of a use of binary rule q, with parent a, over words i to j, span c, split at k."""
    own = p.begin[at(i, p.begin), q] + p.split[at(k, p.split), q] + p.end[at(j, p.end), q]
    return float(own + p.span[at(c, p.span), a])


@inner
def unary_ends(p: GrammarPotentials, i: int, j: int, u: int) -> float:
    """The sum of those parts of a use of unary rule u over words i to j that depend on where it begins or ends."""
    return float(p.unary_begin[at(i, p.unary_begin), u] + p.unary_end[at(j, p.unary_end), u])


@inner
def unary_total(p: GrammarPotentials, i: int, j: int, c: int, u: int, a: int) -> float:
    """The sum of the parts of a use of unary rule u, with parent a, over words i to j, span c."""
    return float(unary_ends(p, i, j, u) + p.span[at(c, p.span), a])


@inner
def splits_base(i: int, j: int, n: int, chart: InsideChart, split: Table) -> float:
    """The largest log scale among the splits of a span; minus infinity if no split has both sides."""
    base = -np.inf
    for k in range(i + 1, j):
        lc, rc = cell(i, k, n), cell(k, j, n)
        if chart.number[lc] and chart.number[rc]:
            base = max(base, chart.scale[lc] + chart.scale[rc] + split.shift[at(k, split.weight)])
    return base


@inner
def add_rules(
    first: int, last: int, children: float, c: int, bi: int, sk: int, ej: int, rules: Rules, weights: GrammarWeights,
    mask: Mask, chart: InsideChart,
) -> None:  # fmt: skip
    """Add the rules ``first`` to ``last`` over the same children, of this inside value, to ``bottom``."""
    for q in range(first, last):
        a = rules.parent[q]
        if mask[c, a]:
            w = weights.begin.weight[bi, q] * weights.split.weight[sk, q] * weights.end.weight[ej, q]
            chart.bottom[c, a] += children * w
            if children * w < UNDERFLOW and w > 0.0:
                chart.lost[0] = 1


@kernel
def add_splits(
    i: int, j: int, n: int, base: float, rules: Rules, weights: GrammarWeights, mask: Mask, chart: InsideChart
) -> None:
    """Sum the binary rules over a span into ``bottom``, relative to exp(base)."""
    symbols = chart.top.shape[1]
    c, bi, ej = cell(i, j, n), at(i, weights.begin.weight), at(j, weights.end.weight)
    for k in range(i + 1, j):
        lc, rc = cell(i, k, n), cell(k, j, n)
        if chart.number[lc] == 0 or chart.number[rc] == 0:
            continue
        sk = at(k, weights.split.weight)
        factor = np.exp(chart.scale[lc] + chart.scale[rc] + weights.split.shift[sk] - base)
        for x in range(chart.number[lc]):
            b = chart.active[lc, x]
            of_b = chart.top[lc, b] * factor
            if rules.left_ptr[b + 1] - rules.left_ptr[b] < chart.number[rc]:
                for q in range(rules.left_ptr[b], rules.left_ptr[b + 1]):
                    right = chart.top[rc, rules.right[q]]
                    if right > TINY:
                        add_rules(q, q + 1, of_b * right, c, bi, sk, ej, rules, weights, mask, chart)
                continue
            for y in range(chart.number[rc]):
                pair = b * symbols + chart.active[rc, y]
                first, last = rules.pair_ptr[pair], rules.pair_ptr[pair + 1]
                if first < last:
                    children = of_b * chart.top[rc, chart.active[rc, y]]
                    add_rules(first, last, children, c, bi, sk, ej, rules, weights, mask, chart)


@inner
def add_unaries(i: int, j: int, n: int, rules: Rules, weights: GrammarWeights, mask: Mask, chart: InsideChart) -> float:
    """Fill ``top`` from ``bottom``, both relative to a new scale; returns by how much its log grows."""
    c = cell(i, j, n)
    ui, uj, sc = at(i, weights.unary_begin.weight), at(j, weights.unary_end.weight), at(c, weights.span.weight)
    extra = weights.unary_begin.shift[ui] + weights.unary_end.shift[uj] + weights.span.shift[sc]
    of_bottom, of_unary = np.exp(min(0.0, -extra)), np.exp(min(0.0, extra))
    for u in range(len(rules.unary_parent)):
        a, v = rules.unary_parent[u], chart.bottom[c, rules.unary_child[u]]
        if v > 0.0 and mask[c, a]:
            w = weights.unary_begin.weight[ui, u] * weights.unary_end.weight[uj, u] * weights.span.weight[sc, a]
            chart.top[c, a] += v * of_unary * w
            if v * of_unary * w < UNDERFLOW and w > 0.0:
                chart.lost[0] = 1
    for a in range(chart.top.shape[1]):
        if chart.bottom[c, a] > 0.0:
            chart.bottom[c, a] *= of_bottom
            chart.top[c, a] += chart.bottom[c, a]
            if chart.bottom[c, a] < UNDERFLOW:
                chart.lost[0] = 1
    return float(max(0.0, extra))


@kernel
def normalise(c: int, base: float, chart: InsideChart) -> None:
    """Divide a span's values by the largest ``top``, note the scale and list the symbols that are possible."""
    symbols = chart.top.shape[1]
    largest = 0.0
    for a in range(symbols):
        largest = max(largest, chart.top[c, a])
    n = 0
    if largest > 0.0:
        for a in range(symbols):
            chart.bottom[c, a] /= largest
            chart.top[c, a] /= largest
            if 0.0 < chart.top[c, a] <= TINY:
                chart.lost[0] = 1
            if chart.top[c, a] > TINY:
                chart.active[c, n] = a
                n += 1
        chart.scale[c] = base + np.log(largest)
    chart.number[c] = n


@kernel
def inside(n: int, rules: Rules, weights: GrammarWeights, mask: Mask, chart: InsideChart) -> float:
    """Fill an empty chart for n words and return log Z. mask: [cells, S], 0 where a symbol is ruled out."""
    tags = weights.tag.weight.shape[1]
    symbols = chart.top.shape[1]
    binary = weights.begin.least + weights.split.least + weights.end.least + weights.span.least
    unary = weights.unary_begin.least + weights.unary_end.least + weights.span.least
    if min(binary, unary, weights.tag.least, weights.root.least) < LEAST_LOG_WEIGHT:
        chart.lost[0] = 1
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            if not mask[c].any():
                continue
            if length == 1:
                base = weights.tag.shift[i]
                for t in range(tags):
                    if mask[c, t]:
                        chart.bottom[c, t] = weights.tag.weight[i, t]
            else:
                base = splits_base(i, j, n, chart, weights.split)
                if base == -np.inf:
                    continue
                add_splits(i, j, n, base, rules, weights, mask, chart)
                sc = at(c, weights.span.weight)
                for a in range(tags, symbols):
                    w = chart.bottom[c, a] * weights.span.weight[sc, a]
                    if w < UNDERFLOW and chart.bottom[c, a] > 0.0 and weights.span.weight[sc, a] > 0.0:
                        chart.lost[0] = 1
                    chart.bottom[c, a] = w
                base += (
                    weights.begin.shift[at(i, weights.begin.weight)]
                    + weights.end.shift[at(j, weights.end.weight)]
                    + weights.span.shift[sc]
                )
            base += add_unaries(i, j, n, rules, weights, mask, chart)
            normalise(c, base, chart)
    total = 0.0
    for a in range(symbols):
        total += chart.top[n - 1, a] * weights.root.weight[0, a]
    if total == 0.0:
        return -np.inf
    return float(np.log(total) + chart.scale[n - 1] + weights.root.shift[0])


@inner
def outside_unaries(
    i: int, j: int, n: int, rules: Rules, weights: GrammarWeights, mask: Mask, chart: InsideChart, top: Floats,
    bottom: Floats, counts: GrammarPotentials,
) -> None:  # fmt: skip
    """The outside values of a span's ``bottom`` from those of its ``top``, and the counts of its unary rules."""
    c = cell(i, j, n)
    ui, uj, sc = at(i, weights.unary_begin.weight), at(j, weights.unary_end.weight), at(c, weights.span.weight)
    extra = weights.unary_begin.shift[ui] + weights.unary_end.shift[uj] + weights.span.shift[sc]
    factor = np.exp(extra)
    for x in range(chart.number[c]):
        bottom[c, chart.active[c, x]] = top[c, chart.active[c, x]]
    for u in range(len(rules.unary_parent)):
        a, b = rules.unary_parent[u], rules.unary_child[u]
        if top[c, a] > 0.0 and chart.bottom[c, b] > 0.0 and mask[c, a]:
            w = weights.unary_begin.weight[ui, u] * weights.unary_end.weight[uj, u] * weights.span.weight[sc, a]
            w *= top[c, a] * factor
            bottom[c, b] += w
            count = w * chart.bottom[c, b]
            counts.unary_begin[ui, u] += count
            counts.unary_end[uj, u] += count
            counts.span[sc, a] += count


@inner
def outside_rules(
    first: int, last: int, children: float, c: int, bi: int, sk: int, ej: int, rules: Rules, weights: GrammarWeights,
    bottom: Floats, counts: GrammarPotentials,
) -> float:  # fmt: skip
    """The counts of the rules ``first`` to ``last`` over the same children; their sum but for the children's values."""
    total = 0.0
    for q in range(first, last):
        above = bottom[c, rules.parent[q]]
        if above > 0.0:
            w = weights.begin.weight[bi, q] * weights.split.weight[sk, q] * weights.end.weight[ej, q] * above
            total += w
            counts.begin[bi, q] += w * children
            counts.split[sk, q] += w * children
            counts.end[ej, q] += w * children
    return total


@kernel
def outside_splits(
    i: int, j: int, n: int, rules: Rules, weights: GrammarWeights, chart: InsideChart, top: Floats, bottom: Floats,
    counts: GrammarPotentials,
) -> None:  # fmt: skip
    """The outside values of the parts of a span's splits from its own, and the counts of its binary rules."""
    symbols = chart.top.shape[1]
    c, bi, ej = cell(i, j, n), at(i, weights.begin.weight), at(j, weights.end.weight)
    sc = at(c, weights.span.weight)
    for a in range(weights.tag.weight.shape[1], symbols):
        counts.span[sc, a] += bottom[c, a] * chart.bottom[c, a]
        bottom[c, a] *= weights.span.weight[sc, a]
    shared = weights.begin.shift[bi] + weights.end.shift[ej] + weights.span.shift[sc] - chart.scale[c]
    for k in range(i + 1, j):
        lc, rc = cell(i, k, n), cell(k, j, n)
        if chart.number[lc] == 0 or chart.number[rc] == 0:
            continue
        sk = at(k, weights.split.weight)
        factor = np.exp(chart.scale[lc] + chart.scale[rc] + weights.split.shift[sk] + shared)
        for x in range(chart.number[lc]):
            b = chart.active[lc, x]
            left, of_b = chart.top[lc, b], 0.0
            if rules.left_ptr[b + 1] - rules.left_ptr[b] < chart.number[rc]:
                for q in range(rules.left_ptr[b], rules.left_ptr[b + 1]):
                    d = rules.right[q]
                    right = chart.top[rc, d]
                    if right > TINY:
                        w = factor * outside_rules(
                            q, q + 1, left * right * factor, c, bi, sk, ej, rules, weights, bottom, counts
                        )
                        of_b += w * right
                        top[rc, d] += w * left
                top[lc, b] += of_b
                continue
            for y in range(chart.number[rc]):
                d = chart.active[rc, y]
                first, last = rules.pair_ptr[b * symbols + d], rules.pair_ptr[b * symbols + d + 1]
                if first < last:
                    right = chart.top[rc, d]
                    w = factor * outside_rules(
                        first, last, left * right * factor, c, bi, sk, ej, rules, weights, bottom, counts
                    )
                    of_b += w * right
                    top[rc, d] += w * left
            top[lc, b] += of_b


@kernel
def outside(
    n: int, rules: Rules, weights: GrammarWeights, mask: Mask, chart: InsideChart, top: Floats, bottom: Floats,
    counts: GrammarPotentials,
) -> None:  # fmt: skip
    """Add the expected counts of all parts to ``counts``, from a chart that :func:`inside` has filled. top, bottom:
    [cells, S] zeros, in which the outside values are left, times exp(scale) / Z: times the inside values, they are
    probabilities."""
    symbols = chart.top.shape[1]
    total = 0.0
    for a in range(symbols):
        total += chart.top[n - 1, a] * weights.root.weight[0, a]
    if total == 0.0:
        return
    for a in range(symbols):
        top[n - 1, a] = weights.root.weight[0, a] / total
        counts.root[a] += top[n - 1, a] * chart.top[n - 1, a]
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            possible = False
            for x in range(chart.number[c]):
                possible |= top[c, chart.active[c, x]] > 0.0
            if not possible:
                continue
            outside_unaries(i, j, n, rules, weights, mask, chart, top, bottom, counts)
            if length > 1:
                outside_splits(i, j, n, rules, weights, chart, top, bottom, counts)
            else:
                for t in range(weights.tag.weight.shape[1]):
                    counts.tag[i, t] += bottom[c, t] * chart.bottom[c, t]
