"""Which symbols can stand over which spans of some complete tree, by bits: the cheapest way to thin a chart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dovetail.errors import InputError
from dovetail.kernel import kernel
from dovetail.structures.grammar_kernels import Rules, cell
from dovetail.structures.grammar_parts import Grammar, Mask, cell_count, check_size

Bits = NDArray[np.uint64]


def reachable(grammar: Grammar, n: int, tag_mask: ArrayLike | None = None, root: ArrayLike | None = None) -> Mask:
    """1 where a symbol over a span can be built from the tags and be part of a complete tree: [cells, S].

    tag_mask: [n, T], the tags that each word may have; root: [S], the symbols that may be on top; all unless given.
    As the mask of a :class:`ParseChart` whose potentials forbid the same tags and roots it changes no answer.

    >>> grammar = Grammar.of(3, 2, binary=[(2, 0, 1), (2, 2, 2)], unary=[(2, 0)])
    >>> reachable(grammar, 2, [[1, 0], [0, 1]])
    array([[1, 0, 0],
           [0, 0, 1],
           [0, 1, 0]], dtype=uint8)
    """
    check_size(n, grammar.symbols)
    tags = np.ones((n, grammar.tags), np.uint8) if tag_mask is None else _flags(tag_mask)
    roots = np.ones(grammar.symbols, np.uint8) if root is None else _flags(root)
    if tags.shape != (n, grammar.tags):
        raise InputError(f"tag_mask has shape {tags.shape}, expected {(n, grammar.tags)}")
    if roots.shape != (grammar.symbols,):
        raise InputError(f"root has shape {roots.shape}, expected {(grammar.symbols,)}")
    bottom, top, lower, upper = np.zeros((4, cell_count(n), grammar.symbols), np.uint8)
    words = (n + 64) // 64
    starts, ends = np.zeros((2, n + 1, grammar.symbols, words), np.uint64)
    rules = Rules.of(grammar)
    build(n, rules, tags, bottom, top, starts, ends)
    tile(n, rules, roots, bottom, top, starts, ends, lower, upper)
    return lower | upper


def _flags(values: ArrayLike) -> Mask:
    return np.ascontiguousarray(np.asarray(values) != 0, np.uint8)


@kernel
def build(n: int, rules: Rules, tags: Mask, bottom: Mask, top: Mask, starts: Bits, ends: Bits) -> None:
    """What can be built over a span, below and above a unary rule: ``bottom`` and ``top`` [cells, S], zeros.

    starts, ends: [n + 1, S, words], zeros. Bit k of ``starts[i, A]`` is set where A can stand over words i to k, bit k
    of ``ends[j, A]`` where it can over k to j: a rule has a split where a bit is common to both its children.
    """
    one, words = np.uint64(1), starts.shape[2]
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            if length == 1:
                bottom[c, : tags.shape[1]] = tags[i]
            else:
                for q in range(len(rules.parent)):
                    if bottom[c, rules.parent[q]] == 0:
                        for w in range(words):
                            if starts[i, rules.left[q], w] & ends[j, rules.right[q], w]:
                                bottom[c, rules.parent[q]] = 1
            top[c] = bottom[c]
            for u in range(len(rules.unary_parent)):
                top[c, rules.unary_parent[u]] |= bottom[c, rules.unary_child[u]]
            for a in range(top.shape[1]):
                if top[c, a]:
                    starts[i, a, j // 64] |= one << np.uint64(j % 64)
                    ends[j, a, i // 64] |= one << np.uint64(i % 64)


@kernel
def tile(
    n: int, rules: Rules, roots: Mask, bottom: Mask, top: Mask, starts: Bits, ends: Bits, lower: Mask, upper: Mask
) -> None:
    """Of what can be built, what is part of a complete tree: ``lower`` and ``upper`` [cells, S], zeros."""
    one = np.uint64(1)
    for a in range(top.shape[1]):
        upper[n - 1, a] = top[n - 1, a] & roots[a]
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            for a in range(top.shape[1]):
                lower[c, a] = upper[c, a] & bottom[c, a]
            for u in range(len(rules.unary_parent)):
                lower[c, rules.unary_child[u]] |= upper[c, rules.unary_parent[u]] & bottom[c, rules.unary_child[u]]
            for q in range(len(rules.parent) if length > 1 else 0):
                if lower[c, rules.parent[q]] == 0:
                    continue
                b, d = rules.left[q], rules.right[q]
                for w in range(starts.shape[2]):
                    common = starts[i, b, w] & ends[j, d, w]
                    if common:
                        for k in range(max(i + 1, 64 * w), min(j, 64 * w + 64)):
                            if common >> np.uint64(k % 64) & one:
                                upper[cell(i, k, n), b] = 1
                                upper[cell(k, j, n), d] = 1
