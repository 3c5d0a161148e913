"""Pictures of learning curves, drawn with matplotlib (the extra ``plot``)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from dovetail.curves.summary import Curve
from dovetail.evaluate.plot import picture

# Told apart by people who see no red or no green, and by their lightness in print (Okabe and Ito).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#333333")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
Axis = Literal["sentences", "tokens"]


def draw_curves(
    curves: Sequence[Curve], path: str | Path, title: str, metric: str = "F1", axes: Sequence[Axis] = ("sentences",)
) -> Path:
    """Draw the mean of every series with a band from its lowest to its highest draw; returns the path.

    A panel for each of ``axes``. The suffix says what is written: ``.png``, ``.svg`` or ``.pdf``. Needs matplotlib.
    """
    with picture(Path(path), (1.2 + 4.6 * len(axes), 4.2)) as figure:
        panels = figure.subplots(1, len(axes), sharey=True, squeeze=False)[0]
        for panel, axis in zip(panels, axes, strict=True):
            _draw_panel(panel, curves, axis)
        panels[0].set_ylabel(f"{metric} (%)")
        panels[0].set_title(title, loc="left", fontsize=11, fontweight="bold", parse_math=False)
        panels[-1].legend(loc="lower right", edgecolor="none")
    return Path(path)


def _draw_panel(panel: Any, curves: Sequence[Curve], axis: Axis) -> None:
    for number, curve in enumerate(curves):
        colour, marker = COLOURS[number % len(COLOURS)], MARKERS[number % len(MARKERS)]
        where = [getattr(point, axis) for point in curve.points]
        low, high = [p.low for p in curve.points], [p.high for p in curve.points]
        panel.fill_between(where, low, high, color=colour, alpha=0.15, linewidth=0)
        mean = [point.mean for point in curve.points]
        panel.plot(where, mean, color=colour, marker=marker, markersize=4.5, linewidth=1.5, label=curve.name)
    points = [getattr(point, axis) for curve in curves for point in curve.points]
    panel.set_xlabel(f"labelled {axis}")
    if max(points) >= 20 * min(points):
        _log_axis(panel, curves, axis)
    panel.xaxis.set_major_formatter("{x:,.0f}")


def _log_axis(panel: Any, curves: Sequence[Curve], axis: Axis) -> None:
    """A logarithmic axis whose ticks are the sizes that were measured."""
    panel.set_xscale("log")
    ticks: list[float] = []
    for size in sorted({getattr(point, axis) for curve in curves for point in curve.points}):
        if not ticks or size > 1.5 * ticks[-1]:
            ticks.append(size)
    panel.set_xticks(ticks)
    panel.minorticks_off()
