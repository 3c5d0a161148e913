"""What pictures in SVG are made of: a document that stands alone, texts with their widths, faded shapes."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from dovetail.text.width import display_width, printable

SIZE = 15
"""The size of the letters; all else is in proportion."""
MARGIN = 16

_STYLE = (
    f"text {{ font: {SIZE}px 'Helvetica Neue', Arial, 'Noto Sans', sans-serif; text-anchor: middle }} "
    ".label { fill: #1b3a6b; font-weight: 600 } .tag { fill: #5b6470 } .word { fill: #111111 } "
    ".arm { stroke: #8a94a3; stroke-width: 1.3; fill: none } .small { font-size: 12px; font-weight: 600 }"
)


def svg_document(shapes: Sequence[str], width: float, height: float, title: str | None) -> str:
    """The shapes on white ground, as a file of their own."""
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    head = f"<title>{escaped_text(title)}</title>" if title is not None else ""
    opening = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{head}'
    ground = f'<style>{_STYLE}</style><rect width="100%" height="100%" fill="#ffffff"/>'
    return "\n".join([opening, ground, *shapes, "</svg>\n"])


def svg_text(kind: str, x: float, y: float, text: str, fill: str | None = None) -> str:
    """A text whose middle is at ``x``; ``kind`` is a class: label, tag, word or small.

    >>> svg_text("word", 5, 9, "AT&T")
    '<text class="word" x="5.0" y="9">AT&amp;T</text>'
    """
    colour = f' fill="{fill}"' if fill is not None else ""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.0f}"{colour}>{escaped_text(text)}</text>'


def escaped_text(text: str) -> str:
    """The text as XML may hold it."""
    return escape(printable(text))


def faded(shape: str, probability: float | None) -> str:
    """The shape, the fainter the less probable; a pointer that rests on it shows the probability.

    >>> faded("", 0.5)
    '<g opacity="0.60"><title>0.500</title></g>'
    """
    if probability is None:
        return f"<g>{shape}</g>"
    opacity = 0.2 + 0.8 * min(1.0, max(0.0, probability))
    return f'<g opacity="{opacity:.2f}"><title>{probability:.3f}</title>{shape}</g>'


def text_width(text: str) -> float:
    """About how many pixels a text takes, on the generous side; fonts differ."""
    capitals = sum(character.isupper() or character in "mw%@" for character in text)
    return SIZE * (0.56 * display_width(text) + 0.14 * capitals)
