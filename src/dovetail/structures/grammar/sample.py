"""Trees drawn from the exact distribution, from the top down."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.chain.parts import Floats, Labels
from dovetail.structures.grammar.log import LogChart
from dovetail.structures.grammar.parts import Derivation, GrammarPotentials
from dovetail.structures.grammar.search import binary_total, unary_total
from dovetail.structures.grammar.sums import Rules, cell


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


@inner
def draw_root(p: GrammarPotentials, n: int, chart: LogChart, log_z: float, uniform: float) -> int:
    """The symbol on top of the sentence."""
    chosen, passed = -1, 0.0
    for a in range(chart.top.shape[1]):
        share = np.exp(chart.top[n - 1, a] + p.root[a] - log_z)
        if share > 0.0:
            chosen, passed = a, passed + share
            if passed > uniform:
                break
    return chosen


@inner
def draw_unary(
    i: int, j: int, n: int, a: int, rules: Rules, p: GrammarPotentials, chart: LogChart, uniform: float
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


@inner
def draw_split(
    i: int,
    j: int,
    n: int,
    a: int,
    rules: Rules,
    by_parent: Labels,
    p: GrammarPotentials,
    chart: LogChart,
    uniform: float,
) -> tuple[int, int]:
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


@kernel
def sample(
    n: int,
    rules: Rules,
    by_parent: Labels,
    parent_ptr: Labels,
    p: GrammarPotentials,
    chart: LogChart,
    log_z: float,
    uniforms: Floats,
    out: Draws,
) -> None:
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
