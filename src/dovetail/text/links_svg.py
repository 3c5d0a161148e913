"""The links of a pair of sentences as a picture: SVG that stands alone, for documents and the web."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dovetail.text.bitext import Pair
from dovetail.text.links import Link
from dovetail.text.svg import MARGIN, SIZE, faded, svg_document, svg_text, text_width

_GAP = 16
_LEAST, _MOST = 70.0, 240.0
"""Between the two rows of words, in pixels: more where links go far, so that they are not flat."""


def links_svg(pair: Pair, links: Iterable[Link], title: str | None = None) -> str:
    """The source words above, the target words below, and a line for each link.

    The less probable a link, the fainter its line, which shows the probability where a pointer rests. A link that is
    only possible is dashed. Words without any link are grey.

    >>> svg = links_svg(Pair(("das", "Haus"), ("the", "house")), [Link(0, 0), Link(1, 1, 0.6)])
    >>> svg.startswith("<svg"), svg.count('class="arm"'), "<title>0.600</title>" in svg
    (True, 2, True)
    """
    found = list(links)
    (above, width), (below, other) = _middles(pair.source), _middles(pair.target)
    shift = abs(width - other) / 2  # the shorter row stands in the middle of the longer one
    above, below = ([x + shift for x in above], below) if width < other else (above, [x + shift for x in below])
    far = max((abs(above[link.source] - below[link.target]) for link in found), default=0.0)
    top = MARGIN + SIZE
    bottom = top + min(max(_LEAST, far / 3), _MOST)
    shapes = [_line(link, above[link.source], below[link.target], top, bottom) for link in found]
    shapes += _words(pair.source, above, top, {link.source for link in found})
    shapes += _words(pair.target, below, bottom, {link.target for link in found})
    return svg_document(shapes, max(width, other) + 2 * MARGIN, bottom + MARGIN, title)


def _middles(words: Sequence[str]) -> tuple[list[float], float]:
    """Where the middle of each word is, and how wide all are together."""
    middles, x = [], float(MARGIN)
    for word in words:
        width = text_width(word)
        middles.append(x + width / 2)
        x += width + _GAP
    return middles, max(x - _GAP - MARGIN, 0.0)


def _words(words: Sequence[str], middles: Sequence[float], y: float, linked: set[int]) -> list[str]:
    texts = zip(words, middles, strict=True)
    return [svg_text("word" if i in linked else "tag", x, y, word) for i, (word, x) in enumerate(texts)]


def _line(link: Link, x: float, end: float, top: float, bottom: float) -> str:
    """The line of a link, which leaves its words straight down, so that those of neighbours can be told apart."""
    begin, last = top + 6, bottom - SIZE
    middle = (begin + last) / 2
    dashes = "" if link.sure else ' stroke-dasharray="4 3"'
    path = f"M{x:.1f} {begin:.1f}C{x:.1f} {middle:.1f} {end:.1f} {middle:.1f} {end:.1f} {last:.1f}"
    return faded(f'<path class="arm"{dashes} d="{path}"/>', link.probability if link.probability < 1 else None)
