"""A grammar read off trees: its symbols by name, its rules with their counts, and the way from trees to it and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.grammars.binarise import Binarised, Symbol
from dovetail.structures.grammar import Derivation, Grammar
from dovetail.text.tree import Tree

Chain = tuple[tuple[Symbol, ...], Symbol]


@dataclass(frozen=True, eq=False)
class TreebankGrammar:
    """The rules of some trees.

    ``symbols`` [S], parts of speech first; ``chains`` [U]: the unary nodes that each unary rule stands for, from the
    top, less the child. Counts: ``binary_count`` [R], ``unary_count`` [U], ``root_count`` [S].

    >>> from dovetail.grammars.binarise import Binarisation
    >>> from dovetail.text.brackets import parse_tree
    >>> tree = parse_tree("(S (NP (NNS dogs)) (VP (VBP bark)))")
    >>> treebank = TreebankGrammar.of([Binarisation()(tree)])
    >>> [symbol.name for symbol in treebank.symbols]
    ['NNS', 'VBP', 'NP', 'S', 'VP']
    >>> print(treebank.tree(treebank.derivation(Binarisation()(tree)), ["cats", "sleep"]))
    (S (NP (NNS cats)) (VP (VBP sleep)))
    """

    symbols: tuple[Symbol, ...]
    grammar: Grammar
    chains: tuple[tuple[Symbol, ...], ...]
    binary_count: NDArray[np.float64]
    unary_count: NDArray[np.float64]
    root_count: NDArray[np.float64]

    @classmethod
    def of(cls, trees: Iterable[Binarised]) -> TreebankGrammar:
        """The grammar of some binarised trees."""
        binary: Counter[tuple[Symbol, Symbol, Symbol]] = Counter()
        unary: Counter[Chain] = Counter()
        roots: Counter[Symbol] = Counter()
        tags: set[Symbol] = set()
        for tree in trees:
            roots[tree.root] += 1
            tags.update(tree.tags)
            binary.update(use[:3] for use in tree.binary)
            unary.update(use[:2] for use in tree.unary)
        return cls.counted(tags, binary, unary, roots)

    @classmethod
    def counted(
        cls, tags: Iterable[Symbol], binary: Mapping[tuple[Symbol, Symbol, Symbol], float],
        unary: Mapping[Chain, float], roots: Mapping[Symbol, float],
    ) -> TreebankGrammar:  # fmt: skip
        """From rules with their counts: ``(parent, left, right)``, ``(chain, child)``, and symbols on top of trees."""
        named = {symbol for rule in binary for symbol in rule} | set(roots)
        named |= {chain[0] for chain, _ in unary} | {child for _, child in unary}
        words = sorted(set(tags) | {symbol for symbol in named if symbol.is_tag})
        symbols = (*words, *sorted(symbol for symbol in named if not symbol.is_tag))
        number = {symbol: i for i, symbol in enumerate(symbols)}
        rules = sorted((number[b], number[c], number[a], count) for (a, b, c), count in binary.items())
        chains = sorted((number[chain[0]], number[child], chain, count) for (chain, child), count in unary.items())
        left, right, parent = np.array([rule[:3] for rule in rules], np.int32).reshape(-1, 3).T.copy()
        binary_count = np.array([rule[3] for rule in rules], np.float64)
        top, below = (np.array([entry[k] for entry in chains], np.int32) for k in (0, 1))
        root_count = np.zeros(len(symbols))
        root_count[[number[symbol] for symbol in roots]] = list(roots.values())
        grammar = Grammar(len(symbols), len(words), parent, left, right, top, below)
        unary_count = np.array([entry[3] for entry in chains], np.float64)
        return cls(symbols, grammar, tuple(entry[2] for entry in chains), binary_count, unary_count, root_count)

    @cached_property
    def number(self) -> dict[Symbol, int]:
        """The number of each symbol."""
        return {symbol: i for i, symbol in enumerate(self.symbols)}

    @cached_property
    def _rule_number(self) -> dict[tuple[int, int, int], int]:
        g = self.grammar
        rules = zip(g.parent.tolist(), g.left.tolist(), g.right.tolist(), strict=True)
        return {rule: i for i, rule in enumerate(rules)}

    @cached_property
    def _chain_number(self) -> dict[Chain, int]:
        child = [self.symbols[i] for i in self.grammar.unary_child]
        return {pair: i for i, pair in enumerate(zip(self.chains, child, strict=True))}

    @property
    def tags(self) -> tuple[Symbol, ...]:
        """The parts of speech."""
        return self.symbols[: self.grammar.tags]

    def derivation(self, tree: Binarised) -> Derivation | None:
        """A tree by the numbers of its rules; None if it uses one that the grammar does not have."""
        number, rules = self.number, self._rule_number
        try:
            binary = [
                (rules[number[use.parent], number[use.left], number[use.right]], use.begin, use.split, use.end)
                for use in tree.binary
            ]
            unary = [(self._chain_number[use.chain, use.child], use.begin, use.end) for use in tree.unary]
            return Derivation.of(number[tree.root], [number[tag] for tag in tree.tags], binary, unary)
        except KeyError:
            return None

    def tree(
        self,
        derivation: Derivation,
        words: Sequence[str],
        probabilities: Mapping[tuple[int, int, str], float] | None = None,
    ) -> Tree:
        """The tree of a derivation without its partial symbols, with the probabilities of ``(begin, end, label)``."""
        known = probabilities or {}
        unary = {(int(b), int(e)): int(u) for u, b, e in derivation.unary}
        binary = {(int(b), int(e)): (int(r), int(s)) for r, b, s, e in derivation.binary}
        # Nodes with the number of their children, parents first; partial ones give theirs to the node above.
        flat: list[tuple[str, int, int, bool]] = []
        stack: list[tuple[int, int, int]] = [(derivation.root, 0, len(words))]
        while stack:
            symbol, begin, end = stack.pop()
            if (begin, end) in unary:
                rule = unary[begin, end]
                flat.extend((part.label, begin, end, False) for part in self.chains[rule])
                symbol = int(self.grammar.unary_child[rule])
            if end == begin + 1:
                flat.append((self.symbols[symbol].label, begin, end, True))
                continue
            if not self.symbols[symbol].partial:
                flat.append((self.symbols[symbol].label, begin, end, False))
            rule, split = binary[begin, end]
            stack.append((int(self.grammar.right[rule]), split, end))
            stack.append((int(self.grammar.left[rule]), begin, split))
        return _nested(flat, words, known)

    def header(self) -> dict[str, Any]:
        """What a model file says of the symbols."""
        extra = {symbol for chain in self.chains for symbol in chain[1:]} - set(self.number)
        everything = [*self.symbols, *sorted(extra)]
        place = {symbol: i for i, symbol in enumerate(everything)}
        return {
            "symbols": [[s.name, s.label, int(s.is_tag) + 2 * int(s.partial)] for s in everything],
            "size": len(self.symbols),
            "tags": self.grammar.tags,
            "chains": [[place[symbol] for symbol in chain] for chain in self.chains],
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The rules and counts, for a model file."""
        g = self.grammar
        return {
            "grammar.binary": np.stack([g.parent, g.left, g.right], axis=1),
            "grammar.unary": np.stack([g.unary_parent, g.unary_child], axis=1),
            "grammar.binary_count": self.binary_count.astype(np.float32),
            "grammar.unary_count": self.unary_count.astype(np.float32),
            "grammar.root_count": self.root_count.astype(np.float32),
        }

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TreebankGrammar:
        """From what ``header`` and ``arrays`` gave; the parts must fit together, for kernels do not check bounds."""
        everything = [
            Symbol(str(n), str(label), bool(kind & 1), bool(kind & 2)) for n, label, kind in header["symbols"]
        ]
        chains = tuple(tuple(everything[int(i)] for i in chain) for chain in header["chains"])
        parent, left, right = arrays["grammar.binary"].astype(np.int32).reshape(-1, 3).T.copy()
        top, below = arrays["grammar.unary"].astype(np.int32).reshape(-1, 2).T.copy()
        counts = [arrays[f"grammar.{kind}_count"].astype(np.float64) for kind in ("binary", "unary", "root")]
        symbols = tuple(everything[: int(header["size"])])
        grammar = Grammar(len(symbols), int(header["tags"]), parent, left, right, top, below)
        pairs = left.astype(np.int64) * len(symbols) + right
        if [len(c) for c in counts] != [len(parent), len(top), len(symbols)] or len(chains) != len(top):
            raise ValueError("the tables of the grammar do not fit together")
        if np.any(pairs[1:] < pairs[:-1]) or len(set(symbols)) < len(symbols) or not 0 <= grammar.tags <= len(symbols):
            raise ValueError("the rules of the grammar are not in order")
        return cls(symbols, grammar, chains, *counts)


def _nested(
    flat: Sequence[tuple[str, int, int, bool]],
    words: Sequence[str],
    probabilities: Mapping[tuple[int, int, str], float],
) -> Tree:
    """The tree of constituents that are listed parents first."""
    built: list[tuple[int, Tree]] = []  # finished nodes by where they begin, the leftmost last
    for label, begin, end, is_tag in reversed(flat):
        chance = probabilities.get((begin, end, label))
        if is_tag:
            built.append((begin, Tree(label, word=words[begin], probability=chance)))
            continue
        children = []
        while built and built[-1][0] < end:
            children.append(built.pop()[1])
        built.append((begin, Tree(label, tuple(children), probability=chance)))
    return built[0][1]


def projection(fine: TreebankGrammar, coarse: TreebankGrammar) -> NDArray[np.int32]:
    """The symbol of a coarse grammar that each symbol of a finer one stands for: [S], -1 where there is none."""
    return np.array([coarse.number.get(symbol.coarse, -1) for symbol in fine.symbols], np.int32)
