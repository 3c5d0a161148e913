"""IBM model 1 and the hidden Markov model of one direction by expectation maximisation, exactly and simply.

The aligner itself samples a richer model. These are the classical models: to compare with, to teach, and, as chains, to
be coupled with other structures. Their likelihood never falls from one pass to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dovetail.arrays import Floats
from dovetail.models.aligner.hmm_kernels import add_jumps, posteriors, transitions
from dovetail.structures.chain.batch import ChainBatch
from dovetail.structures.chain.parts import ChainPotentials
from dovetail.text.bitext import Pair

REACH = 10
NONE = ""
"""What stands for no source word."""
LEAST = 1e-12
"""The chance of a translation that was never seen."""

Kind = Literal["ibm1", "hmm"]
Table = dict[tuple[str, str], float]


@dataclass
class AlignmentHMM:
    """P(target | source): each target word is linked to one source word, or to none.

    >>> pairs = [Pair(("das", "Haus"), ("the", "house")), Pair(("das", "Buch"), ("the", "book"))]
    >>> model = AlignmentHMM(kind="ibm1")
    >>> likelihoods = [model.learn(pairs) for _ in range(10)]
    >>> likelihoods == sorted(likelihoods), round(model.table["das", "the"], 1)
    (True, 1.0)
    """

    kind: Kind = "hmm"
    null: float = 0.2
    """How often a target word has no source; it stays."""
    table: Table = field(default_factory=dict)
    """P(target word | source word, or none); every pair alike as long as it is empty."""
    jump: Floats = field(default_factory=lambda: np.full(2 * REACH + 1, 1.0 / (2 * REACH + 1)))
    """How likely jumps from -REACH to REACH are; longer ones count as these."""
    words: int = 1
    """The number of target words, among which the first pass makes no difference."""

    def learn(self, pairs: Sequence[Pair]) -> float:
        """One pass of expectation maximisation; the log likelihood of the pairs before it."""
        if not self.table:
            self.words = len({word for pair in pairs for word in pair.target})
        counts: Table = {}
        jump = np.zeros_like(self.jump)
        whole = 0.0
        for pair in pairs:
            if not pair.source or not pair.target:
                continue
            likelihood, chance, moves = self._summed(pair)
            whole += likelihood
            n = len(pair.source)
            for j, word in enumerate(pair.target):
                for source, p in zip((*pair.source, NONE), (*chance[j, :n], chance[j, n:].sum()), strict=True):
                    counts[source, word] = counts.get((source, word), 0.0) + float(p)
            add_jumps(moves, jump)
        totals: dict[str, float] = {}
        for (source, _), count in counts.items():
            totals[source] = totals.get(source, 0.0) + count
        self.table = {(s, t): count / totals[s] for (s, t), count in counts.items() if count > 0}
        if self.kind == "hmm" and jump.sum() > 0:
            self.jump = jump / jump.sum()
        return whole

    def emission(self, pair: Pair) -> Floats:
        """P(target word j | state): [m, 2n]; the last n states are none."""
        n = len(pair.source)
        found = np.empty((len(pair.target), 2 * n))
        even = LEAST if self.table else 1.0 / max(self.words, 1)
        for j, word in enumerate(pair.target):
            found[j, :n] = [self.table.get((source, word), even) for source in pair.source]
            found[j, n:] = self.table.get((NONE, word), even)
        return found

    def moves(self, length: int) -> Floats:
        """P(state | state before) with so many source words: [2n, 2n]."""
        jump = np.full_like(self.jump, 1.0 / length) if self.kind == "ibm1" else np.maximum(self.jump, LEAST)
        return transitions(length, jump, self.null)

    def _summed(self, pair: Pair) -> tuple[float, Floats, Floats]:
        return posteriors(self.emission(pair), self.moves(len(pair.source)), self.null)

    def log_likelihood(self, pair: Pair) -> float:
        """log P(target words | source words)."""
        return float(self._summed(pair)[0])

    def posteriors(self, pair: Pair) -> Floats:
        """P(target word j is linked to source word i): [n, m]."""
        found: Floats = self._summed(pair)[1][:, : len(pair.source)].T
        return found

    def chain(self, pair: Pair) -> ChainBatch:
        """The same model as a chain of the library, over 2n labels: what couplings and engines take."""
        n = len(pair.source)
        start = np.log(np.repeat([1.0 - self.null, self.null], n) / n)
        with np.errstate(divide="ignore"):
            potentials = ChainPotentials.of(np.log(self.emission(pair)), np.log(self.moves(n)), start)
        return ChainBatch(potentials, np.array([0, len(pair.target)]))
