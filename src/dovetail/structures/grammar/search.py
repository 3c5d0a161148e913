"""The best tree over a chart: Viterbi in log space, and the walk along its back pointers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.chain.parts import Floats, Labels
from dovetail.structures.grammar.parts import Derivation, Grammar, GrammarPotentials, Mask, cell_count
from dovetail.structures.grammar.sums import Rules, cell


class BestChart(NamedTuple):
    """Best scores ``bottom`` and ``top`` [cells, S], and how they came about: ``rule``, ``split`` and ``unary``
    [cells, S], the last -1 where no unary rule is used; and the ``number`` [cells] of symbols that are possible over a
    span, ``active`` [cells, S]."""

    bottom: Floats
    top: Floats
    rule: Labels
    split: Labels
    unary: Labels
    active: Labels
    number: Labels

    @classmethod
    def empty(cls, n: int, symbols: int) -> BestChart:
        """A chart for n words, to be filled."""
        shape = (cell_count(n), symbols)
        worst = np.full(shape, -np.inf)
        rule, split, unary, active = np.full((4, *shape), -1, np.int32)
        return cls(worst, worst.copy(), rule, split, unary, active, np.zeros(shape[0], np.int32))


@kernel
def at(p: int, table: Floats) -> int:
    """Which row of a table of potentials holds for position p: the only one, if there is one."""
    return p if table.shape[0] > 1 else 0


@inner
def binary_total(p: GrammarPotentials, i: int, k: int, j: int, c: int, q: int, a: int) -> float:
    """The sum of the parts of a use of binary rule q, with parent a, over words i to j, span c, split at k."""
    own = p.begin[at(i, p.begin), q] + p.split[at(k, p.split), q] + p.end[at(j, p.end), q]
    return float(own + p.span[at(c, p.span), a])


@inner
def unary_total(p: GrammarPotentials, i: int, j: int, c: int, u: int, a: int) -> float:
    """The sum of the parts of a use of unary rule u, with parent a, over words i to j, span c."""
    own = p.unary_begin[at(i, p.unary_begin), u] + p.unary_end[at(j, p.unary_end), u]
    return float(own + p.span[at(c, p.span), a])


@inner
def best_splits(i: int, j: int, n: int, rules: Rules, p: GrammarPotentials, mask: Mask, chart: BestChart) -> None:
    """The best binary rule and split for every symbol over a span; of equal ones the first."""
    symbols = chart.top.shape[1]
    c, bi, ej = cell(i, j, n), at(i, p.begin), at(j, p.end)
    for k in range(i + 1, j):
        lc, rc, sk = cell(i, k, n), cell(k, j, n), at(k, p.split)
        if chart.number[rc] == 0:
            continue
        for x in range(chart.number[lc]):
            b = chart.active[lc, x]
            by_rule = rules.left_ptr[b + 1] - rules.left_ptr[b] < chart.number[rc]
            for y in range(1 if by_rule else chart.number[rc]):  # all rules of the left child, or those of a pair
                pair = b * symbols + chart.active[rc, y]
                first = rules.left_ptr[b] if by_rule else rules.pair_ptr[pair]
                last = rules.left_ptr[b + 1] if by_rule else rules.pair_ptr[pair + 1]
                for q in range(first, last):
                    a, right = rules.parent[q], chart.top[rc, rules.right[q]]
                    if mask[c, a] and right > -np.inf:
                        score = chart.top[lc, b] + right + p.begin[bi, q] + p.split[sk, q] + p.end[ej, q]
                        if score > chart.bottom[c, a]:
                            chart.bottom[c, a], chart.rule[c, a], chart.split[c, a] = score, q, k
    sc = at(c, p.span)
    for a in range(p.tag.shape[1], symbols):
        chart.bottom[c, a] += p.span[sc, a]


@kernel
def viterbi(n: int, rules: Rules, p: GrammarPotentials, mask: Mask, chart: BestChart) -> None:
    """Fill an empty chart with the best score of every symbol over every span. mask: [cells, S]."""
    symbols = chart.top.shape[1]
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            if not mask[c].any():
                continue
            if length > 1:
                best_splits(i, j, n, rules, p, mask, chart)
            else:
                for t in range(p.tag.shape[1]):
                    if mask[c, t]:
                        chart.bottom[c, t] = p.tag[i, t]
            for a in range(symbols):
                chart.top[c, a] = chart.bottom[c, a]
            for u in range(len(rules.unary_parent)):
                a, below = rules.unary_parent[u], chart.bottom[c, rules.unary_child[u]]
                if below > -np.inf and mask[c, a]:
                    score = below + unary_total(p, i, j, c, u, a)
                    if score > chart.top[c, a]:
                        chart.top[c, a], chart.unary[c, a] = score, u
            list_active(c, chart)


@inner
def list_active(c: int, chart: BestChart) -> None:
    """List the symbols that are possible over a span."""
    for a in range(chart.top.shape[1]):
        if chart.top[c, a] > -np.inf:
            chart.active[c, chart.number[c]] = a
            chart.number[c] += 1


def follow(n: int, grammar: Grammar, chart: BestChart, root: int, begin: int = 0, end: int | None = None) -> Derivation:
    """The best tree under a symbol by the back pointers of a filled chart, of all words or ``begin`` to ``end``."""
    last = n if end is None else end
    tags = np.zeros(last - begin, np.int32)
    binary: list[tuple[int, int, int, int]] = []
    unary: list[tuple[int, int, int]] = []
    stack = [(root, begin, last, True)]
    while stack:  # parents first and right before left, so that the lists turned round are children first
        a, i, j, is_top = stack.pop()
        c = int(cell(i, j, n))
        if is_top and chart.unary[c, a] >= 0:
            u = int(chart.unary[c, a])
            unary.append((u, i - begin, j - begin))
            stack.append((int(grammar.unary_child[u]), i, j, False))
        elif j == i + 1:
            tags[i - begin] = a
        else:
            rule, k = int(chart.rule[c, a]), int(chart.split[c, a])
            binary.append((rule, i - begin, k - begin, j - begin))
            stack.append((int(grammar.left[rule]), i, k, True))
            stack.append((int(grammar.right[rule]), k, j, True))
    return Derivation(
        root, tags, np.array(binary[::-1], np.int32).reshape(-1, 4), np.array(unary[::-1], np.int32).reshape(-1, 3)
    )
