"""Pictures of calibration, drawn with matplotlib (the extra ``plot``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dovetail.errors import InputError
from dovetail.evaluate.calibration import CalibrationReport, ReliabilityBin
from dovetail.extras import lacking

# For each kind of picture the metadata that leave the date out, so that the same report gives the same file.
_UNDATED: dict[str, dict[str, None]] = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
_INK, _MUTED, _GRID = "#1f2933", "#6b7785", "#e4e8ec"
_BLUE, _PALE_BLUE, _RED = "#2f6db3", "#d5e2f0", "#d1495b"
_STYLE: Any = {
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), _INK),
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), _MUTED),
    **dict.fromkeys(("axes.grid", "axes.axisbelow"), True),
    **dict.fromkeys(("axes.spines.top", "axes.spines.right"), False),
    **dict.fromkeys(("figure.constrained_layout.h_pad", "figure.constrained_layout.w_pad"), 0.1),
    **{"font.size": 9, "grid.color": _GRID, "svg.fonttype": "none", "svg.hashsalt": "dovetail"},
}


def reliability_plot(report: CalibrationReport, path: str | Path, title: str = "Reliability") -> Path:
    """Draw accuracy against confidence above a histogram of the answers; returns the path.

    The suffix says what is written: ``.png``, ``.svg`` or ``.pdf``. Points below the diagonal mean that the
    model is too sure. Needs matplotlib.

    >>> from tempfile import TemporaryDirectory
    >>> from dovetail.evaluate import reliability
    >>> report = reliability([0.95, 0.9, 0.7, 0.6], [True, True, True, False])
    >>> with TemporaryDirectory() as folder:
    ...     reliability_plot(report, f"{folder}/reliability.svg").name
    'reliability.svg'
    """
    with picture(Path(path), (4.6, 5.6)) as figure:
        curve, histogram = figure.subplots(2, 1, sharex=True, height_ratios=(3.2, 1))
        _draw_curve(curve, report)
        _draw_histogram(histogram, report)
        scores = f"ECE {report.expected_calibration_error:.3f}   Brier {report.brier_score:.3f}"
        curve.set_title(title, loc="left", fontsize=12, fontweight="bold", pad=24, parse_math=False)
        curve.text(0, 1.03, f"{scores}   {report.count:,} answers", color=_MUTED, transform=curve.transAxes)
    return Path(path)


@contextmanager
def picture(path: Path, inches: tuple[float, float]) -> Iterator[Any]:
    """An empty figure in the style of all plots, which is written when the block ends well."""
    if path.suffix.lower() not in _UNDATED:
        raise InputError(f"pictures are written as {', '.join(_UNDATED)}: name the file so", path)
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise lacking("a plot", "matplotlib") from error
    with rc_context(_STYLE):
        figure = Figure(figsize=inches, layout="constrained")
        yield figure
        _save(figure, path)


def _draw_curve(axes: Any, report: CalibrationReport) -> None:
    lefts, widths = zip(*map(_bar, report.bins), strict=True)
    confidence = [bin.confidence for bin in report.bins]
    accuracy = [bin.accuracy for bin in report.bins]
    axes.bar(lefts, accuracy, widths, align="edge", color=_PALE_BLUE, edgecolor="white")
    # Not clipped, so that points at 0 and 1 are whole.
    round_points = {"marker": "o", "linestyle": "", "markeredgecolor": "white", "clip_on": False, "zorder": 3}
    axes.plot(confidence, accuracy, color=_BLUE, label="model", **round_points)
    axes.vlines(confidence, confidence, accuracy, color=_RED, linewidth=1.6, label="gap")
    axes.plot([0, 1], [0, 1], color=_MUTED, linewidth=1, linestyle=(0, (4, 3)), label="perfect")
    axes.set(xlim=(0, 1), ylim=(0, 1.02), ylabel="accuracy")
    axes.legend(loc="best", edgecolor="none")


def _draw_histogram(axes: Any, report: CalibrationReport) -> None:
    lefts, widths = zip(*map(_bar, report.bins), strict=True)
    counts = [bin.count for bin in report.bins]
    bars = axes.bar(lefts, counts, widths, align="edge", color=_BLUE, edgecolor="white")
    numbers = [f"{count:,}" for count in counts]
    # A digit takes about 0.014 of the axis; bars that have no room for their number go without.
    numbers = [n if width > 0.014 * len(n) else "" for n, width in zip(numbers, widths, strict=True)]
    axes.bar_label(bars, numbers, padding=1, fontsize=6.5, color=_MUTED)
    axes.set(xlabel="confidence", ylabel="answers", ylim=(0, max(counts) * 1.2))
    axes.locator_params(axis="y", integer=True, nbins=4)
    axes.yaxis.set_major_formatter("{x:,.0f}")


def _bar(bin: ReliabilityBin) -> tuple[float, float]:
    """Left edge and width of a bin's bar, wide enough to be seen where all its probabilities are one."""
    width = max(bin.high - bin.low, 0.01)
    return min(bin.low, 1 - width), width


def _save(figure: Any, path: Path) -> None:
    """Write beside the target, then rename: a failure leaves no half-written picture."""
    suffix = path.suffix.lower()
    unfinished = path.with_name(f".{path.name}.part")
    try:
        figure.savefig(unfinished, format=suffix[1:], dpi=200, metadata=_UNDATED[suffix])
        unfinished.replace(path)
    except OSError as error:
        raise InputError(f"cannot write the picture: {error.strerror}", path) from error
    finally:
        unfinished.unlink(missing_ok=True)
