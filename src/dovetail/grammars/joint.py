"""One grammar for syntax and entities: the rules of a treebank, with entities as labels on its constituents.

Every symbol comes twice: plain, and ``mixed`` where an entity is at it or below it. A rule over mixed children has a
mixed parent; an entity makes a plain symbol mixed, so that entities do not nest. An entity over a constituent is a
unary rule, alone or joined with the unary chain of its span, since a span takes at most one. Every type of entity may
stand on every symbol that has carried any: pairs that the data has not shown are possible (Finkel 2010, 5.4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.grammars.treebank import TreebankGrammar
from dovetail.structures.grammar import Derivation, Grammar
from dovetail.text.sentence import Span

Integers = NDArray[np.int32]
NONE = -1


@dataclass(frozen=True, eq=False)
class JointGrammar:
    """The joint rules by what they are made of.

    Symbol A is plain, symbol S + A mixed. ``rule_base`` [R]: the treebank's rule; ``rule_kind`` [R]: 1 if the left
    child is mixed, plus 2 if the right one is. ``unary_base`` [U]: the treebank's unary rule, -1 where an entity stands
    on a symbol by itself; ``unary_type`` [U]: the entity, -1 for none; ``unary_below`` [U]: 1 if the child is mixed.
    """

    base: TreebankGrammar
    types: tuple[str, ...]
    grammar: Grammar
    rule_base: Integers
    rule_kind: Integers
    unary_base: Integers
    unary_type: Integers
    unary_below: Integers

    @classmethod
    def of(
        cls, base: TreebankGrammar, types: Sequence[str], carriers: Iterable[int], chains: Iterable[int]
    ) -> JointGrammar:
        """The grammar in which entities stand on some symbols (``carriers``) and unary rules (``chains``)."""
        g, size = base.grammar, base.grammar.symbols
        rules = []
        for rule, (a, b, c) in enumerate(zip(g.parent.tolist(), g.left.tolist(), g.right.tolist(), strict=True)):
            for kind in range(4):
                above = a + size if kind else a
                rules.append((b + size * (kind & 1), c + size * (kind >> 1), above, rule, kind))
        left, right, parent, rule_base, rule_kind = np.array(sorted(rules), np.int32).reshape(-1, 5).T.copy()
        unary = []
        for chain, (a, b) in enumerate(zip(g.unary_parent.tolist(), g.unary_child.tolist(), strict=True)):
            unary += [(a, b, chain, NONE, 0), (a + size, b + size, chain, NONE, 1)]
        for kind in range(len(types)):
            for chain in sorted(chains):
                unary.append((int(g.unary_parent[chain]) + size, int(g.unary_child[chain]), chain, kind, 0))
            unary += [(a + size, a, NONE, kind, 0) for a in sorted(carriers)]
        top, below, unary_base, unary_type, unary_below = np.array(unary, np.int32).reshape(-1, 5).T.copy()
        grammar = Grammar(2 * size, g.tags, parent, left, right, top, below)
        return cls(base, tuple(types), grammar, rule_base, rule_kind, unary_base, unary_type, unary_below)

    @cached_property
    def _rule_number(self) -> dict[tuple[int, int], int]:
        return {pair: i for i, pair in enumerate(zip(self.rule_base.tolist(), self.rule_kind.tolist(), strict=True))}

    @cached_property
    def _unary_number(self) -> dict[tuple[int, int, int], int]:
        parts = (self.unary_base, self.unary_type, self.grammar.unary_child)
        return {key: i for i, key in enumerate(zip(*(part.tolist() for part in parts), strict=True))}

    def derivation(self, tree: Derivation, entities: Sequence[Span]) -> Derivation | None:
        """A tree of the treebank's grammar with entities on its nodes; None where one stands on none, or two on one."""
        size, base = self.base.grammar.symbols, self.base.grammar
        kinds = {name: i for i, name in enumerate(self.types)}
        placed = {(e.start, e.end): kinds[e.label] for e in entities}
        starts = sorted((e.start, e.end) for e in entities)
        if any(first[1] > second[0] for first, second in pairwise(starts)):
            return None

        def holds(begin: int, end: int) -> bool:
            return any(begin <= start and stop <= end for start, stop in starts)

        bottom = {(i, i + 1): int(tag) for i, tag in enumerate(tree.tags)}
        binary = []
        for rule, begin, split, end in tree.binary.tolist():
            kind = int(holds(begin, split)) + 2 * int(holds(split, end))
            binary.append((self._rule_number[rule, kind], begin, split, end))
            bottom[begin, end] = int(base.parent[rule])
        chains = {(begin, end): rule for rule, begin, end in tree.unary.tolist()}
        unary = []
        for begin, end in sorted(chains.keys() | placed.keys()):
            if (begin, end) not in bottom:
                return None
            chain, kind = chains.get((begin, end), NONE), placed.get((begin, end), NONE)
            mixed = kind == NONE and holds(begin, end)
            below = int(base.unary_child[chain]) if chain != NONE else bottom[begin, end]
            number = self._unary_number.get((chain, kind, below + size * mixed))
            if number is None:
                return None
            unary.append((number, begin, end))
        root = tree.root + size * bool(entities)
        return Derivation(root, tree.tags, _table(binary, 4), _table(unary, 3))

    def parts(self, tree: Derivation) -> tuple[Derivation, list[Span]]:
        """A joint tree as a tree of the treebank's grammar, and the entities on it."""
        rule, *places = tree.binary.T
        binary = np.stack([self.rule_base[rule], *places], axis=1) if len(rule) else tree.binary
        unary, entities = [], []
        for number, begin, end in tree.unary.tolist():
            if self.unary_base[number] != NONE:
                unary.append((int(self.unary_base[number]), begin, end))
            if self.unary_type[number] != NONE:
                entities.append(Span(begin, end, self.types[self.unary_type[number]]))
        root = tree.root % self.base.grammar.symbols
        return Derivation(root, tree.tags, binary, _table(unary, 3)), sorted(entities, key=lambda e: e.start)

    def header(self) -> dict[str, Any]:
        """What a model file says of the entities."""
        some = self.unary_type == 0
        carriers = self.grammar.unary_child[some & (self.unary_base == NONE)]
        chains = self.unary_base[some & (self.unary_base != NONE)]
        return {"types": list(self.types), "carriers": carriers.tolist(), "chains": chains.tolist()}

    @classmethod
    def from_file(cls, header: Mapping[str, Any], base: TreebankGrammar) -> JointGrammar:
        """From what ``header`` gave."""
        carriers, chains = [int(a) for a in header["carriers"]], [int(u) for u in header["chains"]]
        if not all(0 <= a < base.grammar.symbols for a in carriers):
            raise ValueError("the entities stand on symbols that the grammar does not have")
        if not all(0 <= u < base.grammar.unaries for u in chains):
            raise ValueError("the entities stand on unary rules that the grammar does not have")
        return cls.of(base, [str(name) for name in header["types"]], carriers, chains)


def carriers_of(base: TreebankGrammar, trees: Iterable[tuple[Derivation, Sequence[Span]]]) -> tuple[set[int], set[int]]:
    """The symbols and the unary rules on which entities stand in some trees."""
    symbols: set[int] = set()
    chains: set[int] = set()
    for tree, entities in trees:
        above = {(begin, end): rule for rule, begin, end in tree.unary.tolist()}
        at = {(i, i + 1): int(tag) for i, tag in enumerate(tree.tags)}
        at |= {(begin, end): int(base.grammar.parent[rule]) for rule, begin, _, end in tree.binary.tolist()}
        for entity in entities:
            place = (entity.start, entity.end)
            if place in above:
                chains.add(above[place])
            elif place in at:
                symbols.add(at[place])
    return symbols, chains


def _table(rows: Sequence[tuple[int, ...]], width: int) -> Integers:
    return np.array(rows, np.int32).reshape(-1, width)
