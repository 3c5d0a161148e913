"""Weights in few bytes: three to five for a feature, one for each of its weights, one for which outputs it speaks for.

Keys are cut to 40 bits: of a million features, one pair may fall together, and an unknown feature is taken for a known
one once in a million times. They are sorted, so their leading bytes are told by how many keys begin with each. A weight
is the number of one of 255 values, which lie as close as 3 to 8 % to each other, by size: the rounding errors of the
many weights of a token are small, and even out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.features.compile.hashing import Keys
from dovetail.modelcoding import codes_of, values_of

KEY_BITS = 40
BITS = np.array([number.bit_count() for number in range(256)])  # that are one in a byte

Arrays = Mapping[str, NDArray[Any]]


def packed_keys(keys: Keys, bits: int) -> dict[str, NDArray[Any]]:
    """Sorted keys of so many bits, as ``begins`` (how many keys begin with each leading part) and ``rest`` in bytes.

    >>> parts = packed_keys(np.array([3, 258], dtype=np.uint64), 16)
    >>> parts["begins"].tolist(), parts["rest"].tolist()
    ([2], [[0, 3], [1, 2]])
    """
    size = -(-bits // 8)
    leading = min(range(min(size, 3)), key=lambda n: 4 * 256**n + (size - n) * len(keys))
    shift = np.uint64(8 * (size - leading))
    begins = np.bincount((keys >> shift).astype(np.int64), minlength=256**leading)
    rest = keys.astype(">u8").view(np.uint8).reshape(-1, 8)[:, 8 - size + leading :]
    return {"begins": begins.astype(np.uint32), "rest": rest}


def unpacked_keys(begins: NDArray[Any], rest: NDArray[Any]) -> Keys:
    """What ``packed_keys`` was given."""
    if rest.ndim != 2 or rest.shape[1] > 8 or int(begins.sum(dtype=np.int64)) != len(rest):
        raise ValueError("the parts of the keys do not fit together")
    found = np.repeat(np.arange(len(begins), dtype=np.uint64), begins)
    for column in rest.T:
        found = (found << np.uint64(8)) | column
    return found


def packed_weights(weight: NDArray[np.floating[Any]]) -> dict[str, NDArray[Any]]:
    """Weights as ``code`` [weights], numbers among the ``value`` [256] that come nearest, by ratio.

    >>> parts = packed_weights(np.array([0.5, -2.0, 0.5]))
    >>> parts["value"][parts["code"]].tolist()
    [0.5, -2.0, 0.5]
    """
    code, least, step = codes_of(weight)
    return {"code": code, "value": values_of(least, step)}


def unpacked_weights(code: NDArray[Any], value: NDArray[Any]) -> NDArray[np.float32]:
    """The weights that ``packed_weights`` tells, which are not quite those it was given."""
    if len(code) and int(code.max()) >= len(value):
        raise ValueError("there are weights without a value")
    found: NDArray[np.float32] = value.astype(np.float32, copy=False)[code]
    return found


def packed_outputs(ptr: NDArray[np.integer[Any]], label: NDArray[Any], outputs: int) -> NDArray[np.uint8]:
    """For each feature the outputs it speaks for, in order, one bit each. Shape [features, bytes].

    >>> packed_outputs(np.array([0, 2, 3]), np.array([0, 7, 1]), 8).tolist()
    [[129], [64]]
    """
    table = np.zeros((len(ptr) - 1, outputs), dtype=np.bool_)
    table[np.repeat(np.arange(len(ptr) - 1), np.diff(ptr)), label] = True
    return np.packbits(table, axis=1)


def unpacked_outputs(mask: NDArray[np.uint8], outputs: int) -> tuple[NDArray[np.int64], NDArray[np.uint16]]:
    """How many outputs each feature speaks for, and which, one feature after another."""
    table = np.unpackbits(mask, axis=1, count=outputs)
    label = (np.flatnonzero(table.view(np.bool_)) % outputs).astype(np.uint16)
    return BITS[mask].sum(axis=1, dtype=np.int64) if mask.shape[1] > 1 else BITS[mask[:, 0]], label
