"""The training objective of a parser: the likelihood of trees, a few sentences at a time, on several threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dovetail.models.parser.parameters import SentenceLists
from dovetail.sparse import SparseGradient
from dovetail.structures.grammar import (
    Chart,
    Derivation,
    Grammar,
    GrammarPotentials,
    GrammarWeights,
    Mask,
    ParseChart,
    Rules,
    cells,
    count_parts,
    inside,
    outside,
)
from dovetail.threads import run_shards

Floats = NDArray[np.float64]

SHARDS = 4  # of a batch, each with its own sum: the same bits for any number of threads


@dataclass(frozen=True, eq=False)
class ParserExample:
    """A sentence with its tree, and the symbols that are allowed over its spans."""

    lists: SentenceLists
    mask: Mask
    tree: Derivation


class TreeParameters(Protocol):
    """What an objective needs of parameters: a parser's, or a joint parser's."""

    @property
    def grammar(self) -> Grammar:
        """The rules."""

    @property
    def size(self) -> int:
        """The number of parameters."""

    def potentials(
        self, sentence: SentenceLists, weight: Floats, mask: Mask, roots: NDArray[np.bool_]
    ) -> GrammarPotentials:
        """The potentials of a sentence."""

    def backward(self, sentence: SentenceLists, slope: GrammarPotentials, out: Floats) -> None:
        """Add to out [parameters] the gradient from that of the potentials."""


@dataclass(eq=False)
class ParserObjective:
    """Minus the log-likelihood of some trees."""

    parameters_of: TreeParameters
    examples: Sequence[ParserExample]
    roots: NDArray[np.bool_]
    threads: int = 1
    _sums: list[Floats] = field(default_factory=list, repr=False)

    @property
    def items(self) -> int:
        """The number of sentences."""
        return len(self.examples)

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return self.parameters_of.size

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The loss on all sentences and its gradient [parameters]."""
        sink = SparseGradient.of_size(self.parameters)
        return self.accumulate(weight, np.arange(self.items), sink), sink.value

    def touch(self, which: NDArray[np.int64], sink: SparseGradient) -> None:
        """A batch uses so many parameters that all are stepped."""
        sink.list_all()

    def accumulate(self, weight: Floats, which: NDArray[np.int64], sink: SparseGradient) -> float:
        """The loss on some sentences; its gradient is added to ``sink``."""
        if not self._sums:
            self._sums = [np.zeros(self.parameters) for _ in range(SHARDS)]
        # Long sentences first, dealt out in turn, so that the shards have about the same work.
        order = sorted(which.tolist(), key=lambda i: (-self.examples[i].lists.length, i))

        def work(shard: int) -> float:
            self._sums[shard][:] = 0.0
            return sum(self.add(weight, self.examples[i], self._sums[shard]) for i in order[shard::SHARDS])

        loss = sum(run_shards(work, range(SHARDS), self.threads))
        for part in self._sums:
            sink.value += part
        return loss

    def add(self, weight: Floats, example: ParserExample, out: Floats) -> float:
        """The loss of one sentence; its gradient is added to out [parameters]."""
        made, grammar, n = self.parameters_of, self.parameters_of.grammar, example.lists.length
        potentials = made.potentials(example.lists, weight, example.mask, self.roots)
        score = tree_score(potentials, made, example.tree)
        weights = GrammarWeights.of(potentials, fresh=True)  # the chart is done at once, and needs no potentials
        chart, rules = Chart.empty(n, grammar.symbols), Rules.of(grammar)
        log_z = inside(n, rules, weights, example.mask, chart)
        if chart.lost[0]:  # scores too far apart for sums of probabilities
            potentials = made.potentials(example.lists, weight, example.mask, self.roots)
            log_z, counts = ParseChart(grammar, potentials, example.mask).log_partition_and_marginals()
        else:
            counts = GrammarPotentials(*map(np.zeros_like, potentials))
            above = np.zeros((2, *chart.top.shape))
            outside(n, rules, weights, example.mask, chart, above[0], above[1], counts)
        count_parts(grammar, example.tree, -1.0, counts)
        made.backward(example.lists, counts, out)
        return float(log_z - score)


def tree_score(potentials: GrammarPotentials, made: TreeParameters, tree: Derivation) -> float:
    """The score of a tree under potentials with a row for every position."""
    grammar, n = made.grammar, len(tree.tags)
    rule, begin, split, end = tree.binary.T
    chain, first, last = tree.unary.T
    total = potentials.root[tree.root] + potentials.tag[np.arange(n), tree.tags].sum()
    total += potentials.begin[begin, rule].sum() + potentials.split[split, rule].sum()
    total += potentials.end[end, rule].sum() + potentials.span[cells(n, begin, end), grammar.parent[rule]].sum()
    total += potentials.unary_begin[first, chain].sum() + potentials.unary_end[last, chain].sum()
    return float(total + potentials.span[cells(n, first, last), grammar.unary_parent[chain]].sum())
