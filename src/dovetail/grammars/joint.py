"""One grammar for syntax and entities: the rules of a treebank, whose symbols know whether an entity is at them.

A symbol has up to three places: ``outside`` of entities, the top of an ``entity``, and ``inside`` of one. A unary rule
puts an entity of some type on a constituent that is inside; if the span has unary nodes of its own, it puts these on,
too. All that is below an entity is inside, so that entities do not nest. Parts of speech are the same outside and
inside: the rule above tells. Every type of entity may stand on every symbol that has carried any, and every symbol
that has been in one may be in all: pairs that the data has not shown are possible (Finkel 2010, 5.4.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.grammars.entities import ENTITY_NODE
from dovetail.grammars.treebank import TreebankGrammar
from dovetail.structures.grammar import Derivation, Grammar
from dovetail.text.sentence import Span

Integers = NDArray[np.int32]
NONE = -1
OUTSIDE, INSIDE, ENTITY = range(3)
WITHIN = 4  # the kind of a binary rule inside an entity


class Carriers(NamedTuple):
    """Where the trees of some data have entities, by the numbers of a treebank's grammar. ``symbols``: those on which
    entities stand; ``chains``: the unary rules on which they do; ``within``: the symbols at and below entities, but
    parts of speech."""

    symbols: frozenset[int]
    chains: frozenset[int]
    within: frozenset[int]

    @classmethod
    def of(cls, base: TreebankGrammar, trees: Iterable[tuple[Derivation, Sequence[Span]]]) -> Carriers:
        """Those of some trees with their entities."""
        g = base.grammar
        symbols: set[int] = set()
        chains: set[int] = set()
        within: set[int] = set()
        for tree, entities in trees:
            covers = _Covers(len(tree.tags), entities)
            at, above = _nodes(tree, g)
            for place, symbol in at.items():
                if covers.has(*place):
                    within.add(symbol)
                if place in covers.types and place not in above:
                    symbols.add(symbol)
            for place, rule in above.items():
                if place in covers.types:
                    chains.add(rule)
                elif covers.has(*place):
                    within.add(int(g.unary_parent[rule]))
        return cls(frozenset(symbols), frozenset(chains), frozenset(a for a in within if a >= g.tags))

    def check(self, grammar: Grammar) -> None:
        """An error where a grammar does not have these."""
        if not all(0 <= a < grammar.symbols for a in self.symbols | self.within):
            raise ValueError("the entities stand on symbols that the grammar does not have")
        if not all(0 <= u < grammar.unaries for u in self.chains):
            raise ValueError("the entities stand on unary rules that the grammar does not have")


class _Covers:
    """The entities of a sentence, none across another: which spans they are (``types``), and which they hold."""

    def __init__(self, n: int, entities: Sequence[Span]) -> None:
        self.types = {(e.start, e.end): e.label for e in entities}
        self._number = [NONE] * n
        for number, entity in enumerate(entities):
            self._number[entity.start : entity.end] = [number] * (entity.end - entity.start)

    def has(self, begin: int, end: int) -> bool:
        """Whether a span is an entity or inside one."""
        return self._number[begin] != NONE and self._number[begin] == self._number[end - 1]


@dataclass(frozen=True, eq=False)
class JointGrammar:
    """The joint symbols and rules by what they are made of.

    ``symbol_base`` [S]: the treebank's symbol; ``symbol_place`` [S]: outside (the first ones, numbered as there),
    inside, or an entity. ``rule_base`` [R]: the treebank's rule; ``rule_kind`` [R]: of a rule outside, 1 if the left
    child is an entity plus 2 if the right one is; 4 inside. ``unary_base`` [U]: the treebank's unary rule, -1 where an
    entity stands on a symbol by itself; ``unary_type`` [U]: the entity, -1 for none.
    """

    base: TreebankGrammar
    types: tuple[str, ...]
    carriers: Carriers
    grammar: Grammar
    symbol_base: Integers
    symbol_place: Integers
    rule_base: Integers
    rule_kind: Integers
    unary_base: Integers
    unary_type: Integers

    @classmethod
    def of(cls, base: TreebankGrammar, types: Sequence[str], carriers: Carriers) -> JointGrammar:
        """The grammar in which entities stand where ``carriers`` have them."""
        g = base.grammar
        made = _Symbols(base, carriers)
        rules = sorted(
            (left, right, parent, rule, kind)
            for rule, (a, b, c) in enumerate(zip(g.parent.tolist(), g.left.tolist(), g.right.tolist(), strict=True))
            for left, right, parent, kind in made.binary(a, b, c)
        )
        left, right, parent, rule_base, rule_kind = np.array(rules, np.int32).reshape(-1, 5).T.copy()
        unary = []
        for chain, (a, b) in enumerate(zip(g.unary_parent.tolist(), g.unary_child.tolist(), strict=True)):
            for of in (made.outside, made.inside):
                if a in of and b in of:
                    unary.append((of[a], of[b], chain, NONE))
        for kind in range(len(types)):
            for chain in sorted(carriers.chains):
                a, b = int(g.unary_parent[chain]), int(g.unary_child[chain])
                unary.append((made.entity[a], made.inside[b], chain, kind))
            unary += [(made.entity[a], made.inside[a], NONE, kind) for a in sorted(carriers.symbols)]
        top, below, unary_base, unary_type = np.array(unary, np.int32).reshape(-1, 4).T.copy()
        symbols, places = np.array(made.all, np.int32).reshape(-1, 2).T.copy()
        grammar = Grammar(len(symbols), g.tags, parent, left, right, top, below)
        return cls(base, tuple(types), carriers, grammar, symbols, places, rule_base, rule_kind, unary_base, unary_type)

    @cached_property
    def may_be_root(self) -> NDArray[np.bool_]:
        """``[S]``: whether the symbol may stand on top of a sentence, if the treebank's one may."""
        return np.isin(self.symbol_place, (OUTSIDE, ENTITY))

    @cached_property
    def _rule_number(self) -> dict[tuple[int, int], int]:
        return {pair: i for i, pair in enumerate(zip(self.rule_base.tolist(), self.rule_kind.tolist(), strict=True))}

    @cached_property
    def _unary_number(self) -> dict[tuple[int, int, int], int]:
        """By the treebank's unary rule, the type of the entity, and the place of the parent. Where there is no unary
        rule but the entity, by the complement of the symbol that it stands on."""
        below = self.symbol_base[self.grammar.unary_child]
        of = np.where(self.unary_base == NONE, ~below, self.unary_base)
        parts = (of, self.unary_type, self.symbol_place[self.grammar.unary_parent])
        return {key: i for i, key in enumerate(zip(*(part.tolist() for part in parts), strict=True))}

    def derivation(self, tree: Derivation, entities: Sequence[Span]) -> Derivation | None:
        """A tree of the treebank's grammar with entities on its nodes; None where one stands on none, or two on one."""
        starts = sorted((e.start, e.end) for e in entities)
        if any(first[1] > second[0] for first, second in pairwise(starts)):
            return None
        kinds, covers = {name: i for i, name in enumerate(self.types)}, _Covers(len(tree.tags), entities)
        bottom, chains = _nodes(tree, self.base.grammar)
        binary, unary = [], []
        for rule, begin, split, end in tree.binary.tolist():
            on_children = ((begin, split) in covers.types) + 2 * ((split, end) in covers.types)
            kind = WITHIN if covers.has(begin, end) else on_children
            binary.append((self._rule_number.get((rule, kind), NONE), begin, split, end))
        for place in sorted(chains.keys() | covers.types.keys()):
            if place not in bottom:
                return None
            key = chains[place] if place in chains else ~bottom[place]
            if place in covers.types:
                use = (key, kinds[covers.types[place]], ENTITY)
            else:
                use = (key, NONE, INSIDE if covers.has(*place) else OUTSIDE)
            unary.append((self._unary_number.get(use, NONE), *place))
        if any(use[0] == NONE for use in (*binary, *unary)):
            return None
        is_entity = (0, len(tree.tags)) in covers.types
        root = self._entity_number[tree.root] if is_entity else tree.root
        return Derivation.of(root, tree.tags, binary, unary)

    @cached_property
    def _entity_number(self) -> dict[int, int]:
        return {int(self.symbol_base[i]): i for i in np.flatnonzero(self.symbol_place == ENTITY).tolist()}

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
        root = int(self.symbol_base[tree.root])
        return Derivation.of(root, tree.tags, binary, unary), sorted(entities, key=lambda e: e.start)

    def header(self) -> dict[str, Any]:
        """What a model file says of the entities."""
        return {"types": list(self.types)} | {k: sorted(v) for k, v in self.carriers._asdict().items()}

    @classmethod
    def from_file(cls, header: Mapping[str, Any], base: TreebankGrammar) -> JointGrammar:
        """From what ``header`` gave."""
        carriers = Carriers(*(frozenset(int(i) for i in header[name]) for name in Carriers._fields))
        carriers.check(base.grammar)
        return cls.of(base, [str(name) for name in header["types"]], carriers)


class _Symbols:
    """The joint symbols: by place, the number of each symbol of the treebank that may be there."""

    def __init__(self, base: TreebankGrammar, carriers: Carriers) -> None:
        g = base.grammar
        self.all: list[tuple[int, int]] = []
        added = is_added(base)
        tops = carriers.symbols | {int(g.unary_parent[chain]) for chain in carriers.chains}
        tags = {a: a for a in range(g.tags)}
        every = self._numbered(range(g.symbols), OUTSIDE)
        self.outside = {a: i for a, i in every.items() if not added[a]}
        self.inside = tags | self._numbered(carriers.within, INSIDE)
        self.entity = self._numbered(tops, ENTITY)

    def _numbered(self, symbols: Iterable[int], place: int) -> dict[int, int]:
        first, some = len(self.all), sorted(symbols)
        self.all += [(a, place) for a in some]
        return {a: first + i for i, a in enumerate(some)}

    def binary(self, a: int, b: int, c: int) -> Iterable[tuple[int, int, int, int]]:
        """The joint rules of a rule a -> b c: left child, right child, parent, kind."""
        for left, of_left in enumerate((self.outside, self.entity)):
            for right, of_right in enumerate((self.outside, self.entity)):
                if a in self.outside and b in of_left and c in of_right:
                    yield of_left[b], of_right[c], self.outside[a], left + 2 * right
        if a in self.inside and b in self.inside and c in self.inside:
            yield self.inside[b], self.inside[c], self.inside[a], WITHIN


def is_added(base: TreebankGrammar) -> NDArray[np.bool_]:
    """``[S]``: whether a symbol is of nodes that were added for entities, which stand for nothing else."""
    return np.array([symbol.label == ENTITY_NODE for symbol in base.symbols], np.bool_)


def _nodes(tree: Derivation, grammar: Grammar) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
    """The symbols of a tree by their spans, below unary rules; and the unary rules."""
    symbols = {(i, i + 1): int(tag) for i, tag in enumerate(tree.tags)}
    symbols |= {(begin, end): int(grammar.parent[rule]) for rule, begin, _, end in tree.binary.tolist()}
    return symbols, {(begin, end): rule for rule, begin, end in tree.unary.tolist()}
