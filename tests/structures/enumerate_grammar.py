"""The brute-force twin of a chart over a grammar: every tree is written out, every answer sums over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.structures.grammar import Derivation, Grammar, GrammarPotentials
from tests.structures.enumerate_chain import dot


def lower_trees(grammar, symbol, begin, end):
    """All ways to make a symbol over a span below a unary rule, as lists of uses."""
    if end == begin + 1:
        return [[("tag", symbol, begin)]] if symbol < grammar.tags else []
    trees = []
    for rule in np.flatnonzero(grammar.parent == symbol).tolist():
        for split in range(begin + 1, end):
            for left in upper_trees(grammar, grammar.left[rule], begin, split):
                for right in upper_trees(grammar, grammar.right[rule], split, end):
                    trees.append([*left, *right, ("binary", rule, begin, split, end)])
    return trees


def upper_trees(grammar, symbol, begin, end):
    """All ways to make a symbol over a span, with a unary rule or none."""
    trees = lower_trees(grammar, symbol, begin, end)
    for rule in np.flatnonzero(grammar.unary_parent == symbol).tolist():
        for tree in lower_trees(grammar, grammar.unary_child[rule], begin, end):
            trees.append([*tree, ("unary", rule, begin, end)])
    return trees


def derivation(root, uses):
    """A list of uses as the tables of a tree."""
    tables = {kind: [use[1:] for use in uses if use[0] == kind] for kind in ("tag", "binary", "unary")}
    return Derivation(
        root,
        np.array([tag for tag, _ in tables["tag"]], np.int32),
        np.array(tables["binary"], np.int32).reshape(-1, 4),
        np.array(tables["unary"], np.int32).reshape(-1, 3),
    )


def cell(n, begin, end):
    """The number of a span, counted out."""
    return [(i, j) for i in range(n) for j in range(i + 1, n + 1)].index((begin, end))


def nodes(grammar, uses, n):
    """The spans and symbols of all nodes of a tree: the tags, then what rules make, in the order of uses."""
    for use in uses:
        if use[0] == "tag":
            yield cell(n, use[2], use[2] + 1), use[1]
        elif use[0] == "binary":
            yield cell(n, use[2], use[4]), int(grammar.parent[use[1]])
        else:
            yield cell(n, use[2], use[3]), int(grammar.unary_parent[use[1]])


def parts(grammar, root, uses, potentials):
    """The counts of the parts of one tree, shaped like the potentials."""
    n = len(potentials.tag)
    counts = GrammarPotentials(*(np.zeros_like(part) for part in potentials))

    def add(table, row, column):
        table[row if len(table) > 1 else 0, column] += 1

    counts.root[root] += 1
    for use in uses:
        if use[0] == "tag":
            counts.tag[use[2], use[1]] += 1
            continue
        rule, begin, *split, end = use[1:]
        if split:
            add(counts.begin, begin, rule)
            add(counts.split, split[0], rule)
            add(counts.end, end, rule)
            add(counts.span, cell(n, begin, end), grammar.parent[rule])
        else:
            add(counts.unary_begin, begin, rule)
            add(counts.unary_end, end, rule)
            add(counts.span, cell(n, begin, end), grammar.unary_parent[rule])
    return counts


def as_tuple(tree):
    """A tree as something that can be compared."""
    return (
        tree.root,
        tuple(tree.tags.tolist()),
        tuple(map(tuple, tree.binary.tolist())),
        tuple(sorted(map(tuple, tree.unary.tolist()))),
    )


@dataclass
class EnumeratedChart:
    """All trees of a grammar over a sentence that a mask allows, with their scores."""

    grammar: Grammar
    potentials: GrammarPotentials
    mask: np.ndarray | None = None

    def __post_init__(self):
        n = len(self.potentials.tag)
        trees = [(root, uses) for root in range(self.grammar.symbols) for uses in upper_trees(self.grammar, root, 0, n)]
        if self.mask is not None:
            trees = [
                (root, uses) for root, uses in trees if all(self.mask[node] for node in nodes(self.grammar, uses, n))
            ]
        self.uses = [uses for _, uses in trees]
        self.trees = [derivation(root, uses) for root, uses in trees]
        self.counts = [parts(self.grammar, root, uses, self.potentials) for root, uses in trees]
        self.scores = np.array([dot(counts, self.potentials) for counts in self.counts])

    def log_partition(self):
        return float(np.logaddexp.reduce(self.scores, initial=-np.inf))

    def probabilities(self):
        log_z = self.log_partition()
        return np.zeros(len(self.scores)) if log_z == -np.inf else np.exp(self.scores - log_z)

    def expectation(self, weights):
        """The sum of the counts of all trees, each with its weight."""
        total = GrammarPotentials(*(np.zeros_like(part) for part in self.potentials))
        for weight, counts in zip(weights, self.counts, strict=True):
            for sum_, part in zip(total, counts, strict=True):
                sum_ += weight * part
        return total

    def marginals(self):
        return self.expectation(self.probabilities())

    def entropy(self):
        p = self.probabilities()
        return float(-(p[p > 0] * np.log(p[p > 0])).sum())

    def covariance(self, direction):
        """The covariance of every part's count with the total of the direction."""
        p = self.probabilities()
        totals = np.array([dot(counts, direction) for counts in self.counts])
        return self.expectation(p * (totals - p @ totals))

    def constituents(self, uses, group, unary_labels):
        """The labelled spans of a tree, as pairs of span and label, those without label left out."""
        n = len(self.potentials.tag)
        for use in uses:
            if use[0] == "unary":
                labels = unary_labels[use[1]]
            else:
                labels = [group[use[1] if use[0] == "tag" else self.grammar.parent[use[1]]]]
            span = cell(n, use[2], use[2] + 1) if use[0] == "tag" else cell(n, use[2], use[-1])
            yield from ((span, label) for label in labels if label >= 0)
