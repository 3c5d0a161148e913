"""Which symbols can stand over which spans of some complete tree, by bits: the cheapest way to thin a chart."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dovetail.errors import InputError
from dovetail.kernel import kernel
from dovetail.structures.grammar.parts import Grammar, Mask, cell_count, check_size
from dovetail.structures.grammar.sums import Rules, cell

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
    built, wanted = (Ends.none(n, grammar.symbols) for _ in range(2))
    rules = Rules.of(grammar)
    build(n, rules, tags, bottom, top, built)
    tile(n, rules, roots, bottom, top, built, wanted, lower, upper)
    return lower | upper


class Ends(NamedTuple):
    """Where symbols begin and end, as bits: [n + 1, S, words].

    Bit k of ``begin[i, A]`` is set where A is over words i to k, and bit k of ``end[j, A]`` where it is over k to j, so
    that the splits of a rule over words i to j are the bits common to its children.
    """

    begin: Bits
    end: Bits

    @classmethod
    def none(cls, n: int, symbols: int) -> Ends:
        """No symbol anywhere."""
        return cls(*np.zeros((2, n + 1, symbols, n // 64 + 1), np.uint64))


def _flags(values: ArrayLike) -> Mask:
    return np.ascontiguousarray(np.asarray(values) != 0, np.uint8)


@kernel
def build(n: int, rules: Rules, tags: Mask, bottom: Mask, top: Mask, built: Ends) -> None:
    """What can be built over a span, below and above a unary rule: ``bottom`` and ``top`` [cells, S], zeros."""
    one, words = np.uint64(1), built.begin.shape[2]
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
                            if built.begin[i, rules.left[q], w] & built.end[j, rules.right[q], w]:
                                bottom[c, rules.parent[q]] = 1
            top[c] = bottom[c]
            for u in range(len(rules.unary_parent)):
                top[c, rules.unary_parent[u]] |= bottom[c, rules.unary_child[u]]
            for a in range(top.shape[1]):
                if top[c, a]:
                    built.begin[i, a, j // 64] |= one << np.uint64(j % 64)
                    built.end[j, a, i // 64] |= one << np.uint64(i % 64)


@kernel
def tile(
    n: int, rules: Rules, roots: Mask, bottom: Mask, top: Mask, built: Ends, wanted: Ends, lower: Mask, upper: Mask
) -> None:
    """Of what can be built, what is part of a complete tree: ``lower`` and ``upper`` [cells, S], zeros.

    ``wanted`` has the bits of the symbols that a rule of a complete tree has asked for, none at first.
    """
    one = np.uint64(1)
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            for a in range(top.shape[1]):
                asked = wanted.begin[i, a, j // 64] >> np.uint64(j % 64) | wanted.end[j, a, i // 64] >> np.uint64(
                    i % 64
                )
                upper[c, a] = roots[a] & top[c, a] if length == n else asked & one
                lower[c, a] = upper[c, a] & bottom[c, a]
            for u in range(len(rules.unary_parent)):
                lower[c, rules.unary_child[u]] |= upper[c, rules.unary_parent[u]] & bottom[c, rules.unary_child[u]]
            for q in range(len(rules.parent) if length > 1 else 0):
                if lower[c, rules.parent[q]]:
                    b, d = rules.left[q], rules.right[q]
                    for w in range(built.begin.shape[2]):
                        common = built.begin[i, b, w] & built.end[j, d, w]
                        wanted.begin[i, b, w] |= common
                        wanted.end[j, d, w] |= common
