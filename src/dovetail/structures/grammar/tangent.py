"""Probabilities of parts from the logs of inside values, how they move with the potentials, and the entropy.

Given all inside values, the probability that symbol A over a span is made by a certain use of a rule is ``exp(score of
the use + inside of its children - inside of A)``. From the top down, what A has is passed on to the parts of each use
in proportion, so nothing can overflow, and what underflows is as improbable as that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.chain.parts import Floats
from dovetail.structures.grammar.log import LogChart
from dovetail.structures.grammar.parts import GrammarPotentials, cell_count
from dovetail.structures.grammar.search import at, binary_total, unary_total
from dovetail.structures.grammar.sums import Rules, cell


class SpanValues(NamedTuple):
    """A number for every symbol over a span, below a unary rule and above it: [cells, S]."""

    bottom: Floats
    top: Floats

    @classmethod
    def zeros(cls, n: int, symbols: int) -> SpanValues:
        """For n words."""
        return cls(*np.zeros((2, cell_count(n), symbols)))


@kernel
def means_below(
    n: int, rules: Rules, p: GrammarPotentials, chart: LogChart, direction: GrammarPotentials, means: SpanValues
) -> None:
    """Add to ``means``, zeros, the expected total of a direction over the parts of the tree under every symbol."""
    symbols = chart.top.shape[1]
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            bottom, top = means.bottom[c], means.top[c]
            if length == 1:
                bottom[: p.tag.shape[1]] = direction.tag[i]
            for k in range(i + 1, j):
                lc, rc = cell(i, k, n), cell(k, j, n)
                for b in range(symbols):
                    if chart.top[lc, b] == -np.inf:
                        continue
                    for q in range(rules.left_ptr[b], rules.left_ptr[b + 1]):
                        a, d = rules.parent[q], rules.right[q]
                        if chart.top[rc, d] > -np.inf and chart.bottom[c, a] > -np.inf:
                            score = binary_total(p, i, k, j, c, q, a) + chart.top[lc, b] + chart.top[rc, d]
                            own = binary_total(direction, i, k, j, c, q, a) + means.top[lc, b] + means.top[rc, d]
                            bottom[a] += np.exp(score - chart.bottom[c, a]) * own
            for a in range(symbols):
                if chart.bottom[c, a] > -np.inf:
                    top[a] = bottom[a] * np.exp(chart.bottom[c, a] - chart.top[c, a])
            for u in range(len(rules.unary_parent)):
                a, b = rules.unary_parent[u], rules.unary_child[u]
                if chart.bottom[c, b] > -np.inf and chart.top[c, a] > -np.inf:
                    share = np.exp(unary_total(p, i, j, c, u, a) + chart.bottom[c, b] - chart.top[c, a])
                    top[a] += share * (unary_total(direction, i, j, c, u, a) + bottom[b])


@inner
def add_binary(counts: GrammarPotentials, i: int, k: int, j: int, c: int, q: int, a: int, amount: float) -> None:
    """Add an amount to the parts of a use of a binary rule; see :func:`binary_total`."""
    counts.begin[at(i, counts.begin), q] += amount
    counts.split[at(k, counts.split), q] += amount
    counts.end[at(j, counts.end), q] += amount
    counts.span[at(c, counts.span), a] += amount


@inner
def descend_unaries(
    i: int,
    j: int,
    n: int,
    rules: Rules,
    p: GrammarPotentials,
    chart: LogChart,
    direction: GrammarPotentials,
    means: SpanValues,
    probability: SpanValues,
    change: SpanValues,
    counts: GrammarPotentials,
    moves: GrammarPotentials,
) -> float:
    """From the upper symbols of a span to the lower ones; returns its part of the entropy."""
    c, entropy = cell(i, j, n), 0.0
    for a in range(chart.top.shape[1]):
        if probability.top[c, a] > 0.0 and chart.bottom[c, a] > -np.inf:
            log_share = chart.bottom[c, a] - chart.top[c, a]
            share = np.exp(log_share)
            own = means.bottom[c, a] - means.top[c, a]
            probability.bottom[c, a] += share * probability.top[c, a]
            change.bottom[c, a] += share * (change.top[c, a] + probability.top[c, a] * own)
            entropy -= share * probability.top[c, a] * log_share
    for u in range(len(rules.unary_parent)):
        a, b = rules.unary_parent[u], rules.unary_child[u]
        if probability.top[c, a] > 0.0 and chart.bottom[c, b] > -np.inf:
            log_share = unary_total(p, i, j, c, u, a) + chart.bottom[c, b] - chart.top[c, a]
            share = np.exp(log_share)
            if share == 0.0:
                continue
            own = unary_total(direction, i, j, c, u, a) + means.bottom[c, b] - means.top[c, a]
            amount = share * probability.top[c, a]
            moved = share * (change.top[c, a] + probability.top[c, a] * own)
            entropy -= amount * log_share
            probability.bottom[c, b] += amount
            change.bottom[c, b] += moved
            for total, value in ((counts, amount), (moves, moved)):
                total.unary_begin[at(i, total.unary_begin), u] += value
                total.unary_end[at(j, total.unary_end), u] += value
                total.span[at(c, total.span), a] += value
    return entropy


@inner
def descend_splits(
    i: int,
    j: int,
    n: int,
    rules: Rules,
    p: GrammarPotentials,
    chart: LogChart,
    direction: GrammarPotentials,
    means: SpanValues,
    probability: SpanValues,
    change: SpanValues,
    counts: GrammarPotentials,
    moves: GrammarPotentials,
) -> float:
    """From the lower symbols of a span to the upper ones of its parts; returns its part of the entropy."""
    c, entropy = cell(i, j, n), 0.0
    for k in range(i + 1, j):
        lc, rc = cell(i, k, n), cell(k, j, n)
        for b in range(chart.top.shape[1]):
            if chart.top[lc, b] == -np.inf:
                continue
            for q in range(rules.left_ptr[b], rules.left_ptr[b + 1]):
                a, d = rules.parent[q], rules.right[q]
                if probability.bottom[c, a] == 0.0 or chart.top[rc, d] == -np.inf:
                    continue
                inside = chart.top[lc, b] + chart.top[rc, d] - chart.bottom[c, a]
                log_share = binary_total(p, i, k, j, c, q, a) + inside
                share = np.exp(log_share)
                if share == 0.0:
                    continue
                own = (
                    binary_total(direction, i, k, j, c, q, a) + means.top[lc, b] + means.top[rc, d] - means.bottom[c, a]
                )
                amount = share * probability.bottom[c, a]
                moved = share * (change.bottom[c, a] + probability.bottom[c, a] * own)
                entropy -= amount * log_share
                probability.top[lc, b] += amount
                probability.top[rc, d] += amount
                change.top[lc, b] += moved
                change.top[rc, d] += moved
                add_binary(counts, i, k, j, c, q, a, amount)
                add_binary(moves, i, k, j, c, q, a, moved)
    return entropy


@kernel
def descend(
    n: int,
    rules: Rules,
    p: GrammarPotentials,
    chart: LogChart,
    log_z: float,
    direction: GrammarPotentials,
    means: SpanValues,
    probability: SpanValues,
    change: SpanValues,
    counts: GrammarPotentials,
    moves: GrammarPotentials,
) -> float:
    """From a filled chart, the expected counts of all parts and their derivatives along a direction; the entropy.

    means: what :func:`means_below` makes of the direction. probability, change (of symbols over spans), counts, moves
    (of parts): zeros, added to.
    """
    entropy, mean = 0.0, 0.0
    for a in range(chart.top.shape[1]):
        log_share = chart.top[n - 1, a] + p.root[a] - log_z
        probability.top[n - 1, a] = np.exp(log_share)
        if probability.top[n - 1, a] > 0.0:
            entropy -= probability.top[n - 1, a] * log_share
            mean += probability.top[n - 1, a] * (direction.root[a] + means.top[n - 1, a])
    for a in range(chart.top.shape[1]):
        own = direction.root[a] + means.top[n - 1, a] - mean
        change.top[n - 1, a] = probability.top[n - 1, a] * own
        counts.root[a] += probability.top[n - 1, a]
        moves.root[a] += change.top[n - 1, a]
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            tables = (direction, means, probability, change, counts, moves)
            entropy += descend_unaries(i, j, n, rules, p, chart, *tables)
            entropy += descend_splits(i, j, n, rules, p, chart, *tables)
            if length == 1:
                for t in range(p.tag.shape[1]):
                    counts.tag[i, t] += probability.bottom[cell(i, j, n), t]
                    moves.tag[i, t] += change.bottom[cell(i, j, n), t]
    return entropy
