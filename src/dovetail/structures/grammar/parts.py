"""What charts over a grammar are made of: rules, potentials of their uses, trees as lists of uses; and their checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dovetail.errors import InputError
from dovetail.structures.contract import Floats, Integers, Labels

Mask = NDArray[np.uint8]


def cell_count(n: int) -> int:
    """The number of spans of a sentence of n words."""
    return n * (n + 1) // 2


def cells(n: int | Integers, begin: ArrayLike, end: ArrayLike) -> Integers:
    """The numbers of spans: those of one word and more from word 0, then those from word 1, and so on.

    >>> cells(3, [0, 0, 0, 1, 1, 2], [1, 2, 3, 2, 3, 3])
    array([0, 1, 2, 3, 4, 5])
    """
    i, j = np.asarray(begin, np.int64), np.asarray(end, np.int64)
    return i * n - i * (i - 1) // 2 + j - i - 1


# Bytes of a symbol over a span in all the tables of inside and outside, and the most that a sentence may take.
BYTES_OF_SYMBOL = 56
MOST_BYTES = 4_000_000_000


def check_size(n: int, symbols: int) -> None:
    """An error where a sentence of n words has no words, or more than a chart in memory can hold."""
    if n < 1:
        raise InputError("a sentence without words has no tree")
    if cell_count(n) * symbols * BYTES_OF_SYMBOL > MOST_BYTES:
        most = int((2 * MOST_BYTES / (symbols * BYTES_OF_SYMBOL)) ** 0.5)
        raise InputError(
            f"a sentence of {n} words is too long for a chart of {symbols} symbols, which takes at most {most}: "
            "split the sentence"
        )


@dataclass(frozen=True, eq=False)
class Grammar:
    """A binarised context-free grammar over numbered symbols, of which the first ``tags`` are over single words.

    Binary rules ``parent -> left right`` are sorted by children, then parent: [R]. Unary rules ``parent -> child``
    stand for whole chains, since a span takes at most one: [U]. A tag is never a parent.

    >>> grammar = Grammar.of(4, 2, binary=[(2, 0, 1), (2, 0, 2), (3, 0, 1)], unary=[(3, 1)])
    >>> grammar.parent, grammar.left, grammar.right
    (array([2, 3, 2], dtype=int32), array([0, 0, 0], dtype=int32), array([1, 1, 2], dtype=int32))
    """

    symbols: int
    tags: int
    parent: Labels
    left: Labels
    right: Labels
    unary_parent: Labels
    unary_child: Labels

    @classmethod
    def of(
        cls, symbols: int, tags: int, binary: Iterable[tuple[int, int, int]], unary: Iterable[tuple[int, int]] = ()
    ) -> Grammar:
        """From rules ``(parent, left, right)`` and ``(parent, child)`` in any order; of two equal ones one is kept."""
        rules = sorted({(left, right, parent) for parent, left, right in binary})
        chains = sorted(set(unary))
        table = np.array(rules, np.int32).reshape(-1, 3)
        pairs = np.array(chains, np.int32).reshape(-1, 2)
        return cls(symbols, tags, table[:, 2].copy(), table[:, 0].copy(), table[:, 1].copy(), *pairs.T.copy())

    def __post_init__(self) -> None:
        named = np.concatenate([self.parent, self.left, self.right, self.unary_parent, self.unary_child])
        if named.size and not 0 <= named.min() <= named.max() < self.symbols:
            raise InputError(f"a rule names a symbol that is not one of 0 to {self.symbols - 1}")
        if min(self.parent.min(initial=self.symbols), self.unary_parent.min(initial=self.symbols)) < self.tags:
            raise InputError(f"a rule rewrites a tag (symbols 0 to {self.tags - 1}); tags stand over words alone")
        if np.any(self.unary_parent == self.unary_child):
            raise InputError("a unary rule rewrites a symbol as itself")

    @property
    def rules(self) -> int:
        """The number of binary rules, R."""
        return len(self.parent)

    @property
    def unaries(self) -> int:
        """The number of unary rules, U."""
        return len(self.unary_parent)

    @cached_property
    def pair_ptr(self) -> Labels:
        """``[symbols ** 2 + 1]``: the rules over children B C are pair_ptr[B * symbols + C] up to the next entry."""
        counts = np.bincount(self.left.astype(np.int64) * self.symbols + self.right, minlength=self.symbols**2)
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)

    @cached_property
    def by_parent(self) -> Labels:
        """``[R]``: the binary rules sorted by parent; those of A are by_parent[parent_ptr[A] : parent_ptr[A + 1]]."""
        return np.argsort(self.parent, kind="stable").astype(np.int32)

    @cached_property
    def parent_ptr(self) -> Labels:
        """``[symbols + 1]``, see :attr:`by_parent`."""
        return np.searchsorted(self.parent[self.by_parent], np.arange(self.symbols + 1)).astype(np.int32)

    @cached_property
    def left_ptr(self) -> Labels:
        """``[symbols + 1]``: the rules whose left child is B are left_ptr[B] up to the next entry."""
        return np.searchsorted(self.left, np.arange(self.symbols + 1)).astype(np.int32)


class Rules(NamedTuple):
    """A grammar as kernels take it; see :class:`Grammar`."""

    parent: Labels
    left: Labels
    right: Labels
    pair_ptr: Labels
    left_ptr: Labels
    unary_parent: Labels
    unary_child: Labels

    @classmethod
    def of(cls, g: Grammar) -> Rules:
        """The arrays of a grammar."""
        return cls(g.parent, g.left, g.right, g.pair_ptr, g.left_ptr, g.unary_parent, g.unary_child)


class GrammarPotentials(NamedTuple):
    """One number for every part of the trees over n words, by R binary and U unary rules and S symbols.

    A use of binary rule r over words i to j, split at k, scores ``begin[i, r] + split[k, r] + end[j, r] + span[c, A]``
    with A the rule's parent and c the number of the span (:func:`cells`); of unary rule u over i to j
    ``unary_begin[i, u] + unary_end[j, u] + span[c, A]``; tag t over word i scores ``tag[i, t]``; the symbol A on top
    of the sentence ``root[A]``. A table over positions may have a single row, which then holds for all of them.

    As marginals, each entry is the expected count of its part.
    """

    tag: Floats  # [n, T]
    begin: Floats  # [n + 1, R] or ``[1, R]``
    split: Floats  # [n + 1, R] or ``[1, R]``
    end: Floats  # [n + 1, R] or ``[1, R]``
    span: Floats  # [n (n + 1) / 2, S], or ``[1, S]``: a rule's parent has symbol A over this span
    unary_begin: Floats  # [n + 1, U] or ``[1, U]``
    unary_end: Floats  # [n + 1, U] or ``[1, U]``
    root: Floats  # [S]

    @classmethod
    def of(
        cls, grammar: Grammar, tag: ArrayLike, begin: ArrayLike | None = None, split: ArrayLike | None = None,
        end: ArrayLike | None = None, span: ArrayLike | None = None, unary_begin: ArrayLike | None = None,
        unary_end: ArrayLike | None = None, root: ArrayLike | None = None,
    ) -> GrammarPotentials:  # fmt: skip
        """Potentials from whatever is like arrays; what is not given is zero, the same everywhere."""

        def table(values: ArrayLike | None, width: int) -> Floats:
            return np.zeros((1, width)) if values is None else np.ascontiguousarray(np.atleast_2d(values), np.float64)

        rules = (table(values, grammar.rules) for values in (begin, split, end))
        unaries = (table(values, grammar.unaries) for values in (unary_begin, unary_end))
        top = np.zeros(grammar.symbols) if root is None else np.asarray(root, np.float64)
        return cls._make([table(tag, grammar.tags), *rules, table(span, grammar.symbols), *unaries, top])

    def zeros(self) -> GrammarPotentials:
        """Zeros in the same shapes."""
        return GrammarPotentials(*map(np.zeros_like, self))

    def with_all_spans(self) -> GrammarPotentials:
        """The same with a row for every span."""
        span = np.broadcast_to(self.span, (cell_count(len(self.tag)), self.span.shape[1]))
        return self if span.shape == self.span.shape else self._replace(span=span.copy())


class Derivation(NamedTuple):
    """A tree as the uses of its rules, each table in the order of a walk from the left, children first."""

    root: int  # The symbol on top
    tags: Labels  # [n]
    binary: Labels  # [n - 1, 4]: rule, begin, split, end
    unary: Labels  # [unaries used, 3]: rule, begin, end

    @classmethod
    def of(cls, root: int, tags: ArrayLike, binary: ArrayLike, unary: ArrayLike) -> Derivation:
        """From lists of uses."""
        tables = (np.array(uses, np.int32).reshape(-1, size) for uses, size in ((binary, 4), (unary, 3)))
        return cls(root, np.asarray(tags, np.int32), *tables)


Uses = tuple[Floats, Integers | Labels, Labels]


def uses_of(grammar: Grammar, tree: Derivation, tables: GrammarPotentials) -> Iterator[Uses]:
    """The tables that the parts of a tree are in, with their rows and columns; all but that of the root."""
    n = len(tree.tags)
    rule, begin, split, end = tree.binary.T
    chain, first, last = tree.unary.T
    uses = [
        (tables.tag, np.arange(n), tree.tags),
        (tables.begin, begin, rule),
        (tables.split, split, rule),
        (tables.end, end, rule),
        (tables.span, cells(n, begin, end), grammar.parent[rule]),
        (tables.unary_begin, first, chain),
        (tables.unary_end, last, chain),
        (tables.span, cells(n, first, last), grammar.unary_parent[chain]),
    ]
    for table, place, part in uses:
        yield table, place if len(table) > 1 else np.zeros_like(place), part


def occupied(grammar: Grammar, tree: Derivation) -> tuple[Integers, Labels]:
    """The spans and symbols of a tree, [nodes] each: tags, parents of binary rules, parents of unary rules."""
    n, words = len(tree.tags), np.arange(len(tree.tags))
    begin, end = (np.concatenate([words + x, tree.binary[:, 1 + 2 * x], tree.unary[:, 1 + x]]) for x in (0, 1))
    parents = grammar.parent[tree.binary[:, 0]], grammar.unary_parent[tree.unary[:, 0]]
    return cells(n, begin, end), np.concatenate([tree.tags, *parents])


def tree_score(grammar: Grammar, tree: Derivation, potentials: GrammarPotentials, mask: Mask | None) -> float:
    """The score of a tree; minus infinity of what the mask forbids."""
    if mask is not None and not mask[occupied(grammar, tree)].all():
        return -np.inf
    uses = uses_of(grammar, tree, potentials)
    return float(sum(table[place, part].sum() for table, place, part in uses) + potentials.root[tree.root])


def count_parts(grammar: Grammar, tree: Derivation, amount: float, counts: GrammarPotentials) -> None:
    """Add an amount to the count of every part of a tree, in place."""
    for table, place, part in uses_of(grammar, tree, counts):
        np.add.at(table, (place, part), amount)
    counts.root[tree.root] += amount


def check_shapes(grammar: Grammar, parts: GrammarPotentials, mask: Mask | None) -> None:
    """An error that names the first table that does not fit a grammar and the words, or of too many words."""
    g, n, cells = grammar, len(parts.tag), cell_count(len(parts.tag))
    check_size(n, g.symbols)
    widths = (g.tags, g.rules, g.rules, g.rules, g.symbols, g.unaries, g.unaries)
    heights = (n, n + 1, n + 1, n + 1, cells, n + 1, n + 1)
    for name, table, height, width in zip(parts._fields[:-1], parts[:-1], heights, widths, strict=True):
        if table.shape != (height, width) and (name == "tag" or table.shape != (1, width)):
            raise InputError(f"{name} has shape {table.shape}, expected {(height, width)}")
    if parts.root.shape != (g.symbols,):
        raise InputError(f"root has shape {parts.root.shape}, expected {(g.symbols,)}")
    if mask is not None and mask.shape != (cells, g.symbols):
        raise InputError(f"mask has shape {mask.shape}, expected {(cells, g.symbols)}")


def check_tree(grammar: Grammar, tree: Derivation, n: int) -> None:
    """An error where a tree is not one of the grammar over n words."""
    if tree.tags.shape != (n,) or tree.binary.shape != (n - 1, 4) or tree.unary.ndim != 2 or tree.unary.shape[1] != 3:
        raise InputError(f"a tree over {n} words has {n} tags, {n - 1} uses of binary rules and a table of unary ones")
    if n and not 0 <= tree.tags.min() <= tree.tags.max() < grammar.tags:
        raise InputError(f"tags must be from 0 to {grammar.tags - 1}")
    for name, used, count in (("binary", tree.binary, grammar.rules), ("unary", tree.unary, grammar.unaries)):
        if len(used) and not 0 <= used[:, 0].min() <= used[:, 0].max() < count:
            raise InputError(f"{name} rules must be from 0 to {count - 1}")
    chains = {(begin, end): rule for rule, begin, end in tree.unary.tolist()}
    over: dict[tuple[int, int], int] = {}

    def put(begin: int, end: int, symbol: int) -> None:
        rule = chains.pop((begin, end), None)
        if rule is not None and grammar.unary_child[rule] != symbol:
            raise InputError(f"the unary rule over words {begin} to {end} is not over what is below it")
        over[begin, end] = symbol if rule is None else int(grammar.unary_parent[rule])

    for word, tag in enumerate(tree.tags.tolist()):
        put(word, word + 1, tag)
    for rule, begin, split, end in tree.binary.tolist():
        children = over.pop((begin, split), -1), over.pop((split, end), -1)
        if children != (grammar.left[rule], grammar.right[rule]):
            raise InputError(f"the binary rule over words {begin} to {end} is not over what is below it")
        put(begin, end, int(grammar.parent[rule]))
    if chains or over != {(0, n): tree.root}:
        raise InputError("the uses of rules do not make one tree with the root on top")
