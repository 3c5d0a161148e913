"""Association: how strongly adjacent characters or words hold together, from raw text alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Flags, Floats, Int32s, Int64s
from dovetail.columns import BOUNDARY, Column
from dovetail.errors import DovetailError, InputError, ModelFileError
from dovetail.features.compile.hashing import Keys, sequence_keys, string_keys, window_keys
from dovetail.features.compile.index import FeatureIndex
from dovetail.features.resources.association_count import Characters, GramTable, Progress, Unit, Words, stretches
from dovetail.features.resources.resource import Resource
from dovetail.modelfile import load_model, save_model
from dovetail.text.files import Source, source_names
from dovetail.text.words import half_width

How = Literal["raw", "scale", "threshold", "z-score", "multiply"]
HOWS: tuple[How, ...] = ("raw", "scale", "threshold", "z-score", "multiply")
LONGEST = 8
ROWS_AT_ONCE = 1 << 18


@dataclass(frozen=True, eq=False)
class Association(Resource):
    """Pointwise mutual information of adjacent units, with add-one smoothing.

    With c(x1 x2) the count of a pair, c(x1 -) and c(- x2) those of its members in first and in second place, N pairs
    in all, B of them distinct, and V distinct units::

        MI(x1, x2) = log P(x1 x2) / (P(x1 -) P(- x2))
        P(x1 x2) = (c(x1 x2) + 1) / (N + B)     P(x1 -) = (c(x1 -) + 1) / (N + V)     P(- x2) likewise

    A pair that was not seen has the count 0 in this, but never more than the mean of all distinct pairs: between rare
    units one occurrence is much, and the one that smoothing adds would pass for a strong tie. A pair with a unit that
    was never seen tells nothing; it has the mean. Sequences of up to ``longest`` units are measured against their best
    division: ``MI(x1 .. xn) = log P(x1 .. xn) / max_k P(x1 .. xk) P(xk+1 .. xn)``.

    ``moments`` [longest + 1, 4]: mean, standard deviation, least and greatest MI over the distinct sequences of each
    length.

    >>> import io
    >>> association = Association.count([io.StringIO("北京大学\\n北京人\\n大人\\n")], unit="char")
    >>> association.between(Column.encode("北京人大"), np.array([0, 4])).round(2)
    array([0.  , 1.3 , 0.89, 1.14])
    """

    unit: Unit
    table: CountTable
    moments: Floats
    normalise_width: bool = True
    how: How = "raw"
    low: float = 0.0
    high: float = 1.0
    factor: float = 10.0

    kind: ClassVar[str] = "association"
    SETTINGS: ClassVar = ("unit", "normalise_width", "how", "low", "high", "factor")

    @classmethod
    def count(
        cls, paths: Sequence[Source], *, unit: Unit, longest: int = 2, minimum: int = 1, normalise_width: bool = True,
        tokenised: bool = True, encoding: str = "utf-8", progress: Progress | None = None,
    ) -> Self:  # fmt: skip
        """Count raw text: plain or gzip files of lines; no sequence goes across a line break.

        ``unit="char"`` drops all white space inside a line. ``unit="word"`` parts words at white space, or with
        ``tokenised=False`` by dovetail's tokeniser. ``longest`` is the greatest length of a sequence, 2 to 8;
        ``minimum`` leaves sequences out of the table that were seen less often, which makes it smaller.
        ``normalise_width`` takes full-width ASCII for ASCII, here and later. ``progress`` is called now and then with
        the number of units counted so far.
        """
        if unit not in ("char", "word"):
            raise DovetailError(f"association of unit {unit!r}: give 'char' or 'word'")
        if not 2 <= longest <= LONGEST:
            raise DovetailError(f"association of sequences up to {longest} units: give 2 to {LONGEST}")
        units = Characters(normalise_width) if unit == "char" else Words(normalise_width, tokenised)
        grams = [GramTable(length) for length in range(2, longest + 1)]
        done = 0
        for lines in stretches(paths, encoding):
            stretch = units.numbers(lines)
            for gram in grams:
                gram.add(stretch, units.keys)
            done += int((stretch >= 0).sum())
            if progress is not None:
                progress(done)
        if not grams[0].size:
            what = "characters" if unit == "char" else "words"
            message = f"no line of this text has two {what}, so there is nothing to count; give raw text"
            raise InputError(message, source_names(paths))
        table = CountTable.of(units.keys, grams, minimum)
        moments = [np.zeros(4), np.zeros(4), *(table.moments(gram, units.keys, minimum) for gram in grams)]
        return cls(unit, table, np.array(moments), normalise_width)

    @property
    def longest(self) -> int:
        """The greatest length of a sequence that was counted."""
        return self.table.longest

    def transform(self, how: How, *, low: float = 0.0, high: float = 1.0, factor: float = 10.0) -> Self:
        """The same table with its values in another form; mean and deviation are over the distinct sequences.

        ``raw``; ``scale`` from ``low`` (the least MI, and anything below) to ``high`` (the greatest); ``threshold``:
        ``low`` below the mean and ``high`` from there on; ``z-score``; ``multiply`` by ``factor``.
        """
        if how not in HOWS:
            raise DovetailError(f"association values as {how!r}: give one of {', '.join(HOWS)}")
        return replace(self, how=how, low=low, high=high, factor=factor)

    def between(self, words: Column, offsets: Int64s) -> Floats:
        """The value between each token and the one before it [tokens], 0 where a sentence starts; offsets [n + 1]."""
        found = np.zeros(len(words.ids))
        if len(found) > 1:
            found[1:] = self._windows(words, 2)[2]
        starts = offsets[:-1]
        found[starts[starts < len(found)]] = 0.0
        return found

    def column(self, words: Column, offsets: Int64s) -> Column:
        """The values of `between` as a column of numbers. Shapes: words [tokens], result [tokens]."""
        distinct, ids = np.unique(self.between(words, offsets), return_inverse=True)
        types = [BOUNDARY, *map(str, distinct.tolist())]
        return Column(types, (ids + 1).astype(np.int32), np.concatenate([[0.0], distinct]))

    def within(self, words: Column, starts: Int64s, lengths: Int64s) -> Floats:
        """The value of each segment as a whole, against its best division in two; 0 for a single token.

        A segment longer than the table's ``longest`` is as strong as its weakest part of that length.
        Shapes: words [tokens], starts and lengths [segments], result [segments].
        """
        found = np.zeros(len(starts))
        most = int(np.max(lengths, initial=1))
        windows = self._windows(words, min(self.longest, most))
        values = windows[0]
        for length in range(2, most + 1):
            if length < len(windows):
                values = windows[length]
            else:
                values = np.minimum(values[:-1], windows[-1][length - self.longest :])
            chosen = np.flatnonzero(lengths == length)
            found[chosen] = values[starts[chosen]]
        return found

    def save(self, path: str | Path) -> None:
        """Write the table to one file, whole or not at all."""
        save_model(path, {"kind": self.kind, "settings": self.settings()}, self.arrays())

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a table that `save` wrote; its arrays are mapped, not copied."""
        header, arrays = load_model(path, kind=cls.kind)
        try:
            return cls.restore(header["settings"], arrays)
        except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError) as error:
            raise ModelFileError(f"{path}: the table does not fit together ({error}); count it again") from None

    def usual(self, name: str) -> list[str]:
        """The value on either side of a token."""
        return [f"association({name})[0]", f"association({name})[1]"]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays, by short names."""
        return {"moments": self.moments, **self.table.arrays()}

    @classmethod
    def restore(cls, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """From what ``settings`` and ``arrays`` gave; the parts must fit together."""
        table = CountTable.restore(arrays)
        moments = arrays["moments"]
        if moments.shape != (table.longest + 1, 4) or settings["how"] not in HOWS:
            raise ValueError("the settings of the association table do not fit its arrays")
        return cls(table=table, moments=moments, **settings)

    def _windows(self, words: Column, longest: int) -> list[Floats]:
        """Transformed values of the windows of each length up to ``longest`` that begin at each token."""
        types = list(map(half_width, words.types)) if self.normalise_width else words.types
        units = self.table.known(string_keys(types)).take(words.ids)
        raw = self.table.information(units, longest, self.moments[:, 0])
        return [values if length < 2 else self._transformed(values, length) for length, values in enumerate(raw)]

    def _transformed(self, values: Floats, length: int) -> Floats:
        mean, deviation, least, greatest = self.moments[length]
        match self.how:
            case "raw":
                return values
            case "multiply":
                return values * self.factor
            case "z-score":
                return np.asarray((values - mean) / (deviation or 1.0))
            case "threshold":
                return np.where(values < mean, self.low, self.high)
            case "scale":
                share = np.clip((values - least) / ((greatest - least) or 1.0), 0.0, 1.0)
                return np.asarray(self.low + (self.high - self.low) * share)


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
