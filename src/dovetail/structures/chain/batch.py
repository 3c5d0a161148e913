"""Many chains at once: flat arrays of potentials, cut into sentences, worked on by several threads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.chain import ahead
from dovetail.structures.chain.checks import check_labels, check_offsets, check_potentials, check_queries
from dovetail.structures.chain.log import log_messages
from dovetail.structures.chain.parts import (
    NONE,
    ChainPotentials,
    ChainWeights,
    Floats,
    Integers,
    Labels,
    Messages,
    Posterior,
    weigh,
)
from dovetail.structures.chain.paths import path_probabilities
from dovetail.structures.chain.posterior import entropies, expectations, samples
from dovetail.structures.chain.search import count_labels, k_best, score_labels, viterbi
from dovetail.structures.chain.sums import forward_backward
from dovetail.structures.chain.tangent import tangents
from dovetail.structures.contract import Parts, Structure
from dovetail.threads import run_shards, sentence_shards

SHARDS = 32
# Less than this is not worth a shard.
SHARD_TOKENS = 1024
# A text this small is done in log space at once, which spares a first run the compilation of the fast kernels.
SMALL_TOKENS = 500

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class ChainBatch(Structure[ChainPotentials, Labels]):
    """Chains that share their transition potentials: flat arrays of tokens, cut into sentences by offsets.

    potentials: see :class:`ChainPotentials`; minus infinity forbids a part. offsets: [n + 1], the tokens
    of sentence i are ``offsets[i] .. offsets[i + 1]``. order: how many labels back a label depends on, 1
    or 2 (for independent labels give transitions of zero). threads: all processors unless said; the
    results are the same bits for any number of them.

    A sentence whose every labelling is forbidden has log Z of minus infinity and marginals of zero.

    >>> unary = np.log([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    >>> potentials = ChainPotentials.of(unary, transition=[[1.0, 0.0], [0.0, 1.0]])
    >>> batch = ChainBatch(potentials, offsets=[0, 2, 3])
    >>> batch.best()
    array([0, 0, 1], dtype=int32)
    >>> batch.marginals().unary.round(2)
    array([[0.9 , 0.1 ],
           [0.68, 0.32],
           [0.2 , 0.8 ]])
    """

    potentials: ChainPotentials
    offsets: Integers
    order: int = 1
    threads: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "potentials", check_potentials(self.potentials, self.order))
        object.__setattr__(self, "offsets", check_offsets(self.offsets, self.tokens))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def tokens(self) -> int:
        """The number of tokens, N."""
        return len(self.potentials.unary)

    @property
    def labels(self) -> int:
        """The number of labels, L."""
        return len(self.potentials.start)

    def log_partition(self) -> Floats:
        """The log of the sum of exp(score) over all labellings, by sentence: [n]."""
        log_z = np.zeros(len(self))
        self._map(lambda low, high: self._infer(low, high, log_z, self._zeros(0), keep=False))
        return log_z

    def marginals(self) -> ChainPotentials:
        """The expected counts of all parts, shaped like the potentials; the shared tables over the batch."""
        return self.log_partition_and_marginals()[1]

    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[Floats, ChainPotentials]:
        """Both :meth:`log_partition` and :meth:`marginals` in one pass, the step of training.

        in_place: write the marginals over the unary and edge potentials, which spares the memory; the
        batch is then of no further use.
        """
        log_z = np.zeros(len(self))
        out = self.potentials if in_place else self._zeros(self.tokens)

        def count(low: int, high: int) -> ChainPotentials:
            expected = self._zeros(0)._replace(unary=out.unary, edge=out.edge)
            self._infer(low, high, log_z, expected, keep=False)
            return expected

        return log_z, self._total(self._map(count), out)

    def best(self) -> Labels:
        """The best labels of every token: [N]; ties go to the lowest label where they part last."""
        labels = np.zeros(self.tokens, np.int32)
        scores = np.zeros(len(self))
        self._map(lambda low, high: viterbi(*self._span(low, high), labels, scores))
        labels[np.repeat(scores == -np.inf, np.diff(self.offsets))] = NONE
        return labels

    def kbest(self, k: int) -> tuple[Labels, Floats]:
        """The k best labellings of every sentence, best first: labels [k, N] and scores [n, k].

        Where a sentence has fewer than k allowed labellings, the scores of the rest are minus infinity.
        """
        labels = np.full((k, self.tokens), NONE, np.int32)
        scores = np.zeros((len(self), k))
        self._map(lambda low, high: k_best(*self._span(low, high), labels, scores))
        return labels, scores

    def score(self, labels: ArrayLike) -> Floats:
        """The score of the given labels [N], by sentence: [n]. Less log Z, it is their log-probability."""
        given, scores = check_labels(labels, self.offsets, self.labels), np.zeros(len(self))
        self._map(lambda low, high: score_labels(*self._span(low, high), given, scores))
        return scores

    def indicator(self, labels: ArrayLike) -> ChainPotentials:
        """The counts of the parts of the given labels [N], shaped like the potentials."""
        given, counts = check_labels(labels, self.offsets, self.labels), self._zeros(self.tokens)
        count_labels(self.offsets, 0, len(self), self.order, given, 1.0, counts)
        return counts

    def subtract(self, counts: ChainPotentials, labels: ArrayLike) -> ChainPotentials:
        """Counts less those of the given labels [N], in place: from marginals, the slope of a log-likelihood."""
        given = check_labels(labels, self.offsets, self.labels)
        count_labels(self.offsets, 0, len(self), self.order, given, -1.0, counts)
        return counts

    def with_cost(self, labels: ArrayLike, cost: float) -> Self:
        """The same chains with a cost added to the potential of every label but the given ones [N]."""
        given = check_labels(labels, self.offsets, self.labels)
        unary = self.potentials.unary + cost
        known = np.flatnonzero(given >= 0)
        right = known, given[known]
        unary[right] = self.potentials.unary[right]
        return replace(self, potentials=self.potentials._replace(unary=unary))

    def sample(self, n: int, rng: np.random.Generator) -> Labels:
        """Labellings drawn from the exact distribution: [n, N]."""
        uniforms = rng.random((n, self.tokens))
        labels = np.zeros(uniforms.shape, np.int32)

        def draw(low: int, high: int) -> None:
            posterior = self._posterior(low, high)
            impossible = np.flatnonzero(posterior.log_z[low:high] == -np.inf)
            if impossible.size:
                raise InputError(f"sentence {low + impossible[0]}: every labelling is forbidden")
            samples(posterior, low, high, uniforms, labels)

        self._map(draw)
        return labels

    def entropy(self) -> Floats:
        """The entropy of the labellings of each sentence, in nats: [n]."""
        out = np.zeros(len(self))
        self._map(lambda low, high: entropies(self._posterior(low, high), low, high, out))
        return out

    def jvp(self, direction: ChainPotentials) -> ChainPotentials:
        """The derivative of the marginals when the potentials move along a direction, shaped like both."""
        direction = ChainPotentials(*(np.ascontiguousarray(part, np.float64) for part in direction))
        if [part.shape for part in direction] != [part.shape for part in self.potentials]:
            raise InputError("the direction must have the shapes of the potentials")
        if not all(np.isfinite(part).all() for part in direction):
            raise InputError("the direction must be finite; use 0 for parts that stay as they are")
        out = self._zeros(self.tokens)

        def move(low: int, high: int) -> ChainPotentials:
            change = self._zeros(0)._replace(unary=out.unary, edge=out.edge)
            tangents(self._posterior(low, high), low, high, direction, change)
            return change

        return self._total(self._map(move), out)

    def path_probabilities(
        self,
        sentence: ArrayLike,
        start: ArrayLike,
        paths: Sequence[Sequence[int]],
        not_before: ArrayLike | None = None,
        not_after: ArrayLike | None = None,
    ) -> Floats:
        """The exact probabilities that stretches of tokens take given labels: [Q].

        sentence, start: [Q], the sentence and the position in it where a path begins. paths: the labels
        of each. not_before, not_after: [Q, L], labels that the tokens on either side of the path must not
        have. For an entity tagged ``B-PER I-PER``, forbid ``I-PER`` after it: then the entity ends there.
        """
        order = np.argsort(np.asarray(sentence, np.int64), kind="stable")
        masks = not_before, not_after
        queries = check_queries(sentence, start, paths, masks, order, self.offsets, self.labels)
        found = np.zeros(len(order))

        def ask(low: int, high: int) -> None:
            first, last = np.searchsorted(queries.sentence, [low, high])
            if first < last:
                path_probabilities(self._posterior(low, high), queries, first, last, found)

        self._map(ask)
        out = np.empty_like(found)
        out[order] = found
        return out

    def restrict(self, allowed: ArrayLike) -> Self:
        """The same chains where each token may only have its allowed labels: [N, L] of booleans.

        The log Z of the restricted batch less that of the free one is the log-probability of what was
        allowed.
        """
        permitted = np.asarray(allowed, bool)
        if permitted.shape != self.potentials.unary.shape:
            raise InputError(f"allowed has shape {permitted.shape}, expected {self.potentials.unary.shape}")
        unary = np.where(permitted, self.potentials.unary, -np.inf)
        return replace(self, potentials=self.potentials._replace(unary=unary))

    def with_potentials(self, potentials: ChainPotentials) -> Self:
        """The same sentences with other potentials of the same shapes."""
        return replace(self, potentials=potentials)

    def token(self, sentence: ArrayLike, position: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "the word at this position of this sentence has this label": arrays [parts] each."""
        token = self.offsets[np.asarray(sentence)] + np.asarray(position)
        return Parts.single("unary", token * self.labels + np.asarray(label))

    @cached_property
    def _weights(self) -> ChainWeights:
        return weigh(self.potentials, self.order)

    @cached_property
    def _shards(self) -> list[tuple[int, int]]:
        return sentence_shards(self.offsets, SHARDS, SHARD_TOKENS)

    def _map(self, function: Callable[[int, int], Result]) -> list[Result]:
        return run_shards(lambda shard: function(*shard), self._shards, self.threads)

    def _span(self, low: int, high: int) -> tuple[ChainPotentials, Integers, int, int, int]:
        return self.potentials, self.offsets, low, high, self.order

    def _zeros(self, tokens: int) -> ChainPotentials:
        """Counts of zero over a number of tokens."""
        states, labels = self.potentials.transition.shape
        edges = tokens if self.potentials.edge.size else 0
        return ChainPotentials(
            np.zeros((tokens, labels)),
            np.zeros((states, labels)),
            np.zeros(labels),
            np.zeros(labels),
            np.zeros((edges, labels, labels)),
        )

    def _total(self, shards: list[ChainPotentials], out: ChainPotentials) -> ChainPotentials:
        """The shared counts of all shards, added in order, beside those of the tokens."""
        transition, start, end = self._zeros(0)[1:4]
        for shard in shards:
            transition += shard.transition
            start += shard.start
            end += shard.end
        return out._replace(transition=transition, start=start, end=end)

    def _messages(self, low: int, high: int) -> Messages:
        first, last = int(self.offsets[low]), int(self.offsets[high])
        shape = (last - first, len(self.potentials.transition))
        return Messages(np.zeros(shape), np.zeros(shape), first)

    def _posterior(self, low: int, high: int) -> Posterior:
        return self._infer(low, high, np.zeros(len(self)), self._zeros(0), keep=True)

    def _infer(self, low: int, high: int, log_z: Floats, expected: ChainPotentials, keep: bool) -> Posterior:
        """Forward-backward over a shard: by probabilities, and in log space where they are too extreme."""

        def flat(edge: Floats) -> Floats | None:
            return edge.reshape(len(edge), self.labels**2) if self.potentials.edge.size else None

        messages = self._messages(low, high if keep else low)
        lengths = np.diff(self.offsets[low : high + 1])
        if keep and lengths.sum() <= SMALL_TOKENS:
            failed = low + np.flatnonzero(lengths)
        else:
            ahead.wait()
            forward_backward(
                self.potentials.unary,
                flat(self.potentials.edge),
                self._weights,
                self.offsets,
                low + np.argsort(-lengths, kind="stable"),
                self.order,
                log_z,
                expected,
                flat(expected.edge),
                messages,
            )
            failed = low + np.flatnonzero(np.isnan(log_z[low:high]))
        logged = np.zeros(len(self), bool)
        logged[failed] = True
        if failed.size and not keep:
            messages = self._messages(low, high)
        posterior = Posterior(self.potentials, self._weights, messages, self.order, self.offsets, log_z, logged)
        if failed.size:
            log_messages(self.potentials, self.offsets, failed, self.order, log_z, messages)
            if len(expected.unary):
                expectations(posterior, failed, expected)
        return posterior
