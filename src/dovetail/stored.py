"""Stored types: what the arrays of a value may hold, declared beside its type, and checked wherever one is made.

Kernels check no bounds. A type whose constructor calls :func:`check` on its arrays has no unsound value, whether they
come from a file, from a user or from our own code, so that a kernel can take what such a type hands out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError


class UnsoundError(DovetailError, ValueError):
    """Arrays that no value of their type can have; a file that holds them is damaged."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """What one array of a stored type may hold. Floating-point numbers are finite."""

    axes: tuple[str | int, ...]
    """The length of each axis: a number, or the name of a size, which is the same wherever the name stands."""
    types: tuple[str, ...] = ("i", "u")
    """What it may consist of: kinds of numpy (``i``, ``u``, ``f``) or types (``u8``)."""
    least: float | None = None
    below: float | str | None = None
    """All numbers are smaller: than a number, or than a size that the array points into."""
    order: str = ""
    """How each number stands to the next: ``<``, ``<=``, or in no order."""
    into: str = ""
    """The array has the places in another where each row begins, and where the last one ends: the size of that array.

    It begins with 0, never falls, and has one number more than there are rows.
    """


def check(owner: str, columns: Mapping[str, Column], arrays: Mapping[str, Any], **sizes: int) -> dict[str, int]:
    """Raise an error unless each array is what its column says; return all sizes by name, those given among them.

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
    """Return what is wrong with an array, and note the sizes that it shows."""
    if not {array.dtype.kind, array.dtype.str[1:]} & set(column.types):
        return f"{name} holds {array.dtype.name} numbers"
    if array.ndim != len(column.axes):
        return f"{name} has {array.ndim} axes instead of {len(column.axes)}"
    for length, axis in zip(array.shape, column.axes, strict=True):
        own = length - 1 if column.into else length
        wanted = axis if isinstance(axis, int) else sizes.setdefault(axis, own)
        if own != wanted:
            return f"{name} has a length of {length}, which does not fit the others"
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
