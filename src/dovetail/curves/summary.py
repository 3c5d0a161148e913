"""Runs summed up: mean and spread over draws by series and size; as a table, as CSV, and what a series saves."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from statistics import fmean, stdev

from dovetail.curves.runs import Run
from dovetail.evaluate.report import align_columns


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

    def _repr_html_(self) -> str:
        from dovetail.curves.html import curves_html

        return curves_html([self])


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


def curves_table(curves: Sequence[Curve]) -> str:
    """A row a size, a column a series: mean and standard deviation of the score; tokens where series differ in them.

    >>> point = Point(10, 80.0, 2, 52.0, 2.83, 50.0, 54.0, None, None)
    >>> print(curves_table([Curve("plain", (point,)), Curve("rich", (point,))]))
    sentences  tokens         plain          rich
    10             80  52.00 ± 2.83  52.00 ± 2.83
    """
    by_size = [{point.sentences: point for point in curve.points} for curve in curves]
    sizes = sorted({size for points in by_size for size in points})
    shared = all(len({points[size].tokens for points in by_size if size in points}) == 1 for size in sizes)
    names = [name for curve in curves for name in ([curve.name] if shared else [curve.name, "tokens"])]
    rows = [["sentences", *(["tokens"] if shared else []), *names]]
    for size in sizes:
        found = [points.get(size) for points in by_size]
        tokens = next(f"{point.tokens:,.0f}" for point in found if point is not None)
        cells = [cell for point in found for cell in ([_score(point)] if shared else [_score(point), _tokens(point)])]
        rows.append([f"{size:,}", *([tokens] if shared else []), *cells])
    return align_columns(rows)


def _score(point: Point | None) -> str:
    if point is None:
        return ""
    spread = f" ± {point.deviation:.2f}" if point.deviation is not None else ""
    return f"{point.mean:.2f}{spread}"


def _tokens(point: Point | None) -> str:
    return f"{point.tokens:,.0f}" if point is not None else ""


def curves_csv(curves: Sequence[Curve]) -> str:
    """A line a point: the series and every field of ``Point``; an empty field where there is no number."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["series", *(field.name for field in fields(Point))])
    for curve in curves:
        for point in curve.points:
            values = (f"{value:.4f}" if isinstance(value, float) else value for value in astuple(point))
            writer.writerow([curve.name, *values])
    return text.getvalue()


def savings(curves: Sequence[Curve], reference: Curve) -> list[str]:
    """For every other series: with how many sentences it reaches the last score of the reference, as measured.

    >>> def point(sentences, score):
    ...     return Point(sentences, 7 * sentences, 1, score, None, score, score, None, None)
    >>> plain, rich = Curve("plain", (point(10, 40.0), point(30, 50.0))), Curve("rich", (point(20, 60.0),))
    >>> savings([rich], plain)
    ['rich reaches the 50.00 of plain at 30 sentences (210 tokens) with 20 sentences (140 tokens)']
    """
    if not reference.points:
        return []
    goal = reference.points[-1]
    target = f"the {goal.mean:.2f} of {reference.name} at {_amount(goal)}"
    lines = []
    for curve in curves:
        if curve.name == reference.name:
            continue
        point = next((point for point in curve.points if point.mean >= goal.mean), None)
        if point is not None:
            lines.append(f"{curve.name} reaches {target} with {_amount(point)}")
        else:
            best = max(curve.points, key=lambda point: point.mean)
            lines.append(f"{curve.name} does not reach {target}: at best {best.mean:.2f}, with {_amount(best)}")
    return lines


def _amount(point: Point) -> str:
    return f"{point.sentences:,} sentences ({point.tokens:,.0f} tokens)"
