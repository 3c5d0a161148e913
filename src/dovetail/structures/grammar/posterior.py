"""Logs of inside sums, and what is passed down from them: probabilities, their derivatives, the entropy, samples.

Sums in log space are slower, and right where probabilities would lose a tree to underflow. Given all inside values, the
probability that symbol A over a span is made by a certain use of a rule is ``exp(score of the use + inside of its
children - inside of A)``. From the top down, what A has is passed on to the parts of each use in proportion, so nothing
can overflow, and what underflows is as improbable as that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.kernel import steady, steady_inner
from dovetail.structures.contract import Floats, Labels
from dovetail.structures.grammar.parts import Derivation, Grammar, GrammarPotentials, Mask, Rules, cell_count
from dovetail.structures.grammar.sums import InsideChart, at, binary_total, cell, unary_total
from dovetail.structures.loops import log_add


class SpanTable(NamedTuple):
    """A number for every symbol over a span, below a unary rule and above it: [cells, S]."""

    bottom: Floats
    top: Floats

    @classmethod
    def zeros(cls, n: int, symbols: int) -> SpanTable:
        """Zeros for n words."""
        return cls(*np.zeros((2, cell_count(n), symbols)))

    @classmethod
    def logs(cls, chart: InsideChart) -> SpanTable:
        """The logs of the inside values of a chart of probabilities."""
        with np.errstate(divide="ignore"):
            return cls(*(np.log(values) + chart.scale[:, None] for values in (chart.bottom, chart.top)))


@steady_inner
def log_splits(
    i: int, j: int, n: int, rules: Rules, p: GrammarPotentials, mask: Mask, chart: SpanTable, total: Floats
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


@steady
def log_inside(n: int, rules: Rules, p: GrammarPotentials, mask: Mask, chart: SpanTable) -> float:
    """Fill a chart of minus infinity for n words and return log Z. mask: [cells, S], 0 where a symbol is ruled out."""
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


@steady
def means_below(
    n: int, rules: Rules, p: GrammarPotentials, chart: SpanTable, direction: GrammarPotentials, means: SpanTable
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


class Flow(NamedTuple):
    """What is passed down from the top of a sentence, along a direction."""

    direction: GrammarPotentials
    means: SpanTable  # what :func:`means_below` makes of the direction
    probability: SpanTable  # of symbols over spans: zeros, added to, as are all below
    change: SpanTable  # its derivative
    counts: GrammarPotentials  # the expected counts of parts
    moves: GrammarPotentials  # their derivatives


@steady_inner
def add_binary(counts: GrammarPotentials, i: int, k: int, j: int, c: int, q: int, a: int, amount: float) -> None:
    """Add an amount to the parts of a use of a binary rule; see :func:`binary_total`."""
    counts.begin[at(i, counts.begin), q] += amount
    counts.split[at(k, counts.split), q] += amount
    counts.end[at(j, counts.end), q] += amount
    counts.span[at(c, counts.span), a] += amount


@steady_inner
def descend_unaries(i: int, j: int, n: int, rules: Rules, p: GrammarPotentials, chart: SpanTable, flow: Flow) -> float:
    """From the upper symbols of a span to the lower ones; returns its part of the entropy."""
    direction, means, probability, change, counts, moves = flow
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


@steady_inner
def descend_splits(i: int, j: int, n: int, rules: Rules, p: GrammarPotentials, chart: SpanTable, flow: Flow) -> float:
    """From the lower symbols of a span to the upper ones of its parts; returns its part of the entropy."""
    direction, means, probability, change, counts, moves = flow
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
                own = means.top[lc, b] + means.top[rc, d] - means.bottom[c, a]
                own += binary_total(direction, i, k, j, c, q, a)
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


@steady
def descend(n: int, rules: Rules, p: GrammarPotentials, chart: SpanTable, log_z: float, flow: Flow) -> float:
    """From a filled chart, the expected counts of all parts and their derivatives along a direction; the entropy."""
    direction, means, probability, change, counts, moves = flow
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
            entropy += descend_unaries(i, j, n, rules, p, chart, flow)
            entropy += descend_splits(i, j, n, rules, p, chart, flow)
            if length == 1:
                for t in range(p.tag.shape[1]):
                    counts.tag[i, t] += probability.bottom[cell(i, j, n), t]
                    moves.tag[i, t] += change.bottom[cell(i, j, n), t]
    return entropy


class SpanMarginals(NamedTuple):
    """How probable it is that a symbol stands over a span, or a unary rule."""

    lower: Floats  # [cells, S]: by itself or below a unary rule, that is as a tag or the parent of a binary rule
    upper: Floats  # [cells, S]: by itself or above a unary rule
    unary: Floats  # [cells, U]: a unary rule is used
    symbol: Floats  # [cells, S]: in any of these places; a symbol is at most once over a span


def span_marginals(
    n: int, grammar: Grammar, potentials: GrammarPotentials, chart: SpanTable, upper: Floats
) -> SpanMarginals:
    """All of them from those of the upper symbols [cells, S] and a filled chart."""
    lower, unary = np.zeros_like(upper), np.zeros((len(upper), grammar.unaries))
    lower_marginals(n, Rules.of(grammar), potentials, chart, upper, lower, unary)
    symbol = lower.copy()
    np.add.at(symbol.T, grammar.unary_parent, unary.T)
    return SpanMarginals(lower, upper, unary, symbol)


@steady
def lower_marginals(
    n: int, rules: Rules, p: GrammarPotentials, chart: SpanTable, upper: Floats, lower: Floats, unary: Floats
) -> None:
    """Fill ``lower`` [cells, S] and ``unary`` [cells, U], zeros."""
    for i in range(n):
        for j in range(i + 1, n + 1):
            c = cell(i, j, n)
            for a in range(upper.shape[1]):
                if upper[c, a] > 0.0:
                    lower[c, a] = upper[c, a] * np.exp(chart.bottom[c, a] - chart.top[c, a])
            for u in range(len(rules.unary_parent)):
                a, b = rules.unary_parent[u], rules.unary_child[u]
                if upper[c, a] > 0.0 and chart.bottom[c, b] > -np.inf:
                    score = unary_total(p, i, j, c, u, a) + chart.bottom[c, b] - chart.top[c, a]
                    unary[c, u] = upper[c, a] * np.exp(score)
                    lower[c, b] += unary[c, u]


class Draws(NamedTuple):
    """Drawn trees, as in :class:`Derivation`: ``root`` [m], ``tags`` [m, n], ``binary`` [m, n - 1, 4], and ``unary``
    [m, 2 n - 1, 3], of which the last ``unaries`` [m] are used."""

    root: Labels
    tags: Labels
    binary: Labels
    unary: Labels
    unaries: Labels

    @classmethod
    def empty(cls, m: int, n: int) -> Draws:
        """Room for m trees of n words."""
        shapes = (m,), (m, n), (m, n - 1, 4), (m, 2 * n - 1, 3), (m,)
        return cls(*(np.zeros(shape, np.int32) for shape in shapes))

    def trees(self) -> list[Derivation]:
        """The trees one by one."""
        starts = self.unary.shape[1] - self.unaries
        tables = zip(self.root.tolist(), self.tags, self.binary, self.unary, starts, strict=True)
        return [Derivation(root, tags, binary, unary[start:]) for root, tags, binary, unary, start in tables]


@steady_inner
def draw_root(p: GrammarPotentials, n: int, chart: SpanTable, log_z: float, uniform: float) -> int:
    """The symbol on top of the sentence."""
    chosen, passed = -1, 0.0
    for a in range(chart.top.shape[1]):
        share = np.exp(chart.top[n - 1, a] + p.root[a] - log_z)
        if share > 0.0:
            chosen, passed = a, passed + share
            if passed > uniform:
                break
    return chosen


@steady_inner
def draw_unary(
    i: int, j: int, n: int, a: int, rules: Rules, p: GrammarPotentials, chart: SpanTable, uniform: float
) -> int:
    """The unary rule over a span with symbol a on top, -1 for none."""
    c, chosen = cell(i, j, n), -1
    passed = np.exp(chart.bottom[c, a] - chart.top[c, a])
    if passed > uniform:
        return chosen
    for u in range(len(rules.unary_parent)):
        if rules.unary_parent[u] == a:
            share = np.exp(unary_total(p, i, j, c, u, a) + chart.bottom[c, rules.unary_child[u]] - chart.top[c, a])
            if share > 0.0:
                chosen, passed = u, passed + share
                if passed > uniform:
                    break
    return chosen


@steady_inner
def draw_split(
    i: int, j: int, n: int, a: int, rules: Rules, by_parent: Labels, p: GrammarPotentials, chart: SpanTable,
    uniform: float,
) -> tuple[int, int]:  # fmt: skip
    """The binary rule and the split of a span with symbol a below. by_parent: the rules of a."""
    c, rule, split, passed = cell(i, j, n), -1, -1, 0.0
    for k in range(i + 1, j):
        lc, rc = cell(i, k, n), cell(k, j, n)
        for q in by_parent:
            inside = chart.top[lc, rules.left[q]] + chart.top[rc, rules.right[q]]
            if inside > -np.inf:
                share = np.exp(binary_total(p, i, k, j, c, q, a) + inside - chart.bottom[c, a])
                if share > 0.0:
                    rule, split, passed = q, k, passed + share
                    if passed > uniform:
                        return rule, split
    return rule, split


@steady
def sample(
    n: int, rules: Rules, by_parent: Labels, parent_ptr: Labels, p: GrammarPotentials, chart: SpanTable, log_z: float,
    uniforms: Floats, out: Draws,
) -> None:  # fmt: skip
    """Fill ``out`` with trees. uniforms: [m, 3 n]; by_parent, parent_ptr: see :class:`Grammar`."""
    stack = np.empty((n + 1, 3), np.int64)
    for m in range(len(out.root)):
        out.root[m] = draw_root(p, n, chart, log_z, uniforms[m, 0])
        stack[0, 0], stack[0, 1], stack[0, 2] = out.root[m], 0, n
        depth, drawn, binaries, unaries = 1, 1, 0, 0
        while depth > 0:  # parents first and right before left, filled from the back: children first
            depth -= 1
            a, i, j = stack[depth]
            u = draw_unary(i, j, n, a, rules, p, chart, uniforms[m, drawn])
            drawn += 1
            if u >= 0:
                unaries += 1
                use = out.unary[m, out.unary.shape[1] - unaries]
                use[0], use[1], use[2] = u, i, j
                a = np.int64(rules.unary_child[u])
            if j == i + 1:
                out.tags[m, i] = a
                continue
            own = by_parent[parent_ptr[a] : parent_ptr[a + 1]]
            q, k = draw_split(i, j, n, a, rules, own, p, chart, uniforms[m, drawn])
            drawn += 1
            binaries += 1
            used = out.binary[m, n - 1 - binaries]
            used[0], used[1], used[2], used[3] = q, i, k, j
            stack[depth, 0], stack[depth, 1], stack[depth, 2] = rules.left[q], i, k
            stack[depth + 1, 0], stack[depth + 1, 1], stack[depth + 1, 2] = rules.right[q], k, j
            depth += 2
        out.unaries[m] = unaries
