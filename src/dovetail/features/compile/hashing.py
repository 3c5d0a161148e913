"""64-bit keys for strings and their substrings: the identity of a feature.

A feature is known by one 64-bit key, so a model needs no table of strings, and compiled loops can make keys. Two
different features among ten million share a key with a probability below three in a million.

A string of code points c_1 .. c_n under a seed has the key ``mix(fold(... fold(fold(seed, c_1), c_2) ..., c_n))`` with
``fold(h, c) = (h xor c) * PRIME`` (FNV-1a over code points) and ``mix`` the finaliser of splitmix64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int64s, offsets_of, taken
from dovetail.kernel import inner, kernel

Keys = NDArray[np.uint64]

PRIME = np.uint64(0x100000001B3)
BASIS = np.uint64(0xCBF29CE484222325)
MULTIPLY_1 = np.uint64(0xBF58476D1CE4E5B9)
MULTIPLY_2 = np.uint64(0x94D049BB133111EB)
SHIFT_27, SHIFT_30, SHIFT_31 = np.uint64(27), np.uint64(30), np.uint64(31)
BEGIN, END = np.uint64(2), np.uint64(3)  # control characters that mark the edges of a word in its n-grams
LONGEST_WORD = 64  # n-grams are taken from the first 64 characters: a pasted 10 kB token must not make millions


class Packed(NamedTuple):
    """Strings laid end to end: the code points of string i are ``codes[start[i]:start[i + 1]]``."""

    codes: NDArray[np.uint32]
    start: Int64s


def pack(strings: Sequence[str]) -> Packed:
    """Lay strings end to end as code points."""
    codes = np.frombuffer("".join(strings).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return Packed(codes, offsets_of(strings))


@inner
def mix(key: np.uint64) -> np.uint64:
    """Spread every bit of a 64-bit number over all bits."""
    key = (key ^ (key >> SHIFT_30)) * MULTIPLY_1
    key = (key ^ (key >> SHIFT_27)) * MULTIPLY_2
    return key ^ (key >> SHIFT_31)


@inner
def put(value: Any, row: NDArray[Any], n: int) -> int:
    """Put a value behind the first n of a row, unless it is one of them; how many there are then."""
    for k in range(n):
        if row[k] == value:
            return n
    row[n] = value
    return n + 1


@kernel
def _hash_all(codes: NDArray[np.uint32], start: Int64s, seed: np.uint64, out: Keys) -> None:
    for i in range(len(start) - 1):
        h = seed
        for j in range(start[i], start[i + 1]):
            h = (h ^ np.uint64(codes[j])) * PRIME
        out[i] = mix(h)


@kernel
def _prefix_keys(
    codes: NDArray[np.uint32], start: Int64s, shortest: int, longest: int, seed: np.uint64, indptr: Int64s, out: Keys
) -> None:
    n = 0
    for i in range(len(start) - 1):
        h = seed
        stop = min(start[i + 1], start[i] + longest)
        for j in range(start[i], stop):
            h = (h ^ np.uint64(codes[j])) * PRIME
            if j - start[i] + 1 >= shortest:
                out[n] = mix(h)
                n += 1
        indptr[i + 1] = n


@kernel
def _suffix_keys(
    codes: NDArray[np.uint32], start: Int64s, shortest: int, longest: int, seed: np.uint64, indptr: Int64s, out: Keys
) -> None:
    n = 0
    for i in range(len(start) - 1):
        end = start[i + 1]
        for length in range(shortest, min(longest, end - start[i]) + 1):
            h = seed
            for j in range(end - length, end):
                h = (h ^ np.uint64(codes[j])) * PRIME
            out[n] = mix(h)
            n += 1
        indptr[i + 1] = n


@kernel
def _ngram_keys(
    codes: NDArray[np.uint32], start: Int64s, shortest: int, longest: int, seed: np.uint64, indptr: Int64s, out: Keys
) -> None:
    """All distinct substrings of BEGIN + word + END whose length is within bounds."""
    n = 0
    for i in range(len(start) - 1):
        first = n
        length = min(start[i + 1] - start[i], LONGEST_WORD) + 2
        for a in range(length):
            h = seed
            for b in range(a, min(length, a + longest)):
                if b == 0:
                    c = BEGIN
                elif b == length - 1:
                    c = END
                else:
                    c = np.uint64(codes[start[i] + b - 1])
                h = (h ^ c) * PRIME
                if b - a + 1 >= shortest:
                    n = first + put(mix(h), out[first:], n - first)
        indptr[i + 1] = n


@kernel
def combine(salt: Keys, key: Keys, out: Keys) -> None:
    """``out[i] = mix(salt[i] xor key[i])``: append a part to a conjunction. Shapes: all [n]; salt may have length 1."""
    for i in range(len(key)):
        out[i] = mix(salt[i if len(salt) > 1 else 0] ^ key[i])


def conjoined(first: np.uint64, parts: Iterable[Keys]) -> Keys:
    """The keys of conjunctions: ``first`` joined with one key of each part in turn. Shapes: all [n]."""
    key = np.array([first])
    for part in parts:
        out = np.empty(len(part), dtype=np.uint64)
        combine(key, part, out)
        key = out
    return key


def string_keys(strings: Sequence[str], seed: np.uint64 = BASIS) -> Keys:
    """The key of every string under a seed. Shape [strings]."""
    codes, start = pack(strings)
    out = np.empty(len(strings), dtype=np.uint64)
    _hash_all(codes, start, seed, out)
    return out


def string_key(string: str, seed: np.uint64 = BASIS) -> np.uint64:
    """The key of one string under a seed."""
    key: np.uint64 = string_keys([string], seed)[0]
    return key


class KeyRows(NamedTuple):
    """Zero or more keys for each row: the keys of row i are ``keys[indptr[i]:indptr[i + 1]]``."""

    indptr: Int64s
    keys: Keys

    def take(self, which: NDArray[np.integer]) -> KeyRows:
        """Some rows in this order, any of them more than once."""
        places, indptr = taken(self.indptr, which)
        return KeyRows(indptr, self.keys[places])


def _bounded(
    function: Callable[..., None], packed: Packed, shortest: int, longest: int, seed: np.uint64, most: int
) -> KeyRows:
    indptr = np.zeros(len(packed.start), dtype=np.int64)
    out = np.empty(most, dtype=np.uint64)
    function(packed.codes, packed.start, shortest, longest, seed, indptr, out)
    return KeyRows(indptr, out[: indptr[-1]].copy())


def _affix_keys(function: Callable[..., None], packed: Packed, shortest: int, longest: int, seed: np.uint64) -> KeyRows:
    """Keys of ``shortest`` to ``longest`` characters at one end of each string."""
    most = np.maximum(np.minimum(np.diff(packed.start), longest) - shortest + 1, 0).sum()
    return _bounded(function, packed, shortest, longest, seed, int(most))


prefix_keys = partial(_affix_keys, _prefix_keys)
suffix_keys = partial(_affix_keys, _suffix_keys)


def ngram_keys(packed: Packed, shortest: int, longest: int, seed: np.uint64) -> KeyRows:
    """Keys of the distinct character n-grams of each string, its edges marked."""
    length = np.minimum(np.diff(packed.start), LONGEST_WORD) + 2
    spans = [np.maximum(length - n + 1, 0) for n in range(shortest, min(longest, int(length.max(initial=0))) + 1)]
    return _bounded(_ngram_keys, packed, shortest, longest, seed, int(sum(s.sum() for s in spans)))


@kernel
def append_unit(prefix: Keys, unit: Keys, out: Keys) -> None:
    """The keys of sequences one unit longer: ``out[i] = mix(prefix[i] * PRIME + unit[i])``. Shapes: all [n].

    The order counts: x1 x2 and x2 x1 have different keys. A sequence of one unit has the key of the unit.
    """
    for i in range(len(prefix)):
        out[i] = mix(prefix[i] * PRIME + unit[i])


def sequence_keys(units: Keys) -> Keys:
    """The key of each row of unit keys. Shapes: [rows, length] to [rows].

    >>> pair = sequence_keys(string_keys(["New", "York"]).reshape(1, 2))
    >>> bool(pair == sequence_keys(string_keys(["York", "New"]).reshape(1, 2)))
    False
    """
    keys = np.ascontiguousarray(units[:, 0])
    for column in range(1, units.shape[1]):
        append_unit(keys, np.ascontiguousarray(units[:, column]), keys)
    return keys


def window_keys(units: Keys, longest: int) -> list[Keys]:
    """The keys of the windows of 1, 2, ... ``longest`` units that begin at each position.

    Shapes: [n] to ``longest`` arrays of [n], [n - 1], ...; windows that pass the end are left out.
    """
    found = [units]
    for length in range(2, longest + 1):
        count = max(len(units) - length + 1, 0)
        longer = np.empty(count, dtype=np.uint64)
        append_unit(found[-1][:count], units[length - 1 :], longer)
        found.append(longer)
    return found


def phrase_keys(phrases: Sequence[Sequence[str]]) -> Keys:
    """The key of each phrase, a sequence of at least one unit. Shape [phrases]."""
    numbers: dict[str, int] = {}
    ids = np.fromiter((numbers.setdefault(u, len(numbers)) for p in phrases for u in p), dtype=np.int64)
    units = string_keys(list(numbers))[ids]
    offsets = offsets_of(phrases)
    starts, lengths = offsets[:-1], np.diff(offsets)
    keys = units[starts]
    for position in range(1, int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > position)
        extended = keys[longer]
        append_unit(extended, units[starts[longer] + position], extended)
        keys[longer] = extended
    return keys
