"""Probabilities of labelled constituents, and the tree that is expected to have the most of them right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.kernel import kernel
from dovetail.structures.chain.parts import Floats, Labels
from dovetail.structures.grammar.log import LogChart
from dovetail.structures.grammar.parts import Derivation, Grammar, GrammarPotentials, Mask, cells
from dovetail.structures.grammar.search import BestChart, at, best_splits, follow, list_active, unary_total
from dovetail.structures.grammar.sums import Rules, cell


class SpanMarginals(NamedTuple):
    """How probable it is that a symbol stands over a span, or a unary rule."""

    lower: Floats
    """``[cells, S]``: by itself or below a unary rule, that is as a tag or the parent of a binary rule."""
    upper: Floats
    """``[cells, S]``: by itself or above a unary rule."""
    unary: Floats
    """``[cells, U]``: a unary rule is used."""
    symbol: Floats
    """``[cells, S]``: in any of these places; a symbol is at most once over a span."""


class Labelling(NamedTuple):
    """What symbols and unary rules mean as labels: ``group`` [S], -1 for none, and by unary rule u its labels
    ``labels[ptr[u] : ptr[u + 1]]``; ``size`` is the number of labels."""

    group: Labels
    ptr: Labels
    labels: Labels
    size: int

    @classmethod
    def of(cls, grammar: Grammar, group: ArrayLike, unary_labels: Sequence[ArrayLike] | None) -> Labelling:
        """Labels from whatever is like arrays; a unary rule has that of its parent unless given."""
        groups = np.ascontiguousarray(group, np.int32)
        if groups.shape != (grammar.symbols,):
            raise InputError(f"group has shape {groups.shape}, expected {(grammar.symbols,)}")
        given = groups[grammar.unary_parent][:, None] if unary_labels is None else unary_labels
        chains = [np.asarray(chain, np.int32).ravel() for chain in given]
        if len(chains) != grammar.unaries:
            raise InputError(f"unary_labels has {len(chains)} entries, expected one a unary rule, {grammar.unaries}")
        chains = [chain[chain >= 0] for chain in chains]
        labels = np.concatenate([np.zeros(0, np.int32), *chains])
        ptr = np.cumsum([0, *map(len, chains)]).astype(np.int32)
        return cls(groups, ptr, labels, int(max(groups.max(initial=-1), labels.max(initial=-1))) + 1)


def span_marginals(
    n: int, grammar: Grammar, potentials: GrammarPotentials, chart: LogChart, upper: Floats
) -> SpanMarginals:
    """All of them from those of the upper symbols [cells, S] and a filled chart."""
    lower, unary = np.zeros_like(upper), np.zeros((len(upper), grammar.unaries))
    lower_marginals(n, Rules.of(grammar), potentials, chart, upper, lower, unary)
    symbol = lower.copy()
    np.add.at(symbol.T, grammar.unary_parent, unary.T)
    return SpanMarginals(lower, upper, unary, symbol)


@kernel
def lower_marginals(
    n: int, rules: Rules, p: GrammarPotentials, chart: LogChart, upper: Floats, lower: Floats, unary: Floats
) -> None:
    """Fill ``lower`` [cells, S] and ``unary`` [cells, U], zeros."""
    for i in range(n):
        for j in range(i + 1, n + 1):
            c = cell(i, j, n)
            for a in range(upper.shape[1]):
                if upper[c, a] > 0.0:
                    lower[c, a] = upper[c, a] * np.exp(chart.bottom[c, a] - chart.top[c, a])
            for u in range(len(rules.unary_parent)):
                a, b = rules.unary_parent[u], rules.unary_child[u]
                if upper[c, a] > 0.0 and chart.bottom[c, b] > -np.inf:
                    score = unary_total(p, i, j, c, u, a) + chart.bottom[c, b] - chart.top[c, a]
                    unary[c, u] = upper[c, a] * np.exp(score)
                    lower[c, b] += unary[c, u]


def label_marginals(grammar: Grammar, marginals: SpanMarginals, labelling: Labelling) -> Floats:
    """The expected number of constituents of each label over each span: [cells, labels].

    Of symbols in their lower place and of all labels of a unary rule. It is a probability where no chain of unary
    rules has a label twice.
    """
    counts = np.zeros((len(marginals.lower), labelling.size))
    labelled = np.flatnonzero(labelling.group >= 0)
    np.add.at(counts.T, labelling.group[labelled], marginals.lower.T[labelled])
    rules = np.repeat(np.arange(grammar.unaries), np.diff(labelling.ptr))
    np.add.at(counts.T, labelling.labels, marginals.unary.T[rules])
    return counts


def max_recall(
    grammar: Grammar,
    potentials: GrammarPotentials,
    marginals: SpanMarginals,
    labelling: Labelling,
    cost: float | Floats,
) -> Derivation | None:
    """The possible tree with the largest sum of label marginals less ``cost`` a constituent, and tag marginals.

    ``cost``: one for all labels, or [labels].
    """
    n = len(potentials.tag)
    gain = label_marginals(grammar, marginals, labelling) - cost
    padded = np.concatenate([gain, np.zeros((len(gain), 1))], axis=1)  # the last column is of the group -1
    by_rule = np.zeros_like(marginals.unary)
    rules = np.repeat(np.arange(grammar.unaries), np.diff(labelling.ptr))
    np.add.at(by_rule.T, rules, gain.T[labelling.labels])
    allowed = GrammarPotentials(*(np.where(table > -np.inf, 0.0, -np.inf) for table in potentials))
    tag = marginals.lower[cells(n, np.arange(n), np.arange(1, n + 1)), : grammar.tags]
    gains = allowed._replace(tag=np.ascontiguousarray(tag), span=np.ascontiguousarray(padded[:, labelling.group]))
    chart = BestChart.empty(n, grammar.symbols)
    best_gains(n, Rules.of(grammar), gains, (marginals.symbol > 0.0).astype(np.uint8), by_rule, chart)
    final = np.where(marginals.upper[n - 1] > 0.0, chart.top[n - 1], -np.inf)
    root = int(final.argmax())
    return None if final[root] == -np.inf else follow(n, grammar, chart, root)


@kernel
def best_gains(n: int, rules: Rules, gains: GrammarPotentials, mask: Mask, by_rule: Floats, chart: BestChart) -> None:
    """As :func:`viterbi`, but a unary rule over a span gains ``by_rule`` [cells, U] and nothing for its parent."""
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            c = cell(i, j, n)
            if length > 1:
                best_splits(i, j, n, rules, gains, mask, chart)
            else:
                for t in range(gains.tag.shape[1]):
                    if mask[c, t]:
                        chart.bottom[c, t] = gains.tag[i, t]
            chart.top[c] = chart.bottom[c]
            ui, uj = at(i, gains.unary_begin), at(j, gains.unary_end)
            for u in range(len(rules.unary_parent)):
                a, below = rules.unary_parent[u], chart.bottom[c, rules.unary_child[u]]
                score = below + gains.unary_begin[ui, u] + gains.unary_end[uj, u] + by_rule[c, u]
                if mask[c, a] and score > chart.top[c, a]:
                    chart.top[c, a], chart.unary[c, a] = score, u
            list_active(c, chart)
