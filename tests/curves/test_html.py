"""Learning curves as notebooks show them."""

from __future__ import annotations

import re

from dovetail.curves import Curve, Point
from dovetail.curves.html import curves_html
from tests.evaluate.test_mistakes import Reader


def point(sentences: int, score: float) -> Point:
    return Point(sentences, 7 * sentences, 3, score, 1.0, score - 1, score + 1, None, None)


def test_curves_are_pictures() -> None:
    curves = [Curve("<a>", (point(10, 40.0), point(100, 60.0))), Curve("b", (point(10, 45.0),))]
    page = curves_html(curves)
    assert page.count("<circle") == 3
    assert "<a>" in Reader(page).text
    assert {"10", "100", "48", "labelled sentences"} <= set(re.findall(r"<text [^>]*>([^<]+)</text>", page))
    Reader(curves[0]._repr_html_())
    assert curves_html([]) == "<div>no runs</div>"
