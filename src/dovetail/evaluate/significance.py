"""Significance: by the bootstrap, how far would a score move if other sentences of the same kind were drawn? And by
stratified shuffling, could two systems have exchanged their answers?

Everything here works on counts of gold, predicted and correct things for each sentence, [sentences, 3], such
as those of `entity_counts`. So it serves every score that is an F1, and accuracy (where gold and predicted
are both the tokens). scipy.stats draws the same, but its bootstrap takes 0.26 s for the 0.04 s of this (3,500
sentences), its permutation_test 5.1 s for 0.4 s (10,000 shuffles), and its import 0.8 s: it calls a statistic of all
sentences where here one product of matrices gives all sums.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dovetail.errors import InputError

_BLOCK = 1 << 22  # coins tossed at once


@dataclass(frozen=True, slots=True)
class ScoreInterval:
    """An F1 in percent and the percentile interval that the bootstrap gives it."""

    f1: float
    low: float
    high: float
    confidence: float
    resamples: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference in F1 of two systems, in percentage points, with its p-value and interval."""

    difference: float
    """F1 of the system less F1 of the baseline."""
    p_value: float
    low: float
    high: float
    confidence: float
    resamples: int


@dataclass(frozen=True, slots=True)
class ShufflingTest:
    """The difference in F1 of two systems, in percentage points, and how often chance alone makes one as large."""

    difference: float
    """F1 of the system less F1 of the baseline."""
    p_value: float
    shuffles: int


def bootstrap_interval(
    counts: ArrayLike,
    *,
    groups: Sequence[Hashable] | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> ScoreInterval:
    """The F1 of one system with its confidence interval; counts: [sentences, 3], as from `entity_counts`.

    ``groups`` names the document of each sentence; documents are then drawn whole, as they should be where
    sentences of one document are alike.

    >>> interval = bootstrap_interval([[1, 1, 1], [1, 1, 0]] * 50)
    >>> interval.f1, interval.low < 50 < interval.high
    (50.0, True)
    """
    units = _units_of(_checked_counts(counts), groups)
    low, high = percentiles(_resampled_f1(units, resamples, seed), confidence)
    return ScoreInterval(float(f1_of(units.sum(axis=0))), low, high, confidence, resamples)


def paired_bootstrap(
    system: ArrayLike,
    baseline: ArrayLike,
    *,
    groups: Sequence[Hashable] | None = None,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Whether two systems, [sentences, 3] each, differ in F1 by more than the choice of sentences explains.

    Both systems are scored on the same resamples. The p-value is two-sided: the share of resamples whose
    difference is at least as far from the observed difference as that is from zero, counting the observed
    sample as one more, so that it is never 0. It is 1 for identical systems. ``groups`` is as in
    `bootstrap_interval`.

    >>> better, worse = [[1, 1, 1]] * 90 + [[1, 1, 0]] * 10, [[1, 1, 1]] * 70 + [[1, 1, 0]] * 30
    >>> comparison = paired_bootstrap(better, worse)
    >>> comparison.difference, comparison.p_value < 0.01
    (20.0, True)
    >>> paired_bootstrap(worse, worse).p_value
    1.0
    """
    pair = _paired_counts(system, baseline)
    differs = pair[0][:, 0] != pair[1][:, 0]
    if differs.any():
        raise InputError(f"sentence {int(np.argmax(differs)) + 1}: the two systems were scored against different gold")
    units = _units_of(np.hstack(pair), groups)
    if len(units) < 2:
        raise InputError("a comparison needs at least two sentences or documents to draw from")
    first, second = f1_of(units.sum(axis=0).reshape(2, 3))
    observed = float(first - second)
    resampled = _resampled_f1(units, resamples, seed)
    differences = resampled[:, 0] - resampled[:, 1]
    # The tolerance is far below one entity's worth; without it rounding would decide ties.
    as_far = np.abs(differences - observed) >= abs(observed) - 1e-9
    low, high = percentiles(differences, confidence)
    p_value = (1 + int(as_far.sum())) / (1 + resamples)
    return Comparison(observed, p_value, low, high, confidence, resamples)


def stratified_shuffling(
    system: ArrayLike,
    baseline: ArrayLike,
    *,
    groups: Sequence[Hashable] | None = None,
    shuffles: int = 10_000,
    seed: int = 0,
) -> ShufflingTest:
    """Approximate randomisation over sentences: counts of both systems, [sentences, 3] each.

    If the systems were equally good, then the answers of the two to a sentence could as well be exchanged. They are,
    with probability one half for each sentence (or each document, where ``groups`` names that of each sentence), and
    the p-value is the share of shuffles with a difference in F1 at least as large, in either direction, the observed
    one counted too. Counts come from `entity_counts`, `bracket_counts`, `attachment_counts`, or are of your own.

    >>> better, worse = [[1, 1, 1]] * 90 + [[1, 1, 0]] * 10, [[1, 1, 1]] * 70 + [[1, 1, 0]] * 30
    >>> test = stratified_shuffling(better, worse)
    >>> test.difference, test.p_value < 0.001, stratified_shuffling(worse, worse).p_value
    (20.0, True, 1.0)
    """
    if shuffles < 1:
        raise InputError(f"{shuffles} shuffles, expected at least 1")
    first, second = (_units_of(counts, groups) for counts in _paired_counts(system, baseline))
    if len(first) < 2:
        raise InputError("a comparison needs at least two sentences or documents to shuffle")
    observed = float(f1_of(first.sum(axis=0)) - f1_of(second.sum(axis=0)))
    moved = second - first  # what an exchange adds to the system and takes from the baseline
    rng = np.random.default_rng(seed)
    as_large = 0
    rows = max(1, _BLOCK // len(first))
    for done in range(0, shuffles, rows):
        exchanged = rng.integers(0, 2, size=(min(rows, shuffles - done), len(first)), dtype=np.int8)
        change = exchanged @ moved
        differences = f1_of(first.sum(axis=0) + change) - f1_of(second.sum(axis=0) - change)
        # The tolerance is far below one thing's worth; without it rounding would decide ties.
        as_large += int((np.abs(differences) >= abs(observed) - 1e-9).sum())
    return ShufflingTest(observed, (1 + as_large) / (1 + shuffles), shuffles)


def _resampled_f1(units: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """F1 on each resample, [resamples, k], of the k systems side by side in units: [units, 3 k]."""
    if resamples < 1:
        raise InputError(f"{resamples} resamples, expected at least 1")
    rng = np.random.default_rng(seed)
    number = len(units)
    drawn = (np.bincount(rng.integers(number, size=number), minlength=number) for _ in range(resamples))
    totals = np.array([times_drawn @ units for times_drawn in drawn])
    return f1_of(totals.reshape(resamples, -1, 3))


def percentiles(values: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    """The ends of the interval that holds this share of the values, as many of the others below it as above."""
    if not 0 < confidence < 1:
        raise InputError(f"confidence is {confidence}, expected a number between 0 and 1 such as 0.95")
    low, high = np.quantile(values, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def _checked_counts(counts: ArrayLike) -> NDArray[np.float64]:
    """The counts as an array, found to be possible."""
    array = np.asarray(counts, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != 3 or len(array) == 0:
        raise InputError(f"counts of shape {array.shape}, expected [sentences, 3]: gold, predicted, correct")
    impossible = (array[:, 2] > array[:, :2].min(axis=1)) | (array.min(axis=1) < 0)
    if impossible.any():
        number = int(np.argmax(impossible)) + 1
        gold, found, correct = array[number - 1]
        raise InputError(f"sentence {number}: {gold:g} gold, {found:g} predicted, {correct:g} correct is impossible")
    return array


def _paired_counts(system: ArrayLike, baseline: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The counts of two systems on the same sentences."""
    pair = _checked_counts(system), _checked_counts(baseline)
    if len(pair[0]) != len(pair[1]):
        raise InputError(f"{len(pair[0])} sentences of the system but {len(pair[1])} of the baseline")
    return pair


def _units_of(counts: NDArray[np.float64], groups: Sequence[Hashable] | None) -> NDArray[np.float64]:
    """What is drawn or shuffled: the sentences, or the sums over the sentences of each document."""
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
