"""Exact inference for chains: sequences whose labels depend on the one or two labels before.

:class:`Chain` is one sequence; :class:`ChainBatch` is many, in flat arrays, on several threads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures import (
    chain_kernels,
    chain_log,
    chain_paths,
    chain_posterior,
    chain_search,
    chain_tangent,
)
from dovetail.structures.chain_parts import (
    Booleans,
    ChainPotentials,
    ChainWeights,
    Floats,
    Integers,
    Labels,
    Messages,
    PathQueries,
    Posterior,
    weigh,
)
from dovetail.threads import run_shards

__all__ = ["Chain", "ChainBatch", "ChainPotentials"]

SHARDS = 32
# Less than this is not worth a shard.
SHARD_TOKENS = 1024

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class ChainBatch:
    """Many chains that share their transition potentials: one flat array of tokens, cut into sentences by offsets.

    potentials: see :class:`ChainPotentials`; minus infinity forbids a part. offsets: [n + 1], the tokens of sentence
    i are ``offsets[i] .. offsets[i + 1]``. order: how many labels back a label depends on, 1 or 2 (give transitions
    of zero for independent labels). threads: all processors unless said; results are the same bits for any number.

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
        object.__setattr__(self, "potentials", _checked(self.potentials, self.order))
        object.__setattr__(self, "offsets", _checked_offsets(self.offsets, len(self.potentials.unary)))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def labels(self) -> int:
        """The number of labels."""
        return self.potentials.unary.shape[1]

    @cached_property
    def _weights(self) -> ChainWeights:
        return weigh(self.potentials, self.order)

    @cached_property
    def _shards(self) -> list[tuple[int, int]]:
        """Ranges of sentences with about equal numbers of tokens; they depend on the batch alone."""
        tokens = int(self.offsets[-1])
        cuts = np.linspace(0, tokens, min(SHARDS, 1 + tokens // SHARD_TOKENS) + 1)[1:-1]
        edges = np.unique(np.concatenate([[0], np.searchsorted(self.offsets, cuts), [len(self)]]))
        return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    def _map(self, function: Callable[[int, int], Result]) -> list[Result]:
        return run_shards(lambda shard: function(*shard), self._shards, self.threads)

    def log_partition(self) -> Floats:
        """The log of the sum of exp(score) over all labellings, by sentence: [n]."""
        log_z = np.zeros(len(self))
        self._map(lambda low, high: self._infer(low, high, log_z, self._zeros(0), keep=False))
        return log_z

    def marginals(self) -> ChainPotentials:
        """The expected counts of all parts, shaped like the potentials; transition, start and end over the batch."""
        return self.log_partition_and_marginals()[1]

    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[Floats, ChainPotentials]:
        """Both :meth:`log_partition` and :meth:`marginals` in one pass, the step of training.

        in_place: write the marginals over the unary and edge potentials, which spares the memory; the batch is then
        of no further use.
        """
        log_z = np.zeros(len(self))
        out = self.potentials if in_place else self._zeros(len(self.potentials.unary))

        def count(low: int, high: int) -> ChainPotentials:
            expected = self._zeros(0)._replace(unary=out.unary, edge=out.edge)
            self._infer(low, high, log_z, expected, keep=False)
            return expected

        return log_z, self._total(self._map(count), out)

    def best(self) -> Labels:
        """The best labels of every token: [N]; of equal labellings, the lowest label where they part last."""
        labels = np.zeros(len(self.potentials.unary), np.int32)
        scores = np.zeros(len(self))
        self._map(lambda low, high: chain_search.viterbi(*self._span(low, high), labels, scores))
        return labels

    def kbest(self, k: int) -> tuple[Labels, Floats]:
        """The k best labellings of every sentence, best first: labels [k, N] and scores [n, k].

        Where a sentence has fewer than k allowed labellings, the scores of the rest are minus infinity.
        """
        labels = np.zeros((k, len(self.potentials.unary)), np.int32)
        scores = np.zeros((len(self), k))
        self._map(lambda low, high: chain_search.k_best(*self._span(low, high), labels, scores))
        return labels, scores

    def score(self, labels: ArrayLike) -> Floats:
        """The score of the given labels [N], by sentence: [n]. Less log Z, it is their log-probability."""
        given, scores = self._checked_labels(labels), np.zeros(len(self))
        self._map(lambda low, high: chain_search.score_labels(*self._span(low, high), given, scores))
        return scores

    def indicator(self, labels: ArrayLike) -> ChainPotentials:
        """The counts of the parts of the given labels [N], shaped like the potentials."""
        given, counts = self._checked_labels(labels), self._zeros(len(self.potentials.unary))
        chain_search.count_labels(self.offsets, 0, len(self), self.order, given, 1.0, counts)
        return counts

    def subtract(self, counts: ChainPotentials, labels: ArrayLike) -> ChainPotentials:
        """Counts less those of the given labels [N], in place: the slope of the log-likelihood from the marginals."""
        given = self._checked_labels(labels)
        chain_search.count_labels(self.offsets, 0, len(self), self.order, given, -1.0, counts)
        return counts

    def with_cost(self, labels: ArrayLike, cost: float) -> ChainBatch:
        """The same chains with a cost added to the potential of every label but the given ones [N]."""
        given = self._checked_labels(labels)
        unary = self.potentials.unary + cost
        unary[np.arange(len(given)), given] -= cost
        return replace(self, potentials=self.potentials._replace(unary=unary))

    def sample(self, n: int, rng: np.random.Generator) -> Labels:
        """Labellings drawn from the exact distribution: [n, N]."""
        uniforms = rng.random((n, len(self.potentials.unary)))
        labels = np.zeros(uniforms.shape, np.int32)

        def draw(low: int, high: int) -> None:
            posterior = self._posterior(low, high)
            impossible = np.flatnonzero(posterior.log_z[low:high] == -np.inf)
            if impossible.size:
                raise InputError(
                    f"sentence {low + impossible[0]}: every labelling is forbidden, none can be drawn"
                )
            chain_posterior.samples(posterior, low, high, uniforms, labels)

        self._map(draw)
        return labels

    def entropy(self) -> Floats:
        """The entropy of the labellings of each sentence, in nats: [n]."""
        out = np.zeros(len(self))
        self._map(lambda low, high: chain_posterior.entropies(self._posterior(low, high), low, high, out))
        return out

    def jvp(self, direction: ChainPotentials) -> ChainPotentials:
        """The derivative of the marginals when the potentials move along a direction, shaped like both."""
        direction = _checked(direction, self.order)
        if [part.shape for part in direction] != [part.shape for part in self.potentials]:
            raise InputError("the direction must have the shapes of the potentials")
        if not all(np.isfinite(part).all() for part in direction):
            raise InputError("the direction must be finite; use 0 for parts that stay as they are")
        out = self._zeros(len(self.potentials.unary))

        def move(low: int, high: int) -> ChainPotentials:
            change = self._zeros(0)._replace(unary=out.unary, edge=out.edge)
            chain_tangent.tangents(self._posterior(low, high), low, high, direction, change)
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

        sentence, start: [Q], the sentence and the position in it where a path begins; paths: the labels of each.
        not_before, not_after: [Q, L], labels that the tokens on either side of the path must not have. For an entity
        tagged ``B-PER I-PER``, forbid ``I-PER`` after it: then the entity ends there.
        """
        order = np.argsort(np.asarray(sentence, np.int64), kind="stable")
        queries = self._checked_queries(sentence, start, paths, not_before, not_after, order)
        sorted_out = np.zeros(len(order))

        def ask(low: int, high: int) -> None:
            first, last = np.searchsorted(queries.sentence, [low, high])
            if first < last:
                chain_paths.path_probabilities(self._posterior(low, high), queries, first, last, sorted_out)

        self._map(ask)
        out = np.empty_like(sorted_out)
        out[order] = sorted_out
        return out

    def restrict(self, allowed: ArrayLike) -> ChainBatch:
        """The same chains where each token may only have its allowed labels: [N, L] of booleans.

        The log Z of the restricted batch less that of the free one is the log-probability of what was observed.
        """
        permitted = np.asarray(allowed, bool)
        if permitted.shape != self.potentials.unary.shape:
            raise InputError(f"allowed has shape {permitted.shape}, expected {self.potentials.unary.shape}")
        unary = np.where(permitted, self.potentials.unary, -np.inf)
        return replace(self, potentials=self.potentials._replace(unary=unary))

    def _span(self, low: int, high: int) -> tuple[ChainPotentials, Integers, int, int, int]:
        return self.potentials, self.offsets, low, high, self.order

    def _zeros(self, tokens: int) -> ChainPotentials:
        """Counts of zero over a number of tokens."""
        states, labels = self.potentials.transition.shape
        edge = np.zeros((tokens if self.potentials.edge.size else 0, labels, labels))
        return ChainPotentials(
            np.zeros((tokens, labels)), np.zeros((states, labels)), np.zeros(labels), np.zeros(labels), edge
        )

    def _total(self, shards: list[ChainPotentials], out: ChainPotentials) -> ChainPotentials:
        """The counts of all shards, added in order."""
        shared = (sum(parts, np.zeros_like(parts[0])) for parts in zip(*(shard[1:4] for shard in shards)))
        transition, start, end = shared if shards else self._zeros(0)[1:4]
        return out._replace(transition=transition, start=start, end=end)

    def _posterior(self, low: int, high: int) -> Posterior:
        return self._infer(low, high, np.zeros(len(self)), self._zeros(0), keep=True)

    def _infer(self, low: int, high: int, log_z: Floats, expected: ChainPotentials, keep: bool) -> Posterior:
        """Run forward-backward over a shard: by probabilities, and in log space where they are too extreme."""
        states, labels = self.potentials.transition.shape
        by_length = low + np.argsort(-np.diff(self.offsets[low : high + 1]), kind="stable")
        messages = self._messages(low, high if keep else low)
        has_edge = self.potentials.edge.size > 0
        chain_kernels.forward_backward(
            self.potentials.unary,
            self.potentials.edge.reshape(-1, labels * labels) if has_edge else None,
            self._weights,
            self.offsets,
            by_length,
            self.order,
            log_z,
            expected._replace(edge=expected.edge.reshape(-1, labels * labels) if has_edge else None),
            messages,
        )
        failed = low + np.flatnonzero(np.isnan(log_z[low:high]))
        logged = np.zeros(len(self), bool)
        logged[failed] = True
        if failed.size and not keep:
            messages = self._messages(low, high)
        posterior = Posterior(
            self.potentials, self._weights, messages, self.order, self.offsets, log_z, logged
        )
        if failed.size:
            chain_log.log_messages(self.potentials, self.offsets, failed, self.order, log_z, messages)
            if len(expected.unary):
                chain_posterior.expectations(posterior, failed, expected)
        return posterior

    def _messages(self, low: int, high: int) -> Messages:
        first, last = int(self.offsets[low]), int(self.offsets[high])
        shape = (last - first, len(self.potentials.transition))
        return Messages(np.zeros(shape), np.zeros(shape), first)

    def _checked_labels(self, labels: ArrayLike) -> Labels:
        given = np.ascontiguousarray(labels, np.int32)
        if given.shape != (len(self.potentials.unary),):
            raise InputError(f"labels have shape {given.shape}, expected ({len(self.potentials.unary)},)")
        return _checked_range(given, self.labels)

    def _checked_queries(
        self,
        sentence: ArrayLike,
        start: ArrayLike,
        paths: Sequence[Sequence[int]],
        not_before: ArrayLike | None,
        not_after: ArrayLike | None,
        order: Integers,
    ) -> PathQueries:
        sentences = np.asarray(sentence, np.int64)[order]
        starts = np.asarray(start, np.int64)[order]
        lengths = np.array([len(paths[q]) for q in order], np.int64)
        ends = np.diff(self.offsets)[sentences]
        if (lengths == 0).any() or (starts < 0).any() or (starts + lengths > ends).any():
            raise InputError("a path must have a label at least and lie within its sentence")
        labels = np.array([label for q in order for label in paths[q]], np.int32)
        masks = [
            np.zeros((len(order), self.labels), bool)
            if mask is None
            else np.ascontiguousarray(np.asarray(mask, bool)[order])
            for mask in (not_before, not_after)
        ]
        if any(mask.shape != (len(order), self.labels) for mask in masks):
            raise InputError(f"not_before and not_after must have shape ({len(order)}, {self.labels})")
        return PathQueries(
            sentences,
            self.offsets[sentences] + starts,
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            _checked_range(labels, self.labels),
            masks[0],
            masks[1],
        )


@dataclass(frozen=True, eq=False)
class Chain:
    """One sequence of n tokens with L labels, given by log potentials.

    unary: [n, L]. transition: [L, L], or [L * L + L, L] in order 2, where row ``a * L + b`` holds for labels a, b
    before, and row ``L * L + b`` for the first label b. start, end: [L], zero unless given. edge: [n, L, L], added to
    the transition into each token, none unless given.

    >>> chain = Chain(unary=np.log([[0.9, 0.1], [0.5, 0.5]]), transition=[[1.0, 0.0], [0.0, 1.0]])
    >>> chain.best()
    array([0, 0], dtype=int32)
    >>> [(labels.tolist(), round(log_probability, 2)) for labels, log_probability in chain.kbest(2)]
    [([0, 0], -0.42), ([0, 1], -1.42)]
    """

    unary: Floats
    transition: Floats
    start: Floats | None = None
    end: Floats | None = None
    edge: Floats | None = None
    order: int = 1

    @cached_property
    def _batch(self) -> ChainBatch:
        potentials = ChainPotentials.of(self.unary, self.transition, self.start, self.end, self.edge)
        return ChainBatch(potentials, np.array([0, len(potentials.unary)]), self.order, threads=1)

    def __post_init__(self) -> None:
        _ = self._batch  # complain of wrong shapes at once

    def log_partition(self) -> float:
        """The log of the sum of exp(score) over all labellings; 0 for an empty sequence."""
        return float(self._batch.log_partition()[0])

    def marginals(self) -> ChainPotentials:
        """The probability of every part; transition holds expected counts over the sequence."""
        return self._batch.marginals()

    def best(self) -> Labels:
        """The best labels: [n]; of equal labellings, the lowest label where they part last."""
        return self._batch.best()

    def kbest(self, k: int) -> list[tuple[Labels, float]]:
        """The k best labellings (fewer if there are fewer) and their log-probabilities, best first."""
        labels, scores = self._batch.kbest(k)
        log_z = self.log_partition()
        return [
            (row, float(value - log_z))
            for row, value in zip(labels, scores[0], strict=True)
            if value > -np.inf
        ]

    def sample(self, n: int, rng: np.random.Generator) -> Labels:
        """Labellings drawn from the exact distribution: [samples, n]."""
        return self._batch.sample(n, rng)

    def score(self, labels: ArrayLike) -> float:
        """The score of the given labels; less log Z, it is their log-probability."""
        return float(self._batch.score(labels)[0])

    def entropy(self) -> float:
        """The entropy of the labelling, in nats."""
        return float(self._batch.entropy()[0])

    def jvp(self, direction: ChainPotentials) -> ChainPotentials:
        """The derivative of the marginals when the potentials move along a direction."""
        return self._batch.jvp(direction)

    def path_probability(
        self,
        start: int,
        labels: Sequence[int],
        not_before: Collection[int] = (),
        not_after: Collection[int] = (),
    ) -> float:
        """The probability that tokens from start on take these labels, and the neighbours none of those forbidden."""
        masks = [
            np.isin(np.arange(self._batch.labels), list(labels))[None] for labels in (not_before, not_after)
        ]
        return float(self._batch.path_probabilities([0], [start], [labels], *masks)[0])


def _checked(potentials: ChainPotentials, order: int) -> ChainPotentials:
    """The potentials as contiguous arrays, or an error that says what is wrong with them."""
    if order not in (1, 2):
        raise InputError(
            f"order is {order}, expected 1 or 2 (order 1 with transitions of zero makes labels independent)"
        )
    arrays = ChainPotentials(*(np.ascontiguousarray(part, np.float64) for part in potentials))
    if arrays.unary.ndim != 2 or arrays.unary.shape[1] == 0:
        raise InputError(
            f"unary has shape {arrays.unary.shape}, expected (tokens, labels) with a label at least"
        )
    tokens, labels = arrays.unary.shape
    states = labels if order == 1 else labels * labels + labels
    edges = tokens if arrays.edge.size else 0
    expected = ((tokens, labels), (states, labels), (labels,), (labels,), (edges, labels, labels))
    for name, part, shape in zip(arrays._fields, arrays, expected, strict=True):
        if part.shape != shape and part.size + int(np.prod(shape)) > 0:
            raise InputError(
                f"{name} has shape {part.shape}, expected {shape} for {labels} labels in order {order}"
            )
        # The sum is NaN if any number is; potentials of plus infinity make it so or infinite.
        if not part.sum() < np.inf:
            raise InputError(
                f"{name} holds NaN or plus infinity; potentials must be finite, or minus infinity to forbid"
            )
    return arrays


def _checked_offsets(offsets: ArrayLike, tokens: int) -> Integers:
    array = np.ascontiguousarray(offsets, np.int64)
    if (
        array.ndim != 1
        or not array.size
        or array[0] != 0
        or array[-1] != tokens
        or (np.diff(array) < 0).any()
    ):
        raise InputError(f"offsets must rise from 0 to the number of tokens, {tokens}")
    return array


def _checked_range(labels: Labels, count: int) -> Labels:
    if labels.size and (labels.min() < 0 or labels.max() >= count):
        raise InputError(f"labels must be from 0 to {count - 1}")
    return labels
