"""Counts of units and of sequences of them, and the mutual information that follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Flags, Floats, Int32s, Int64s
from dovetail.features.compile.hashing import Keys, sequence_keys, window_keys
from dovetail.features.compile.index import FeatureIndex
from dovetail.features.resources.association_count import GramTable

ROWS_AT_ONCE = 1 << 18


class Known(NamedTuple):
    """Units of a text as the table sees them: their keys, and their places among its units, -1 for never seen."""

    keys: Keys
    place: Int32s

    def take(self, ids: NDArray[np.integer]) -> Known:
        """These of the units, in this order."""
        return Known(self.keys[ids], self.place[ids])


@dataclass(frozen=True, eq=False)
class CountTable:
    """What was counted.

    ``unit_keys`` [units] sorted, with ``left`` = c(x -) and ``right`` = c(- x); ``keys`` [sequences] of all lengths,
    sorted, with ``counts``; ``totals`` and ``distinct`` [longest + 1] by length, 0 for lengths 0 and 1.
    """

    unit_keys: Keys
    left: NDArray[np.uint32]
    right: NDArray[np.uint32]
    keys: Keys
    counts: NDArray[np.uint32]
    totals: Int64s
    distinct: Int64s

    @classmethod
    def of(cls, unit_keys: Keys, grams: Sequence[GramTable], minimum: int) -> Self:
        """From tables of lengths 2, 3, ...; sequences seen less than ``minimum`` times are left out."""
        slots = [np.flatnonzero(gram.counts) for gram in grams]
        seen = [gram.counts[slot] for gram, slot in zip(grams, slots, strict=True)]
        pairs = grams[0].units[slots[0]]
        left, right = (
            np.bincount(pairs[:, side], weights=seen[0], minlength=len(unit_keys)).astype(np.uint32) for side in (0, 1)
        )
        order = np.argsort(unit_keys)
        counts = np.concatenate(seen)
        keys = np.concatenate([gram.keys[slot] for gram, slot in zip(grams, slots, strict=True)])
        kept = np.flatnonzero(counts >= minimum)
        kept = kept[np.argsort(keys[kept])]
        return cls(
            unit_keys[order], left[order], right[order], keys[kept], counts[kept],
            np.array([0, 0, *(count.sum(dtype=np.int64) for count in seen)], dtype=np.int64),
            np.array([0, 0, *map(len, seen)], dtype=np.int64),
        )  # fmt: skip

    @property
    def longest(self) -> int:
        """The greatest length of a sequence that was counted."""
        return len(self.totals) - 1

    def known(self, unit_keys: Keys) -> Known:
        """Units by their keys."""
        return Known(unit_keys, self._units.number(unit_keys))

    def information(self, units: Known, longest: int, means: Floats) -> list[Floats]:
        """MI of the windows of lengths 0, 1, 2, ... ``longest`` that begin at each unit; zeros for the first two.

        A window with a unit that was never seen has ``means[length]``; one that was not seen as a whole stays below
        it. Shapes: units [n], means [lengths], result [n - length + 1].
        """
        first, last = self._edges(units.place)
        keys = window_keys(units.keys, longest)
        whole = [np.empty(0), np.empty(0)]
        found = [np.zeros(len(first)), np.zeros(len(first))]
        for length in range(2, longest + 1):
            count = len(keys[length - 1])

            def part(at: int, size: int, *, length: int = length, count: int = count) -> Floats:
                if size == 1:
                    return first[:count] if at == 0 else last[length - 1 :]
                return whole[size][at : at + count]

            count_of = self._counts(keys[length - 1])
            whole.append(self._log_probability(count_of, length))
            values = whole[length] - _best_division(part, length)
            # Between rare units one is more than was to be expected, yet that a pair is absent speaks for no tie.
            np.minimum(values, np.nextafter(means[length], -np.inf), out=values, where=count_of == 0)
            values[_any_in_window(units.place < 0, length)] = means[length]
            found.append(values)
        return found

    def moments(self, gram: GramTable, unit_keys: Keys, minimum: int) -> Floats:
        """Mean, standard deviation, least and greatest MI of the distinct sequences of one length."""
        grams = gram.units[np.flatnonzero(gram.counts >= minimum)]
        if not len(grams):
            return np.zeros(4)
        units = self.known(unit_keys)
        blocks = [self._of_rows(units, grams[i : i + ROWS_AT_ONCE]) for i in range(0, len(grams), ROWS_AT_ONCE)]
        values = np.concatenate(blocks)
        return np.array([values.mean(), values.std(), values.min(), values.max()])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, by short names."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def restore(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """From what ``arrays`` gave; the parts must fit together."""
        table = cls(**{one.name: arrays[one.name] for one in fields(cls)})
        whole = (
            len(table.unit_keys) == len(table.left) == len(table.right)
            and len(table.keys) == len(table.counts)
            and len(table.totals) == len(table.distinct) > 2
            and not np.any(table.unit_keys[1:] <= table.unit_keys[:-1])
            and not np.any(table.keys[1:] <= table.keys[:-1])
            and np.all(table.totals[2:] >= 0)
        )
        if not whole:
            raise ValueError("the arrays of the association table do not fit together")
        return table

    @cached_property
    def _units(self) -> FeatureIndex:
        return FeatureIndex(self.unit_keys)

    @cached_property
    def _sequences(self) -> FeatureIndex:
        return FeatureIndex(self.keys)

    def _edges(self, place: Int32s) -> tuple[Floats, Floats]:
        """log P(x -) and log P(- x). Shapes: [n]."""
        pairs = float(self.totals[2] + len(self.unit_keys))
        left, right = (np.log((np.append(c, 0) + 1.0) / pairs) for c in (self.left, self.right))
        return left[place], right[place]

    def _counts(self, keys: Keys) -> NDArray[np.uint32]:
        """How often each sequence was seen, 0 for never."""
        number = self._sequences.number(keys)
        found = np.zeros(len(keys), dtype=np.uint32)
        seen = number >= 0
        found[seen] = self.counts[number[seen]]
        return found

    def _log_probability(self, counts: NDArray[np.uint32], length: int) -> Floats:
        total = max(self.totals[length] + self.distinct[length], 1)  # no line may have been so long
        found: Floats = np.log((counts + 1.0) / total)
        return found

    def _of_rows(self, units: Known, rows: Int32s) -> Floats:
        """MI of sequences given as rows of numbers of known units. Shapes: rows [sequences, length]."""
        first, _ = self._edges(units.place[rows[:, 0]])
        _, last = self._edges(units.place[rows[:, -1]])

        def part(at: int, size: int) -> Floats:
            if size == 1:
                return first if at == 0 else last
            return self._log_probability(self._counts(sequence_keys(units.keys[rows[:, at : at + size]])), size)

        length = rows.shape[1]
        return part(0, length) - _best_division(part, length)


def _best_division(part: Callable[[int, int], Floats], length: int) -> Floats:
    """The greatest log P(x1 .. xk) + log P(xk+1 .. xn); ``part(at, size)`` is the log P of a part."""
    best = part(0, 1) + part(1, length - 1)
    for cut in range(2, length):
        best = np.maximum(best, part(0, cut) + part(cut, length - cut))
    return best


def _any_in_window(flags: Flags, length: int) -> Flags:
    """Whether any of the ``length`` flags from each position on is up. Shapes: [n] to [n - length + 1]."""
    count = max(len(flags) - length + 1, 0)
    found = np.zeros(count, dtype=np.bool_)
    for shift in range(length):
        found |= flags[shift : shift + count]
    return found
