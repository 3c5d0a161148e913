"""Pools of trained parsers: what those of constituents and those of dependencies have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.modelfile import Arrays
from dovetail.models.tagging import prefixed

Floats = NDArray[np.float64]

ALIKE = 0.5  # the share of labels that models of one treebank have in common, at least
TOLD = frozenset({"settings", "card"})  # what headers say of how models were made, not of what they are


def shares_of(count: int, weights: Sequence[float] | None) -> Floats:
    """The shares of members, which sum to one: [count].

    >>> shares_of(4, [1, 1, 1, 5]).tolist()
    [0.125, 0.125, 0.125, 0.625]
    """
    if count < 2:
        raise DovetailError(f"a pool has at least two models; {count} given")
    found = np.ones(count) if weights is None else np.asarray(weights, np.float64)
    if found.shape != (count,):
        raise DovetailError(f"{found.size} weights for a pool of {count} models: give one for each")
    if not (np.isfinite(found).all() and (found >= 0).all() and found.sum() > 0):
        raise DovetailError("the weights of a pool are zero or positive numbers, and not all of them zero")
    shares: Floats = found / found.sum()
    return shares


def check_alike(names: Sequence[Iterable[str]], what: str) -> None:
    """An error where a model has mostly other labels than the first: what they say cannot be put together."""
    first = set(names[0])
    for number, each in enumerate(names[1:], 2):
        own = set(each)
        if len(first & own) < ALIKE * len(first | own):
            odd = ", ".join(sorted(first ^ own)[:5])
            raise DovetailError(
                f"models 1 and {number} of the pool have different {what} ({odd} ...): "
                f"pool models that were trained on one kind of annotation"
            )


def same_shape(models: Sequence[Any], weights: frozenset[str]) -> bool:
    """Whether models differ in nothing but these of their arrays."""
    first, *others = ((_bare(model.header()), model.arrays(False)) for model in models)
    return all(
        header == first[0]
        and arrays.keys() == first[1].keys()
        and all(np.array_equal(array, first[1][name]) for name, array in arrays.items() if name not in weights)
        for header, arrays in others
    )


def mean_weights(weights: Iterable[NDArray[Any]], shares: Floats) -> Floats:
    """The weights of the product of log-linear models, each to the power of its share."""
    found: Floats = np.sum(
        [share * weight.astype(np.float64) for weight, share in zip(weights, shares, strict=True)], axis=0
    )
    return found


def _bare(header: Any) -> Any:
    """What a header says of a model itself."""
    if not isinstance(header, Mapping):
        return header
    return {name: _bare(value) for name, value in header.items() if name not in TOLD}


def packed_members(members: Sequence[Any], half: bool) -> tuple[list[dict[str, Any]], Arrays]:
    """The headers of members, and their arrays under their numbers."""
    headers: list[dict[str, Any]] = []
    arrays: Arrays = {}
    for number, member in enumerate(members):
        header, own = member.packed(half)
        headers.append(header)
        arrays |= {f"member{number}.{name}": array for name, array in own.items()}
    return headers, arrays


def unpacked_members(
    header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], make: Callable[[dict[str, Any], Arrays], Any]
) -> tuple[tuple[Any, ...], Floats]:
    """Members and their shares, from a model file."""
    headers, shares = header["members"], np.asarray(header["shares"], np.float64)
    fits = len(headers) == len(shares) and len(shares) > 1 and bool((shares >= 0).all())
    if not fits or abs(float(shares.sum()) - 1.0) > 1e-6:
        raise ValueError("the shares of the pool do not fit its members")
    return tuple(make(dict(own), prefixed(arrays, f"member{i}.")) for i, own in enumerate(headers)), shares


def drawn(count: int, seed: int) -> NDArray[np.int64]:
    """As many of so many sentences, with replacement, in their order."""
    return np.sort(np.random.default_rng(seed).integers(0, count, count))
