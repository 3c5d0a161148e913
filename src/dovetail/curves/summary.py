"""Runs summed up: for each series and size the mean and the spread over draws."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev

from dovetail.curves.runs import Run


@dataclass(frozen=True)
class Point:
    """The runs of one series at one size; ``deviation`` is the sample standard deviation, None for a single draw."""

    sentences: int
    tokens: float
    draws: int
    mean: float
    deviation: float | None
    low: float
    high: float
    precision: float | None
    recall: float | None

    @classmethod
    def of(cls, runs: list[Run]) -> Point:
        """From the runs."""
        scores = [run.score for run in runs]
        precision = [run.precision for run in runs if run.precision is not None]
        recall = [run.recall for run in runs if run.recall is not None]
        return cls(
            sentences=runs[0].sentences,
            tokens=fmean(run.tokens for run in runs),
            draws=len(runs),
            mean=fmean(scores),
            deviation=stdev(scores) if len(scores) > 1 else None,
            low=min(scores),
            high=max(scores),
            precision=fmean(precision) if precision else None,
            recall=fmean(recall) if recall else None,
        )


@dataclass(frozen=True)
class Curve:
    """A series by name, its points from small to large."""

    name: str
    points: tuple[Point, ...]

    def first_to_reach(self, score: float) -> Point | None:
        """The smallest measured size whose mean is at least this score."""
        return next((point for point in self.points if point.mean >= score), None)


def curves_of(runs: Iterable[Run]) -> list[Curve]:
    """The curves of runs, series in the order in which they come.

    >>> runs = [Run("a", "plain", 1, 10, 70, 50.0, 1.0), Run("b", "plain", 2, 10, 90, 54.0, 1.0)]
    >>> [curve] = curves_of(runs)
    >>> curve.points[0].mean, round(curve.points[0].deviation, 2), curve.points[0].tokens
    (52.0, 2.83, 80.0)
    """
    series: dict[str, dict[int, list[Run]]] = {}
    for run in runs:
        series.setdefault(run.series, {}).setdefault(run.sentences, []).append(run)
    return [Curve(name, tuple(Point.of(sizes[size]) for size in sorted(sizes))) for name, sizes in series.items()]
