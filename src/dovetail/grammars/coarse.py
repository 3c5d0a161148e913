"""Posteriors of symbols over spans by a grammar whose weights are the same everywhere: the pass that prunes.

Where the weight of a rule depends on neither words nor split, the sum over the splits of a span can be taken before
the rules: ``pairs[B, C] = sum_k inside[i, k, B] * inside[k, j, C]`` is a product of dense matrices, and every rule is
looked at once a span, not once a split. Tags stand over single words alone, so the matrices are of phrases, and the
rules with tags are looked at for the tags that a span begins or ends with.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dovetail.errors import InputError
from dovetail.kernel import inner, kernel
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.grammar import Grammar, GrammarPotentials, InsideChart, cell, check_size
from dovetail.structures.grammar.sums import at

# A symbol that is smaller than another of its span by this factor is dropped, and so is a split.
SMALL = 1e-100
# The parts of a span are not looked at when all its trees together are less probable than this.
NEGLIGIBLE = 1e-12


class TagRules(NamedTuple):
    """Rules with a tag on one side, sorted by it: those of a tag are from ``ptr[tag]`` to ``ptr[tag + 1]``."""

    ptr: Labels
    parent: Labels
    other: Labels  # the child on the other side
    rule: Labels  # the number of the rule

    @classmethod
    def of(cls, grammar: Grammar, rule: Integers, tag: Labels, other: Labels) -> TagRules:
        """Some rules of a grammar, by the tags and the others of all of them."""
        rule = rule[np.argsort(tag[rule], kind="stable")]
        ptr = np.searchsorted(tag[rule], np.arange(grammar.tags + 1)).astype(np.int32)
        return cls(ptr, grammar.parent[rule], other[rule], rule.astype(np.int32))


class CoarseRules(NamedTuple):
    """A grammar sorted for sums over spans. Rules over two phrases are sorted by parent: their ``pair`` is a place in
    the matrix of phrases. Those with a tag on the left are ``left``, those with a tag on the right and a phrase on the
    left are ``right``."""

    pair: Labels
    pair_parent: Labels
    pair_rule: Labels
    left: TagRules
    right: TagRules
    unary_parent: Labels
    unary_child: Labels

    @classmethod
    @lru_cache(maxsize=8)
    def of(cls, grammar: Grammar) -> CoarseRules:
        """The rules of a grammar, sorted anew."""
        g, phrases = grammar, grammar.symbols - grammar.tags
        left = TagRules.of(g, np.flatnonzero(g.left < g.tags), g.left, g.right)
        right = TagRules.of(g, np.flatnonzero((g.left >= g.tags) & (g.right < g.tags)), g.right, g.left)
        of_phrases = np.flatnonzero((g.left >= g.tags) & (g.right >= g.tags)).astype(np.int32)
        of_phrases = of_phrases[np.argsort(g.parent[of_phrases], kind="stable")]
        pair = (g.left[of_phrases] - g.tags) * phrases + g.right[of_phrases] - g.tags
        return cls(pair, g.parent[of_phrases], of_phrases, left, right, g.unary_parent, g.unary_child)


class CoarseWeights(NamedTuple):
    """Exponentials of potentials: ``tag`` [n, T], by rule over two phrases, with a tag on the left, with one on the
    right, ``unary`` [U], ``span`` [cells, S] or [1, S], ``root`` [S]; each but for a factor that cancels."""

    tag: Floats
    pair: Floats
    left: Floats
    right: Floats
    unary: Floats
    span: Floats
    root: Floats

    @classmethod
    def of(cls, potentials: GrammarPotentials, rules: CoarseRules) -> CoarseWeights:
        """The exponentials of potentials with single rows."""
        p = potentials
        if not len(p.begin) == len(p.split) == len(p.end) == len(p.unary_begin) == len(p.unary_end) == 1:
            raise InputError("the potentials of rules must have a single row, the same for all positions")
        rule = p.begin[0] + p.split[0] + p.end[0]
        highest = rule.max(initial=-np.inf)
        # A unary rule competes with none at all, so it keeps its weight; binary ones compete with each other.
        binary = np.exp(rule - (highest if highest > -np.inf else 0.0))
        best_tag = p.tag.max(axis=1, keepdims=True, initial=-np.inf)
        return cls(
            np.exp(p.tag - np.where(best_tag > -np.inf, best_tag, 0.0)),
            binary[rules.pair_rule],
            binary[rules.left.rule],
            binary[rules.right.rule],
            np.exp(p.unary_begin[0] + p.unary_end[0]),
            np.exp(p.span),
            np.exp(p.root - max(p.root.max(initial=-np.inf), -1e300)),
        )


def symbol_posteriors(grammar: Grammar, potentials: GrammarPotentials) -> Floats:
    """How probable each symbol is over each span, below or above a unary rule: [cells, S]; zeros if there is no tree.

    The potentials of rules have a single row. Posteriors are right to about 1e-9 where potentials are like
    log-probabilities; for extreme ones, which it may lose, there is ``ParseChart.span_marginals``.

    >>> grammar = Grammar.of(3, 2, binary=[(2, 0, 1), (2, 2, 2)], unary=[(2, 0)])
    >>> tag = np.log([[0.8, 0.1], [0.5, 0.5]])
    >>> symbol_posteriors(grammar, GrammarPotentials.of(grammar, tag)).round(2)
    array([[1. , 0. , 0.5],
           [0. , 0. , 1. ],
           [0.5, 0.5, 0.5]])
    """
    n = len(potentials.tag)
    check_size(n, grammar.symbols)
    rules = CoarseRules.of(grammar)
    weights = CoarseWeights.of(potentials, rules)
    chart = InsideChart.empty(n, grammar.symbols)
    posteriors = np.zeros(chart.top.shape)
    coarse_inside(n, rules, weights, chart)
    coarse_outside(n, rules, weights, chart, posteriors)
    return posteriors


class SplitParts(NamedTuple):
    """Room for the splits of a span: the phrases on both sides and what comes to them from outside [n, P], and the
    sum over splits of their products, ``pairs`` [P, P]."""

    left: Floats
    right: Floats
    to_left: Floats
    to_right: Floats
    pairs: Floats


@inner
def room_for_splits(n: int, phrases: int) -> SplitParts:
    """Room for sentences of n words."""
    shape = (n, phrases)
    return SplitParts(np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape), np.empty((phrases, phrases)))


@inner
def split_factors(i: int, j: int, n: int, chart: InsideChart, factors: Floats) -> bool:
    """``factors[k]`` of every split of a span, at most 1, and 0 where a side is impossible; whether any is not. The
    scale of the span is set to the largest log scale of its splits."""
    c, base = cell(i, j, n), -np.inf
    for k in range(i + 1, j):
        lc, rc = cell(i, k, n), cell(k, j, n)
        if chart.number[lc] and chart.number[rc]:
            base = max(base, chart.scale[lc] + chart.scale[rc])
    chart.scale[c] = base
    if base == -np.inf:
        return False
    for k in range(i + 1, j):
        lc, rc = cell(i, k, n), cell(k, j, n)
        factors[k] = 0.0
        if chart.number[lc] and chart.number[rc]:
            factor = np.exp(chart.scale[lc] + chart.scale[rc] - base)
            factors[k] = factor if factor > SMALL else 0.0
    return True


@inner
def gather_parts(i: int, j: int, n: int, tags: int, chart: InsideChart, factors: Floats, parts: SplitParts) -> None:
    """The inside values of the phrases on both sides of every split of a span, the left ones times its factor."""
    for k in range(i + 1, j):
        lc, rc, x = cell(i, k, n), cell(k, j, n), k - i - 1
        for b in range(parts.left.shape[1]):
            parts.left[x, b] = chart.top[lc, tags + b] * factors[k]
            parts.right[x, b] = chart.top[rc, tags + b]


@inner
def add_tags(
    own: int, beside: int, factor: float, tags: int, rules: TagRules, weight: Floats, chart: InsideChart, out: Floats
) -> None:
    """Add to ``out`` [S] the rules with a tag over the word at span ``own`` and another symbol over the span beside."""
    other = chart.top[beside]
    for x in range(chart.number[own]):
        t = chart.active[own, x]
        if t >= tags:
            break
        value = factor * chart.top[own, t]
        for q in range(rules.ptr[t], rules.ptr[t + 1]):
            out[rules.parent[q]] += value * weight[q] * other[rules.other[q]]


@inner
def coarse_splits(
    i: int, j: int, n: int, rules: CoarseRules, weights: CoarseWeights, chart: InsideChart, factors: Floats,
    parts: SplitParts,
) -> None:  # fmt: skip
    """Sum the binary rules over a span into ``bottom``."""
    tags, splits = weights.tag.shape[1], j - i - 1
    out = chart.bottom[cell(i, j, n)]
    gather_parts(i, j, n, tags, chart, factors, parts)
    np.dot(parts.left[:splits].T, parts.right[:splits], parts.pairs)
    pairs = parts.pairs.reshape(-1)
    for q in range(len(rules.pair)):
        out[rules.pair_parent[q]] += weights.pair[q] * pairs[rules.pair[q]]
    if factors[i + 1] > 0.0:
        add_tags(cell(i, i + 1, n), cell(i + 1, j, n), factors[i + 1], tags, rules.left, weights.left, chart, out)
    if factors[j - 1] > 0.0:
        add_tags(cell(j - 1, j, n), cell(i, j - 1, n), factors[j - 1], tags, rules.right, weights.right, chart, out)


@kernel
def close_span(c: int, rules: CoarseRules, weights: CoarseWeights, chart: InsideChart) -> None:
    """Fill ``top`` from ``bottom`` by unary rules, drop what is too small, and set the scale."""
    bottom, top, sc = chart.bottom[c], chart.top[c], at(c, weights.span)
    symbols = len(top)
    for a in range(symbols):
        top[a] = bottom[a]
    for u in range(len(rules.unary_parent)):
        a, below = rules.unary_parent[u], bottom[rules.unary_child[u]]
        if below > 0.0:
            top[a] += below * weights.unary[u] * weights.span[sc, a]
    largest = 0.0
    for a in range(symbols):
        largest = max(largest, top[a])
    chart.number[c] = 0
    if largest == 0.0:
        return
    chart.scale[c] += np.log(largest)
    shrink = 1.0 / largest
    for a in range(symbols):
        bottom[a] *= shrink
        top[a] *= shrink
        if top[a] <= SMALL:
            top[a] = 0.0
        else:
            chart.active[c, chart.number[c]] = a
            chart.number[c] += 1


@kernel
def coarse_inside(n: int, rules: CoarseRules, weights: CoarseWeights, chart: InsideChart) -> None:
    """Fill an empty chart for n words."""
    tags, symbols = weights.tag.shape[1], chart.top.shape[1]
    factors, parts = np.zeros(n + 1), room_for_splits(n, symbols - tags)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            c = cell(i, i + length, n)
            if length == 1:
                chart.bottom[c, :tags] = weights.tag[i]
            elif split_factors(i, i + length, n, chart, factors):
                coarse_splits(i, i + length, n, rules, weights, chart, factors, parts)
                chart.bottom[c] *= weights.span[at(c, weights.span)]
            close_span(c, rules, weights, chart)


@inner
def outside_span(
    c: int, rules: CoarseRules, weights: CoarseWeights, chart: InsideChart, top: Floats, bottom: Floats,
    posteriors: Floats,
) -> float:  # fmt: skip
    """Set the posteriors of a span and the outside values of its ``bottom`` [S] from those of its top; their sum."""
    total, sc = 0.0, at(c, weights.span)
    for a in range(len(top)):
        bottom[a] = top[a] if chart.top[c, a] > 0.0 else 0.0
        posteriors[c, a] = bottom[a] * (chart.top[c, a] - chart.bottom[c, a])  # above a unary rule
        total += bottom[a] * chart.top[c, a]
    if total <= NEGLIGIBLE:
        return total
    for u in range(len(rules.unary_parent)):
        a = rules.unary_parent[u]
        if top[a] > 0.0 and chart.top[c, a] > 0.0:
            bottom[rules.unary_child[u]] += top[a] * weights.unary[u] * weights.span[sc, a]
    for a in range(len(top)):
        bottom[a] = bottom[a] if chart.bottom[c, a] > 0.0 else 0.0  # ruled out, though a unary rule asks for it
        posteriors[c, a] += bottom[a] * chart.bottom[c, a]
    return total


@inner
def outside_tags(
    own: int, beside: int, factor: float, tags: int, rules: TagRules, weight: Floats, chart: InsideChart,
    above: Floats, top: Floats,
) -> None:  # fmt: skip
    """The reverse of :func:`add_tags`: add to ``top`` [cells, S] what comes from ``above`` [S]."""
    other, to_other = chart.top[beside], top[beside]
    for x in range(chart.number[own]):
        t = chart.active[own, x]
        if t >= tags:
            break
        value, to_tag = factor * chart.top[own, t], 0.0
        for q in range(rules.ptr[t], rules.ptr[t + 1]):
            of_rule = weight[q] * above[rules.parent[q]]
            to_tag += of_rule * other[rules.other[q]]
            to_other[rules.other[q]] += of_rule * value
        top[own, t] += to_tag * factor


@inner
def coarse_outside_splits(
    i: int, j: int, n: int, rules: CoarseRules, weights: CoarseWeights, chart: InsideChart, above: Floats,
    factors: Floats, parts: SplitParts, top: Floats,
) -> None:  # fmt: skip
    """Add to ``top`` [cells, S] what a span gives to the outside values of its parts. above: [S], of its bottom."""
    tags, splits = weights.tag.shape[1], j - i - 1
    parts.pairs[:] = 0.0
    pairs = parts.pairs.reshape(-1)
    for q in range(len(rules.pair)):
        pairs[rules.pair[q]] += weights.pair[q] * above[rules.pair_parent[q]]
    gather_parts(i, j, n, tags, chart, factors, parts)
    np.dot(parts.left[:splits], parts.pairs, parts.to_right[:splits])
    np.dot(parts.right[:splits], parts.pairs.T, parts.to_left[:splits])
    for k in range(i + 1, j):
        lc, rc, x = cell(i, k, n), cell(k, j, n), k - i - 1
        for b in range(parts.left.shape[1]):
            top[lc, tags + b] += parts.to_left[x, b] * factors[k]
            top[rc, tags + b] += parts.to_right[x, b]
    if factors[i + 1] > 0.0:
        places = cell(i, i + 1, n), cell(i + 1, j, n)
        outside_tags(*places, factors[i + 1], tags, rules.left, weights.left, chart, above, top)
    if factors[j - 1] > 0.0:
        places = cell(j - 1, j, n), cell(i, j - 1, n)
        outside_tags(*places, factors[j - 1], tags, rules.right, weights.right, chart, above, top)


@kernel
def coarse_outside(n: int, rules: CoarseRules, weights: CoarseWeights, chart: InsideChart, posteriors: Floats) -> None:
    """Fill the posteriors [cells, S], zeros, from a chart that :func:`coarse_inside` has filled."""
    tags, symbols = weights.tag.shape[1], chart.top.shape[1]
    factors, parts = np.zeros(n + 1), room_for_splits(n, symbols - tags)
    top, bottom = np.zeros(chart.top.shape), np.zeros(symbols)
    total = 0.0
    for a in range(symbols):
        total += chart.top[n - 1, a] * weights.root[a]
    if total == 0.0:
        return
    top[n - 1] = weights.root / total
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            probability = outside_span(c, rules, weights, chart, top[c], bottom, posteriors)
            if length > 1 and probability > NEGLIGIBLE:
                scale = chart.scale[c]
                split_factors(i, j, n, chart, factors)
                grown = np.exp(chart.scale[c] - scale)  # what the span was divided by when it was closed
                for a in range(symbols):
                    bottom[a] *= weights.span[at(c, weights.span), a] * grown
                coarse_outside_splits(i, j, n, rules, weights, chart, bottom, factors, parts, top)
                chart.scale[c] = scale
