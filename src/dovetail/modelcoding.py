"""The smallest form of the arrays of a model file: weights in a byte each, and whatever deflate makes smaller.

A weight becomes the number of one of 255 values: zero, and 127 of either sign that lie a few percent apart.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

VALUES = 127  # of either sign
SMALLEST = 1e-4
"""Of the largest weight; what is smaller becomes this or zero, so that values need not lie far apart."""
LEAST_SIZE = 4096  # bytes: smaller arrays stay as they are
WORTH = 0.9  # a deflated array is this much of what it was, at most


def coded(arrays: Mapping[str, Array]) -> tuple[dict[str, Array], dict[str, Any]]:
    """Arrays in their smallest form, and what ``decoded`` needs to know of those that have changed.

    Arrays of floats whose names end in ``weight`` are rounded; all others come back as they were.

    >>> some = {"weight": np.repeat(np.float32([0, 0.5, -2]), 2000), "keys": np.arange(5)}
    >>> found = decoded(*coded(some))
    >>> found["weight"][::2000].tolist(), found["keys"].tolist()
    ([0.0, 0.5, -2.0], [0, 1, 2, 3, 4])
    """
    found: dict[str, Array] = {}
    about: dict[str, Any] = {}
    for name, array in arrays.items():
        found[name] = array
        if array.nbytes < LEAST_SIZE:
            continue
        told: dict[str, Any] = {"dtype": array.dtype.str, "shape": list(array.shape)}
        raw = array
        if name.endswith("weight") and array.dtype.kind == "f" and np.isfinite(array).all():
            raw, told["least"], told["step"] = codes_of(array.reshape(-1))
        deflated = np.frombuffer(zlib.compress(raw.tobytes(), 9), np.uint8)
        told["deflated"] = len(deflated) < WORTH * raw.nbytes
        if told["deflated"] or "least" in told:
            found[name], about[name] = deflated if told["deflated"] else raw, told
    return found, about


def decoded(arrays: Mapping[str, Array], about: Mapping[str, Any]) -> dict[str, Array]:
    """The arrays that ``coded`` was given, their weights rounded."""
    found = dict(arrays)
    for name, told in about.items():
        dtype, shape = np.dtype(str(told["dtype"])), tuple(int(n) for n in told["shape"])
        if dtype.kind not in "fiu" or any(n < 0 for n in shape):
            raise ValueError(f"{name}: no array of numbers")
        own = np.dtype(np.uint8) if "least" in told else dtype
        raw = arrays[name].tobytes()
        if told["deflated"]:
            raw = inflated(raw, math.prod(shape) * own.itemsize)
        array: Array = np.frombuffer(raw, own)
        if "least" in told:
            array = values_of(float(told["least"]), float(told["step"]))[array].astype(dtype)
        found[name] = array.reshape(shape)
        found[name].flags.writeable = False
    return found


def codes_of(weight: NDArray[np.floating[Any]]) -> tuple[NDArray[np.uint8], float, float]:
    """For each weight the number of the value that comes nearest, by ratio; the least value, and the log of the step.

    >>> code, least, step = codes_of(np.array([0.5, 0.0, -2.0]))
    >>> values_of(least, step)[code].tolist()
    [0.5, 0.0, -2.0]
    """
    size = np.abs(weight.astype(np.float64))
    some = size[size > 0]
    most = float(some.max()) if len(some) else 1.0
    least = max(float(some.min()), most * SMALLEST) if len(some) else 1.0
    step = math.log(most / least) / (VALUES - 1) or 0.01
    place = np.rint(np.log(np.maximum(size, least) / least) / step).astype(np.uint8)
    code = np.where(weight < 0, place + np.uint8(VALUES + 1), place + np.uint8(1))
    return np.where(size > least / 2, code, 0).astype(np.uint8), least, step


def values_of(least: float, step: float) -> NDArray[np.float32]:
    """The value of each number, [256]; the last is not used."""
    values = least * np.exp(step * np.arange(VALUES))
    return np.concatenate([[0.0], values, -values, [0.0]]).astype(np.float32)


def inflated(raw: bytes, size: int) -> bytes:
    """What was deflated to these bytes, which must be of this size."""
    try:
        whole = zlib.decompressobj().decompress(raw, size + 1)
    except zlib.error:
        raise ValueError("a deflated array is damaged") from None
    if len(whole) != size:
        raise ValueError("a deflated array has another size than it should have")
    return whole
