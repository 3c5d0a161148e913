"""Sequences of unlike length in flat arrays: where each begins, and some of them taken out."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[Any]
Int64s = NDArray[np.int64]
Int32s = NDArray[np.int32]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array as arrays of a mapped file are: contiguous and read-only, so that kernels are compiled once."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


def pointers(counts: Integers | Sequence[int]) -> Int64s:
    """Where each of some rows begins if they are laid end to end, from how long they are: [n] to [n + 1].

    >>> pointers([2, 0, 1])
    array([0, 2, 2, 3])
    """
    found = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=found[1:])
    return found


def offsets_of(sequences: Sequence[Sized]) -> Integers:
    """Where each of some sequences begins if they are laid end to end, and where the last one ends: [n + 1].

    >>> offsets_of(["ab", "", "c"])
    array([0, 2, 2, 3])
    """
    return pointers(np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences)))


def taken(offsets: Integers, which: Integers) -> tuple[Integers, Integers]:
    """The places of some sequences, end to end, and where each begins among them.

    >>> taken(np.array([0, 2, 2, 5]), np.array([2, 0]))
    (array([2, 3, 4, 0, 1]), array([0, 3, 5]))
    """
    lengths = offsets[which + 1] - offsets[which]
    begin = pointers(lengths)
    return np.arange(begin[-1]) + np.repeat(offsets[which] - begin[:-1], lengths), begin
