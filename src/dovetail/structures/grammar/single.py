"""Exact inference for the trees of a weighted context-free grammar over a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.chain.parts import Floats, Integers, Labels
from dovetail.structures.grammar.checks import check_chart, check_direction, check_tree
from dovetail.structures.grammar.coarse import symbol_posteriors
from dovetail.structures.grammar.filter import reachable
from dovetail.structures.grammar.kbest import LazySearch
from dovetail.structures.grammar.log import LogChart, log_inside
from dovetail.structures.grammar.parts import Derivation, Grammar, GrammarPotentials, Mask, cell_count, cells
from dovetail.structures.grammar.recall import Labelling, SpanMarginals, label_marginals, max_recall, span_marginals
from dovetail.structures.grammar.sample import Draws, sample
from dovetail.structures.grammar.search import BestChart, follow, viterbi
from dovetail.structures.grammar.sums import Chart, GrammarWeights, Rules, inside, outside
from dovetail.structures.grammar.tangent import SpanValues, descend, means_below

__all__ = [
    "Derivation",
    "Grammar",
    "GrammarPotentials",
    "ParseChart",
    "SpanMarginals",
    "cell_count",
    "cells",
    "count_parts",
    "occupied",
    "reachable",
    "symbol_posteriors",
]


@dataclass(frozen=True, eq=False)
class ParseChart:
    """All trees of a grammar over n words; minus infinity forbids a part.

    potentials: see :class:`GrammarPotentials`, made by ``GrammarPotentials.of``. mask: [cells, S], 0 where a symbol
    may not stand over a span; everything is allowed unless given. A symbol of a span takes at most one unary rule.

    >>> grammar = Grammar.of(3, 2, binary=[(2, 0, 1), (2, 2, 2)], unary=[(2, 0)])
    >>> tag = np.log([[0.8, 0.1], [0.7, 0.3]])
    >>> chart = ParseChart(grammar, GrammarPotentials.of(grammar, tag, root=[-np.inf, -np.inf, 0.0]))
    >>> round(float(np.exp(chart.log_partition())), 2)  # 0.8 * 0.3 for the tags 0 1 and 0.8 * 0.7 for 0 0
    0.8
    >>> chart.best().tags
    array([0, 0], dtype=int32)
    >>> [(tree.tags.tolist(), round(log_probability, 2)) for tree, log_probability in chart.kbest(2)]
    [([0, 0], -0.36), ([0, 1], -1.2)]
    """

    grammar: Grammar
    potentials: GrammarPotentials
    mask: Mask | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_chart(self.grammar, self.potentials, self.mask)

    def __len__(self) -> int:
        return len(self.potentials.tag)

    def log_partition(self) -> float:
        """The log of the sum of exp(score) over all trees; minus infinity where there is none."""
        _, log_z, chart = self._sums
        return self._logs[0] if chart.lost[0] else log_z

    def marginals(self) -> GrammarPotentials:
        """The expected count of every part, shaped like the potentials."""
        return self.log_partition_and_marginals()[1]

    def log_partition_and_marginals(self) -> tuple[float, GrammarPotentials]:
        """Both in one pass, the step of training."""
        log_z, counts, _ = self._posterior
        return log_z, counts

    def best(self) -> Derivation | None:
        """The tree with the highest score, None where there is none."""
        final = self._best.top[len(self) - 1] + self.potentials.root
        root = int(final.argmax())
        return None if final[root] == -np.inf else follow(len(self), self.grammar, self._best, root)

    def kbest(self, k: int) -> list[tuple[Derivation, float]]:
        """The k best trees (fewer if there are fewer) and their log-probabilities, best first."""
        if k < 1:
            return []
        search, log_z = LazySearch(self.grammar, self.potentials, self._best, k), self.log_partition()
        return [(tree, score - log_z) for tree, score in islice(search.trees(), k)]

    def sample(self, n: int, rng: np.random.Generator) -> list[Derivation]:
        """Trees drawn from the exact distribution."""
        log_z, chart = self._logs
        if log_z == -np.inf:
            raise InputError("every tree is forbidden")
        g, draws = self.grammar, Draws.empty(n, len(self))
        uniforms = rng.random((n, 3 * len(self)))
        sample(len(self), Rules.of(g), g.by_parent, g.parent_ptr, self.potentials, chart, log_z, uniforms, draws)
        return draws.trees()

    def score(self, tree: Derivation) -> float:
        """The score of a tree; less log Z, it is its log-probability; minus infinity of what the mask forbids."""
        check_tree(self.grammar, tree, len(self))
        if self.mask is not None and not self.mask[occupied(self.grammar, tree)].all():
            return -np.inf
        uses = _uses(self.grammar, tree, self.potentials)
        return float(sum(table[place, part].sum() for table, place, part in uses) + self.potentials.root[tree.root])

    def indicator(self, tree: Derivation) -> GrammarPotentials:
        """The counts of the parts of a tree, shaped like the potentials."""
        check_tree(self.grammar, tree, len(self))
        counts = self._zeros()
        count_parts(self.grammar, tree, 1.0, counts)
        return counts

    def entropy(self) -> float:
        """The entropy of the tree, in nats; 0 where there is none."""
        return self._descend(self._zeros(), self._span_values())[2]

    def jvp(self, direction: GrammarPotentials) -> GrammarPotentials:
        """The derivative of the marginals when the potentials move along a direction, in the same shapes."""
        check_direction(direction, self.potentials)
        means, (_, chart) = self._span_values(), self._logs
        means_below(len(self), Rules.of(self.grammar), self.potentials, chart, direction, means)
        return self._descend(direction, means)[1]

    def span_marginals(self) -> SpanMarginals:
        """The probability of every symbol and of every unary rule over every span."""
        _, _, upper = self._posterior
        return span_marginals(len(self), self.grammar, self.potentials, self._logs[1], upper)

    def label_marginals(self, group: ArrayLike, unary_labels: Sequence[ArrayLike] | None = None) -> Floats:
        """The expected number of constituents of each label over each span: [cells, labels].

        group: [S], the label of every symbol, -1 for none (tags, symbols made by binarisation). unary_labels: the
        labels that each unary rule puts over its span, from a chain of them; that of its parent unless given. It is
        a probability where no chain has a label twice.
        """
        labelling = Labelling.of(self.grammar, group, unary_labels)
        return label_marginals(self.grammar, self.span_marginals(), labelling)

    def max_recall(
        self, group: ArrayLike, unary_labels: Sequence[ArrayLike] | None = None, cost: float | Floats = 0.0
    ) -> Derivation | None:
        """The tree expected to have the most labelled constituents and tags right, None where there is none.

        It maximises the sum of its :meth:`label_marginals`, each less ``cost``, and tag marginals, among the trees
        that are possible. Without a cost, every constituent that a grammar lets in is worth having however
        improbable; with one of 0.5, those more probable than not. ``cost`` may be one for each label.
        """
        labelling = Labelling.of(self.grammar, group, unary_labels)
        return max_recall(self.grammar, self.potentials, self.span_marginals(), labelling, cost)

    @cached_property
    def _mask(self) -> Mask:
        if self.mask is None:
            return np.ones((cell_count(len(self)), self.grammar.symbols), np.uint8)
        return np.ascontiguousarray(self.mask != 0, np.uint8)

    @cached_property
    def _best(self) -> BestChart:
        chart = BestChart.empty(len(self), self.grammar.symbols)
        viterbi(len(self), Rules.of(self.grammar), self.potentials, self._mask, chart)
        return chart

    @cached_property
    def _sums(self) -> tuple[GrammarWeights, float, Chart]:
        """Inside sums of probabilities, with their weights; not to be trusted if the chart has lost something."""
        weights, chart = GrammarWeights.of(self.potentials), Chart.empty(len(self), self.grammar.symbols)
        return weights, inside(len(self), Rules.of(self.grammar), weights, self._mask, chart), chart

    @cached_property
    def _logs(self) -> tuple[float, LogChart]:
        """The logs of inside sums: of probabilities, or, where these underflow, by sums in log space."""
        _, log_z, chart = self._sums
        if not chart.lost[0]:
            return log_z, LogChart.of(chart)
        logs = LogChart.empty(len(self), self.grammar.symbols)
        return log_inside(len(self), Rules.of(self.grammar), self.potentials, self._mask, logs), logs

    @cached_property
    def _posterior(self) -> tuple[float, GrammarPotentials, Floats]:
        """log Z, the expected counts, and the probability of every upper symbol of a span: [cells, S]."""
        weights, log_z, chart = self._sums
        if not chart.lost[0]:
            counts, (bottom, top) = self._zeros(), self._span_values()
            if log_z > -np.inf:
                outside(len(self), Rules.of(self.grammar), weights, self._mask, chart, top, bottom, counts)
            if log_z == -np.inf or abs(counts.tag.sum() - len(self)) < 1e-6 * len(self):
                return log_z, counts, top * chart.top
        counts, _, _, upper = self._descend(self._zeros(), self._span_values())
        return self._logs[0], counts, upper

    def _descend(
        self, direction: GrammarPotentials, means: SpanValues
    ) -> tuple[GrammarPotentials, GrammarPotentials, float, Floats]:
        """Expected counts, their derivatives, the entropy, and the probability of every upper symbol."""
        log_z, chart = self._logs
        counts, moves, probability, change = self._zeros(), self._zeros(), self._span_values(), self._span_values()
        if log_z == -np.inf:
            return counts, moves, 0.0, probability.top
        tables = direction, means, probability, change, counts, moves
        entropy = descend(len(self), Rules.of(self.grammar), self.potentials, chart, log_z, *tables)
        return counts, moves, entropy, probability.top

    def _zeros(self) -> GrammarPotentials:
        return GrammarPotentials(*map(np.zeros_like, self.potentials))

    def _span_values(self) -> SpanValues:
        return SpanValues.zeros(len(self), self.grammar.symbols)


Uses = tuple[Floats, Integers | Labels, Labels]


def _uses(grammar: Grammar, tree: Derivation, tables: GrammarPotentials) -> Iterator[Uses]:
    """The tables that the parts of a tree are in, with their rows and columns; all but that of the root."""
    n = len(tree.tags)
    rule, begin, split, end = tree.binary.T
    chain, first, last = tree.unary.T
    uses = [
        (tables.tag, np.arange(n), tree.tags),
        (tables.begin, begin, rule),
        (tables.split, split, rule),
        (tables.end, end, rule),
        (tables.span, cells(n, begin, end), grammar.parent[rule]),
        (tables.unary_begin, first, chain),
        (tables.unary_end, last, chain),
        (tables.span, cells(n, first, last), grammar.unary_parent[chain]),
    ]
    for table, place, part in uses:
        yield table, place if len(table) > 1 else np.zeros_like(place), part


def occupied(grammar: Grammar, tree: Derivation) -> tuple[Integers, Labels]:
    """The spans and symbols of a tree, [nodes] each: tags, parents of binary rules, parents of unary rules."""
    n, words = len(tree.tags), np.arange(len(tree.tags))
    begin, end = (np.concatenate([words + x, tree.binary[:, 1 + 2 * x], tree.unary[:, 1 + x]]) for x in (0, 1))
    parents = grammar.parent[tree.binary[:, 0]], grammar.unary_parent[tree.unary[:, 0]]
    return cells(n, begin, end), np.concatenate([tree.tags, *parents])


def count_parts(grammar: Grammar, tree: Derivation, amount: float, counts: GrammarPotentials) -> None:
    """Add an amount to the count of every part of a tree, in place."""
    for table, place, part in _uses(grammar, tree, counts):
        np.add.at(table, (place, part), amount)
    counts.root[tree.root] += amount
