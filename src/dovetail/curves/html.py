"""Learning curves as HTML, for notebooks: an SVG picture that follows the colours of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail.curves.summary import Curve, Point

HUES = (212, 22, 150, 320, 190, 45, 0)
WIDTH, HEIGHT, EDGE = 460, 300, 50


def curves_html(curves: Sequence[Curve]) -> str:
    """The mean of every series over the number of sentences, with a band from its lowest to its highest draw."""
    points = [point for curve in curves for point in curve.points]
    if not points:
        return "<div>no runs</div>"
    frame = _Frame(points)
    shapes = [*frame.axes()]
    for number, curve in enumerate(curves):
        colour = f"hsl({HUES[number % len(HUES)]} 66% 50%)"
        shapes += frame.series(curve, colour)
        where = f'x="{EDGE + 10}" y="{24 + 16 * number}"'
        shapes.append(f'<text {where} font-size="12" font-weight="600" fill="{colour}">{escape(curve.name)}</text>')
    size = f'width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg class="plot" {size} role="img" aria-label="learning curves">{"".join(shapes)}</svg>'


class _Frame:
    """Where scores and sizes are in the picture; sizes on a logarithmic axis."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.sizes = sorted({point.sentences for point in points})
        low, high = min(point.low for point in points), max(point.high for point in points)
        self.low, self.high = math.floor(low - 0.5), math.ceil(high + 0.5)

    def place(self, sentences: int, score: float) -> tuple[float, float]:
        first, last = math.log(self.sizes[0]), math.log(self.sizes[-1])
        across = (math.log(sentences) - first) / (last - first) if last > first else 0.5
        up = (score - self.low) / (self.high - self.low)
        return EDGE + 14 + across * (WIDTH - EDGE - 40), 12 + (1 - up) * (HEIGHT - 62)

    def axes(self) -> Iterator[str]:
        bottom = HEIGHT - 50
        yield f'<path d="M{EDGE} 12V{bottom}H{WIDTH - 12}" fill="none" stroke="currentColor" opacity="0.5"/>'
        last = -math.inf
        for size in self.sizes:
            x, _ = self.place(size, self.low)
            if x - last > 38:
                yield _text(f'x="{x:.0f}" y="{bottom + 17}" text-anchor="middle"', f"{size:,}")
                last = x
        step = max(1, round((self.high - self.low) / 5))
        for score in range(self.low, self.high + 1, step):
            _, y = self.place(self.sizes[0], score)
            yield _text(f'x="{EDGE - 6}" y="{y + 4:.0f}" text-anchor="end"', str(score))
        yield _text(f'x="{(WIDTH + EDGE) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle"', "labelled sentences")

    def series(self, curve: Curve, colour: str) -> Iterator[str]:
        above = [self.place(point.sentences, point.high) for point in curve.points]
        below = [self.place(point.sentences, point.low) for point in reversed(curve.points)]
        yield f'<path d="M{_path([*above, *below])}Z" fill="{colour}" fill-opacity="0.18"/>'
        mean = [self.place(point.sentences, point.mean) for point in curve.points]
        yield f'<path d="M{_path(mean)}" fill="none" stroke="{colour}" stroke-width="1.6"/>'
        for point, (x, y) in zip(curve.points, mean, strict=True):
            told = f"{point.sentences:,} sentences, {point.mean:.2f}, {point.draws} draws"
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}"><title>{told}</title></circle>'


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _text(where: str, text: str) -> str:
    return f'<text {where} fill="currentColor" font-size="12">{text}</text>'
