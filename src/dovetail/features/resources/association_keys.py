"""Keys of sequences of units of text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dovetail.features.compile.hashing import PRIME, Keys, mix, string_keys
from dovetail.kernel import kernel


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
    lengths = np.fromiter(map(len, phrases), dtype=np.int64, count=len(phrases))
    starts: NDArray[np.int64] = np.cumsum(lengths) - lengths
    keys = units[starts]
    for position in range(1, int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > position)
        extended = keys[longer]
        append_unit(extended, units[starts[longer] + position], extended)
        keys[longer] = extended
    return keys
