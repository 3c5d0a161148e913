"""Potentials of labelled brackets from weights of what is seen at both ends of spans, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

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
from dovetail.scorers.linear import Layout
from dovetail.scorers.listed import FeatureLists
from dovetail.structures.brackets import BracketBatch, BracketPotentials, Brackets
from dovetail.threads import run_shards, sentence_shards

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Strings = Sequence[Sequence[str]]

SHARDS, SHARD_SPANS = 64, 1000
FILTER = 1 << 26  # entries, a byte each


def rows_of(offsets: Integers) -> Integers:
    """Where the spans of each sentence begin, from where its words do: [sentences + 1]."""
    n = np.diff(offsets)
    return np.concatenate([[0], np.cumsum(n * (n + 1) // 2)]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class SpanWeights:
    """Which features there are, sorted by their keys, and for which labels each has a weight."""

    features: SpanFeatures
    keys: Keys = field(repr=False)
    layout: Layout = field(repr=False)

    @classmethod
    def observed(
        cls, features: SpanFeatures, seen: SpanKeys, offsets: Integers, uses: Brackets, labels: int, least: int,
        with_all: bool = False,
    ) -> SpanWeights:  # fmt: skip
        """Those of spans that are used with a label so often; ``with_all``, for all labels.

        seen: what is seen at the gaps of sentences whose words begin at ``offsets``.
        """
        counts = np.zeros(FILTER if least > 1 else 1, np.uint8)
        if least > 1:
            emit(seen, offsets, uses, counts, 0, np.empty(0, np.uint64), np.empty(0, np.int16))
        else:
            counts[:] = 1
        most = len(uses.begin) * (room(seen) + seen.first.shape[1] + seen.last.shape[1])
        key, label = np.empty(most, np.uint64), np.empty(most, np.int16)
        found = emit(seen, offsets, uses, counts, least, key, label)
        del counts
        order = np.lexsort((label[:found], key[:found]))
        key, label = key[:found][order], label[:found][order]
        del order
        fresh = np.ones(found, bool)
        fresh[1:] = (key[1:] != key[:-1]) | (label[1:] != label[:-1])
        key, label = key[fresh], label[fresh]
        keys, count = np.unique(key, return_counts=True)
        if with_all:
            return cls(features, keys, Layout.full(len(keys), labels))
        ptr = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
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

    def lists(self, seen: SpanKeys, offsets: Integers, kept: Kept, threads: int = 1) -> SpanLists:
        """The features of the spans of some sentences that are looked at."""
        rows = rows_of(offsets)

        def some(shard: tuple[int, int]) -> tuple[Integers, NDArray[np.int32]]:
            first, last = rows[shard[0]], rows[shard[1]]
            looked = np.count_nonzero(np.diff(kept.ptr[first : last + 1])) if len(kept.ptr) else last - first
            ptr, feature = np.empty(last - first + 1, np.int64), np.empty(int(looked) * room(seen), np.int32)
            count = look_up_spans(seen, self.table, offsets, rows, *shard, kept, ptr, feature)
            return np.diff(ptr), feature[:count].copy()

        found = run_shards(some, sentence_shards(rows, SHARDS, SHARD_SPANS), threads)
        ptr = np.concatenate([[0], np.cumsum(np.concatenate([count for count, _ in found]))]).astype(np.int64)
        spans = FeatureLists(ptr, np.concatenate([feature for _, feature in found]))
        return SpanLists(self._of_gaps(seen.first), self._of_gaps(seen.last), spans)

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
        offsets, seen = offsets_of(words), weights.features.keys(words, tags)
        return cls(weights, weights.lists(seen, offsets, kept, threads), offsets, kept, threads)

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


def _taken(lists: FeatureLists, which: Integers) -> FeatureLists:
    where, ptr = taken(lists.ptr, which)
    return FeatureLists(ptr, lists.feature[where])
