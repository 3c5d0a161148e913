"""Exact inference for binary bracketings with labels and rules: many sentences at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.brackets import BracketBatch, BracketPotentials, Brackets
from dovetail.structures.brackets.search import count_brackets, score_brackets
from dovetail.structures.contract import Floats, Integers, Parts
from dovetail.structures.ragged import Ragged, check_offsets, contiguous
from dovetail.structures.ruled.posterior import entropies, samples, tangents
from dovetail.structures.ruled.search import count_rules, k_best, score_rules
from dovetail.structures.ruled.sums import RuledPotentials, inside_outside


@dataclass(frozen=True, eq=False)
class RuledBatch(Ragged[RuledPotentials, Brackets]):
    """All binary bracketings of a batch of sentences, with a score for a label above two others.

    As :class:`BracketBatch`, whose answers it has. The time is the number of splits times the cube of the labels that
    are left at a span: for charts of which most is forbidden.

    >>> potentials = RuledPotentials(np.zeros((3, 2)), np.zeros((2, 2, 2)))
    >>> potentials.rule[1, 0, 0] = np.log(5)
    >>> np.exp(RuledBatch(potentials, [0, 2]).log_partition()).round(2)
    array([12.])
    """

    potentials: RuledPotentials
    offsets: Integers
    threads: int | None = 1

    shared: ClassVar[tuple[str, ...]] = ("rule",)
    shards: ClassVar[tuple[int, int]] = (16, 4096)
    mask_axes: ClassVar[int] = 2
    answers: ClassVar[str] = "bracketing"

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", check_offsets(self.offsets))
        object.__setattr__(self, "potentials", contiguous(self.potentials))
        labels = self.plain.labels
        if self.potentials.rule.shape != (labels,) * 3:
            raise InputError(f"rule has shape {self.potentials.rule.shape}, expected {(labels,) * 3}")
        self._check_values()

    @cached_property
    def plain(self) -> BracketBatch:
        """The same without rules."""
        return BracketBatch(BracketPotentials(self.potentials.span), self.offsets, self.threads)

    @property
    def rows(self) -> Integers:
        """Where the spans of each sentence begin among the rows of the table: [n + 1]."""
        return self.plain.rows

    @property
    def labels(self) -> int:
        """The number of labels, L."""
        return self.plain.labels

    def kbest(self, k: int) -> tuple[list[Brackets], Floats]:
        """The k best bracketings of every sentence, best first, and their scores [n, k]."""
        found, scores = np.empty((k, 3, self._places[-1]), np.int64), np.zeros((len(self), k))
        self._map(lambda low, high: k_best(*self._where, self._places, low, high, found, scores))
        return [self.plain._listed(each) for each in found], scores

    def sample(self, n: int, rng: np.random.Generator) -> list[Brackets]:
        """``n`` bracketings of every sentence, drawn from the exact distribution."""
        uniforms = rng.random((n, int(self.offsets[-1])))
        found, log_z = np.empty((n, 3, self._places[-1]), np.int64), np.zeros(len(self))
        self._map(lambda low, high: samples(*self._where, self._places, low, high, uniforms, log_z, found))
        self._check_possible(0, log_z)
        return [self.plain._listed(each) for each in found]

    def score(self, answer: Brackets) -> Floats:
        """The score of given brackets, [n]; minus infinity where they are no binary bracketing of all words."""
        scores, given = np.zeros(len(self)), self.plain._check(answer)
        score_brackets(self.potentials.span, self.offsets, self.rows, given, scores)
        score_rules(self.potentials.rule, given, scores)
        return scores

    def entropy(self) -> Floats:
        """The entropy of the bracketings of every sentence, in nats: [n]."""
        out = np.zeros(len(self))
        self._map(lambda low, high: entropies(*self._where, low, high, out))
        return out

    def span(self, sentence: ArrayLike, begin: ArrayLike, end: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "the words from begin up to end of this sentence are a bracket of this label": arrays each."""
        return self.plain.span(sentence, begin, end, label)

    @property
    def _work(self) -> Integers:
        return self.rows

    @property
    def _places(self) -> Integers:
        return self.plain._places

    @property
    def _where(self) -> tuple[RuledPotentials, Integers, Integers]:
        return self.potentials, self.offsets, self.rows

    def _add(self, answer: Brackets, amount: float, counts: RuledPotentials) -> None:
        given = self.plain._check(answer)
        count_brackets(self.offsets, self.rows, given, amount, counts.span)
        count_rules(given, amount, counts.rule)

    def _move(self, low: int, high: int, direction: RuledPotentials, change: RuledPotentials) -> None:
        tangents(*self._where, low, high, direction, change)

    def _infer(self, low: int, high: int, log_z: Floats, expected: RuledPotentials) -> None:
        inside_outside(*self._where, low, high, log_z, expected)
