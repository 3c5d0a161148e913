"""Many sentences at once: all their projective trees, worked on by several threads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.chain.parts import Floats, Integers, Labels
from dovetail.structures.projective.checks import (
    check_heads,
    check_shapes,
    check_sizes,
    check_values,
    read_mask,
)
from dovetail.structures.projective.log import log_inside_outside
from dovetail.structures.projective.parts import Places, ProjectivePotentials
from dovetail.structures.projective.search import count_trees, k_best, score_trees
from dovetail.structures.projective.sums import inside_outside
from dovetail.structures.projective.tangent import tangents
from dovetail.structures.projective.walk import best_trees, sampled_trees
from dovetail.threads import run_shards, sentence_shards

Result = TypeVar("Result")

SHARDS = 64
SHARD_ARCS = 20_000  # at least so many in a shard, so that threads have something to do


@dataclass(frozen=True, eq=False)
class ProjectiveBatch:
    """The projective dependency trees of many sentences: flat arrays of arcs and positions, cut by offsets.

    potentials: see :class:`ProjectivePotentials`; minus infinity forbids a part. offsets: [n + 1], the words
    of sentence i are ``offsets[i] .. offsets[i + 1]``. several: whether the root may have more than one
    dependent. threads: None means all processors; the results are the same bits for any number of them.

    Trees are given by heads [N]: the position of the head of each word in its sentence, 0 for the root. An
    empty sentence has one tree, of score 0. A sentence whose every tree is forbidden has log Z of minus
    infinity and marginals of zero.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "potentials", check_shapes(self.potentials))
        object.__setattr__(self, "offsets", check_sizes(self.potentials, self.offsets).words)
        check_values(self.potentials, self.places)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def places(self) -> Places:
        """Where the parts of each sentence begin."""
        return Places.of(self.offsets)

    @property
    def words(self) -> int:
        """The number of words, N."""
        return int(self.offsets[-1])

    def log_partition(self) -> Floats:
        """The log of the sum of exp(score) over all trees, by sentence: [n]."""
        log_z = np.zeros(len(self))
        none = ProjectivePotentials(np.empty((0, 2)), np.empty((0, 2, 2)))
        self._map(lambda low, high: self._infer(low, high, log_z, none))
        return log_z

    def marginals(self) -> ProjectivePotentials:
        """The probability of every part, shaped like the potentials."""
        return self.log_partition_and_marginals()[1]

    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[Floats, ProjectivePotentials]:
        """Both :meth:`log_partition` and :meth:`marginals` in one pass, the step of training.

        in_place: write the marginals over the potentials, which spares the memory; the batch is then of no
        further use.
        """
        log_z = np.zeros(len(self))
        expected = self.potentials if in_place else ProjectivePotentials(*map(np.empty_like, self.potentials))
        self._map(lambda low, high: self._infer(low, high, log_z, expected))
        return log_z, expected

    def best(self) -> Labels:
        """The heads of the best tree of every sentence: [N], -1 where all are forbidden.

        Ties go to the leftmost outermost dependent, from the root down.
        """
        heads = np.empty(self.words, np.int32)
        self._map(lambda low, high: best_trees(*self._span(low, high), heads))
        return heads

    def kbest(self, k: int) -> tuple[Labels, Floats]:
        """The heads of the k best trees of every sentence, best first: [k, N], and their scores [n, k].

        Where a sentence has fewer than k allowed trees, the scores of the rest are minus infinity and
        their heads -1.
        """
        heads, scores = np.empty((k, self.words), np.int32), np.empty((len(self), k))
        self._map(lambda low, high: k_best(*self._span(low, high), heads, scores))
        return heads, scores

    def sample(self, n: int, rng: np.random.Generator) -> Labels:
        """The heads of trees drawn from the exact distribution: [n, N]."""
        uniforms, heads = rng.random((n, self.words, 2)), np.empty((n, self.words), np.int32)
        failed = self._map(lambda low, high: sampled_trees(*self._span(low, high), uniforms, heads))
        impossible = [sentence for sentence in failed if sentence >= 0]
        if impossible:
            raise InputError(f"sentence {impossible[0]}: every tree is forbidden")
        return heads

    def score(self, heads: ArrayLike) -> Floats:
        """The score of given heads, by sentence: [n]. Less log Z, it is their log-probability.

        Minus infinity where the heads make no projective tree.
        """
        given, scores = self._check(heads), np.empty(len(self))
        self._map(lambda low, high: score_trees(*self._span(low, high), given, scores))
        return scores

    def indicator(self, heads: ArrayLike) -> ProjectivePotentials:
        """The parts of given trees, shaped like the potentials: one where the part is used."""
        counts = ProjectivePotentials(*map(np.zeros_like, self.potentials))
        count_trees(self.places, 0, len(self), self._check(heads), 1.0, counts)
        return counts

    def subtract(self, counts: ProjectivePotentials, heads: ArrayLike) -> ProjectivePotentials:
        """Counts less the parts of given trees, in place: from marginals, the slope of a log-likelihood."""
        count_trees(self.places, 0, len(self), self._check(heads), -1.0, counts)
        return counts

    def with_cost(self, heads: ArrayLike, cost: float) -> ProjectiveBatch:
        """The same with a cost added to every arc but those of the given heads."""
        given = self._check(heads)
        attach = self.potentials.attach + cost
        sentence = np.repeat(np.arange(len(self)), np.diff(self.offsets))
        dependent = np.arange(self.words) - self.offsets[sentence] + 1
        size = np.diff(self.offsets)[sentence] + 1
        known = given >= 0
        right = (self.places.arcs[sentence] + given * size + dependent)[known]
        attach[right] = self.potentials.attach[right]
        return replace(self, potentials=self.potentials._replace(attach=attach))

    def entropy(self) -> Floats:
        """The entropy of the trees of each sentence, in nats: [n]. It is log Z less the expected score."""
        log_z, expected = self.log_partition_and_marginals()
        sums = []
        for part, probability in zip(self.potentials, expected, strict=True):
            # A forbidden part has no probability, and an improbable one may be of any size.
            used = np.where(probability > 0.0, part, 0.0) * probability
            sums.append(np.concatenate([[0.0], np.cumsum(used.reshape(len(used), -1).sum(axis=1))]))
        ends = self.offsets + np.arange(len(self) + 1)
        score = np.diff(sums[0][self.places.arcs]) + np.diff(sums[1][ends])
        return np.where(log_z > -np.inf, np.maximum(log_z - score, 0.0), 0.0)

    def jvp(self, direction: ProjectivePotentials) -> ProjectivePotentials:
        """The derivative of the marginals when the potentials move along a direction, shaped like both."""
        direction = check_shapes(direction)
        if [part.shape for part in direction] != [part.shape for part in self.potentials]:
            raise InputError("the direction must have the shapes of the potentials")
        arcs, sides = read_mask(self.places)
        if not (np.isfinite(direction.attach[arcs]).all() and np.isfinite(direction.stop[sides]).all()):
            raise InputError("the direction must be finite; use 0 for parts that stay as they are")
        change = ProjectivePotentials(*map(np.zeros_like, self.potentials))
        self._map(lambda low, high: tangents(*self._span(low, high), direction, change))
        return change

    def restrict(self, allowed: ArrayLike) -> ProjectiveBatch:
        """The same where only the allowed arcs may be used: [A] of booleans."""
        permitted = np.asarray(allowed, bool)
        if permitted.shape != (len(self.potentials.attach),):
            raise InputError(f"allowed has shape {permitted.shape}, expected ({len(self.potentials.attach)},)")
        attach = np.where(permitted[:, None], self.potentials.attach, -np.inf)
        return replace(self, potentials=self.potentials._replace(attach=attach))

    @cached_property
    def _shards(self) -> list[tuple[int, int]]:
        return sentence_shards(self.places.arcs, SHARDS, SHARD_ARCS)

    def _map(self, function: Callable[[int, int], Result]) -> list[Result]:
        return run_shards(lambda shard: function(*shard), self._shards, self.threads)

    def _span(self, low: int, high: int) -> tuple[ProjectivePotentials, Places, bool, int, int]:
        return self.potentials, self.places, self.several, low, high

    def _check(self, heads: ArrayLike) -> Labels:
        return check_heads(heads, self.offsets)

    def _infer(self, low: int, high: int, log_z: Floats, expected: ProjectivePotentials) -> None:
        """Inside and outside of a shard: by weights, and in log space where they are too extreme."""
        inside_outside(*self._span(low, high), log_z, expected)
        if np.isnan(log_z[low:high]).any():
            log_inside_outside(*self._span(low, high), log_z, expected)
