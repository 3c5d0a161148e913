"""Features counted over a corpus that comes stretch by stretch, and merged as if it had come at once.

``merge`` tells twins by a random number for every token at which a feature fires: such sums may be added up over
stretches, so no more than a few numbers a feature are in memory, whatever the size of the text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Floats, Int32s, Int64s
from dovetail.features.compile.design import Design, drop_unknown
from dovetail.features.compile.hashing import Keys
from dovetail.features.compile.index import distinct
from dovetail.features.compile.merge import fired, frequent_as_rows

FAR = np.int64(32)  # a place is a stretch, and the number of a feature there


@dataclass
class Tally:
    """What is known of every feature so far, by sorted ``key`` [features].

    ``count``: at how many tokens it fires; ``identity``: the sum of their random numbers; ``place``: where it came up
    first; ``largest``: its largest value, in size, below zero if it has
    others than one.
    """

    key: Keys
    count: Int64s
    identity: NDArray[np.uint64]
    place: Int64s
    largest: NDArray[np.float32]
    stretches: int = 0

    @classmethod
    def empty(cls) -> Tally:
        """Nothing is known."""
        none = np.empty(0, np.uint64)
        return cls(none, np.empty(0, np.int64), none, np.empty(0, np.int64), np.empty(0, np.float32))

    def add(self, design: Design, key: Keys) -> None:
        """Count the features of a design, whose keys these are: [features]."""
        count, identity = fired(design, self.stretches)
        largest = np.ones(design.features, np.float32)
        if design.row_value is not None:
            real = np.zeros(design.features, np.float32)
            np.maximum.at(real, design.row_feature, np.abs(design.row_value).astype(np.float32))
            whole = np.ones(design.features, np.bool_)
            whole[design.row_feature[design.row_value != 1.0]] = False
            largest = np.where(whole, largest, -real)  # below zero: of a feature that has other values than one
        place = (np.int64(self.stretches) << FAR) + np.arange(len(key))
        self._join(key, count, identity, place, largest)
        self.stretches += 1

    def _join(
        self, key: Keys, count: Int64s, identity: NDArray[np.uint64], place: Int64s, largest: NDArray[np.float32]
    ) -> None:
        every = np.concatenate([self.key, key])
        order = np.argsort(every, kind="stable")  # what was known comes before what is new
        every = every[order]
        starts = np.flatnonzero(np.concatenate([[True], every[1:] != every[:-1]]))
        self.key = every[starts]
        self.count = np.add.reduceat(np.concatenate([self.count, count])[order], starts)
        self.identity = np.add.reduceat(np.concatenate([self.identity, identity])[order], starts)
        self.place = np.minimum.reduceat(np.concatenate([self.place, place])[order], starts)
        sizes = np.concatenate([self.largest, largest])[order]
        low, high = np.minimum.reduceat(sizes, starts), np.maximum.reduceat(sizes, starts)
        self.largest = np.where(low < 0, low, high)

    def merged(self, min_count: int, twins: bool) -> Columns:
        """The features that occur often enough, with those as one that fire at the same tokens."""
        kept = np.flatnonzero(self.count >= max(min_count, 1))
        kept = kept[np.argsort(self.place[kept])]  # what came up together lies together
        identity = self.identity[kept]
        real = self.largest[kept] < 0
        identity = np.where(real | (not twins), np.arange(len(kept), dtype=np.uint64), identity)
        groups, group = distinct(identity)
        column = np.full(len(self.key), -1, np.int32)
        column[kept] = group
        largest = np.zeros(len(groups))
        np.maximum.at(largest, group, np.abs(self.largest[kept]))
        return Columns(self.key, column, np.bincount(group, minlength=len(groups)).astype(np.int32), largest)


@dataclass(frozen=True)
class Columns:
    """Merged features: ``column`` [features] of each sorted ``key``, -1 for none.

    ``multiplicity`` [columns]: how many features each stands for; ``largest`` [columns]: its largest value, in size.
    """

    key: Keys
    column: Int32s
    multiplicity: Int32s
    largest: Floats

    def of(self, design: Design, key: Keys) -> tuple[Design, Int32s]:
        """A stretch over its own columns, and their numbers among all, in the order of first use: [columns there]."""
        column = self.column[np.searchsorted(self.key, key)]
        found, first = np.unique(column, return_index=True)
        first = np.sort(first[found >= 0])  # one of the twins is enough
        number = np.full(design.features + 1, -1, np.int32)  # the last entry serves index -1
        number[first] = np.arange(len(first), dtype=np.int32)
        rows, direct = number[design.row_feature], number[design.feature_index]
        count, _ = fired(design)
        smaller = drop_unknown(replace(design, row_feature=rows, feature_index=direct, features=len(first)))
        return frequent_as_rows(smaller, count[first]), column[first]
