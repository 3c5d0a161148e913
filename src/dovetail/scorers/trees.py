"""Potentials of the trees of a grammar from weights of features, and from slopes back.

begin[i, r] = rule[r] + features of gap i with rule r split[k, r] = features of gap k with rule r, and with its parent
end[j, r]   = features of gap j with rule r span[c, A]  = features of the gaps at both ends with symbol A, and of the
length tag[i, t]   = features of word i with tag t
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.kernel import kernel
from dovetail.scorers.contract import Floats, Items, Scorer
from dovetail.scorers.linear import Layout
from dovetail.scorers.listed import SentenceLists, add_gradients, add_scores
from dovetail.structures.grammar import Derivation, Grammar, GrammarBatch, GrammarPotentials, Mask, cell, cell_count

LENGTHS = np.array([*range(1, 7), 8, 10, 14, 20, 30, 40], np.int64)  # the longest span of each class but the last

# Which features score what: the group of the features, and what there is a score for.
BLOCKS: dict[str, tuple[str, str]] = {
    "tag": ("tag", "tags"),
    **{f"rule_{gap}": ("rule", "rules") for gap in ("begin", "split", "end")},
    **{f"label_{gap}": ("label", "symbols") for gap in ("begin", "split", "end")},
    **{f"unary_{gap}": ("label", "unaries") for gap in ("begin", "end")},
}


class SentenceParameters(ABC):
    """From one vector of weights to the potentials of the trees of a sentence, and back."""

    grammar: Grammar

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of parameters."""

    @abstractmethod
    def potentials(
        self, sentence: SentenceLists, weight: NDArray[np.floating[Any]], mask: Mask, roots: NDArray[np.bool_]
    ) -> GrammarPotentials:
        """The potentials of a sentence. mask: [cells, S]; roots: the symbols that may stand on top."""

    @abstractmethod
    def backward(self, sentence: SentenceLists, slope: GrammarPotentials, out: Floats) -> None:
        """Add to out [parameters] the gradient from that of the potentials of a sentence."""


@dataclass(eq=False)
class TreeScorer(Scorer[GrammarBatch]):
    """All trees of some sentences, of the symbols that their masks [cells, S] allow over spans.

    ``roots`` [S of the treebank]: the symbols that may stand on top.
    """

    one_by_one = True

    of_sentence: SentenceParameters
    sentences: Sequence[SentenceLists] = field(repr=False)
    masks: Sequence[Mask] = field(repr=False)
    roots: NDArray[np.bool_] = field(repr=False)
    threads: int = 1

    def __post_init__(self) -> None:
        self.parameters = self.of_sentence.size
        self.items = len(self.sentences)

    def batch(self, weight: NDArray[np.floating[Any]], which: Items | None = None) -> GrammarBatch:
        """The charts of all sentences, or of some."""
        chosen = self._chosen(which)
        tables = (self.of_sentence.potentials(self.sentences[i], weight, self.masks[i], self.roots) for i in chosen)
        return GrammarBatch(
            self.of_sentence.grammar, tuple(tables), tuple(self.masks[i] for i in chosen), threads=self.threads
        )

    def backward(self, slope: Sequence[GrammarPotentials], out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [parameters] the gradient from the slopes of the potentials of each sentence."""
        for i, own in zip(self._chosen(which), slope, strict=True):
            self.of_sentence.backward(self.sentences[i], own, out)

    def work(self, item: int) -> int:
        """The length of a sentence."""
        return self.sentences[item].length

    def _chosen(self, which: Items | None) -> list[int]:
        return list(range(self.items)) if which is None else which.tolist()


@dataclass(frozen=True, eq=False)
class TreeParameters(SentenceParameters):
    """Which parameters there are, by block, and where each block lies in the vector of weights."""

    grammar: Grammar
    layouts: Mapping[str, Layout]

    @cached_property
    def places(self) -> dict[str, slice]:
        """Where each block lies in the vector of weights."""
        g = self.grammar
        sizes = {name: layout.parameters for name, layout in self.layouts.items()}
        sizes |= {"rule": g.rules, "unary": g.unaries, "length": (len(LENGTHS) + 1) * g.symbols, "root": g.symbols}
        edges = np.concatenate([[0], np.cumsum(list(sizes.values()))]).tolist()
        return {name: slice(edges[i], edges[i + 1]) for i, name in enumerate(sizes)}

    @property
    def size(self) -> int:
        """The number of parameters."""
        return int(self.places["root"].stop)

    def potentials(
        self, sentence: SentenceLists, weight: NDArray[np.floating[Any]], mask: Mask, roots: NDArray[np.bool_]
    ) -> GrammarPotentials:
        """The potentials of a sentence. roots: [S], the symbols that may stand on top."""
        g, n = self.grammar, sentence.length

        def table(name: str, rows: int, outputs: int) -> Floats:
            out = np.zeros((rows, outputs))
            if name in self.layouts:
                lists = sentence.lists[BLOCKS[name][0]]
                add_scores(lists, sentence.first, self.layouts[name], weight[self.places[name]], out)
            return out

        begin, split, end = (table(f"rule_{part}", n + 1, g.rules) for part in ("begin", "split", "end"))
        begin += weight[self.places["rule"]]
        split += table("label_split", n + 1, g.symbols)[:, g.parent]
        of_length = weight[self.places["length"]].reshape(-1, g.symbols)
        span = np.zeros((cell_count(n), g.symbols))
        ends = (table("label_begin", n + 1, g.symbols), table("label_end", n + 1, g.symbols))
        add_spans(n, *ends, of_length, length_classes(n), mask, span)
        unary_begin = table("unary_begin", n + 1, g.unaries) + weight[self.places["unary"]]
        root = np.where(roots, weight[self.places["root"]], -np.inf)
        return GrammarPotentials(
            table("tag", n, g.tags), begin, split, end, span, unary_begin, table("unary_end", n + 1, g.unaries), root
        )

    def backward(self, sentence: SentenceLists, slope: GrammarPotentials, out: Floats) -> None:
        """Add to out [parameters] the gradient from that of the potentials of a sentence."""
        g, n = self.grammar, sentence.length

        def add(name: str, of_table: Floats) -> None:
            if name in self.layouts:
                lists = sentence.lists[BLOCKS[name][0]]
                add_gradients(lists, sentence.first, self.layouts[name], of_table, out[self.places[name]])

        add("tag", slope.tag)
        add("rule_begin", slope.begin)
        add("rule_split", slope.split)
        add("rule_end", slope.end)
        out[self.places["rule"]] += slope.begin.sum(axis=0)
        of_split, of_begin, of_end = np.zeros((3, n + 1, g.symbols))
        fold_columns(slope.split, g.parent, of_split)
        of_length = out[self.places["length"]].reshape(-1, g.symbols)
        share_spans(n, slope.span, length_classes(n), of_begin, of_end, of_length)
        add("label_begin", of_begin)
        add("label_split", of_split)
        add("label_end", of_end)
        add("unary_begin", slope.unary_begin)
        add("unary_end", slope.unary_end)
        out[self.places["unary"]] += slope.unary_begin.sum(axis=0)
        out[self.places["root"]] += slope.root


def block_outputs(grammar: Grammar, block: str) -> int:
    """How many things a block of features scores."""
    return int(getattr(grammar, BLOCKS[block][1]))


def length_classes(n: int) -> NDArray[np.int64]:
    """The class of each length up to n."""
    return np.searchsorted(LENGTHS, np.arange(n + 1))


@kernel
def add_spans(
    n: int, begin: Floats, end: Floats, of_length: NDArray[np.floating[Any]], length_class: NDArray[np.int64],
    mask: Mask, out: Floats,
) -> None:  # fmt: skip
    """out[c, A] for the allowed symbols of all spans: begin, end [n + 1, S] and of_length [classes, S] added up."""
    for i in range(n):
        for j in range(i + 1, n + 1):
            c, of = cell(i, j, n), length_class[j - i]
            for a in range(out.shape[1]):
                if mask[c, a]:
                    out[c, a] = begin[i, a] + end[j, a] + of_length[of, a]


@kernel
def share_spans(
    n: int, slope: Floats, length_class: NDArray[np.int64], begin: Floats, end: Floats, of_length: Floats
) -> None:
    """The reverse of :func:`add_spans`."""
    for i in range(n):
        for j in range(i + 1, n + 1):
            c, of = cell(i, j, n), length_class[j - i]
            for a in range(slope.shape[1]):
                if slope[c, a] != 0.0:
                    begin[i, a] += slope[c, a]
                    end[j, a] += slope[c, a]
                    of_length[of, a] += slope[c, a]


@kernel
def fold_columns(table: Floats, column: NDArray[np.int32], out: Floats) -> None:
    """``out[p, column[q]] += table[p, q]`` where the column is not -1."""
    for p in range(table.shape[0]):
        for q in range(table.shape[1]):
            if column[q] >= 0 and table[p, q] != 0.0:
                out[p, column[q]] += table[p, q]


def used_outputs(
    derivations: Sequence[Derivation], firsts: Sequence[int], grammar: Grammar
) -> dict[str, tuple[Any, Any]]:
    """For each block the positions and outputs of the parts that some trees use: two arrays [uses] each."""
    found: dict[str, list[tuple[Any, Any]]] = {name: [] for name in BLOCKS}
    for tree, first in zip(derivations, firsts, strict=True):
        rule, begin, split, end = tree.binary.T.astype(np.int64)
        chain, start, stop = tree.unary.T.astype(np.int64)
        parent, top = grammar.parent[rule].astype(np.int64), grammar.unary_parent[chain].astype(np.int64)
        found["tag"].append((first + np.arange(len(tree.tags)), tree.tags.astype(np.int64)))
        for part, place in (("begin", begin), ("split", split), ("end", end)):
            found[f"rule_{part}"].append((first + place, rule))
            found[f"label_{part}"].append((first + place, parent))
        for part, place in (("begin", start), ("end", stop)):
            found[f"label_{part}"].append((first + place, top))
            found[f"unary_{part}"].append((first + place, chain))
    empty = np.zeros(0, np.int64)
    return {
        name: (np.concatenate([empty, *(p for p, _ in uses)]), np.concatenate([empty, *(o for _, o in uses)]))
        for name, uses in found.items()
    }
