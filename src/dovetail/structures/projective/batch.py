"""Exact inference for projective dependency trees, with stop decisions and first dependents (Eisner 1996)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.contract import Floats, Integers, Labels, Parts
from dovetail.structures.hypergraph import Graphed, Hypergraph
from dovetail.structures.projective.parts import (
    NONE,
    Places,
    ProjectivePotentials,
    check_heads,
    check_shapes,
    check_sizes,
    read_mask,
)
from dovetail.structures.projective.search import best_trees, count_trees, score_trees, tree_graph
from dovetail.structures.projective.sums import inside_outside, log_inside_outside
from dovetail.structures.ragged import within
from dovetail.structures.single import Single


@dataclass(frozen=True, eq=False)
class ProjectiveBatch(Graphed[ProjectivePotentials, Labels, Labels]):
    """The projective dependency trees of many sentences: flat arrays of arcs and positions, cut by offsets.

    potentials: see :class:`ProjectivePotentials`; minus infinity forbids a part. offsets: [n + 1], the words
    of sentence i are ``offsets[i] .. offsets[i + 1]``. several: whether the root may have more than one
    dependent. threads: None means all processors; the results are the same bits for any number of them.

    Answers are heads [N]: the position of the head of each word in its sentence, 0 for the root, and -1 in a sentence
    whose every tree is forbidden. An empty sentence has one tree, of score 0.

    >>> batch = ProjectiveBatch(ProjectivePotentials(np.zeros((13, 2)), np.zeros((5, 2, 2))), offsets=[0, 2, 3])
    >>> np.exp(batch.log_partition()).round(2)
    array([2., 1.])
    >>> batch.best()
    array([0, 1, 0], dtype=int32)
    """

    potentials: ProjectivePotentials
    offsets: Integers
    several: bool = False
    threads: int | None = 1

    shards: ClassVar[tuple[int, int]] = (64, 20_000)  # arcs: threads must have something to do
    mask_axes: ClassVar[int] = 1
    answers: ClassVar[str] = "tree"

    def __post_init__(self) -> None:
        object.__setattr__(self, "potentials", check_shapes(self.potentials))
        object.__setattr__(self, "offsets", check_sizes(self.potentials, self.offsets).words)
        self._check_values()

    @cached_property
    def places(self) -> Places:
        """Where the parts of each sentence begin."""
        return Places.of(self.offsets)

    @property
    def words(self) -> int:
        """The number of words, N."""
        return int(self.offsets[-1])

    def best(self) -> Labels:
        """The heads of the best tree of every sentence: [N]; ties go to the leftmost outermost dependent."""
        heads = np.empty(self.words, np.int32)
        self._map(lambda low, high: best_trees(*self._span(low, high), heads))
        return heads

    def score(self, heads: ArrayLike) -> Floats:
        """The score of given heads, by sentence: [n]; minus infinity where they make no projective tree."""
        given, scores = self._check(heads), np.empty(len(self))
        self._map(lambda low, high: score_trees(*self._span(low, high), given, scores))
        return scores

    def with_cost(self, heads: ArrayLike, cost: float) -> Self:
        """The same with a cost added to every arc but those of the given heads."""
        right = self.indicator(self._check(heads)).attach.any(axis=1, keepdims=True)
        return self.with_potentials(self.potentials._replace(attach=self.potentials.attach + cost * ~right))

    def arc(self, sentence: ArrayLike, head: ArrayLike, dependent: ArrayLike) -> Parts:
        """The parts "this word hangs on that one", positions from 1 with 0 for the root: arrays [parts] each."""
        own = within(sentence, len(self))
        size = np.diff(self.offsets)[own] + 1
        word = 1 + within(np.asarray(dependent) - 1, size - 1)  # the root hangs on nothing
        row = self.places.arcs[own] + within(head, size) * size + word
        return Parts("attach", (2 * row[:, None] + [0, 1]).ravel(), 2 * np.arange(len(row) + 1))

    @property
    def _work(self) -> Integers:
        return self.places.arcs

    def _cuts(self, name: str) -> Integers:
        """Where the rows of each sentence begin: arcs of attach, positions with the root of stop."""
        return self.places.arcs if name == "attach" else self.offsets + np.arange(len(self) + 1)

    def _span(self, low: int, high: int) -> tuple[ProjectivePotentials, Places, bool, int, int]:
        return self.potentials, self.places, self.several, low, high

    def _check(self, heads: ArrayLike) -> Labels:
        return check_heads(heads, self.offsets)

    def _sums(self, parts: ProjectivePotentials) -> list[float]:
        totals = [part.sum() for part in parts]
        if all(total < np.inf for total in totals):
            return totals  # nothing odd even in what is not read
        return [part[read].sum() for part, read in zip(parts, read_mask(self.places), strict=True)]

    def _add(self, answer: ArrayLike, amount: float, counts: ProjectivePotentials) -> None:
        count_trees(self.places, 0, len(self), self._check(answer), amount, counts)

    def _edges(self, sentence: int) -> int:
        return (int(np.diff(self.offsets)[sentence]) + 1) ** 3 // 2

    def _hypergraph(self, sentence: int) -> Hypergraph:
        m, (attach, _) = int(np.diff(self.offsets)[sentence]) + 1, self._own(sentence, self.potentials)
        return tree_graph((attach > -np.inf).any(axis=1).reshape(m, m), self.several)

    def _answers(self, found: Integers) -> Labels:
        heads = np.full(found.shape, NONE, np.int32)
        answer, place = np.nonzero(found >= 0)
        sentence = np.repeat(np.arange(len(self)), np.diff(self.offsets))[place]
        head, dependent = np.divmod(found[answer, place] // 2, np.diff(self.offsets)[sentence] + 1)
        heads[answer, self.offsets[sentence] + dependent - 1] = head
        return heads

    def _infer(self, low: int, high: int, log_z: Floats, expected: ProjectivePotentials) -> None:
        """Inside and outside of a shard: by weights, and in log space where they are too extreme."""
        inside_outside(*self._span(low, high), log_z, expected)
        if np.isnan(log_z[low:high]).any():
            log_inside_outside(*self._span(low, high), log_z, expected)


@dataclass(frozen=True, eq=False)
class Projective(Single[ProjectivePotentials, Labels]):
    """The projective trees over one sentence of m words; minus infinity forbids a part.

    attach: [m + 1, m + 1, 2], the log potential of the arc from head h to dependent d, by whether d is the
    first dependent of h on its side, that is the nearest; position 0 is the root. stop: [m + 1, 2, 2], of
    head h taking no more dependents on a side (0 left, 1 right), by whether it has any; zero unless given.
    several: whether the root may have more than one dependent.

    >>> attach = np.zeros((4, 4, 2))
    >>> attach[2, 1], attach[2, 3] = 1.0, 1.0
    >>> tree = Projective(attach)
    >>> tree.best()
    array([2, 0, 2], dtype=int32)
    >>> [(heads.tolist(), round(log_probability, 2)) for heads, log_probability in tree.kbest(2)]
    [([2, 0, 2], -0.82), ([0, 1, 2], -1.82)]
    """

    attach: Floats
    stop: Floats | None = None
    several: bool = False

    @cached_property
    def batch(self) -> ProjectiveBatch:
        """The same as a batch of one."""
        shape = np.shape(self.attach)
        if len(shape) != 3 or shape[0] != shape[1] or shape[0] == 0 or shape[2] != 2:
            raise InputError(f"attach has shape {shape}, expected (positions, positions, 2)")
        potentials = ProjectivePotentials.of(self.attach, self.stop)
        return ProjectiveBatch(potentials, np.array([0, shape[0] - 1]), self.several, threads=1)

    def jvp(self, direction: ProjectivePotentials) -> ProjectivePotentials:
        """The derivative of the marginals when the potentials move along a direction, shaped like both."""
        return super().jvp(ProjectivePotentials.of(*direction))

    def restrict(self, allowed: ArrayLike) -> Self:
        """The same where only the allowed arcs may be used: [m + 1, m + 1] of booleans."""
        return super().restrict(np.asarray(allowed, bool).reshape(-1))

    def _shaped(self, parts: ProjectivePotentials) -> ProjectivePotentials:
        return parts._replace(attach=parts.attach.reshape(np.shape(self.attach)))
