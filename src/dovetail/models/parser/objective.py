"""The training objective of a parser: the likelihood of trees, a few sentences at a time, on several threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dovetail.models.parser.parameters import SentenceLists
from dovetail.sparse import SparseGradient
from dovetail.structures.grammar import Derivation, Grammar, GrammarBatch, GrammarPotentials, Mask
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
        potentials = self.parameters_of.potentials(example.lists, weight, example.mask, self.roots)
        batch = GrammarBatch(self.parameters_of.grammar, (potentials,), (example.mask,))
        score = batch.score([example.tree])
        log_z, counts = batch.log_partition_and_marginals(in_place=True)  # of potentials that nothing else needs
        [slope] = batch.subtract(counts, [example.tree])
        self.parameters_of.backward(example.lists, slope, out)
        return float(log_z[0] - score[0])
