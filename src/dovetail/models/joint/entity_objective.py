"""The likelihood of entities alone, by segments scored as a joint parser scores them: for text without trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dovetail.kernel import kernel
from dovetail.models.joint.entity_parameters import EntityParameters
from dovetail.models.parser.parameters import SentenceLists
from dovetail.sparse import SparseGradient
from dovetail.structures.semimarkov import Segments, SemiMarkovBatch, SemiMarkovPotentials

Floats = NDArray[np.float64]


@dataclass(eq=False)
class EntityObjective:
    """Minus the log-likelihood of the entities of some sentences; a word in none scores nothing.

    ``entities``: of each sentence, ``(begin, end, type)``, flat. ``longest``: the most words of an entity.
    """

    made: EntityParameters
    sentences: Sequence[SentenceLists]
    entities: Sequence[Sequence[tuple[int, int, int]]]
    longest: int
    threads: int = 1
    _whole: NDArray[np.int64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._whole = np.arange(len(self.sentences))

    @property
    def items(self) -> int:
        """The number of sentences."""
        return len(self.sentences)

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return self.made.size

    def batch(self, weight: Floats, which: NDArray[np.int64]) -> SemiMarkovBatch:
        """All segmentations of some sentences, of label 0 outside entities, else of the type less one."""
        some = [self.sentences[i] for i in which]
        offsets = np.cumsum([0, *(s.length for s in some)])
        segment = np.zeros((int(offsets[-1]), self.longest, self.made.types + 1))
        places = iter(offsets.tolist())
        for run in in_runs(some):
            begins, ends = self.made.scores(whole(run), weight)
            for sentence, first in zip(run, places, strict=False):
                here = within(sentence, run)
                spread(begins[here], ends[here], segment[first : first + sentence.length])
        lengths = np.array([1] + [self.longest] * self.made.types, np.int32)
        return SemiMarkovBatch(SemiMarkovPotentials.of(segment), offsets, lengths, self.threads)

    def gold(self, which: NDArray[np.int64], offsets: NDArray[np.int64]) -> Segments:
        """The right segments of some sentences."""
        length, label = np.ones(int(offsets[-1]), np.int32), np.zeros(int(offsets[-1]), np.int32)
        for i, first in zip(which.tolist(), offsets.tolist(), strict=False):
            for begin, end, kind in self.entities[i]:
                length[first + begin : first + end] = 0
                length[first + begin], label[first + begin] = end - begin, kind + 1
        return Segments.of_tokens(length, label, offsets)

    def _add(self, weight: Floats, which: NDArray[np.int64], out: Floats) -> float:
        batch = self.batch(weight, which)
        gold = self.gold(which, batch.offsets)
        score = batch.score(gold)
        log_z, counts = batch.log_partition_and_marginals()
        slope = batch.subtract(counts, gold).segment
        places = iter(batch.offsets.tolist())
        for run in in_runs([self.sentences[i] for i in which]):
            begins, ends = np.zeros((2, whole(run).length + 1, self.made.types))
            for sentence, first in zip(run, places, strict=False):
                here = within(sentence, run)
                gather(slope[first : first + sentence.length], begins[here], ends[here])
            self.made.backward(whole(run), begins, ends, out)
        return float((log_z - score).sum())

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The loss on all sentences and its gradient [parameters]."""
        gradient = np.zeros(self.parameters)
        return self._add(weight, self._whole, gradient), gradient

    def touch(self, which: NDArray[np.int64], sink: SparseGradient) -> None:
        """A batch uses so many parameters that all are stepped."""
        sink.list_all()

    def accumulate(self, weight: Floats, which: NDArray[np.int64], sink: SparseGradient) -> float:
        """The loss on some sentences; its gradient is added to ``sink``."""
        return self._add(weight, which, sink.value)


def in_runs(sentences: Sequence[SentenceLists]) -> list[list[SentenceLists]]:
    """The sentences, those together whose features follow each other in the same lists."""
    runs: list[list[SentenceLists]] = []
    for sentence in sentences:
        last = runs[-1][-1] if runs else None
        if last is not None and last.lists is sentence.lists and last.first + last.length + 1 == sentence.first:
            runs[-1].append(sentence)
        else:
            runs.append([sentence])
    return runs


def whole(run: Sequence[SentenceLists]) -> SentenceLists:
    """A run as one sentence: what its words outside a segment score cancels out."""
    return SentenceLists(run[0].lists, run[0].first, run[-1].first + run[-1].length - run[0].first)


def within(sentence: SentenceLists, run: Sequence[SentenceLists]) -> slice:
    """The places of a sentence in a run that it is of, before each word and after the last."""
    first = sentence.first - run[0].first
    return slice(first, first + sentence.length + 1)


@kernel
def spread(begins: Floats, ends: Floats, segment: Floats) -> None:
    """segment[t, d, X + 1] = begins[t, X] + ends[t + d + 1, X]. Shapes: [n + 1, types] and [n, longest, types + 1]."""
    n = segment.shape[0]
    for t in range(n):
        for d in range(min(segment.shape[1], n - t)):
            for x in range(begins.shape[1]):
                segment[t, d, x + 1] = begins[t, x] + ends[t + d + 1, x]


@kernel
def gather(segment: Floats, begins: Floats, ends: Floats) -> None:
    """The reverse of :func:`spread`."""
    n = segment.shape[0]
    for t in range(n):
        for d in range(min(segment.shape[1], n - t)):
            for x in range(begins.shape[1]):
                begins[t, x] += segment[t, d, x + 1]
                ends[t + d + 1, x] += segment[t, d, x + 1]
