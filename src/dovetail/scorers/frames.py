"""Potentials of the arguments of predicates from weights of what is seen of each candidate, and back.

A feature has a weight for each label that it is seen with, and one for being an argument at all, whatever the label:
the score of a label is the sum of both. So what is never seen with an argument can still speak against one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int32s, Int64s, taken
from dovetail.features.compile.hashing import Keys
from dovetail.features.compile.index import FeatureIndex, narrow
from dovetail.kernel import kernel
from dovetail.scorers.contract import Items, Scorer
from dovetail.scorers.linear import Layout
from dovetail.scorers.listed import FeatureLists, add_gradients, add_scores
from dovetail.sparse import SparseGradient
from dovetail.structures.contract import Floats
from dovetail.structures.frames import FrameBatch, FramePotentials


@dataclass(eq=False)
class FrameScorer(Scorer[FrameBatch]):
    """The frames of some predicates.

    ``lists``: the features of all candidates, which are ``offsets`` [predicates + 1], ``begin`` and ``end`` as in
    :class:`FrameBatch`; ``layout`` has an output for every label, and one more for all of them.
    """

    lists: FeatureLists = field(repr=False)
    layout: Layout = field(repr=False)
    offsets: Int64s = field(repr=False)
    begin: Int32s = field(repr=False)
    end: Int32s = field(repr=False)
    once: Int32s
    threads: int = 1

    def __post_init__(self) -> None:
        self.parameters = self.layout.parameters
        self.items = len(self.offsets) - 1

    def batch(self, weight: NDArray[np.floating], which: Items | None = None) -> FrameBatch:
        """All frames of the predicates, or of some."""
        if which is not None:
            return self.some(which).batch(weight)
        scores = np.zeros((len(self.begin), self.layout.outputs))
        add_scores(self.lists, 0, self.layout, weight, scores)
        role = scores[:, :-1] + scores[:, -1:]
        return FrameBatch(FramePotentials(role), self.offsets, self.begin, self.end, self.once, self.threads)

    def backward(self, slope: FramePotentials, out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [weights] the gradient from the slope of the potentials."""
        if which is not None:
            self.some(which).backward(slope, out)
        else:
            whole = np.concatenate([slope.role, slope.role.sum(axis=1, keepdims=True)], axis=1)
            add_gradients(self.lists, 0, self.layout, whole, out)

    def some(self, which: Items) -> FrameScorer:
        """That of some of the predicates."""
        candidates, offsets = taken(self.offsets, which)
        where, ptr = taken(self.lists.ptr, candidates)
        lists = FeatureLists(ptr, self.lists.feature[where])
        return replace(self, lists=lists, offsets=offsets, begin=self.begin[candidates], end=self.end[candidates])

    def touch(self, which: Items, sink: SparseGradient) -> None:
        """List the parameters that some predicates use."""
        feature = self.some(which).lists.feature
        sink.count = _list(feature, self.layout.ptr, sink.step, sink.stamp, sink.items, sink.count)


@kernel
def _list(
    feature: Int32s, ptr: NDArray[np.integer], step: int, stamp: Int64s, items: Int64s, count: int
) -> int:  # fmt: skip
    for e in range(feature.size):
        for y in range(ptr[feature[e]], ptr[feature[e] + 1]):
            if stamp[y] == step:
                break  # all of a feature's are listed together
            stamp[y] = step
            items[count] = y
            count += 1
    return count


def looked_up(keys: Iterable[Keys], index: FeatureIndex, size: int) -> FeatureLists:
    """The features of so many candidates, from their keys template by template; unknown ones are left out."""
    rows = [index.number(own) for own in keys]
    table = np.array(rows, np.int32).reshape(len(rows), size).T
    known = table >= 0
    ptr = np.zeros(size + 1, np.int64)
    np.cumsum(known.sum(axis=1), out=ptr[1:])
    return FeatureLists(ptr, table[known])


def observed(
    keys: Iterable[Keys], gold: Int32s, labels: int, least: int, least_without: int
) -> tuple[Keys, Layout]:  # fmt: skip
    """Sorted keys of the features that are kept, and which weights they have.

    gold: [candidates], the right label of each, -1 for none. A feature is kept that occurs ``least`` times, one that
    no argument has ``least_without`` times.
    """
    kept, pairs = [np.empty(0, np.uint64)], [(np.empty(0, np.uint64), np.empty(0, np.int64))]
    right = np.flatnonzero(gold >= 0)
    for own in keys:
        found, number, counts = np.unique(own, return_inverse=True, return_counts=True)
        with_argument = np.bincount(number[right], minlength=len(found)) > 0
        chosen = counts >= np.where(with_argument, least, least_without)
        kept.append(found[chosen])
        both = np.unique(number[right].astype(np.int64) * labels + gold[right])
        both = both[chosen[both // labels]]
        pairs.append((found[both // labels], both % labels))
    every = np.unique(np.concatenate(kept))
    key = np.concatenate([every, *(own for own, _ in pairs)])
    label = np.concatenate([np.full(len(every), labels), *(own for _, own in pairs)])
    order = np.lexsort((label, key))
    ptr = np.searchsorted(key[order], every)
    return every, Layout(narrow(np.append(ptr, len(key)).astype(np.int64)), label[order].astype(np.uint16), labels + 1)
