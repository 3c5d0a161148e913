"""Association: how strongly adjacent characters or words hold together, from raw text alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Floats, Int64s
from dovetail.columns import BOUNDARY, Column
from dovetail.errors import DovetailError, InputError, ModelFileError
from dovetail.features.compile.hashing import string_keys
from dovetail.features.resources.association_count import Characters, GramTable, Progress, Unit, Words, stretches
from dovetail.features.resources.association_table import CountTable
from dovetail.features.resources.resource import Resource
from dovetail.modelfile import load_model, save_model
from dovetail.text.files import Source, source_names
from dovetail.text.words import half_width

How = Literal["raw", "scale", "threshold", "z-score", "multiply"]
HOWS: tuple[How, ...] = ("raw", "scale", "threshold", "z-score", "multiply")
LONGEST = 8


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
        """The value between each token and the one before it, 0 at the start of a sentence.

        Shapes: words [tokens], offsets [sentences + 1], result [tokens].
        """
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
