"""Counts of gold, predicted and correct things for each sentence, [sentences, 3]: what significance is made of."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dovetail.errors import InputError


def checked_counts(counts: ArrayLike) -> NDArray[np.float64]:
    """The counts as an array, found to be possible.

    >>> checked_counts([[1, 0, 1]])
    Traceback (most recent call last):
    dovetail.errors.InputError: sentence 1: 1 gold, 0 predicted, 1 correct is impossible
    """
    array = np.asarray(counts, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != 3 or len(array) == 0:
        raise InputError(f"counts of shape {array.shape}, expected [sentences, 3]: gold, predicted, correct")
    impossible = (array[:, 2] > array[:, :2].min(axis=1)) | (array.min(axis=1) < 0)
    if impossible.any():
        number = int(np.argmax(impossible)) + 1
        gold, predicted, correct = array[number - 1]
        raise InputError(
            f"sentence {number}: {gold:g} gold, {predicted:g} predicted, {correct:g} correct is impossible"
        )
    return array


def paired_counts(system: ArrayLike, baseline: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The counts of two systems on the same sentences."""
    pair = checked_counts(system), checked_counts(baseline)
    if len(pair[0]) != len(pair[1]):
        raise InputError(f"{len(pair[0])} sentences of the system but {len(pair[1])} of the baseline")
    return pair


def units_of(counts: NDArray[np.float64], groups: Sequence[Hashable] | None) -> NDArray[np.float64]:
    """What is drawn or shuffled: the sentences, or the sums over the sentences of each document.

    >>> units_of(np.array([[1.0, 1.0, 1.0], [2.0, 2.0, 0.0]]), ["letter", "letter"]).tolist()
    [[3.0, 3.0, 1.0]]
    """
    if groups is None:
        return counts
    if len(groups) != len(counts):
        raise InputError(f"{len(groups)} groups for {len(counts)} sentences")
    rows: dict[Hashable, int] = {}
    row_of_sentence = [rows.setdefault(group, len(rows)) for group in groups]
    sums = np.zeros((len(rows), counts.shape[1]))
    np.add.at(sums, row_of_sentence, counts)
    return sums


def f1_of(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """F1 in percent over the last axis (gold, predicted, correct), 0 where there is nothing at all.

    >>> f1_of(np.array([[2.0, 2.0, 1.0], [0.0, 0.0, 0.0]])).tolist()
    [50.0, 0.0]
    """
    gold, predicted, correct = counts[..., 0], counts[..., 1], counts[..., 2]
    f1: NDArray[np.float64] = 200 * correct / np.maximum(gold + predicted, 1)
    return f1
