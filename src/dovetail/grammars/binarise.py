"""From trees to uses of binary and unary rules, with annotated symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from dovetail.text.heads import COLLINS, HeadRules
from dovetail.text.tree import Tree


class Symbol(NamedTuple):
    """A symbol of a grammar: a part of speech, a constituent, or ``partial``, a part of one that rules build up."""

    name: str
    label: str
    is_tag: bool = False
    partial: bool = False

    @property
    def coarse(self) -> Symbol:
        """The same without annotation."""
        return Symbol("@" + self.label if self.partial else self.label, self.label, self.is_tag, self.partial)


class BinaryUse(NamedTuple):
    """A binary rule over words ``begin`` to ``end``, split at ``split``."""

    parent: Symbol
    left: Symbol
    right: Symbol
    begin: int
    split: int
    end: int


class UnaryUse(NamedTuple):
    """A chain of unary nodes over one span, from the top one; ``child`` is below it."""

    chain: tuple[Symbol, ...]
    child: Symbol
    begin: int
    end: int


class Binarised(NamedTuple):
    """A tree as uses of rules."""

    root: Symbol
    tags: tuple[Symbol, ...]
    binary: tuple[BinaryUse, ...]
    unary: tuple[UnaryUse, ...]


class _Piece(NamedTuple):
    """A span that has been built: unary nodes above a symbol."""

    chain: tuple[Symbol, ...]
    bottom: Symbol
    begin: int
    end: int

    @property
    def top(self) -> Symbol:
        return self.chain[0] if self.chain else self.bottom


@dataclass(frozen=True)
class Binarisation:
    """How trees become binary, and what their symbols remember.

    A constituent of more than two children is built from partial symbols, word by word from one side.

    >>> from dovetail.text.brackets import parse_tree
    >>> tree = parse_tree("(NP (DT the) (JJ old) (NN man))")
    >>> [(str(u.parent.name), u.left.name, u.right.name) for u in Binarisation(horizontal=1)(tree).binary]
    [('@NP|DT', 'JJ', 'NN'), ('NP', 'DT', '@NP|DT')]
    """

    vertical: int = 1  # how many labels of the way to the root a constituent shows, its own counted: 2 adds the parent
    horizontal: int = 0  # how many of the children built before (from the left, or from the right) a partial one shows
    direction: Literal["right", "left"] = "right"
    """Where the partial symbols branch: right, so that children are split off from the left; or left."""
    head_tags: bool = False  # whether verb phrases show the part of speech of their head

    def __call__(self, tree: Tree, heads: HeadRules = COLLINS) -> Binarised:
        """The uses of rules that build a tree."""
        names = self._symbols(tree, heads)
        binary: list[BinaryUse] = []
        unary: list[UnaryUse] = []
        tags: list[Symbol] = []
        built: list[_Piece] = []
        position = len(tree)
        for node, symbol in zip(reversed(list(tree.nodes())), reversed(names), strict=True):
            if node.is_preterminal:
                position -= 1
                tags.append(symbol)
                built.append(_Piece((), symbol, position, position + 1))
                continue
            children = [built.pop() for _ in node.children]
            if len(children) == 1:
                [below] = children
                built.append(below._replace(chain=(symbol, *below.chain)))
                continue
            for child in children:
                _note_chain(child, unary)
            binary.extend(self._binary(symbol, children))
            built.append(_Piece((), symbol, children[0].begin, children[-1].end))
        [whole] = built
        _note_chain(whole, unary)
        return Binarised(whole.top, tuple(tags[::-1]), tuple(binary), tuple(unary))

    def _binary(self, parent: Symbol, children: Sequence[_Piece]) -> list[BinaryUse]:
        labels = [child.top.label for child in children]
        last = len(children) - 1
        uses = []
        if self.direction == "right":
            right, end = children[-1].top, children[-1].end
            for k in range(last - 1, -1, -1):
                whole = parent if k == 0 else self._partial(parent, labels[max(0, k - self.horizontal) : k])
                uses.append(BinaryUse(whole, children[k].top, right, children[k].begin, children[k].end, end))
                right = whole
            return uses
        left, begin = children[0].top, children[0].begin
        for k in range(1, last + 1):
            whole = parent if k == last else self._partial(parent, labels[k + 1 : k + 1 + self.horizontal])
            uses.append(BinaryUse(whole, left, children[k].top, begin, children[k].begin, children[k].end))
            left = whole
        return uses

    def _partial(self, parent: Symbol, siblings: Sequence[str]) -> Symbol:
        name = f"@{parent.name}|{'_'.join(siblings)}" if self.horizontal else f"@{parent.name}"
        return Symbol(name, parent.label, partial=True)

    def _symbols(self, tree: Tree, heads: HeadRules) -> list[Symbol]:
        """The symbols of all nodes, parents before children."""
        head, tags = heads.lexical_heads(tree) if self.head_tags else (), tree.tags()
        symbols: list[Symbol] = []
        stack: list[tuple[Tree, tuple[str, ...]]] = [(tree, ())]
        while stack:
            node, above = stack.pop()
            if node.is_preterminal:
                symbols.append(Symbol(node.label, node.label, is_tag=True))
            else:
                name = "^".join((node.label, *above[: self.vertical - 1]))
                if self.head_tags and node.label == "VP":
                    name += "~" + tags[head[len(symbols)]]
                symbols.append(Symbol(name, node.label))
            stack.extend((child, (node.label, *above)) for child in reversed(node.children))
        return symbols


def _note_chain(piece: _Piece, unary: list[UnaryUse]) -> None:
    if piece.chain:
        unary.append(UnaryUse(piece.chain, piece.bottom, piece.begin, piece.end))
