"""Exact inference for sequences whose labels depend on the one or two labels before: many of them at once, or one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dovetail.structures import ahead
from dovetail.structures.chain.parts import (
    NONE,
    ChainPotentials,
    ChainWeights,
    Messages,
    Posterior,
    check_labels,
    check_potentials,
    check_queries,
    weigh,
)
from dovetail.structures.chain.posterior import entropies, expectations, path_probabilities, samples, tangents
from dovetail.structures.chain.search import count_labels, k_best, score_labels, viterbi
from dovetail.structures.chain.sums import forward_backward, log_messages
from dovetail.structures.chain.tangents import first_order_tangents
from dovetail.structures.contract import Floats, Integers, Labels, Parts, check_direction
from dovetail.structures.ragged import Ragged, check_offsets, contiguous, within
from dovetail.structures.single import Single

# A text this small is done in log space at once, which spares a first run the compilation of the fast kernels.
SMALL_TOKENS = 500


@dataclass(frozen=True, eq=False)
class ChainBatch(Ragged[ChainPotentials, Labels]):
    """Chains that share their transition potentials: flat arrays of tokens, cut into sentences by offsets.

    potentials: see :class:`ChainPotentials`; minus infinity forbids a part. offsets: [n + 1], the tokens
    of sentence i are ``offsets[i] .. offsets[i + 1]``. order: how many labels back a label depends on, 1
    or 2 (for independent labels give transitions of zero). threads: all processors unless said; the
    results are the same bits for any number of them.

    Answers are labels [N], -1 in a sentence whose every labelling is forbidden.

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

    shared: ClassVar[tuple[str, ...]] = ("transition", "start", "end")
    mask_axes: ClassVar[int] = 2
    answers: ClassVar[str] = "labelling"

    def __post_init__(self) -> None:
        object.__setattr__(self, "potentials", check_potentials(self.potentials, self.order))
        object.__setattr__(self, "offsets", check_offsets(self.offsets, len(self.potentials[0])))
        self._check_values()

    @property
    def labels(self) -> int:
        """The number of labels, L."""
        return len(self.potentials.start)

    def best(self) -> Labels:
        """The best labels of every token: [N]; ties go to the lowest label where they part last."""
        labels = np.zeros(self.tokens, np.int32)
        scores = np.zeros(len(self))
        self._map(lambda low, high: viterbi(*self._span(low, high), labels, scores))
        impossible = scores == -np.inf
        if impossible.any():
            labels[np.repeat(impossible, np.diff(self.offsets))] = NONE
        return labels

    def kbest(self, k: int) -> tuple[Labels, Floats]:
        """The k best labellings of every sentence, best first: [k, N]; scores [n, k], minus infinity of the rest."""
        labels = np.full((k, self.tokens), NONE, np.int32)
        scores = np.zeros((len(self), k))
        self._map(lambda low, high: k_best(*self._span(low, high), labels, scores))
        return labels, scores

    def score(self, labels: ArrayLike) -> Floats:
        """The score of the given labels [N], by sentence: [n]. Less log Z, it is their log-probability."""
        given, scores = check_labels(labels, self.offsets, self.labels), np.zeros(len(self))
        self._map(lambda low, high: score_labels(*self._span(low, high), given, scores))
        return scores

    def sample(self, n: int, rng: np.random.Generator) -> Labels:
        """Labellings drawn from the exact distribution: [n, N]."""
        uniforms = rng.random((n, self.tokens))
        labels = np.zeros(uniforms.shape, np.int32)

        def draw(low: int, high: int) -> None:
            posterior = self._posterior(low, high)
            self._check_possible(low, posterior.log_z[low:high])
            samples(posterior, low, high, uniforms, labels)

        self._map(draw)
        return labels

    def entropy(self) -> Floats:
        """The entropy of the labellings of each sentence, in nats: [n]."""
        out = np.zeros(len(self))
        self._map(lambda low, high: entropies(self._posterior(low, high), low, high, out))
        return out

    def path_probabilities(
        self, sentence: ArrayLike, start: ArrayLike, paths: Sequence[Sequence[int]],
        not_before: ArrayLike | None = None, not_after: ArrayLike | None = None,
    ) -> Floats:  # fmt: skip
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

    def token(self, sentence: ArrayLike, position: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "the word at this position of this sentence has this label": arrays [parts] each."""
        token = self._tokens(sentence, position)
        return Parts.single("unary", token * self.labels + within(label, self.labels))

    @cached_property
    def _weights(self) -> ChainWeights:
        return weigh(self.potentials, self.order)

    def _span(self, low: int, high: int) -> tuple[ChainPotentials, Integers, int, int, int]:
        return self.potentials, self.offsets, low, high, self.order

    def _add(self, answer: ArrayLike, amount: float, counts: ChainPotentials) -> None:
        given = check_labels(answer, self.offsets, self.labels)
        count_labels(self.offsets, 0, len(self), self.order, given, amount, counts)

    def _move(self, low: int, high: int, direction: ChainPotentials, change: ChainPotentials) -> None:
        expected = self._zeros() if self.order == 1 else self._counts()
        posterior = self._infer(low, high, np.zeros(len(self)), expected, keep=True)
        self._moved(posterior, expected.unary, low, high, direction, change)

    def _moved(
        self, posterior: Posterior, node: Floats, low: int, high: int, direction: ChainPotentials,
        change: ChainPotentials,
    ) -> None:  # fmt: skip
        if self.order == 1:
            first_order_tangents(posterior, node, low, high, direction, change)
        if self.order == 2 or posterior.logged[low:high].any():
            tangents(posterior, low, high, direction, change)

    def sums_and_jvp(self) -> tuple[Floats, ChainPotentials, Callable[[ChainPotentials], ChainPotentials]]:
        """log Z, the marginals, and ``jvp`` without a second pass for the messages."""
        log_z, own = np.zeros(len(self)), self._zeros()

        def count(low: int, high: int) -> tuple[ChainPotentials, Posterior]:
            expected = self._counts(own)
            return expected, self._infer(low, high, log_z, expected, keep=True, small=0)

        found = self._map(count)
        posteriors = {low: posterior for (low, _), (_, posterior) in zip(self._shards, found, strict=True)}
        expected = self._total([expected for expected, _ in found], own)
        return log_z, expected, partial(self._jvp_from, posteriors, own.unary)

    def _jvp_from(self, posteriors: dict[int, Posterior], node: Floats, direction: ChainPotentials) -> ChainPotentials:
        direction, own = contiguous(direction), self._zeros()
        check_direction(direction, self.potentials, self._sums)

        def move(low: int, high: int) -> ChainPotentials:
            change = self._counts(own)
            self._moved(posteriors[low], node, low, high, direction, change)
            return change

        return self._total(self._map(move), own)

    def _messages(self, low: int, high: int) -> Messages:
        first, last = int(self.offsets[low]), int(self.offsets[high])
        shape = (last - first, len(self.potentials.transition))
        return Messages(np.zeros(shape), np.zeros(shape), first)

    def _posterior(self, low: int, high: int) -> Posterior:
        return self._infer(low, high, np.zeros(len(self)), self._counts(), keep=True)

    def _infer(
        self, low: int, high: int, log_z: Floats, expected: ChainPotentials, keep: bool = False,
        small: int = SMALL_TOKENS,
    ) -> Posterior:  # fmt: skip
        """Forward-backward over a shard: by probabilities, and in log space where they are too extreme."""

        def flat(edge: Floats) -> Floats | None:
            return edge.reshape(len(edge), self.labels**2) if self.potentials.edge.size else None

        messages = self._messages(low, high if keep else low)
        lengths = np.diff(self.offsets[low : high + 1])
        if keep and lengths.sum() <= small:
            failed = low + np.flatnonzero(lengths)
        else:
            ahead.wait()
            longest_first = low + np.argsort(-lengths, kind="stable")
            text = (self.potentials.unary, flat(self.potentials.edge), self._weights, self.offsets, longest_first)
            forward_backward(*text, self.order, log_z, expected, flat(expected.edge), messages)
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


@dataclass(frozen=True, eq=False)
class Chain(Single[ChainPotentials, Labels]):
    """One sequence of n tokens with L labels, given by log potentials; minus infinity forbids a part.

    unary: [n, L]. transition: [L, L], or [L * L + L, L] in order 2, where row ``a * L + b`` holds for
    labels a, b before, and row ``L * L + b`` for the first label b. start, end: [L], zero unless given.
    edge: [n, L, L], added to the transition into each token, none unless given.

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
    def batch(self) -> ChainBatch:
        """The same as a batch of one."""
        potentials = ChainPotentials.of(self.unary, self.transition, self.start, self.end, self.edge)
        return ChainBatch(potentials, np.array([0, len(potentials.unary)]), self.order, threads=1)

    def path_probability(
        self, start: int, path: Sequence[int], not_before: Collection[int] = (), not_after: Collection[int] = ()
    ) -> float:
        """The probability that tokens from start on take these labels and their neighbours none forbidden."""
        labels = np.arange(self.batch.labels)
        before, after = (np.isin(labels, list(mask))[None] for mask in (not_before, not_after))
        return float(self.batch.path_probabilities([0], [start], [path], before, after)[0])
