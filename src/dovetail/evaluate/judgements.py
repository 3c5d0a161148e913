"""Yes or no, with a probability: accuracy and average precision, each with the interval that the bootstrap gives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dovetail.errors import InputError
from dovetail.evaluate.significance import percentiles

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class JudgementScores:
    """Scores in percent, each with its interval."""

    pairs: int
    accuracy: float
    accuracy_interval: tuple[float, float]
    average_precision: float
    average_precision_interval: tuple[float, float]

    def as_dict(self) -> dict[str, Any]:
        """The scores by name, as JSON has them."""
        return asdict(self)

    def __str__(self) -> str:
        rows = (("accuracy", self.accuracy, self.accuracy_interval),
                ("average precision", self.average_precision, self.average_precision_interval))  # fmt: skip
        told = (f"{name} {value:.2f} (95% interval {low:.2f} to {high:.2f})" for name, value, (low, high) in rows)
        return "\n".join([f"{self.pairs:,} pairs", *told])


@dataclass(frozen=True, slots=True)
class JudgementDifference:
    """How much better one system is than another on the same pairs, in percentage points."""

    accuracy: float
    accuracy_interval: tuple[float, float]
    average_precision: float
    average_precision_interval: tuple[float, float]


def judgement_scores(
    gold: Sequence[bool] | Booleans,
    chances: ArrayLike,
    *,
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
) -> JudgementScores:
    """The scores of probabilities of yes, [pairs], against what is right; above one half means yes.

    >>> judgement_scores([True, False, True, False], [0.9, 0.6, 0.4, 0.1]).accuracy
    50.0
    """
    right, chance = _checked(gold, chances)
    drawn = _resampled(lambda some: _scores(right[some], chance[some]), len(right), resamples, seed)
    (accuracy, precision), low_high = _scores(right, chance), _intervals(drawn, confidence)
    return JudgementScores(len(right), accuracy, low_high[0], precision, low_high[1])


def judgement_difference(
    gold: Sequence[bool] | Booleans, system: ArrayLike, baseline: ArrayLike, *,
    resamples: int = 1000, confidence: float = 0.95, seed: int = 0,
) -> JudgementDifference:  # fmt: skip
    """The scores of a system less those of another, both on the same pairs and on the same resamples of them.

    >>> judgement_difference([True, False], [0.9, 0.2], [0.9, 0.6]).accuracy
    50.0
    """
    right, one = _checked(gold, system)
    _, other = _checked(gold, baseline)

    def less(some: Any) -> tuple[float, float]:
        (a, b), (c, d) = _scores(right[some], one[some]), _scores(right[some], other[some])
        return a - c, b - d

    drawn = _resampled(less, len(right), resamples, seed)
    (accuracy, precision), low_high = less(slice(None)), _intervals(drawn, confidence)
    return JudgementDifference(accuracy, low_high[0], precision, low_high[1])


def average_precision(gold: Sequence[bool] | Booleans, chances: ArrayLike) -> float:
    """The mean, over the pairs to which yes is right, of the share of such pairs among those at least as probable.

    In percent. Pairs that are equally probable count together, so that their order does not matter.

    >>> round(average_precision([True, False, True], [0.9, 0.8, 0.7]), 2)
    83.33
    """
    right, chance = _checked(gold, chances)
    return _average_precision(right, chance)


def _scores(right: Booleans, chance: Floats) -> tuple[float, float]:
    return 100.0 * float(np.mean((chance > 0.5) == right)), _average_precision(right, chance)


def _average_precision(right: Booleans, chance: Floats) -> float:
    order = np.argsort(-chance, kind="stable")
    found = np.cumsum(right[order])
    last = np.flatnonzero(np.append(np.diff(chance[order]) != 0, True))  # of those that are equally probable
    hits = np.diff(found[last], prepend=0)
    return 100.0 * float((hits * found[last] / (last + 1)).sum()) / max(int(found[-1]), 1)


def _resampled(
    score: Callable[[NDArray[np.int64]], tuple[float, float]], pairs: int, resamples: int, seed: int
) -> Floats:
    """Both scores on each resample, [resamples, 2]."""
    if resamples < 1:
        raise InputError(f"{resamples} resamples, expected at least 1")
    rng = np.random.default_rng(seed)
    return np.array([score(rng.integers(pairs, size=pairs)) for _ in range(resamples)])


def _intervals(drawn: Floats, confidence: float) -> list[tuple[float, float]]:
    return [percentiles(column, confidence) for column in drawn.T]


def _checked(gold: Sequence[bool] | Booleans, chances: ArrayLike) -> tuple[Booleans, Floats]:
    right, chance = np.asarray(gold, bool), np.asarray(chances, np.float64)
    if right.ndim != 1 or chance.shape != right.shape or not len(right):
        raise InputError(f"{chance.size} probabilities for {right.size} pairs; give one for each, and some pairs")
    if not ((chance >= 0) & (chance <= 1)).all():
        raise InputError("a probability that is not between 0 and 1")
    return right, chance
