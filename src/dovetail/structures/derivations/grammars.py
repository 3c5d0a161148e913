"""The hypergraphs of the trees of a grammar, and of nested segments, which are such trees in disguise."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dovetail.structures.contract import Floats, Integers
from dovetail.structures.derivations.weighed import NONE, Derivations, Uses, check_edges, empty

if TYPE_CHECKING:
    from dovetail.structures.grammar import Grammar, GrammarBatch, ParseChart
    from dovetail.structures.nested import NestedBatch


TAG, BINARY, UNARY, NEITHER = range(4)


class _Edges(NamedTuple):
    """The edges of a chart, and what each is a use of: a tag of a word, or a rule over words begin to end."""

    level: Integers
    head: Integers
    left: Integers
    right: Integers
    weight: Floats
    kind: Integers
    """``TAG``, ``BINARY``, ``UNARY``, or ``NEITHER``: a symbol without a unary rule, or the root."""
    rule: Integers
    """The tag, or the number of the rule."""
    begin: Integers
    end: Integers

    def nodes(self, g: Grammar) -> tuple[Integers, Integers]:
        """The edges that are uses of rules, and the symbols that these put over spans."""
        node = np.flatnonzero((self.kind == BINARY) | (self.kind == UNARY))
        rule, binary = self.rule[node], self.kind[node] == BINARY
        symbol = np.empty(len(node), np.int64)
        symbol[binary], symbol[~binary] = g.parent[rule[binary]], g.unary_parent[rule[~binary]]
        return node, symbol

    def graph(self, uses: Uses) -> Derivations:
        return Derivations.of(self.level, self.head, (self.left, self.right), self.weight, uses)


def _edges(chart: ParseChart, most: int | None) -> _Edges:
    """Span by span, the shorter first; only what has something below it.

    Items are symbols over spans without a unary rule on top, then the same with one or without, then the root.
    """
    n, g, p, mask = len(chart), chart.grammar, chart.potentials, chart.mask
    parent, left, right, above, below = (
        each.astype(np.int64) for each in (g.parent, g.left, g.right, g.unary_parent, g.unary_child)
    )
    size, found = (n + 1) ** 2 * g.symbols, list[tuple[Integers | Floats, ...]]()
    under, over = np.zeros((2, n + 1, n + 1, g.symbols), bool)  # what has derivations
    count = 0

    def add(i: int, j: int, kind: int, rule: Integers, weight: Floats, head: Integers, *tails: Integers) -> None:
        nonlocal count
        kept = weight > -np.inf
        none, whole = np.full(len(head), NONE), (np.full(len(head), each) for each in (kind, i, j))
        first, second, *_ = *tails, none, none
        kinds, begin, end = whole
        found.append(tuple(each[kept] for each in (head, first, second, weight, kinds, rule, begin, end)))
        count += int(kept.sum())
        check_edges(count, most)

    def at(table: Floats, place: int) -> Floats:
        row: Floats = table[place if len(table) > 1 else 0]
        return row

    for i, j in ((i, i + width) for width in range(1, n + 1) for i in range(n - width + 1)):
        cell, base = i * n - i * (i - 1) // 2 + j - i - 1, (i * (n + 1) + j) * g.symbols
        allowed = np.ones(g.symbols, bool) if mask is None else mask[cell] != 0
        span = np.where(allowed, at(p.span, cell), -np.inf)
        if j == i + 1:
            tag, weight = np.arange(g.tags), np.where(allowed[: g.tags], p.tag[i], -np.inf)
            add(i, j, TAG, tag, weight, base + tag)
            under[i, j, tag[weight > -np.inf]] = True
        for k in range(i + 1, j):
            rule = np.flatnonzero(over[i, k][left] & over[k, j][right])
            weight = (at(p.begin, i) + at(p.split, k) + at(p.end, j))[rule] + span[parent[rule]]
            lower = (left[rule] + (i * (n + 1) + k) * g.symbols, right[rule] + (k * (n + 1) + j) * g.symbols)
            add(i, j, BINARY, rule, weight, base + parent[rule], size + lower[0], size + lower[1])
            under[i, j, parent[rule[weight > -np.inf]]] = True
        here = np.flatnonzero(under[i, j])
        add(i, j, NEITHER, here, np.zeros(len(here)), size + base + here, base + here)
        rule = np.flatnonzero(under[i, j][below])
        weight = (at(p.unary_begin, i) + at(p.unary_end, j))[rule] + span[above[rule]]
        add(i, j, UNARY, rule, weight, size + base + above[rule], base + below[rule])
        over[i, j] = under[i, j]
        over[i, j, above[rule[weight > -np.inf]]] = True
    top = np.flatnonzero(over[0, n])
    add(0, n, NEITHER, top, p.root[top], np.full(len(top), 2 * size), size + n * g.symbols + top)
    width = np.repeat(np.subtract.outer(np.arange(n + 1), np.arange(n + 1)).T.ravel(), g.symbols)
    level = np.concatenate([2 * width, 2 * width + 1, [2 * n + 2]])
    return _Edges(level, *(np.concatenate(each) for each in zip(*found, strict=True)))


def grammar(batch: GrammarBatch, sentence: int, most: int | None = None) -> Derivations:
    """The trees of a sentence. Entries of spans are counted as if every span had a row, as addresses do."""
    g, e = batch.grammar, _edges(batch.chart(sentence), most)
    sizes = [len(own.tag) for own in batch.potentials]
    n, words = sizes[sentence], sum(sizes[:sentence])
    spans = sum(size * (size + 1) // 2 for size in sizes[:sentence])
    tag, (node, symbol) = np.flatnonzero(e.kind == TAG), e.nodes(g)
    begin, end = e.begin[node], e.end[node]
    cell = begin * n - begin * (begin - 1) // 2 + end - begin - 1
    return e.graph(
        {
            "tag": (tag, (words + e.begin[tag]) * g.tags + e.rule[tag]),
            "span": (node, (spans + cell) * g.symbols + symbol),
        }
    )


def nested(batch: NestedBatch, sentence: int, most: int | None = None) -> Derivations:
    """The nested segmentations of a sentence, as trees of their grammar."""
    first, after = batch.offsets[sentence : sentence + 2].tolist()
    if first == after:
        return empty()
    chart, labels = batch.chart(sentence), batch.potentials.labels
    e, g = _edges(chart, most), chart.grammar
    tag, unary, (node, parent) = np.flatnonzero(e.kind == TAG), np.flatnonzero(e.kind == UNARY), e.nodes(g)
    # The columns of ``phrase``: of the segments that symbols are, and of those within, where a rule makes two.
    symbol, kind, _, doubled, of_doubled = batch._trees.symbols
    of_symbol, of_rule = np.full(g.symbols, NONE), np.full(g.unaries, NONE)
    of_symbol[symbol], of_rule[doubled] = kind, of_doubled
    edge, column = np.concatenate([node, unary]), np.concatenate([of_symbol[parent], of_rule[e.rule[unary]]])
    scored = (column != NONE) & (e.end[edge] - e.begin[edge] <= batch.phrases)
    edge, column = edge[scored], column[scored]
    row = (first + e.begin[edge]) * batch.phrases + e.end[edge] - e.begin[edge] - 1
    words = (first + e.begin[tag]) * (labels + 1) + e.rule[tag]
    return e.graph({"word": (tag, words), "phrase": (edge, row * 2 * labels + column)})
