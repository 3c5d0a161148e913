"""Weights from one model to another: those of features, rules and labels that both have, whatever their numbers."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.grammars.treebank import TreebankGrammar
from dovetail.scorers.linear import Layout
from dovetail.scorers.trees import LENGTHS
from dovetail.structures.contract import Floats, Integers


class NamedBlock(NamedTuple):
    """Weights that lie together: what each is of, or, where they are of features, what each output is.

    ``keys`` [features]: those of the features, sorted; ``layout``: which outputs each has weights of.
    """

    place: slice
    names: Sequence[Hashable]
    keys: NDArray[np.uint64] | None = None
    layout: Layout | None = None

    def codes(self, other: NamedBlock) -> Integers:
        """The weights in the numbering of another block, ``feature * outputs + output``; -1 for what it lacks."""
        number = {name: i for i, name in enumerate(other.names)}
        output = np.array([number.get(name, -1) for name in self.names], np.int64)
        if self.layout is None or self.keys is None or other.keys is None:
            return output
        feature = np.searchsorted(other.keys, self.keys)
        known = np.append(other.keys, np.uint64(0))[feature] == self.keys
        feature = np.where(known & (feature < len(other.keys)), feature, -1)
        of_feature = np.repeat(feature, np.diff(self.layout.ptr))
        of_output = output[self.layout.label]
        return np.where((of_feature < 0) | (of_output < 0), -1, of_feature * len(other.names) + of_output)


def names_of(treebank: TreebankGrammar) -> dict[str, list[Hashable]]:
    """What the tags, symbols, rules and unary rules of a grammar are."""
    g, symbols = treebank.grammar, treebank.symbols
    sides = (g.parent.tolist(), g.left.tolist(), g.right.tolist())
    return {
        "tags": list(treebank.tags),
        "symbols": list(symbols),
        "rules": [tuple(symbols[i] for i in rule) for rule in zip(*sides, strict=True)],
        "unaries": [(chain, symbols[i]) for chain, i in zip(treebank.chains, g.unary_child.tolist(), strict=True)],
        "lengths": [(length, symbol) for length in range(len(LENGTHS) + 1) for symbol in symbols],
    }


def carried(
    old: Mapping[str, NamedBlock], weight: NDArray[np.floating], new: Mapping[str, NamedBlock], start: Floats
) -> Floats:
    """Where to start [parameters of the new blocks]: with the old weights of what both have, else as ``start``."""
    found = start.copy()
    for name in new.keys() & old.keys():
        own, before = new[name], old[name]
        known, wanted = before.codes(before), own.codes(before)
        if len(known):
            order = np.argsort(known)
            at = order[np.searchsorted(known, wanted, sorter=order).clip(max=len(known) - 1)]
            same = (wanted >= 0) & (known[at] == wanted)
            found[own.place][same] = weight[before.place][at[same]]
    return found
