"""Inside sums in log space: slower, and right where probabilities would lose a tree to underflow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.chain.parts import Floats
from dovetail.structures.grammar.parts import GrammarPotentials, Mask, cell_count
from dovetail.structures.grammar.search import at, unary_total
from dovetail.structures.grammar.sums import Chart, Rules, cell


class LogChart(NamedTuple):
    """Logs of inside values, below a unary rule and above it: [cells, S]."""

    bottom: Floats
    top: Floats

    @classmethod
    def empty(cls, n: int, symbols: int) -> LogChart:
        """A chart for n words, to be filled."""
        shape = (cell_count(n), symbols)
        return cls(np.full(shape, -np.inf), np.full(shape, -np.inf))

    @classmethod
    def of(cls, chart: Chart) -> LogChart:
        """The logs of a chart of probabilities."""
        with np.errstate(divide="ignore"):
            return cls(*(np.log(values) + chart.scale[:, None] for values in (chart.bottom, chart.top)))


@inner
def log_add(a: float, b: float) -> float:
    """log(exp(a) + exp(b))."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@inner
def log_splits(
    i: int, j: int, n: int, rules: Rules, p: GrammarPotentials, mask: Mask, chart: LogChart, total: Floats
) -> None:
    """Sum the binary rules over a span into ``bottom``. total: [S], overwritten."""
    symbols = chart.top.shape[1]
    c, bi, ej = cell(i, j, n), at(i, p.begin), at(j, p.end)
    highest = chart.bottom[c]  # of the scores so far; total is the sum of their exponentials, relative to it
    total[:] = 0.0
    for k in range(i + 1, j):
        lc, rc, sk = cell(i, k, n), cell(k, j, n), at(k, p.split)
        for b in range(symbols):
            if chart.top[lc, b] == -np.inf:
                continue
            for q in range(rules.left_ptr[b], rules.left_ptr[b + 1]):
                a = rules.parent[q]
                score = (
                    chart.top[lc, b] + chart.top[rc, rules.right[q]] + p.begin[bi, q] + p.split[sk, q] + p.end[ej, q]
                )
                if score == -np.inf or not mask[c, a]:
                    continue
                if score > highest[a]:
                    total[a] = total[a] * np.exp(highest[a] - score) + 1.0
                    highest[a] = score
                else:
                    total[a] += np.exp(score - highest[a])
    sc = at(c, p.span)
    for a in range(symbols):
        if highest[a] > -np.inf:
            highest[a] += np.log(total[a]) + p.span[sc, a]


@kernel
def log_inside(n: int, rules: Rules, p: GrammarPotentials, mask: Mask, chart: LogChart) -> float:
    """Fill an empty chart for n words and return log Z. mask: [cells, S], 0 where a symbol is ruled out."""
    total = np.zeros(chart.top.shape[1])
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            if length > 1:
                log_splits(i, j, n, rules, p, mask, chart, total)
            else:
                for t in range(p.tag.shape[1]):
                    if mask[c, t]:
                        chart.bottom[c, t] = p.tag[i, t]
            chart.top[c] = chart.bottom[c]
            for u in range(len(rules.unary_parent)):
                a, below = rules.unary_parent[u], chart.bottom[c, rules.unary_child[u]]
                score = below + unary_total(p, i, j, c, u, a)
                if mask[c, a] and score > -np.inf:
                    chart.top[c, a] = log_add(chart.top[c, a], score)
    log_z = -np.inf
    for a in range(chart.top.shape[1]):
        log_z = log_add(log_z, chart.top[n - 1, a] + p.root[a])
    return log_z
