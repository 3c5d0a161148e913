"""Declarations of what the arrays of a type may hold, and the check that constructors make of them.

Kernels check no bounds: an index beyond an array reads or writes memory that is not its own. A type declares its arrays
as :class:`Column` and calls :func:`check` in its constructor, so that no value with such an index can be made, whether
its arrays come from a file, from a user or from dovetail itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError


class UnsoundError(DovetailError, ValueError):
    """An array does not fit its declaration; a model file that holds it is damaged or was made by another program."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """Declares one array: its axes, its dtype, and the range and order of its numbers, which must be finite."""

    axes: tuple[str | int, ...]
    """Length of each axis: a number, or the name of a size. Axes with one name must have one length."""
    types: tuple[str, ...] = ("i", "u")
    """Allowed dtypes, as numpy kinds (``i`` integer, ``u`` unsigned, ``f`` floating point) or exactly (``u8``)."""
    least: float | None = None
    """Inclusive lower bound of all numbers."""
    below: float | str | None = None
    """Exclusive upper bound of all numbers; the name of a size where they are indices into an axis of that length."""
    order: str = ""
    """``<`` if the numbers rise strictly, ``<=`` if they never fall, empty if they have no order."""
    into: str = ""
    """Name of a size, for offsets of rows in an array of that length, as in a sparse matrix by rows.

    Offsets [rows + 1] begin with 0, never fall, and end with the size.
    """


def check(owner: str, columns: Mapping[str, Column], arrays: Mapping[str, Any], **sizes: int) -> dict[str, int]:
    """Raise ``UnsoundError`` if an array does not fit its column, and return all sizes by name.

    Sizes that the caller gives must be met; others are those that the arrays show.

    >>> columns = {"ptr": Column(axes=("rows",), into="items"), "item": Column(axes=("items",), least=0, below="words")}
    >>> check("lists", columns, {"ptr": np.array([0, 2, 3]), "item": np.array([0, 4, 1])}, words=5)
    {'words': 5, 'items': 3, 'rows': 2}
    >>> check("lists", columns, {"ptr": np.array([0, 2, 3]), "item": np.array([0, 5, 1])}, words=5)
    Traceback (most recent call last):
    dovetail.stored.UnsoundError: lists: item holds 5, where words is 5: damaged, or not made by dovetail
    """
    for name, column in sorted(columns.items(), key=lambda each: bool(each[1].into)):
        array = np.asarray(arrays[name])
        if (why := _fault(name, column, array, sizes)) is not None:
            raise UnsoundError(f"{owner}: {why}: damaged, or not made by dovetail")
    return sizes


def _fault(name: str, column: Column, array: NDArray[Any], sizes: dict[str, int]) -> str | None:
    """Return how an array breaks its declaration, or None; add the sizes that it shows to ``sizes``."""
    if not {array.dtype.kind, array.dtype.str[1:]} & set(column.types):
        return f"{name} holds {array.dtype.name} numbers"
    if array.ndim != len(column.axes):
        return f"{name} has {array.ndim} axes instead of {len(column.axes)}"
    for length, axis in zip(array.shape, column.axes, strict=True):
        own = length - 1 if column.into else length
        wanted = axis if isinstance(axis, int) else sizes.setdefault(axis, own)
        if own != wanted:
            return f"{name} has a length of {length}, which does not fit the others"
    if column.into and not array.size:
        return f"{name} is empty"
    if column.into:
        end = sizes.setdefault(column.into, int(array[-1]))
        if array[0] != 0 or array[-1] != end or np.any(array[1:] < array[:-1]):
            return f"{name} does not rise from 0 to {end}"
    if not array.size:
        return None
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return f"{name} holds numbers that are not finite"
    if column.least is not None and (array.dtype.kind != "u" or column.least > 0) and array.min() < column.least:
        return f"{name} holds {array.min()}"
    if column.below is not None:
        below = sizes[column.below] if isinstance(column.below, str) else column.below
        if array.max() >= below:
            return f"{name} holds {array.max()}, where {column.below} is {below}"
    if column.order and not (np.less if column.order == "<" else np.less_equal)(array[:-1], array[1:]).all():
        return f"{name} is not in order"
    return None
