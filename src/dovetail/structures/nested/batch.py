"""Exact inference for segments within segments, each scored as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dovetail.errors import InputError
from dovetail.structures.chain.parts import Floats, Integers
from dovetail.structures.nested.parts import TABLES, NestedPotentials, NestedSegments
from dovetail.structures.nested.search import best_segments, walk
from dovetail.structures.nested.sums import Tables, segment_probabilities, sums
from dovetail.threads import run_shards, sentence_shards

__all__ = ["NestedBatch", "NestedPotentials", "NestedSegments"]

LONGEST = 100  # tokens of a segment at most, unless said: in sentences of up to so many, there is no bound
SHARD_TOKENS = 500


@dataclass(frozen=True, eq=False)
class NestedBatch:
    """All nested segmentations of a batch of sentences; minus infinity forbids a part.

    potentials: see :class:`NestedPotentials`. offsets: [n + 1], sentence i is tokens offsets[i] to offsets[i + 1].
    longest: the most tokens of a segment. Two segments may share their tokens if their labels differ; three may not.

    The distribution is that of a context-free grammar (see :mod:`~dovetail.structures.nested.grammar`), summed in the
    time of a few products for every span and split. Where ``nest`` allows no segment in another it is semi-Markov.

    >>> potentials = NestedPotentials.zeros(tokens=2, labels=1)
    >>> batch = NestedBatch(potentials, np.array([0, 2]))
    >>> round(np.exp(batch.log_partition()[0]))  # none, 1 of 3, both of one word; the long one with none, 1, 2 or both
    8
    """

    potentials: NestedPotentials
    offsets: Integers
    longest: int = LONGEST
    threads: int = field(default=1, repr=False)

    def __post_init__(self) -> None:
        labels, tokens = self.potentials.labels, int(self.offsets[-1])
        elements, phrases = labels + 1, self.phrases
        shapes = NestedPotentials(
            *((tokens, elements), (tokens, 2 * labels), (tokens, 2 * labels), (tokens, 2 * labels)),  # type: ignore[arg-type]
            *((tokens * phrases, 2 * labels), (elements, labels), (elements, elements)),  # type: ignore[arg-type]
            *((elements, elements, elements), (elements, elements)),  # type: ignore[arg-type]
        )
        for name, table, shape in zip(NestedPotentials._fields, self.potentials, shapes, strict=True):
            if table.shape != shape:
                raise InputError(f"{name} has shape {table.shape}, expected {shape}")

    @property
    def phrases(self) -> int:
        """The most tokens of a segment that is scored as a phrase."""
        return len(self.potentials.phrase) // max(int(self.offsets[-1]), 1)

    def log_partition(self) -> Floats:
        """The log of the sum of exp(score) over all nested segmentations of each sentence, [n]."""
        log_z = np.zeros(len(self.offsets) - 1)
        none = NestedPotentials(*(np.zeros((0,) * table.ndim) for table in self.potentials))
        run_shards(lambda shard: self._sums(*shard, none, log_z), self._shards(), self.threads)
        return log_z

    def marginals(self) -> NestedPotentials:
        """The expected count of every part, shaped like the potentials."""
        return self.log_partition_and_marginals()[1]

    def log_partition_and_marginals(self) -> tuple[Floats, NestedPotentials]:
        """Both in one pass, the step of training."""
        log_z = np.zeros(len(self.offsets) - 1)
        counts = NestedPotentials(*map(np.zeros_like, self.potentials))
        shards = self._shards()
        mine = [self._own_tables(counts) for _ in shards]  # summed in order: the same bits for any number of threads
        work = list(zip(shards, mine, strict=True))
        run_shards(lambda each: self._sums(*each[0], each[1], log_z), work, self.threads)
        for own in mine:
            for name in TABLES:
                getattr(counts, name)[:] += getattr(own, name)
        return log_z, counts

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

        found = run_shards(of_sentence, range(len(self.offsets) - 1), self.threads)
        segments = NestedSegments.of([each for each, _ in found])
        return segments, np.array([p for _, each in found for p in each], np.float64)

    def best(self) -> NestedSegments:
        """The best segments of every sentence."""
        tokens, sentences = int(self.offsets[-1]), len(self.offsets) - 1
        out, count = np.zeros((4 * tokens, 4), np.int32), np.zeros(sentences, np.int32)
        run_shards(
            lambda shard: best_segments(self.offsets, *shard, self.longest, self.phrases, self.potentials, out, count),
            self._shards(),
            self.threads,
        )
        found = []
        for first, n in zip((4 * self.offsets[:-1]).tolist(), np.maximum(count, 0).tolist(), strict=True):
            mine = out[first : first + n].tolist()  # stable: of two over the same tokens the outer comes first
            found.append([(i, j, x) for i, j, x, _ in sorted(mine, key=lambda each: (each[0], -each[1]))])
        return NestedSegments.of(found)

    def score(self, segments: NestedSegments) -> Floats:
        """The scores of given segments, [n]. Less log Z, they are log-probabilities."""
        return self._walk(segments, 0.0, self.potentials)

    def indicator(self, segments: NestedSegments) -> NestedPotentials:
        """The counts of the parts of given segments, shaped like the potentials."""
        counts = NestedPotentials(*map(np.zeros_like, self.potentials))
        self._walk(segments, 1.0, counts)
        return counts

    def subtract(self, marginals: NestedPotentials, segments: NestedSegments) -> Floats:
        """Take the parts of given segments from marginals, in place; returns the scores of the segments, [n]."""
        return self._walk(segments, -1.0, marginals)

    def _walk(self, segments: NestedSegments, amount: float, counts: NestedPotentials) -> Floats:
        score = np.zeros(len(self.offsets) - 1)
        walk(self.offsets, 0, len(score), self.phrases, *segments, self.potentials, amount, counts, score)
        return score

    def _shards(self) -> list[tuple[int, int]]:
        return sentence_shards(self.offsets, most=64, tokens=SHARD_TOKENS)

    def _sums(self, low: int, high: int, counts: NestedPotentials, log_z: Floats) -> None:
        tables = Tables.of(self.potentials)
        with_counts = counts.word.size > 0
        rest = (self.potentials, tables, counts, with_counts, log_z)
        sums(self.offsets, low, high, self.longest, self.phrases, *rest)

    @staticmethod
    def _own_tables(counts: NestedPotentials) -> NestedPotentials:
        """The counts with tables of their own: tokens are in one shard each, tables are in all."""
        return counts._replace(**{name: np.zeros_like(getattr(counts, name)) for name in TABLES})
