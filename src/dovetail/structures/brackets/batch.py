"""Exact inference for binary bracketings with a label at every span: many sentences at once, or one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.brackets.parts import BracketPotentials, Brackets, check_brackets, check_shape
from dovetail.structures.brackets.posterior import samples, tangents
from dovetail.structures.brackets.search import NONE, best_brackets, bracket_graph, count_brackets, score_brackets
from dovetail.structures.brackets.sums import inside_outside
from dovetail.structures.contract import Floats, Integers, Parts
from dovetail.structures.grammar import cells
from dovetail.structures.hypergraph import Graphed, Hypergraph
from dovetail.structures.ragged import check_offsets, within
from dovetail.structures.single import Single


@dataclass(frozen=True, eq=False)
class BracketBatch(Graphed[BracketPotentials, Brackets, list[Brackets]]):
    """All binary bracketings of a batch of sentences; minus infinity forbids a part.

    potentials: see :class:`BracketPotentials`. offsets: [n + 1], the words of sentence i are ``offsets[i] ..
    offsets[i + 1]``. threads: None means all processors; the results are the same bits for any number of them.

    Answers are :class:`Brackets`. The time is the cube of the length, and beside it the number of labels times its
    square (Naradowsky, Vieira and Smith 2012). With one label it is a model of brackets alone.

    >>> batch = BracketBatch(BracketPotentials(np.zeros((10 + 1, 1))), offsets=[0, 4, 5])
    >>> np.exp(batch.log_partition()).round(2)  # four words can be bracketed in five ways
    array([5., 1.])
    >>> batch.read(batch.marginals(), batch.span([0, 0], [0, 1], [2, 3], [0, 0])).round(2)
    array([0.4, 0.4])
    """

    potentials: BracketPotentials
    offsets: Integers
    threads: int | None = 1

    shards: ClassVar[tuple[int, int]] = (32, 4096)
    mask_axes: ClassVar[int] = 2
    first_parts: ClassVar[int] = 2
    answers: ClassVar[str] = "bracketing"

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", check_offsets(self.offsets))
        object.__setattr__(self, "potentials", check_shape(self.potentials, int(self.rows[-1])))
        self._check_values()

    @property
    def labels(self) -> int:
        """The number of labels, L."""
        return int(self.potentials.span.shape[1])

    @cached_property
    def rows(self) -> Integers:
        """Where the spans of each sentence begin among the rows of the table: [n + 1]."""
        n = np.diff(self.offsets)
        return np.concatenate([[0], np.cumsum(n * (n + 1) // 2)]).astype(np.int64)

    def best(self) -> Brackets:
        """The best bracketing of every sentence; of equal ones, that of the lowest labels and the leftmost splits."""
        found = np.empty((3, self._places[-1]), np.int64)
        self._map(lambda low, high: best_brackets(*self._where, self._places, low, high, found))
        return self._listed(found)

    def sample(self, n: int, rng: np.random.Generator) -> list[Brackets]:
        """``n`` bracketings of every sentence, drawn from the exact distribution."""
        uniforms = rng.random((n, int(self.offsets[-1]), 3))
        found, log_z = np.empty((n, 3, self._places[-1]), np.int64), np.zeros(len(self))
        self._map(lambda low, high: samples(*self._where, self._places, low, high, uniforms, log_z, found))
        self._check_possible(0, log_z)
        return [self._listed(each) for each in found]

    def score(self, answer: Brackets) -> Floats:
        """The score of given brackets, [n]; minus infinity where they are no binary bracketing of all words."""
        scores = np.zeros(len(self))
        score_brackets(*self._where, self._check(answer), scores)
        return scores

    def span(self, sentence: ArrayLike, begin: ArrayLike, end: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "the words from begin up to end of this sentence are a bracket of this label": arrays each."""
        own, label = within(sentence, len(self)), within(label, self.labels)
        n = np.diff(self.offsets)[own]
        first, last = within(begin, n), within(np.asarray(end) - 1, n)
        entry = (self.rows[own] + cells(n, first, last + 1)) * self.labels + label
        return Parts.where("span", entry[:, None], (first <= last)[:, None])

    @property
    def _work(self) -> Integers:
        return self.rows

    def _cuts(self, name: str) -> Integers:
        """Where the rows of each sentence begin."""
        return self.rows

    @cached_property
    def _places(self) -> Integers:
        """Where the brackets of each sentence begin in an answer to all: [n + 1]."""
        return np.concatenate([[0], np.cumsum(np.maximum(2 * np.diff(self.offsets) - 1, 0))]).astype(np.int64)

    @property
    def _where(self) -> tuple[Floats, Integers, Integers]:
        return self.potentials.span, self.offsets, self.rows

    def _check(self, answer: Brackets) -> Brackets:
        return check_brackets(answer, self.offsets, self.labels)

    def _listed(self, table: Integers) -> Brackets:
        if (table[2] == NONE).any():
            return Brackets.where_labelled(table, self._places)
        return Brackets(table[0], table[1], table[2].astype(np.int32), self._places)

    def _edges(self, sentence: int) -> int:
        n = int(np.diff(self.offsets)[sentence])
        return n * (n + 1) // 2 * self.labels + n**3 // 6

    def _hypergraph(self, sentence: int) -> Hypergraph:
        return bracket_graph(int(np.diff(self.offsets)[sentence]), self.labels)

    def _answers(self, found: Integers) -> list[Brackets]:
        sizes = np.diff(self.offsets)
        spans = np.concatenate([np.zeros((2, 0), np.int64), *map(np.triu_indices, sizes.tolist())], axis=1)
        # Of n words there are 2 n - 1 brackets, so that the last place of a sentence is never taken.
        used = np.delete(found, 2 * self.offsets[1:][sizes > 0] - 1, axis=1)
        row, label = np.divmod(used, self.labels)
        begin, last = spans[:, np.where(used >= 0, row + np.repeat(self.rows[:-1], np.diff(self._places)), 0)]
        tables = np.stack([begin, last + 1, np.where(used >= 0, label, NONE)], axis=1)
        return [self._listed(each) for each in tables]

    def _add(self, answer: Brackets, amount: float, counts: BracketPotentials) -> None:
        count_brackets(self.offsets, self.rows, self._check(answer), amount, counts.span)

    def _move(self, low: int, high: int, direction: BracketPotentials, change: BracketPotentials) -> None:
        tangents(*self._where, low, high, direction.span, change.span)

    def _infer(self, low: int, high: int, log_z: Floats, expected: BracketPotentials) -> None:
        inside_outside(*self._where, low, high, log_z, expected.span)


@dataclass(frozen=True, eq=False)
class Bracketing(Single[BracketPotentials, Brackets]):
    """The binary bracketings of one sentence of n words; minus infinity forbids a part.

    span: [n (n + 1) / 2, L], the log potential of each label at each span: those from word 0 on, the shortest first,
    then those from word 1, and so on.

    >>> tree = Bracketing(np.log([[1.0], [3.0], [1.0], [1.0], [1.0], [1.0]]))  # three words, of which 0 and 1 go well
    >>> tree.best().end.tolist()
    [3, 2, 1, 2, 3]
    >>> [round(log_probability, 2) for _, log_probability in tree.kbest(5)]
    [-0.29, -1.39]
    """

    span: Floats

    @cached_property
    def batch(self) -> BracketBatch:
        """The same as a batch of one."""
        count = len(self.span)
        n = (int(np.sqrt(8 * count + 1)) - 1) // 2
        if n * (n + 1) // 2 != count:
            raise InputError(f"span has {count} rows, but sentences have 1, 3, 6, 10, 15 and so on")
        return BracketBatch(BracketPotentials(self.span), np.array([0, n]), threads=1)
