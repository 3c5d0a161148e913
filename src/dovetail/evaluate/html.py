"""Scores, confusion and reliability as HTML: for notebooks, and as parts of a page of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from dovetail.evaluate.report import counts_dict
from dovetail.text.page import table

if TYPE_CHECKING:
    from dovetail.evaluate.calibration import CalibrationReport
    from dovetail.evaluate.counts import LabelledScores

_CELL = "padding:0.2em 0.7em;text-align:center;background:hsl({hue} 70% 50% / {alpha:.2f})"
WIDTH, HEIGHT, EDGE = 348, 300, 50
BLUE = "hsl(212 66% 50%)"


def scores_html(scores: LabelledScores) -> str:
    """A row for each label, then both averages."""
    rows: list[Sequence[str]] = [["label", "precision", "recall", "F1", "gold", "found", "right"]]
    named: list[tuple[str, Mapping[str, Any]]] = [(label, counts_dict(one)) for label, one in scores.per_label.items()]
    for label, row in [*named, ("micro", counts_dict(scores)), ("macro", scores.macro._asdict())]:
        numbers = [f"{row[name]:.1f}" for name in ("precision", "recall", "f1")]
        rows.append(
            [escape(label), *numbers, *(f"{row[n]:,}" if n in row else "" for n in ("gold", "predicted", "correct"))]
        )
    return table(rows, "scores by label")


def confusion_html(confusion: Mapping[tuple[str, str], int], labels: Sequence[str]) -> str:
    """Rows are right labels, columns found ones; the darker, the larger the share of the row.

    >>> "<td" in confusion_html({("PER", "LOC"): 2}, ["PER", "LOC"])
    True
    """
    rows: list[Sequence[str]] = [["right \\ found", *map(escape, labels)]]
    for right in labels:
        own = [confusion.get((right, found), 0) for found in labels]
        cells = []
        for found, number in zip(labels, own, strict=True):
            alpha = 0.4 * number / max(sum(own), 1)
            style = _CELL.format(hue=150 if right == found else 10, alpha=alpha)
            cells.append(f'<td class="shade" style="{style}">{number or "·"}</td>')
        rows.append([escape(right), *cells])
    return table(rows, "confusion")


def reliability_html(report: CalibrationReport) -> str:
    """Accuracy against confidence, a point for each bin, the larger the more answers; below it the scores."""
    most = max(bin.count for bin in report.bins)
    points = [_place(bin.confidence, bin.accuracy) for bin in report.bins]
    line = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    shapes = [*_axes(), f'<path d="M{line}" fill="none" stroke="{BLUE}" stroke-width="1.5"/>']
    for bin, (x, y) in zip(report.bins, points, strict=True):
        told = f"promised {bin.confidence:.2f}, right {bin.accuracy:.2f}, {bin.count} answers"
        where = f'cx="{x:.1f}" cy="{y:.1f}" r="{3 + 6 * (bin.count / most) ** 0.5:.1f}"'
        shapes.append(f'<circle {where} fill="{BLUE}" fill-opacity="0.75"><title>{told}</title></circle>')
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    told = f"expected error {report.expected_calibration_error:.3f}, largest {report.maximum_calibration_error:.3f}"
    told += f", Brier score {report.brier_score:.3f}, {report.count:,} answers"
    picture = f'<svg class="plot" {size} role="img" aria-label="reliability">{"".join(shapes)}</svg>'
    return f"{picture}\n<div>{told}</div>"


def _place(x: float, y: float) -> tuple[float, float]:
    """Where a point of the unit square is in the picture."""
    return EDGE + x * (WIDTH - EDGE - 12), 12 + (1 - y) * (HEIGHT - EDGE - 12)


def _axes() -> Iterator[str]:
    """Both axes with their ticks and names, and the diagonal."""
    (left, low), (right, high) = _place(0, 0), _place(1, 1)
    line = 'fill="none" stroke="currentColor" opacity="0.5"'
    yield f'<path d="M{left:.0f} {high:.0f}V{low:.0f}H{right:.0f}" {line}/>'
    yield f'<path d="M{left:.0f} {low:.0f}L{right:.0f} {high:.0f}" stroke-dasharray="4 4" {line}/>'
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = _place(tick, tick)
        yield _text(f'x="{x:.0f}" y="{low + 16:.0f}"', f"{tick:g}")
        yield _text(f'x="{left - 6:.0f}" y="{y + 4:.0f}"', f"{tick:g}", "end")
    yield _text(f'x="{(left + right) / 2:.0f}" y="{HEIGHT - 6}"', "probability")
    yield _text(f'transform="translate(11 {(low + high) / 2:.0f}) rotate(-90)"', "share that is right")


def _text(where: str, text: str, anchor: str = "middle") -> str:
    return f'<text {where} text-anchor="{anchor}" fill="currentColor" font-size="12">{text}</text>'
