"""What the learning curve says of the labels to come: a line in the logarithm of the number of sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

FEWEST = 3
"""Points; two say nothing about how far a line through them is off."""
RECENT = 8
"""Points that are looked at: a curve flattens, and what it did at the beginning says little about its end."""


class Point(NamedTuple):
    """A cross-validated score in percent, with the ends of its interval, of a model of so many sentences."""

    sentences: int
    tokens: int
    score: float
    low: float
    high: float


def interval(score: float, things: int) -> tuple[float, float]:
    """The 95 % interval of a score in percent, as if it were a share of so many things (Wilson 1927).

    >>> [round(end, 1) for end in interval(80.0, 100)]
    [71.1, 86.7]
    """
    if things <= 0:
        return 0.0, 100.0
    share, z = min(max(score / 100.0, 0.0), 1.0), 1.959964
    middle = (share + z * z / (2 * things)) / (1 + z * z / things)
    reach = z * math.sqrt(share * (1 - share) / things + z * z / (4 * things * things)) / (1 + z * z / things)
    return min(100 * max(middle - reach, 0.0), score), max(100 * min(middle + reach, 1.0), score)


def next_point(curve: Sequence[Point]) -> int | None:
    """How many more sentences the next point of the score is expected to cost; None where that cannot be told.

    With score = a + b log(sentences), fitted to the last points with the weights of their intervals, it is
    sentences (exp(1 / b) - 1).

    >>> rising = [Point(n, 0, 20 + 10 * math.log(n), 0, 0) for n in (20, 40, 80, 160)]
    >>> next_point(rising), next_point(rising[:2])
    (17, None)
    """
    last = {point.sentences: point for point in curve}  # of the same number of sentences the latest
    points = [last[n] for n in sorted(last)][-RECENT:]
    if len(points) < FEWEST:
        return None
    x, y = np.log([p.sentences for p in points]), np.array([p.score for p in points])
    weight = np.array([1.0 / max(p.high - p.low, 1.0) ** 2 for p in points])
    centre = np.average(x, weights=weight)
    spread = np.average((x - centre) ** 2, weights=weight)
    slope = np.average((x - centre) * (y - np.average(y, weights=weight)), weights=weight) / max(spread, 1e-12)
    if slope <= 0.05 or points[-1].score >= 99:
        return None
    more = points[-1].sentences * math.expm1(min(1.0 / slope, 20.0))
    return max(1, round(more)) if more < 1e6 else None
