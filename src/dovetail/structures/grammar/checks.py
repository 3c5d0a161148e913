"""Complaints about arrays of a chart, or about a tree, that do not fit together, before a kernel reads them."""

from __future__ import annotations

import numpy as np

from dovetail.errors import InputError
from dovetail.structures.grammar.parts import Derivation, Grammar, GrammarPotentials, Mask, cell_count, check_size


def check_shapes(grammar: Grammar, parts: GrammarPotentials, n: int) -> None:
    """An error that names the first table that does not fit a grammar and n words."""
    g, cells = grammar, cell_count(n)
    widths = (g.tags, g.rules, g.rules, g.rules, g.symbols, g.unaries, g.unaries)
    heights = (n, n + 1, n + 1, n + 1, cells, n + 1, n + 1)
    for name, table, height, width in zip(parts._fields[:-1], parts[:-1], heights, widths, strict=True):
        if table.shape != (height, width) and (name == "tag" or table.shape != (1, width)):
            raise InputError(f"{name} has shape {table.shape}, expected {(height, width)}")
    if parts.root.shape != (g.symbols,):
        raise InputError(f"root has shape {parts.root.shape}, expected {(g.symbols,)}")


def check_chart(grammar: Grammar, potentials: GrammarPotentials, mask: Mask | None) -> None:
    """An error where potentials or a mask do not fit, are too large, or hold what cannot be."""
    n = len(potentials.tag)
    check_size(n, grammar.symbols)
    check_shapes(grammar, potentials, n)
    if mask is not None and mask.shape != (cell_count(n), grammar.symbols):
        raise InputError(f"mask has shape {mask.shape}, expected {(cell_count(n), grammar.symbols)}")
    for name, table in zip(potentials._fields, potentials, strict=True):
        with np.errstate(invalid="ignore"):  # cheaper than a look at each number: such a sum is NaN or infinite
            total = table.sum()
        if not total < np.inf:
            raise InputError(f"{name} holds NaN or plus infinity; only minus infinity, to forbid, may be infinite")


def check_direction(direction: GrammarPotentials, potentials: GrammarPotentials) -> None:
    """An error where a direction does not have the shapes of the potentials, or is not finite."""
    if [part.shape for part in direction] != [part.shape for part in potentials]:
        raise InputError("the direction must have the shapes of the potentials")
    if not all(np.isfinite(part).all() for part in direction):
        raise InputError("the direction must be finite; use 0 for parts that stay as they are")


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
