"""Potentials of labelled brackets from weights of what is seen at both ends of spans, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import offsets_of, taken
from dovetail.features.compile.brackets import SpanFeatures, SpanKeys
from dovetail.features.compile.hashing import Keys
from dovetail.features.compile.index import FeatureIndex, narrow
from dovetail.scorers.bracket_kernels import (
    Kept,
    SpanLists,
    Table,
    add_gradient,
    emit,
    look_up_ends,
    look_up_spans,
    room,
    score_spans,
)
from dovetail.scorers.contract import Items, Scorer
from dovetail.scorers.linear import Layout, check_features
from dovetail.scorers.listed import FeatureLists
from dovetail.structures.brackets import BracketBatch, BracketPotentials, Brackets
from dovetail.structures.ruled import RuledBatch, RuledPotentials
from dovetail.threads import run_shards, sentence_shards

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Strings = Sequence[Sequence[str]]
Pairs = tuple[Keys, NDArray[np.int16]]

SHARDS, SHARD_SPANS = 64, 1000
FILTER = 1 << 26  # entries, a byte each
TOGETHER = 200  # sentences that are looked at at once


def rows_of(offsets: Integers) -> Integers:
    """Where the spans of each sentence begin, from where its words do: [sentences + 1]."""
    n = np.diff(offsets)
    return np.concatenate([[0], np.cumsum(n * (n + 1) // 2)]).astype(np.int64)


class LookedAt(NamedTuple):
    """What is seen at the gaps of sentences ``low`` .. ``high``, and where their words begin among themselves."""

    low: int
    high: int
    seen: SpanKeys
    offsets: Integers

    def of(self, uses: Brackets) -> Brackets:
        """The brackets of these sentences; the others are not told of."""
        return uses._replace(offsets=uses.offsets[self.low : self.high + 1])


def looked_at(features: SpanFeatures, words: Strings, tags: Strings) -> Iterator[LookedAt]:
    """A few sentences at a time: what is seen at their gaps takes more memory than anything else of them."""
    for low in range(0, len(words), TOGETHER):
        high = min(low + TOGETHER, len(words))
        some, own = words[low:high], tags[low:high]
        yield LookedAt(low, high, features.keys(some, own), offsets_of(some))


@dataclass(frozen=True, eq=False)
class SpanWeights:
    """Which features there are, sorted by their keys, and for which labels each has a weight."""

    features: SpanFeatures
    keys: Keys = field(repr=False)
    layout: Layout = field(repr=False)

    def __post_init__(self) -> None:
        check_features(self.keys, self.layout)

    @classmethod
    def observed(
        cls, features: SpanFeatures, words: Strings, tags: Strings, uses: Brackets, labels: int, least: int,
        with_all: bool = False,
    ) -> SpanWeights:  # fmt: skip
        """Those of spans of sentences that are used with a label so often; ``with_all``, for all labels."""
        counts = np.zeros(FILTER, np.uint8) if least > 1 else np.ones(1, np.uint8)
        if least > 1:
            for some in looked_at(features, words, tags):
                emit(some.seen, some.offsets, some.of(uses), counts, 0, np.empty(0, np.uint64), np.empty(0, np.int16))
        parts: list[Pairs] = []
        for some in looked_at(features, words, tags):
            own = some.of(uses)
            most = int(own.offsets[-1] - own.offsets[0]) * (
                room(some.seen) + some.seen.first.shape[1] + some.seen.last.shape[1]
            )
            key, label = np.empty(most, np.uint64), np.empty(most, np.int16)
            found = emit(some.seen, some.offsets, own, counts, least, key, label)
            parts.append(_distinct([(key[:found], label[:found])]))
            while len(parts) > 1 and 2 * len(parts[-1][0]) > len(parts[-2][0]):
                parts.append(_distinct([parts.pop(), parts.pop()]))
        del counts
        key, label = _distinct(parts)
        first = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
        keys, ptr = key[first], np.append(first, len(key))
        if with_all:
            return cls(features, keys, Layout.full(len(keys), labels))
        return cls(features, keys, Layout(narrow(ptr), label.astype(np.uint16), labels))

    @property
    def labels(self) -> int:
        """The number of labels."""
        return self.layout.outputs

    @cached_property
    def table(self) -> Table:
        """Where features are looked up."""
        return Table(self.index.keys, self.index._bucket, self.index._shift)

    @cached_property
    def index(self) -> FeatureIndex:
        """The numbers of features."""
        return FeatureIndex(self.keys)

    def lists(self, words: Strings, tags: Strings, kept: Kept, threads: int = 1) -> SpanLists:
        """The features of the spans of sentences that are looked at; a few sentences at a time, to save memory."""
        rows = rows_of(offsets_of(words))
        looked = int(np.count_nonzero(np.diff(kept.ptr)) if len(kept.ptr) else rows[-1])
        ends: tuple[list[FeatureLists], ...] = ([], [])
        ptr, feature, filled = np.zeros(int(rows[-1]) + 1, np.int64), np.empty(0, np.int32), 0
        for some in looked_at(self.features, words, tags):
            if not len(feature):  # memory that is not written to is not taken
                feature = np.empty(looked * room(some.seen), np.int32)
            for own, keys in zip(ends, (some.seen.first, some.seen.last), strict=True):
                own.append(self._of_gaps(keys))
            first, last = int(rows[some.low]), int(rows[some.high])
            part = kept._replace(ptr=kept.ptr[first : last + 1]) if len(kept.ptr) else kept
            for count, found in self._of_spans(some, part, threads):
                ptr[first + 1 : first + 1 + len(count)] = count
                feature[filled : filled + len(found)] = found
                first, filled = first + len(count), filled + len(found)
        feature.resize(filled, refcheck=False)
        begins, finishes = map(_after_another, ends)
        return SpanLists(begins, finishes, FeatureLists(np.cumsum(ptr), feature))

    def _of_spans(self, some: LookedAt, kept: Kept, threads: int) -> list[tuple[Integers, NDArray[np.int32]]]:
        """How many features each span of a few sentences has, and which, shard by shard."""
        rows = rows_of(some.offsets)

        def of_shard(shard: tuple[int, int]) -> tuple[Integers, NDArray[np.int32]]:
            first, last = rows[shard[0]], rows[shard[1]]
            looked = np.count_nonzero(np.diff(kept.ptr[first : last + 1])) if len(kept.ptr) else last - first
            ptr, feature = np.empty(last - first + 1, np.int64), np.empty(int(looked) * room(some.seen), np.int32)
            count = look_up_spans(some.seen, self.table, some.offsets, rows, *shard, kept, ptr, feature)
            return np.diff(ptr), feature[:count].copy()

        return run_shards(of_shard, sentence_shards(rows, SHARDS, SHARD_SPANS), threads)

    def _of_gaps(self, keys: Keys) -> FeatureLists:
        ptr, feature = np.empty(len(keys) + 1, np.int64), np.empty(keys.size, np.int32)
        count = look_up_ends(keys, self.table, ptr, feature)
        return FeatureLists(ptr, feature[:count].copy())


@dataclass(eq=False)
class BracketScorer(Scorer[BracketBatch]):
    """The bracketings of some sentences, of the labels that ``kept`` has over their spans.

    ``lists``: the features of all sentences; ``offsets`` [sentences + 1]: where their words begin.
    """

    weights: SpanWeights = field(repr=False)
    lists: SpanLists = field(repr=False)
    offsets: Integers = field(repr=False)
    kept: Kept = field(repr=False)
    threads: int = 1

    @classmethod
    def of(cls, weights: SpanWeights, words: Strings, tags: Strings, kept: Kept, threads: int = 1) -> BracketScorer:
        """That of sentences with these words and parts of speech."""
        return cls(weights, weights.lists(words, tags, kept, threads), offsets_of(words), kept, threads)

    def __post_init__(self) -> None:
        self.parameters = self.weights.layout.parameters
        self.items = len(self.offsets) - 1

    @cached_property
    def rows(self) -> Integers:
        """Where the spans of each sentence begin: [sentences + 1]."""
        return rows_of(self.offsets)

    def batch(self, weight: NDArray[Any], which: Items | None = None) -> BracketBatch:
        """All bracketings of the sentences, or of some."""
        if which is not None:
            return self.some(which).batch(weight)
        table = np.empty((int(self.rows[-1]), self.weights.labels))

        def score(shard: tuple[int, int]) -> None:
            score_spans(self.lists, self.weights.layout, weight, self.offsets, self.rows, *shard, self.kept, table)

        run_shards(score, sentence_shards(self.rows, SHARDS, SHARD_SPANS), self.threads)
        return BracketBatch(BracketPotentials(table), self.offsets, threads=self.threads)

    def backward(self, slope: BracketPotentials, out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [weights] the gradient from the slope of the potentials."""
        if which is not None:
            self.some(which).backward(slope, out)
        else:
            layout, where = self.weights.layout, (self.offsets, self.rows, 0, self.items)
            add_gradient(self.lists, layout, slope.span, *where, out)

    def some(self, which: Items) -> BracketScorer:
        """That of some of the sentences."""
        gaps, _ = taken(self.offsets + np.arange(self.items + 1), which)
        cells, _ = taken(self.rows, which)
        lists = SpanLists(*(_taken(own, at) for own, at in zip(self.lists, (gaps, gaps, cells), strict=True)))
        kept = self.kept
        if len(kept.ptr):
            where, ptr = taken(kept.ptr, cells)
            kept = kept._replace(ptr=ptr, label=kept.label[where])
        return replace(self, lists=lists, offsets=taken(self.offsets, which)[1], kept=kept)


@dataclass(eq=False)
class RuleScorer(Scorer[RuledBatch]):
    """The same with rules: weights of a label above two others, and of every two of the three whatever the third.

    The weights of ``spans`` come first, then those of rules ``[L, L, L]``, of a label and its left half, of a label and
    its right half, and of both halves: ``[L, L]`` each.
    """

    spans: BracketScorer

    def __post_init__(self) -> None:
        labels = self.spans.weights.labels
        self.parameters = self.spans.parameters + labels**3 + 3 * labels**2
        self.items, self.threads = self.spans.items, self.spans.threads

    @property
    def offsets(self) -> Integers:
        """Where the words of each sentence begin: [sentences + 1]."""
        return self.spans.offsets

    def batch(self, weight: NDArray[Any], which: Items | None = None) -> RuledBatch:
        """All bracketings of the sentences, or of some."""
        plain = self.spans.batch(weight[: self.spans.parameters], which)
        triple, left, right, both = self._parts(weight)
        rule = triple + left[:, :, None]
        rule += right[:, None, :]
        rule += both
        return RuledBatch(RuledPotentials(plain.potentials.span, rule), plain.offsets, plain.threads)

    def backward(self, slope: RuledPotentials, out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [weights] the gradient from the slope of the potentials."""
        self.spans.backward(BracketPotentials(slope.span), out[: self.spans.parameters], which)
        for part, own in zip(
            self._parts(out), (slope.rule, *(slope.rule.sum(axis=axis) for axis in (2, 1, 0))), strict=True
        ):
            part += own

    def _parts(self, weight: NDArray[Any]) -> list[NDArray[Any]]:
        """The weights of rules, or their gradient, as views."""
        labels, own = self.spans.weights.labels, weight[self.spans.parameters :]
        edges = labels**3 + labels**2 * np.arange(4)
        pairs = [own[low:high].reshape(labels, labels) for low, high in pairwise(edges.tolist())]
        return [own[: labels**3].reshape(labels, labels, labels), *pairs]


def _distinct(parts: list[Pairs]) -> Pairs:
    """Pairs of features and labels, each once, in order; the parts are taken away, to save memory."""
    key = np.concatenate([np.empty(0, np.uint64), *(key for key, _ in parts)])
    label = np.concatenate([np.empty(0, np.int16), *(label for _, label in parts)])
    parts.clear()
    order = np.lexsort((label, key))
    key, label = key[order], label[order]
    del order
    fresh = np.ones(len(key), bool)
    fresh[1:] = (key[1:] != key[:-1]) | (label[1:] != label[:-1])
    return key[fresh], label[fresh]


def _after_another(parts: Sequence[FeatureLists]) -> FeatureLists:
    counts = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.ptr) for part in parts)])
    return FeatureLists(np.cumsum(counts), np.concatenate([np.empty(0, np.int32), *(part.feature for part in parts)]))


def _taken(lists: FeatureLists, which: Integers) -> FeatureLists:
    where, ptr = taken(lists.ptr, which)
    return FeatureLists(ptr, lists.feature[where])
