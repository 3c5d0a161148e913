"""The training objective of nested segments: features to potentials, the likelihood, and the gradient back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.nested_sets import PARTS
from dovetail.models.nested.tags import GoldTags, log_sums, tag_scores, tag_slopes
from dovetail.scorers.linear import LinearScorer
from dovetail.sparse import SparseGradient
from dovetail.structures.nested import TABLES, NestedBatch, NestedPotentials, NestedSegments

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
SEGMENT_PARTS = ("start", "end", "inside", "phrase")


def outputs_of(part: str, labels: int, tags: int = 0) -> int:
    """How many scores a part has: of a word in no segment; of its tags; of segments in no other and in others."""
    return {"word": 1, "tag": tags, "joint": (labels + 1) * tags}.get(part, 2 * labels)


def table_shapes(labels: int) -> dict[str, tuple[int, ...]]:
    """The shapes of the tables of potentials that are the same everywhere."""
    empty = NestedPotentials.zeros(0, labels)
    return {name: getattr(empty, name).shape for name in TABLES}


def nested_potentials(
    scores: dict[str, Floats], tables: Mapping[str, Floats], tokens: int, labels: int
) -> NestedPotentials:
    """Potentials from the scores of the parts that there are, which are used up.

    What speaks for a segment of some label does so wherever it lies, and what is learnt from segments within others
    comes on top: their scores are sums, so that the few there are lean on the many that lie in none.
    """
    for part in SEGMENT_PARTS:
        if part in scores:
            scores[part][:, labels:] += scores[part][:, :labels]
    missing = {part: np.zeros((0 if part == "phrase" else tokens, 2 * labels)) for part in SEGMENT_PARTS}
    word = np.zeros((tokens, labels + 1))
    if "tag" in scores:
        log_sums(tag_scores(scores, labels + 1), word)
    if "word" in scores:
        word[:, :1] += scores["word"]
    return NestedPotentials(word, **{part: scores.get(part, missing[part]) for part in SEGMENT_PARTS}, **tables)


def shared_slopes(slope: NestedPotentials) -> dict[str, Floats]:
    """The derivative by the scores of words and segments from that by the potentials, which is used up."""
    for part in SEGMENT_PARTS:
        table = getattr(slope, part)
        table[:, : slope.labels] += table[:, slope.labels :]
    found = {part: getattr(slope, part) for part in SEGMENT_PARTS}
    return found | {"word": np.ascontiguousarray(slope.word[:, :1])}


def cut_tables(weight: Floats, labels: int) -> dict[str, Floats]:
    """The tables laid end to end in a vector."""
    found, place = {}, 0
    for name, shape in table_shapes(labels).items():
        size = int(np.prod(shape))
        found[name] = weight[place : place + size].reshape(shape)
        place += size
    return found


@dataclass
class NestedObjective:
    """The negative log-likelihood of a corpus as a function of one vector of weights: parts in order, then tables."""

    offsets: Integers
    gold: NestedSegments
    labels: int
    phrases: int
    longest: int
    scorers: Mapping[str, LinearScorer]
    flat: bool = False
    tags: GoldTags | None = None
    threads: int = 1

    def __post_init__(self) -> None:
        self.items = len(self.offsets) - 1
        self.begin: dict[str, int] = {}
        place = 0
        for part, scorer in self.scorers.items():
            self.begin[part] = place
            place += scorer.layout.parameters
        self.after_parts = place
        self.parameters = place + sum(int(np.prod(shape)) for shape in table_shapes(self.labels).values())

    def weight_of(self, part: str, weight: Floats) -> Floats:
        """The weights of one part."""
        return weight[self.begin[part] : self.begin[part] + self.scorers[part].layout.parameters]

    def tables(self, weight: Floats) -> dict[str, Floats]:
        """The tables of potentials that are the same everywhere."""
        found = cut_tables(weight[self.after_parts :], self.labels)
        if self.flat:
            found["nest"] = found["nest"].copy()
            found["nest"][1:] = -np.inf
        return found

    def batch(self, scores: dict[str, Floats], weight: Floats, offsets: Integers, threads: int) -> NestedBatch:
        """The nested segmentations of some sentences."""
        potentials = nested_potentials(scores, self.tables(weight), int(offsets[-1]), self.labels)
        return NestedBatch(potentials, offsets, self.longest, threads)

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The loss on the whole corpus and its gradient [parameters]."""
        scores = {part: s.forward(self.weight_of(part, weight)) for part, s in self.scorers.items()}
        batch = self.batch(scores, weight, self.offsets, self.threads)
        value, slopes, tables = self._loss(batch, scores, self.gold, self.tags)
        gradient = np.empty(self.parameters)
        for part, scorer in self.scorers.items():
            self.weight_of(part, gradient)[:] = scorer.backward(slopes[part])
        gradient[self.after_parts :] = tables
        return value, gradient

    def _loss(
        self, batch: NestedBatch, scores: dict[str, Floats], gold: NestedSegments, tags: GoldTags | None
    ) -> tuple[float, dict[str, Floats], Floats]:
        """``log Z - score(gold)``, and its derivative by the scores of the parts and by the tables, end to end."""
        log_z, slope = batch.log_partition_and_marginals()
        slopes: dict[str, Floats] = {}
        value = float(log_z.sum())
        if tags is not None:
            score = tag_scores(scores, self.labels + 1)
            sums, out = np.empty(score.shape[:2]), np.empty_like(score)
            log_sums(score, sums)
            value += tag_slopes(score, sums, slope.word, *tags, out)
            slopes = {"tag": out.sum(axis=1), "joint": out.reshape(len(out), -1)}
        value -= float(batch.score(gold).sum())
        batch.subtract(slope, gold)
        slopes |= shared_slopes(slope)
        return value, slopes, np.concatenate([getattr(slope, name).ravel() for name in TABLES])

    # The two methods that online optimisers call. A batch is a few sentences.

    def _items(self, which: Integers) -> tuple[dict[str, Integers], Integers]:
        """The tokens and phrases of some sentences, and where the sentences begin among the tokens."""
        lengths = self.offsets[which + 1] - self.offsets[which]
        offsets = np.zeros(len(which) + 1, dtype=np.int64)
        np.cumsum(lengths, out=offsets[1:])
        tokens = np.arange(offsets[-1]) + np.repeat(self.offsets[which] - offsets[:-1], lengths)
        candidates = (tokens[:, None] * self.phrases + np.arange(self.phrases)).ravel()
        return {part: candidates if part == "phrase" else tokens for part in PARTS}, offsets

    def _gold(self, which: Integers) -> NestedSegments:
        ranges = [np.arange(self.gold.offsets[s], self.gold.offsets[s + 1]) for s in which.tolist()]
        offsets = np.concatenate([[0], np.cumsum([len(each) for each in ranges])]).astype(np.int64)
        chosen = np.concatenate(ranges)
        return NestedSegments(self.gold.start[chosen], self.gold.end[chosen], self.gold.label[chosen], offsets)

    def touch(self, which: Integers, sink: SparseGradient) -> None:
        """List the parameters that these sentences use; tables are always among them."""
        items, _ = self._items(which)
        for part, scorer in self.scorers.items():
            scorer.touch(items[part], self.begin[part], sink)
        rest = self.parameters - self.after_parts
        sink.items[sink.count : sink.count + rest] = np.arange(self.after_parts, self.parameters)
        sink.count += rest

    def accumulate(self, weight: Floats, which: Integers, sink: SparseGradient) -> float:
        """The loss on these sentences; its gradient is added to ``sink``."""
        items, offsets = self._items(which)
        scores = {part: s.forward_some(items[part], self.begin[part], weight) for part, s in self.scorers.items()}
        tokens = items["word"]
        tags = None if self.tags is None else GoldTags(*(column[tokens] for column in self.tags))
        batch = self.batch(scores, weight, offsets, 1)
        value, slopes, tables = self._loss(batch, scores, self._gold(which), tags)
        for part, scorer in self.scorers.items():
            scorer.backward_some(items[part], self.begin[part], slopes[part], sink)
        sink.value[self.after_parts :] += tables
        return value
