"""Trees as pictures: SVG that stands alone, for documents and the web."""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.text.draw_tree import Placed, layout
from dovetail.text.sentence import Span
from dovetail.text.svg import MARGIN, SIZE, faded, svg_document, svg_text, text_width
from dovetail.text.tree import Tree

_GAP, _ROW = 14, 46
_SPAN_ROW = 30
_COLOURS = ("#0b7a75", "#b4500f", "#6a3d9a", "#1f6fb2", "#a3174f", "#5c6b00")


def tree_svg(tree: Tree, spans: Sequence[Span] = (), title: str | None = None) -> str:
    """The tree as a standalone SVG document, with ``spans`` (entities, nested ones too) under the words.

    A constituent that has a probability is the fainter, the less probable it is, and shows it where a pointer rests.

    >>> svg = tree_svg(Tree("NP", (Tree("NNP", word="AT&T"),)), [Span(0, 1, "ORG")])
    >>> svg.startswith("<svg"), "AT&amp;T" in svg, "ORG" in svg
    (True, True, True)
    """
    plan = layout(tree, _measure, _GAP)
    bottom = MARGIN + SIZE + plan.bottom * _ROW
    shapes = []
    leaves: list[float] = []
    for node, depth, middle, parent in plan.nodes:
        x = middle + MARGIN
        y = bottom if node.word is not None else MARGIN + SIZE + depth * _ROW
        parts = [_arm(plan.nodes[parent], x, y)] if parent >= 0 else []
        parts.append(svg_text("tag" if node.word is not None else "label", x, y, node.label))
        if node.word is not None:
            parts.append(svg_text("word", x, y + SIZE + 5, node.word))
            leaves.append(x)
        shapes.append(faded("".join(parts), node.probability))
    drawn, rows = _spans(tree, spans, leaves, bottom + SIZE + 14)
    height = bottom + SIZE + 5 + rows * _SPAN_ROW + MARGIN
    return svg_document([*shapes, *drawn], plan.width + 2 * MARGIN, height, title)


def _arm(above: Placed, x: float, y: float) -> str:
    """The line to a parent: aslant over one row, straight down to the words from there."""
    top = MARGIN + SIZE + above.depth * _ROW
    return f'<path class="arm" d="M{above.middle + MARGIN:.1f} {top + 5}L{x:.1f} {top + _ROW - SIZE}V{y - SIZE}"/>'


def _measure(node: Tree) -> float:
    return max(text_width(node.label), text_width(node.word or ""))


def _spans(tree: Tree, spans: Sequence[Span], leaves: list[float], top: float) -> tuple[list[str], int]:
    """The shapes of the spans, and how many rows they take: a span stands below all that lie in it."""
    halves = [_measure(leaf) / 2 for leaf in tree.leaves()]
    colours = {label: _COLOURS[n % len(_COLOURS)] for n, label in enumerate(dict.fromkeys(s.label for s in spans))}
    taken: list[list[Span]] = []  # the spans of each row
    shapes = []
    for span in sorted(spans, key=lambda span: (span.end - span.start, span.start)):
        row = max((n + 1 for n, others in enumerate(taken) if any(_touch(span, other) for other in others)), default=0)
        if row == len(taken):
            taken.append([])
        taken[row].append(span)
        y = top + row * _SPAN_ROW
        left, right = leaves[span.start] - halves[span.start], leaves[span.end - 1] + halves[span.end - 1]
        colour = colours[span.label]
        line = f'<path d="M{left:.1f} {y - 4}v5H{right:.1f}v-5" fill="none" stroke="{colour}" stroke-width="1.6"/>'
        name = svg_text("small", (left + right) / 2, y + 15, span.label, colour)
        shapes.append(faded(line + name, span.probability))
    return shapes, len(taken)


def _touch(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
