"""Nested segmentations as the trees of a context-free grammar: what the grammar can do, they can.

A sentence is a tree whose phrases are segments (Finkel 2010, section 5.3). Its symbols are the words of every context,
the segments of every label in every context, and rows, which are what is left of a context from one of its elements on:
rows branch to the right. Sums and the best tree are found faster by :class:`NestedBatch`; the k best, samples and the
entropy come from the chart.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dovetail.structures.chain.parts import Floats
from dovetail.structures.grammar import Derivation, Grammar, GrammarPotentials, ParseChart, cell_count, cells
from dovetail.structures.nested.batch import NestedBatch
from dovetail.structures.nested.parts import NestedPotentials


@dataclass(frozen=True)
class NestedGrammar:
    """The grammar of segments with so many labels."""

    labels: int

    def word(self, context: int) -> int:
        """The symbol of a word in a context, the only tags."""
        return context

    def segment(self, label: int, context: int) -> int:
        """The symbol of a segment in a context."""
        return (self.labels + 1) * (1 + label) + context

    def row(self, element: int, context: int) -> int:
        """The symbol of two or more elements in a row that end a context, from one of a kind on."""
        return (self.labels + 1) ** 2 + element * (self.labels + 1) + context

    def element(self, element: int, context: int) -> int:
        """The symbol of a word (0) or a segment in a context."""
        return self.segment(element - 1, context) if element else self.word(context)

    @cached_property
    def rules(self) -> dict[tuple[int, int, int], tuple[int, int, int, bool, bool]]:
        """From each binary rule to (context, element, next element, whether it is the first, whether it is the last).

        The parent is a row of the context, or a segment that the context is.
        """
        found = {}
        size = self.labels + 1
        for context in range(size):
            for e in range(size):
                for f in range(size):
                    for last in (False, True):
                        right = self.element(f, context) if last else self.row(f, context)
                        left = self.element(e, context)
                        found[self.row(e, context), left, right] = (context, e, f, False, last)
                        for outer in range(size) if context else ():
                            found[self.segment(context - 1, outer), left, right] = (context, e, f, True, last)
        return found

    @cached_property
    def chains(self) -> dict[tuple[int, int], tuple[int, int, int | None]]:
        """From each unary rule to (label, context, label of a segment that fills it or None).

        A segment holds one word, or another segment over the same words; a word in two segments is one rule.
        """
        found: dict[tuple[int, int], tuple[int, int, int | None]] = {}
        for context in range(self.labels + 1):
            for x in range(self.labels):
                found[self.segment(x, context), self.word(1 + x)] = (x, context, None)
                for y in range(self.labels):
                    if y != x:
                        found[self.segment(x, context), self.segment(y, 1 + x)] = (x, context, y)
                        found[self.segment(x, context), self.word(1 + y)] = (x, context, y)
        return found

    @cached_property
    def grammar(self) -> Grammar:
        """The rules as a grammar."""
        symbols = 2 * (self.labels + 1) ** 2
        return Grammar.of(symbols, self.labels + 1, self.rules, self.chains)


def nested_chart(batch: NestedBatch, sentence: int = 0) -> ParseChart:
    """The chart of one sentence of a batch: the same distribution.

    >>> batch = NestedBatch(NestedPotentials.zeros(3, 2), np.array([0, 3]))
    >>> bool(np.isclose(nested_chart(batch).log_partition(), batch.log_partition()[0]))
    True
    """
    nested = NestedGrammar(batch.potentials.labels)
    first, after = int(batch.offsets[sentence]), int(batch.offsets[sentence + 1])
    n, p = after - first, batch.potentials
    score = segment_scores(batch, first, n)
    grammar = nested.grammar
    span = np.zeros((cell_count(n), grammar.symbols))
    for x in range(nested.labels):
        for context in range(nested.labels + 1):
            span[:, nested.segment(x, context)] = score[:, x + (nested.labels if context else 0)] + p.nest[context, x]
    rule = np.array([_rule_score(p, *nested.rules[each]) for each in zip(*_table(grammar), strict=True)])
    begin, word_cells = np.zeros((n + 1, grammar.unaries)), cells(n, np.arange(n), np.arange(1, n + 1))
    for u, pair in enumerate(zip(grammar.unary_parent.tolist(), grammar.unary_child.tolist(), strict=True)):
        x, _, y = nested.chains[pair]
        if y is None:
            begin[:, u] = p.first[1 + x, 0] + p.last[1 + x, 0]
        else:
            begin[:, u] = p.first[1 + x, 1 + y] + p.last[1 + x, 1 + y]
            if pair[1] == nested.word(1 + y):  # the inner segment has no symbol of its own here
                begin[:, u] += p.nest[1 + x, y] + p.first[1 + y, 0] + p.last[1 + y, 0]
                begin[:n, u] += score[word_cells, nested.labels + y]
    root = np.full(grammar.symbols, -np.inf)
    for e in range(nested.labels + 1):
        root[nested.row(e, 0)] = p.first[0, e]
        root[nested.element(e, 0)] = p.first[0, e] + p.last[0, e]
    tag = p.word[first:after]
    return ParseChart(grammar, GrammarPotentials.of(grammar, tag, begin=rule, span=span, unary_begin=begin, root=root))


def segment_scores(batch: NestedBatch, first: int, n: int) -> Floats:
    """The scores of the segments of n tokens, in no other and in others: [cells, 2 * T]."""
    p, phrases = batch.potentials, batch.phrases
    out = np.full((cell_count(n), 2 * p.labels), -np.inf)
    for i in range(n):
        for j in range(i + 1, min(n, i + batch.longest) + 1):
            s, e, c = first + i, first + j - 1, int(cells(n, i, j))
            out[c] = p.start[s] + p.end[e] + p.inside[s : e + 1].sum(axis=0)
            if j - i <= phrases:
                out[c] += p.phrase[s * phrases + j - i - 1]
    return out


def _table(grammar: Grammar) -> tuple[list[int], list[int], list[int]]:
    return grammar.parent.tolist(), grammar.left.tolist(), grammar.right.tolist()


def _rule_score(p: NestedPotentials, context: int, e: int, f: int, first: bool, last: bool) -> float:
    score = p.sibling[context, e, f] + (p.first[context, e] if first else 0.0) + (p.last[context, f] if last else 0.0)
    return float(score)


def segments_in(labels: int, tree: Derivation) -> list[tuple[int, int, int]]:
    """The segments (start, end, label) of a tree of the grammar, each before those within it."""
    nested = NestedGrammar(labels)
    size, grammar = labels + 1, nested.grammar
    found: list[tuple[int, int, int, int]] = []
    for rule, i, _, j in tree.binary.tolist():
        parent = int(grammar.parent[rule])
        if size <= parent < size**2:
            found.append((i, j, parent // size - 1, 1))
    for u, i, j in tree.unary.tolist():
        pair = int(grammar.unary_parent[u]), int(grammar.unary_child[u])
        x, _, y = nested.chains[pair]
        found.append((i, j, x, 0))
        if y is not None and pair[1] == nested.word(1 + y):
            found.append((i, j, y, 1))
    return [each[:3] for each in sorted(found, key=lambda each: (each[0], -each[1], each[3]))]
