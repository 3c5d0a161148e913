"""Trees drawn: where the nodes of any picture go; and for a terminal, or indented where the screen is too narrow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from shutil import get_terminal_size
from typing import NamedTuple, TypeVar

from dovetail.text.tree import Tree
from dovetail.text.width import display_width, printable

T = TypeVar("T")

_GAP = 2
_DEEPEST = 240  # columns of indentation; of a deeper tree only the last are shown


def draw_tree(tree: Tree, width: int | None = None, probabilities: bool = False) -> str:
    """The tree as text: a drawing if it fits into ``width`` columns (of the terminal), else indented lines.

    ``probabilities`` are shown beside the labels that have them.

    >>> from dovetail.text.brackets import parse_tree
    >>> tree = parse_tree("(S (NP (NNP Ada)) (VP (VBD wrote) (NP (NNS notes))))")
    >>> print(draw_tree(tree, width=80))
          S
     ┌────┴────┐
     NP       VP
     │     ┌───┴──┐
     │     │      NP
     │     │      │
    NNP   VBD    NNS
    Ada  wrote  notes
    >>> print(draw_tree(tree, width=12))
    S
    ├── NP
    │   └── NNP Ada
    └── VP
        ├── VBD wrote
        └── NP
            └── NNS notes
    """
    columns = get_terminal_size().columns if width is None else width
    # A drawing is at least so wide: spares the layout of what cannot fit.
    if len(tree) * (1 + _GAP) <= columns + _GAP:
        plan = layout(tree, lambda node: _measure(node, probabilities), _GAP)
        if plan.width <= columns:
            return _drawn(plan, probabilities)
    return _indented(tree, probabilities)


def _text(node: Tree, probabilities: bool) -> str:
    label = printable(node.label)
    return f"{label} {node.probability:.2f}" if probabilities and node.probability is not None else label


def _measure(node: Tree, probabilities: bool) -> int:
    return max(display_width(_text(node, probabilities)), display_width(printable(node.word or "")))


class _Canvas:
    """Rows of cells; a wide character takes two, of which the second is empty."""

    def __init__(self, rows: int, columns: int) -> None:
        self.cells = [[" "] * (columns + 2) for _ in range(rows)]

    def write(self, row: int, middle: float, text: str) -> None:
        """Put a text so that its middle is there."""
        column = max(0, int(middle - display_width(text) / 2 + 0.5))
        for character in text:
            size = display_width(character)
            if not size:
                self.cells[row][column - 1] += character
                continue
            self.cells[row][column] = character
            if size == 2:
                self.cells[row][column + 1] = ""
            column += size

    def branch(self, row: int, middle: int, below: list[int]) -> None:
        """The line from a parent to its children."""
        for column in range(min(middle, below[0]), max(middle, below[-1]) + 1):
            left, right = column > min(middle, below[0]), column < max(middle, below[-1])
            self.cells[row][column] = _CORNERS[column == middle, column in below, left, right]

    def __str__(self) -> str:
        return "\n".join("".join(row).rstrip() for row in self.cells)


# By the arms of a crossing: up, down, left, right.
_ARMS = " ╶╴─╷┌┐┬╵└┘┴│├┤┼"
_CORNERS = {(bool(n & 8), bool(n & 4), bool(n & 2), bool(n & 1)): character for n, character in enumerate(_ARMS)}


def _drawn(plan: Layout, probabilities: bool) -> str:
    canvas = _Canvas(2 * plan.bottom + 2, int(plan.width) + 1)
    below: dict[int, list[int]] = {}
    for place in plan.nodes[1:]:
        below.setdefault(place.parent, []).append(int(place.middle))
    for index, (node, depth, middle, _) in enumerate(plan.nodes):
        if node.word is None:
            canvas.write(2 * depth, middle, _text(node, probabilities))
            canvas.branch(2 * depth + 1, int(middle), below[index])
        else:
            for row in range(2 * depth, 2 * plan.bottom):
                canvas.cells[row][int(middle)] = "│"
            canvas.write(2 * plan.bottom, middle, _text(node, probabilities))
            canvas.write(2 * plan.bottom + 1, middle, printable(node.word))
    return str(canvas)


def _indented(tree: Tree, probabilities: bool) -> str:
    def text(node: Tree) -> str:
        word = f" {printable(node.word)}" if node.word is not None else ""
        return _text(node, probabilities) + word

    return draw_indented(tree, text, lambda node: node.children)


def draw_indented(root: T, text: Callable[[T], str], below: Callable[[T], Sequence[T]]) -> str:
    """A tree of anything as indented lines: the ``text`` of each node, then what is ``below`` it.

    >>> print(draw_indented(3, str, lambda number: list(range(number - 1))))
    3
    ├── 0
    └── 1
    """
    lines = []
    stack: list[tuple[T, str, str]] = [(root, "", "")]  # with what stands before it, and before what is below it
    while stack:
        node, before, under = stack.pop()
        lines.append(before + text(node))
        if len(under) > _DEEPEST:
            under = "… " + under[6:]
        for position, child in enumerate(reversed(below(node))):
            arm, line = ("└── ", "    ") if position == 0 else ("├── ", "│   ")
            stack.append((child, under + arm, under + line))
    return "\n".join(lines)


class Placed(NamedTuple):
    """A node of a drawing: how deep it lies, the middle of its label, and its parent (an index, -1 for the root)."""

    node: Tree
    depth: int
    middle: float
    parent: int


class Layout(NamedTuple):
    """The nodes in the order of ``tree.nodes()``, the width of the drawing, and the depth at which words stand."""

    nodes: list[Placed]
    width: float
    bottom: int


def layout(tree: Tree, measure: Callable[[Tree], float], gap: float) -> Layout:
    """Give every node a place such that no two of a row come closer than ``gap``.

    ``measure`` is the width of a node's own text (of a part of speech, with its word).

    >>> tree = Tree("NP", (Tree("DT", word="the"), Tree("NN", word="sea")))
    >>> [placed.middle for placed in layout(tree, lambda node: 4, gap=2).nodes]
    [5.0, 2.0, 8.0]
    """
    nodes: list[Tree] = []
    parents: list[int] = []
    depths: list[int] = []
    children: list[list[int]] = []
    stack = [(tree, -1, 0)]
    while stack:
        node, parent, depth = stack.pop()
        if parent >= 0:
            children[parent].append(len(nodes))
        stack += [(child, len(nodes), depth + 1) for child in reversed(node.children)]
        nodes.append(node)
        parents.append(parent)
        depths.append(depth)
        children.append([])
    own = [measure(node) for node in nodes]
    below: list[float] = [0] * len(nodes)  # the width of the children side by side
    widths: list[float] = [0] * len(nodes)
    for index in reversed(range(len(nodes))):
        below[index] = sum(widths[child] + gap for child in children[index]) - gap
        widths[index] = max(below[index], own[index])
    lefts: list[float] = [0] * len(nodes)
    for index, width in enumerate(widths):
        left = lefts[index] + (width - below[index]) / 2
        for child in children[index]:
            lefts[child] = left
            left += widths[child] + gap
    middles: list[float] = [0] * len(nodes)
    for index in reversed(range(len(nodes))):
        middle = lefts[index] + widths[index] / 2
        if children[index]:
            between = (middles[children[index][0]] + middles[children[index][-1]]) / 2
            nearest = min((middles[child] for child in children[index]), key=lambda at: abs(at - between))
            between = nearest if abs(nearest - between) <= gap else between  # a straight line is calmer
            reach = (widths[index] - own[index]) / 2
            middle = min(max(between, middle - reach), middle + reach)
        middles[index] = middle
    placed = [Placed(*values) for values in zip(nodes, depths, middles, parents, strict=True)]
    return Layout(placed, widths[0], max(depths))
