"""Complaints about arrays that do not fit together, before a kernel reads them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dovetail.errors import InputError
from dovetail.structures.chain.parts import NONE, ChainPotentials, Integers, Labels, PathQueries


def check_potentials(potentials: ChainPotentials, order: int) -> ChainPotentials:
    """The potentials as contiguous arrays, or an error that says what is wrong with them."""
    if order not in (1, 2):
        raise InputError(f"order is {order}, expected 1 or 2 (independent labels: 1, with transitions of zero)")
    arrays = ChainPotentials(*(np.ascontiguousarray(part, np.float64) for part in potentials))
    if arrays.unary.ndim != 2 or arrays.unary.shape[1] == 0:
        raise InputError(f"unary has shape {arrays.unary.shape}, expected (tokens, labels)")
    tokens, labels = arrays.unary.shape
    states = labels if order == 1 else labels * labels + labels
    edges = tokens if arrays.edge.size else 0
    shapes = ((tokens, labels), (states, labels), (labels,), (labels,), (edges, labels, labels))
    # Cheaper than a look at each number: NaN makes the sum NaN; plus infinity makes it that or itself.
    with np.errstate(invalid="ignore"):
        totals = [part.sum() for part in arrays]
    for name, part, shape, total in zip(arrays._fields, arrays, shapes, totals, strict=True):
        if part.shape != shape:
            raise InputError(f"{name} has shape {part.shape}, expected {shape} in order {order}")
        if not total < np.inf:
            raise InputError(f"{name} holds NaN or plus infinity; only minus infinity, to forbid, may be infinite")
    return arrays


def check_offsets(offsets: ArrayLike, tokens: int) -> Integers:
    """Offsets of sentences as an array: [n + 1]."""
    array = np.ascontiguousarray(offsets, np.int64)
    ends = array.ndim == 1 and array.size > 0 and array[0] == 0 and array[-1] == tokens
    if not ends or (np.diff(array) < 0).any():
        raise InputError(f"offsets must rise from 0 to the number of tokens, {tokens}")
    return array


def check_labels(labels: ArrayLike, offsets: Integers, count: int) -> Labels:
    """Labels as an array, one for each token: [tokens]; -1 throughout a sentence that has none."""
    given = np.ascontiguousarray(labels, np.int32)
    if given.shape != (offsets[-1],):
        raise InputError(f"labels have shape {given.shape}, expected ({offsets[-1]},)")
    if not given.size or (given.min() >= 0 and given.max() < count):
        return given
    none = np.add.reduceat(given == NONE, offsets[:-1][np.diff(offsets) > 0])
    if given.min() < NONE or given.max() >= count or (none * (np.diff(offsets)[np.diff(offsets) > 0] - none)).any():
        raise InputError(f"labels must be from 0 to {count - 1}, or all -1 in a sentence that has none")
    return given


def check_queries(
    sentence: ArrayLike,
    start: ArrayLike,
    paths: Sequence[Sequence[int]],
    masks: tuple[ArrayLike | None, ArrayLike | None],
    order: Integers,
    offsets: Integers,
    labels: int,
) -> PathQueries:
    """The queries of :meth:`ChainBatch.path_probabilities` as arrays, in the given order."""
    sentences = np.asarray(sentence, np.int64)[order]
    starts = np.asarray(start, np.int64)[order]
    lengths = np.array([len(paths[q]) for q in order], np.int64)
    if order.size and (sentences[0] < 0 or sentences[-1] >= len(offsets) - 1):
        raise InputError(f"sentences must be from 0 to {len(offsets) - 2}")
    ends = np.diff(offsets)[sentences]
    if (lengths == 0).any() or (starts < 0).any() or (starts + lengths > ends).any():
        raise InputError("a path must have a label at least and lie within its sentence")
    not_before, not_after = (
        np.zeros((len(order), labels), bool) if mask is None else np.asarray(mask, bool)[order] for mask in masks
    )
    if not not_before.shape == not_after.shape == (len(order), labels):
        raise InputError(f"not_before and not_after must have shape ({len(order)}, {labels})")
    flat = [label for q in order for label in paths[q]]
    return PathQueries(
        sentences,
        offsets[sentences] + starts,
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        check_labels(flat, np.arange(len(flat) + 1), labels),
        not_before,
        not_after,
    )
