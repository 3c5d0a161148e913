"""Exact inference for segments within segments, each scored as a whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.contract import Booleans, Floats, Integers, Parts
from dovetail.structures.grammar import Derivation, ParseChart
from dovetail.structures.nested.parts import TABLES, NestedGrammar, NestedPotentials, NestedSegments, nested_grammar
from dovetail.structures.nested.posterior import segment_probabilities, sums
from dovetail.structures.nested.search import walk
from dovetail.structures.nested.sums import Tables
from dovetail.structures.ragged import Ragged, Result, within
from dovetail.threads import run_shards

LONGEST = 100  # tokens of a segment at most, unless said: in sentences of up to so many, there is no bound


@dataclass(frozen=True, eq=False)
class NestedBatch(Ragged[NestedPotentials, NestedSegments]):
    """All nested segmentations of a batch of sentences; minus infinity forbids a part.

    potentials: see :class:`NestedPotentials`. offsets: [n + 1], sentence i is tokens offsets[i] to offsets[i + 1].
    longest: the most tokens of a segment. Two segments may share their tokens if their labels differ; three may not.

    The distribution is that of a context-free grammar (see ``NestedGrammar``), summed in the time of a few products for
    every span and split. Where ``nest`` allows no segment in another it is semi-Markov.

    >>> potentials = NestedPotentials.zeros(tokens=2, labels=1)
    >>> batch = NestedBatch(potentials, np.array([0, 2]))
    >>> round(np.exp(batch.log_partition()[0]))  # none, 1 of 3, both of one word; the long one with none, 1, 2 or both
    8
    """

    potentials: NestedPotentials
    offsets: Integers
    longest: int = LONGEST
    threads: int | None = field(default=1, repr=False)

    shared: ClassVar[tuple[str, ...]] = TABLES
    shards: ClassVar[tuple[int, int]] = (64, 500)
    answers: ClassVar[str] = "segmentation"

    def __post_init__(self) -> None:
        shapes = NestedPotentials.shapes(int(self.offsets[-1]), self.potentials.labels, self.phrases)
        for name, table, shape in zip(NestedPotentials._fields, self.potentials, shapes, strict=True):
            if table.shape != shape:
                raise InputError(f"{name} has shape {table.shape}, expected {shape}")

    @property
    def phrases(self) -> int:
        """The most tokens of a segment that is scored as a phrase."""
        return len(self.potentials.phrase) // max(int(self.offsets[-1]), 1)

    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[Floats, NestedPotentials]:
        """Both in one pass, the step of training; ``in_place`` makes no difference."""
        return super().log_partition_and_marginals()

    def probable(self, least: float) -> tuple[NestedSegments, Floats]:
        """All segments with a probability of at least ``least``, and the probability of each.

        Those above one half never cross, so that they are a nested segmentation: that with the most expected hits, if
        a hit and a miss count the same.
        """
        tables = Tables.of(self.potentials)

        def of_sentence(s: int) -> tuple[list[tuple[int, int, int]], list[float]]:
            n = int(self.offsets[s + 1] - self.offsets[s])
            longest = min(n, self.longest)
            table = np.empty((n, longest, self.potentials.labels))
            counts = NestedPotentials.zeros(0, self.potentials.labels)._replace(word=np.zeros((n, table.shape[2] + 1)))
            if n:
                a = int(self.offsets[s])
                segment_probabilities(a, n, longest, self.phrases, self.potentials, tables, counts, table)
            i, d, x = np.nonzero((table >= least) & (table > 0.0))
            order = np.lexsort((x, -d, i))
            found = zip(i[order].tolist(), (i + d + 1)[order].tolist(), x[order].tolist(), strict=True)
            return list(found), table[i, d, x][order].tolist()

        found = run_shards(of_sentence, range(len(self)), self.threads)
        segments = NestedSegments.of([each for each, _ in found])
        return segments, np.array([p for _, each in found for p in each], np.float64)

    def best(self) -> NestedSegments:
        """The best segments of every sentence."""
        return self._listed({s: tree for s, tree in self._each(lambda s: self.chart(s).best()).items() if tree})

    def kbest(self, k: int) -> tuple[Sequence[NestedSegments], Floats]:
        """The k best segmentations of every sentence, best first, and their scores [n, k]."""
        found, scores = self._each(lambda s: self.chart(s).scored(k)), np.full((len(self), k), -np.inf)
        scores[np.diff(self.offsets) == 0, :1] = 0.0
        for s, trees in found.items():
            scores[s, : len(trees)] = [score for _, score in trees]
        ranked = ({s: trees[rank][0] for s, trees in found.items() if rank < len(trees)} for rank in range(k))
        return [self._listed(trees) for trees in ranked], scores

    def sample(self, n: int, rng: np.random.Generator) -> Sequence[NestedSegments]:
        """``n`` segmentations of every sentence, drawn from the exact distribution."""
        self._check_possible(0, self.log_partition())
        uniforms = [rng.random((n, 3 * size)) for size in np.diff(self.offsets).tolist()]
        found = self._each(lambda s: self.chart(s).drawn(uniforms[s]))
        return [self._listed({s: trees[number] for s, trees in found.items()}) for number in range(n)]

    def entropy(self) -> Floats:
        """The entropy of the segmentations of every sentence, in nats: [n]."""
        out, found = np.zeros(len(self)), self._each(lambda s: self.chart(s).entropy())
        out[list(found)] = list(found.values())
        return out

    def score(self, segments: NestedSegments) -> Floats:
        """The scores of given segments, [n]. Less log Z, they are log-probabilities."""
        score = self._walk(segments, 0.0, self.potentials)
        sentence = np.repeat(np.arange(len(self)), np.diff(segments.offsets))
        score[sentence[segments.end - segments.start > self.longest]] = -np.inf
        return score

    def with_phrases(self, phrases: int) -> NestedBatch:
        """The same with a potential for every segment of up to so many tokens, zero where there was none."""
        old, (tokens, kinds) = self.phrases, self.potentials.start.shape
        table = np.zeros((tokens, max(phrases, old), kinds))
        table[:, :old] = self.potentials.phrase.reshape(tokens, old, kinds)
        return self.with_potentials(self.potentials._replace(phrase=table.reshape(-1, kinds)))

    def with_cost(self, segments: NestedSegments, cost: float) -> NestedBatch:
        """The same with a cost for every segment but the given ones, and every word that is directly in another."""
        wide = self.with_phrases(min(self.longest, int(np.diff(self.offsets).max(initial=0))))
        own, right = wide.potentials, wide.indicator(segments)
        either = right.phrase[:, : own.labels] + right.phrase[:, own.labels :]
        phrase = own.phrase + cost * (1.0 - np.concatenate([either, either], axis=1))
        return wide.with_potentials(own._replace(word=own.word + cost * (1.0 - right.word), phrase=phrase))

    def narrowed(self, counts: NestedPotentials) -> NestedPotentials:
        """Counts without those of longer phrases than have potentials here."""
        tokens, kinds = counts.start.shape
        table = counts.phrase.reshape(tokens, -1, kinds)[:, : self.phrases] if tokens else counts.phrase
        return counts._replace(phrase=table.reshape(-1, kinds))

    def restrict(self, allowed: tuple[Booleans, Booleans]) -> NestedBatch:
        """The same where only some words may be directly in contexts, and only some segments be.

        allowed: booleans like ``word`` [N, T + 1], and like ``phrase`` [N * D, 2 * T], for segments of up to any number
        of tokens D; longer ones are not restricted.
        """
        words, segments = map(np.asarray, allowed)
        tokens, longest = len(words), len(segments) // max(len(words), 1)
        wide = self.with_phrases(longest)
        own = wide.potentials
        table = own.phrase.reshape(tokens, wide.phrases, 2 * own.labels).copy()
        table[:, :longest][~segments.reshape(tokens, longest, 2 * own.labels)] = -np.inf
        word = np.where(words, own.word, -np.inf)
        return wide.with_potentials(own._replace(word=word, phrase=table.reshape(own.phrase.shape)))

    def token(self, sentence: ArrayLike, position: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "this word is directly in this context": 0 for no segment, x + 1 for one of label x."""
        contexts = self.potentials.labels + 1
        return Parts.single("word", self._tokens(sentence, position) * contexts + within(label, contexts))

    def span(self, sentence: ArrayLike, begin: ArrayLike, end: ArrayLike, label: ArrayLike) -> Parts:
        """The parts "there is a segment of this label from begin up to end", in no other segment or in another."""
        labels = self.potentials.labels
        first, label = self._tokens(sentence, begin), within(label, labels)
        length = self._tokens(sentence, np.asarray(end) - 1) + 1 - first
        if length.max(initial=0) > self.phrases:
            raise InputError(
                f"segments of {length.max()} tokens have no potential of their own: call with_phrases({length.max()})"
            )
        entry = (first * self.phrases + length - 1) * 2 * labels + label
        valid = np.repeat(length[:, None] > 0, 2, axis=1)
        return Parts.where("phrase", np.stack([entry, entry + labels], axis=1), valid)

    @property
    def one_label_a_span(self) -> bool:
        """No: a segment may hold nothing but another one."""
        return False

    def chart(self, sentence: int) -> ParseChart:
        """One sentence that has words as the trees of a grammar: the same distribution.

        >>> batch = NestedBatch(NestedPotentials.zeros(3, 2), np.array([0, 3]))
        >>> bool(np.isclose(batch.chart(0).log_partition(), batch.log_partition()[0]))
        True
        """
        return ParseChart(self._trees.grammar, self._trees.potentials(self.potentials, *self._place(sentence)))

    @cached_property
    def _trees(self) -> NestedGrammar:
        return nested_grammar(self.potentials.labels)

    def _place(self, sentence: int) -> tuple[int, int, int]:
        """The first token of a sentence, their number, and the most tokens of a segment."""
        first, after = self.offsets[sentence : sentence + 2].tolist()
        return first, after - first, self.longest

    def _each(self, function: Callable[[int], Result]) -> dict[int, Result]:
        """What a function says of each sentence that has words."""
        some = np.flatnonzero(np.diff(self.offsets)).tolist()
        return dict(zip(some, run_shards(function, some, self.threads), strict=True))

    def _listed(self, trees: dict[int, Derivation]) -> NestedSegments:
        """The segments of trees; no answer where a sentence that has words has none."""
        sizes = np.diff(self.offsets).tolist()
        return NestedSegments.of([self._trees.listed(trees.get(s)) if n else [] for s, n in enumerate(sizes)])

    def _walk(self, segments: NestedSegments, amount: float, counts: NestedPotentials) -> Floats:
        score = np.zeros(len(self))
        walk(self.offsets, 0, len(score), self.phrases, *segments, self.potentials, amount, counts, score)
        return score

    def _add(self, answer: NestedSegments, amount: float, counts: NestedPotentials) -> None:
        self._walk(answer, amount, counts)

    def _move(self, low: int, high: int, direction: NestedPotentials, change: NestedPotentials) -> None:
        for s in range(low, high):
            if self.offsets[s] < self.offsets[s + 1]:
                along = self._trees.potentials(direction, *self._place(s), absent=0.0)
                self._trees.count(self.chart(s).jvp(along), int(self.offsets[s]), self.longest, change)

    def _infer(self, low: int, high: int, log_z: Floats, expected: NestedPotentials) -> None:
        with_counts = expected.word.size > 0
        rest = (self.potentials, Tables.of(self.potentials), expected, with_counts, log_z)
        sums(self.offsets, low, high, self.longest, self.phrases, *rest)
