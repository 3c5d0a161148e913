"""From keys to feature numbers: built while training, and sorted for look-up in a model."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int32s, Int64s, pointers
from dovetail.features.compile.hashing import Keys
from dovetail.kernel import kernel
from dovetail.stored import Column, UnsoundError, check


def narrow(pointers: Int64s) -> NDArray[np.integer]:
    """Rising pointers in 32 bits, unless they need more. Shape [n]."""
    return pointers if pointers[-1] > np.iinfo(np.int32).max else pointers.astype(np.int32)


def distinct(keys: Keys) -> tuple[Keys, Int32s]:
    """The distinct keys as they first appear, and for each key its number among them.

    What appears together is numbered together, so that whoever walks through the corpus finds the next feature's
    weights where it is reading.

    >>> distinct(np.array([7, 3, 7], dtype=np.uint64))
    (array([7, 3], dtype=uint64), array([0, 1, 0], dtype=int32))
    """
    found = np.empty_like(keys)
    numbers = np.empty(len(keys), dtype=np.int32)
    return found[: _distinct(keys, found, numbers)].copy(), numbers


_MULTIPLY = np.uint64(0x9E3779B97F4A7C15)  # keys that count up are spread over the table too


@kernel
def _distinct(keys: Keys, found: Keys, numbers: Int32s) -> int:
    """Fill ``found`` with the distinct keys and ``numbers`` with their places there; returns how many. Shapes: [n].

    An open table of places, doubled whenever it is half full: few distinct keys stay in the cache.
    """
    shift = np.uint64(54)
    table = np.empty(1 << 10, dtype=np.int32)
    for j in range(len(table)):
        table[j] = -1
    size = 0
    for i in range(len(keys)):
        key = keys[i]
        slot = np.int64((key * _MULTIPLY) >> shift)
        while table[slot] >= 0 and found[table[slot]] != key:
            slot = (slot + 1) & (len(table) - 1)
        if table[slot] < 0:
            table[slot] = size
            found[size] = key
            size += 1
            if 2 * size > len(table):
                shift -= np.uint64(1)
                table = np.empty(2 * len(table), dtype=np.int32)
                for j in range(len(table)):
                    table[j] = -1
                for j in range(size):
                    place = np.int64((found[j] * _MULTIPLY) >> shift)
                    while table[place] >= 0:
                        place = (place + 1) & (len(table) - 1)
                    table[place] = j
                slot = np.int64((key * _MULTIPLY) >> shift)
                while found[table[slot]] != key:
                    slot = (slot + 1) & (len(table) - 1)
        numbers[i] = table[slot]
    return size


@dataclass
class Collector:
    """Numbers keys as they come. With ``bits``, keys are cut to so many bits, which bounds the number of features."""

    bits: int | None = None
    _keys: list[Keys] = field(default_factory=list)
    size: int = 0

    def number(self, keys: Keys) -> Int32s:
        """Numbers for the keys of one block; blocks have no keys in common, except by hashing."""
        if self.bits is not None:
            return self._number_hashed(keys & np.uint64((1 << self.bits) - 1))
        new, numbers = distinct(keys)
        numbers += np.int32(self.size)
        self._keys.append(new)
        self.size += len(new)
        return numbers

    def _number_hashed(self, keys: Keys) -> Int32s:
        known = self._keys[0] if self._keys else np.empty(0, dtype=np.uint64)
        found, numbers = distinct(keys)
        known = np.concatenate([known, np.sort(np.setdiff1d(found, known, assume_unique=True))])
        self._keys = [known]
        self.size = len(known)
        order = np.argsort(known).astype(np.int32)
        of_found: Int32s = order[np.searchsorted(known, found, sorter=order)]
        return of_found[numbers]

    @property
    def keys(self) -> Keys:
        """The key of every feature, in the order of their numbers."""
        return np.concatenate([np.empty(0, dtype=np.uint64), *self._keys])


@kernel
def _look_up(keys: Keys, bucket: Int64s, shift: np.uint64, wanted: Keys, out: Int32s) -> None:
    for i in range(len(wanted)):
        key = wanted[i]
        b = key >> shift
        out[i] = -1
        for j in range(bucket[b], bucket[b + np.uint64(1)]):
            if keys[j] == key:
                out[i] = j
                break


KEYS = {"keys": Column(axes=("features",), types=("u8",), order="<=")}
"""Hashes of features, sorted. In a corpus several templates may have the key 0, which stands for no feature."""


@dataclass(frozen=True)
class FeatureIndex:
    """Sorted keys with a table of where each leading bit pattern begins: one or two comparisons find a key.

    ``keys`` [features], none smaller than the one before; ``bits`` as in Collector.
    """

    keys: Keys
    bits: int | None = None
    _bucket: Int64s = field(init=False, repr=False, compare=False)
    _shift: np.uint64 = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.bits is not None and not 1 <= self.bits <= 64:
            raise UnsoundError(f"features: keys of {self.bits} bits: choose 1 to 64")
        width = 64 if self.bits is None else self.bits
        check("features", KEYS, {"keys": self.keys})
        if width < 64 and len(self.keys) and int(self.keys[-1]) >> width:
            raise UnsoundError(f"features: a key has more than {width} bits: damaged, or not made by dovetail")
        leading = min(max(len(self.keys).bit_length(), 1), width)
        begins = (self.keys >> np.uint64(width - leading)).astype(np.int64)
        object.__setattr__(self, "_bucket", pointers(np.bincount(begins, minlength=1 << leading)))
        object.__setattr__(self, "_shift", np.uint64(width - leading))

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.keys)

    def number(self, keys: Keys) -> Int32s:
        """The number of each key, -1 where the model has no such feature."""
        out = np.empty(len(keys), dtype=np.int32)
        if self.bits is not None:
            keys = keys & np.uint64((1 << self.bits) - 1)
        _look_up(self.keys, self._bucket, self._shift, np.ascontiguousarray(keys), out)
        return out
