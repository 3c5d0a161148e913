"""Trees as binary bracketings with one label at every span, and back.

A unary chain is one label (``S VP``), a constituent of more than two children is built from partial spans (``@ NP``),
and a word that is no constituent of its own has the label of nothing. No label of a treebank has a space in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dovetail.grammars.binarise import Binarisation
from dovetail.grammars.clean import under_root
from dovetail.text.tree import Tree

Bracket = tuple[int, int, str]
Integers = NDArray[np.int64]

NOTHING, PARTIAL, JOINT = "", "@ ", " "


def bracketed(tree: Tree, binarisation: Binarisation) -> list[Bracket]:
    """The spans of a clean tree with their labels, each before those within it, from left to right.

    >>> from dovetail.text.brackets import parse_tree
    >>> bracketed(parse_tree("(S (NP (PRP It)) (VP (VBZ rains)) (. .))"), Binarisation())
    [(0, 3, 'S'), (0, 1, 'NP'), (1, 3, '@ S'), (1, 2, 'VP'), (2, 3, '')]
    """
    used = binarisation(under_root(tree))
    label = {(i, i + 1): NOTHING for i in range(len(used.tags))}
    for use in used.binary:
        label[use.begin, use.end] = PARTIAL * use.parent.partial + use.parent.label
    for chain in used.unary:
        below = label[chain.begin, chain.end]
        label[chain.begin, chain.end] = JOINT.join([s.label for s in chain.chain] + ([below] if below else []))
    return [(*span, label[span]) for span in sorted(label, key=lambda span: (span[0], -span[1]))]


def unbracketed(
    brackets: Sequence[Bracket],
    words: Sequence[str],
    tags: Sequence[str],
    probability: Mapping[tuple[int, int, str], float] | None = None,
) -> list[Tree]:
    """The trees that brackets make, parents first: one, unless the whole is partial.

    ``probability``: those of parts by ``(begin, end, label)``.
    """
    known = probability or {}
    built: list[list[Tree]] = []
    for begin, end, label in reversed(brackets):
        if end - begin == 1:
            children = [Tree(tags[begin], (), words[begin], probability=known.get((begin, end, tags[begin])))]
        else:
            children = built.pop() + built.pop()
        if label and not label.startswith(PARTIAL):
            for name in reversed(label.split(JOINT)):
                children = [Tree(name, tuple(children), probability=known.get((begin, end, name)))]
        built.append(children)
    [whole] = built
    return whole


@dataclass(frozen=True)
class BracketLabels:
    """The labels that spans can have: over one word, over several, over the whole sentence.

    ``single`` and ``wide`` [L]: whether a label is ever over one word, over more than one.
    """

    names: tuple[str, ...]
    single: NDArray[np.bool_]
    wide: NDArray[np.bool_]

    @classmethod
    def of(cls, trees: Sequence[Sequence[Bracket]]) -> BracketLabels:
        """Those of some bracketings."""
        single = {label for tree in trees for begin, end, label in tree if end - begin == 1}
        wide = {label for tree in trees for begin, end, label in tree if end - begin > 1}
        names = tuple(sorted(single | wide))
        return cls(names, np.array([n in single for n in names]), np.array([n in wide for n in names]))

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of every label."""
        return {name: i for i, name in enumerate(self.names)}

    @cached_property
    def is_partial(self) -> NDArray[np.bool_]:
        """Whether a label is only a part of a constituent: [L]."""
        return np.array([name.startswith(PARTIAL) for name in self.names])

    @cached_property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """The constituents that each label stands for, from the top one."""
        return tuple(
            () if partial else tuple(filter(None, name.split(JOINT)))
            for name, partial in zip(self.names, self.is_partial, strict=True)
        )

    @cached_property
    def constituents(self) -> tuple[str, ...]:
        """The labels of constituents, without their chains."""
        return tuple(sorted({part for parts in self.parts for part in parts}))

    @cached_property
    def shares(self) -> NDArray[np.float64]:
        """Which constituents each label stands for: [L, constituents]."""
        number = {name: i for i, name in enumerate(self.constituents)}
        found = np.zeros((len(self), len(number)))
        for i, parts in enumerate(self.parts):
            for part in parts:
                found[i, number[part]] = 1.0
        return found

    def choices(self) -> tuple[Integers, Integers, Integers]:
        """The numbers of the labels that a word, a span of several, and a whole sentence of several may have."""
        several = self.wide & ~self.is_partial
        return np.flatnonzero(self.single), np.flatnonzero(self.wide), np.flatnonzero(several)

    def numbered(self, tree: Sequence[Bracket]) -> list[tuple[int, int, int]] | None:
        """A bracketing with numbers for labels; None where a label is not known there."""
        number = self.number
        found = []
        for begin, end, label in tree:
            x = number.get(label, -1)
            if x < 0 or not (self.single if end - begin == 1 else self.wide)[x]:
                return None
            found.append((begin, end, x))
        return found

    def named(self, begin: Sequence[int], end: Sequence[int], label: Sequence[int]) -> list[Bracket]:
        """Brackets with the names of their labels."""
        return [(i, j, self.names[x]) for i, j, x in zip(begin, end, label, strict=True)]
