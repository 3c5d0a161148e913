"""Attributes: what can be said of one word alone. They are computed once per word type and then gathered."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from dovetail.arrays import offsets_of
from dovetail.features.algebra import strings
from dovetail.features.compile import hashing
from dovetail.features.compile.hashing import KeyRows
from dovetail.features.resources.resource import Derivable, Resource

BOUNDARY = "\x00"  # what stands before the first and after the last word

Strings = Callable[[str], Sequence[str]]


@dataclass(frozen=True)
class Attribute:
    """A function from one value of a column to zero, one or several strings.

    ``single`` says that there is exactly one string for every value; such attributes may be joined across positions at
    full speed. At a sentence boundary a single attribute has the value BOUNDARY and others have none.
    """

    name: str
    column: str
    strings: Strings = field(compare=False)
    single: bool = True
    resource: tuple[str, Resource] | None = field(default=None, compare=False, kw_only=True)
    """The name of the resource that the attribute reads, and the resource."""
    maker: Derivable | None = field(default=None, compare=False, kw_only=True)
    """What makes the column that the attribute reads, if the text itself has no such column."""

    def __str__(self) -> str:
        return self.name

    @property
    def seed(self) -> np.uint64:
        """The seed of this attribute's keys, from its name."""
        return hashing.string_key(self.name)

    def keys(self, types: Sequence[str]) -> KeyRows:
        """Keys for a list of types whose first is the boundary. Rows: [types]."""
        return self.rows([self.strings(t) for t in types[1:]])

    def rows(self, values: Sequence[Sequence[str]]) -> KeyRows:
        """Keys of lists of strings, after a row for the boundary. Rows: [1 + values]."""
        rows = [[BOUNDARY] if self.single else [], *values]
        return KeyRows(offsets_of(rows), hashing.string_keys(list(chain.from_iterable(rows)), self.seed))


@dataclass(frozen=True)
class Mapped(Attribute):
    """One string for every value, by a function from string to string."""

    function: Callable[[str], str] = field(default=str, compare=False)

    def keys(self, types: Sequence[str]) -> KeyRows:
        """Keys for a list of types whose first is the boundary: exactly one a row."""
        values = [BOUNDARY, *map(self.function, types[1:])]
        return KeyRows(np.arange(len(types) + 1, dtype=np.int64), hashing.string_keys(values, self.seed))


Cut = Callable[[str, int, int], Sequence[str]]
Substrings = Callable[[hashing.Packed, int, int, np.uint64], KeyRows]


@dataclass(frozen=True)
class Affixes(Attribute):
    """Substrings of bounded length, hashed by compiled loops without making strings."""

    shortest: int = 1
    longest: int = 1
    substrings: Substrings = field(default=hashing.prefix_keys, compare=False)

    def keys(self, types: Sequence[str]) -> KeyRows:
        """Keys for a list of types whose first is the boundary, which has none."""
        rows = self.substrings(hashing.pack(types[1:]), self.shortest, self.longest, self.seed)
        return KeyRows(np.concatenate([[0], rows.indptr]), rows.keys)


def mapped(name: str, column: str, function: Callable[[str], str]) -> Mapped:
    """An attribute with one string for every value."""
    return Mapped(name, column, lambda value: [function(value)], True, function)


def written(column: str) -> str:
    """The name of a column as templates write it: quoted where it is no plain name.

    >>> written("pos"), written("my layer")
    ('pos', "'my layer'")
    """
    return column if column.isidentifier() and not keyword.iskeyword(column) else repr(column)


def identity(column: str) -> Mapped:
    """The value of the column itself; a column named as an attribute is written ``column(shape)``."""
    reserved = {*SIMPLE, *FLAGS, *SEVERAL, "bias"}
    plain = written(column) == column and column not in reserved
    return mapped(column if plain else f"column({written(column)})", column, str)


def _named(function: str, of: str, *bounds: int) -> str:
    arguments = [str(b) for b in bounds] + ([f"of={written(of)}"] if of != "word" else [])
    return f"{function}({', '.join(arguments)})" if arguments else function


def _prefixes(value: str, shortest: int, longest: int) -> list[str]:
    return [value[:n] for n in range(shortest, min(longest, len(value)) + 1)]


def _suffixes(value: str, shortest: int, longest: int) -> list[str]:
    return [value[-n:] for n in range(shortest, min(longest, len(value)) + 1)]


def _ngrams(value: str, shortest: int, longest: int) -> list[str]:
    marked = chr(2) + value[: hashing.LONGEST_WORD] + chr(3)
    found = [gram for a in range(len(marked)) for gram in _prefixes(marked[a:], shortest, longest)]
    return list(dict.fromkeys(found))


SUBSTRINGS: dict[str, tuple[Cut, Substrings]] = {
    "prefix": (_prefixes, hashing.prefix_keys),
    "suffix": (_suffixes, hashing.suffix_keys),
    "ngrams": (_ngrams, hashing.ngram_keys),
}
"""Substrings as strings, for people to read, and their keys."""


def substrings(function: str, shortest: int, longest: int | None, of: str) -> Affixes:
    """Substrings by the name of their function, ``shortest`` to ``longest`` characters long, or just ``shortest``."""
    longest = shortest if longest is None else longest
    if not 1 <= shortest <= longest:
        raise ValueError(f"{function}({shortest}, {longest}): give 1 <= shortest <= longest")
    cut, keys = SUBSTRINGS[function]
    name = _named(function, of, shortest, longest)
    return Affixes(name, of, lambda value: cut(value, shortest, longest), False, shortest, longest, keys)


SIMPLE: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "shape": strings.shape,
    "type": strings.type_of,
    "short_type": strings.short_type,
    "cap": strings.capitalisation,
    "normal": strings.normalise_digits,
}
FLAGS: dict[str, Callable[[str], bool]] = {"title": strings.is_title}
SEVERAL: dict[str, Strings] = {"radicals": strings.radicals}


def simple(name: str, of: str = "word") -> Attribute:
    """An attribute by its name in SIMPLE, FLAGS or SEVERAL, of any column."""
    if name in SEVERAL:
        return Attribute(_named(name, of), of, SEVERAL[name], single=False)
    if name in FLAGS:
        return Attribute(_named(name, of), of, lambda value: ["yes"] if FLAGS[name](value) else [], single=False)
    return mapped(_named(name, of), of, SIMPLE[name])
