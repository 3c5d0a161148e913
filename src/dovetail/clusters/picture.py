"""A picture of the top of a tree of clusters, for a quick look: SVG by hand, PNG with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from dovetail.clusters.clustering import Clustering
from dovetail.errors import DovetailError, InputError
from dovetail.extras import lacking
from dovetail.text.files import atomic_writer
from dovetail.text.svg import escaped_text
from dovetail.text.width import printable

INK, MUTED, LINE, BLUE = "#1f2933", "#6b7785", "#9fb0c3", "#2f6db3"
ROW, COLUMN, MARGIN, FONT = 26, 96, 24, 13
CHARACTER = 0.58 * FONT
"""About how wide a character is, in pixels."""
LONGEST_WORD = 16
INNER_WORDS = 2


@dataclass(frozen=True)
class Node:
    """A branch of the tree: its path, its most frequent words, how many types it holds, and its children."""

    path: str
    words: tuple[str, ...]
    types: int
    children: tuple[Node, ...] = ()


@dataclass(frozen=True)
class Label:
    """Words at a place of the picture, left aligned, its middle at y."""

    x: float
    y: float
    text: str
    colour: str = INK
    size: float = FONT


@dataclass
class Drawing:
    """Lines (x, y, x, y) and labels, in pixels from the upper left corner."""

    width: float
    height: float
    lines: list[tuple[float, float, float, float]] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)


def draw_tree(clustering: Clustering, path: str | Path, *, depth: int = 5, words: int = 6, below: str = "") -> Path:
    """Draw so many levels of the tree, with the most frequent words of each branch; returns the path.

    The suffix says what is written, ``.svg`` or ``.png`` (which needs matplotlib). ``below`` is a prefix: only that
    branch is drawn.

    >>> from tempfile import TemporaryDirectory
    >>> clustering = Clustering(["a", "b"], np.array([1, 0], dtype=np.int32), ["0", "1"], np.array([5, 3]))
    >>> with TemporaryDirectory() as folder:
    ...     draw_tree(clustering, f"{folder}/tree.svg").name
    'tree.svg'
    """
    path = Path(path)
    if path.suffix.lower() not in (".svg", ".png"):
        raise InputError("pictures are written as .svg, .png: name the file so", path)
    drawing = _lay_out(top_of_tree(clustering, depth, words, below), depth)
    if path.suffix.lower() == ".svg":
        with atomic_writer(path) as file:
            file.write(_svg(drawing))
    else:
        _write_png(drawing, path)
    return path


def top_of_tree(clustering: Clustering, depth: int, words: int, below: str = "") -> Node:
    """The branch below a prefix, cut off so many bits further down.

    >>> clustering = Clustering(["a", "b"], np.array([1, 0], dtype=np.int32), ["0", "1"], np.array([5, 3]))
    >>> [child.words for child in top_of_tree(clustering, 1, 3).children]
    [('b',), ('a',)]
    """
    inside = [number for number, bits in enumerate(clustering.paths) if bits.startswith(below)]
    if not inside:
        raise DovetailError(f"no cluster has a path that begins with {below!r}; give a shorter prefix")
    order = np.argsort(-clustering.counts, kind="stable")
    ranked = order[np.isin(clustering.classes[order], inside)].tolist()
    return _node(clustering, ranked, below, len(below) + depth, words)


def _node(clustering: Clustering, ranked: Sequence[int], path: str, deepest: int, words: int) -> Node:
    """``ranked`` are the numbers of the branch's words, most frequent first."""
    branches: dict[str, list[int]] = {}
    if len(path) < deepest:
        for number in ranked:
            bits = clustering.paths[clustering.classes[number]]
            if len(bits) > len(path):
                branches.setdefault(bits[: len(path) + 1], []).append(number)
    children = tuple(_node(clustering, branches[branch], branch, deepest, words) for branch in sorted(branches))
    return Node(path, tuple(clustering.words[number] for number in ranked[:words]), len(ranked), children)


def _lay_out(root: Node, depth: int) -> Drawing:
    ends = _ends(root)
    text_width = max(len(_end_text(node)) for node in ends) * CHARACTER
    path_width = max(len(node.path) for node in ends) * CHARACTER + 14
    width = 2 * MARGIN + (depth + 1) * COLUMN + path_width + text_width
    drawing = Drawing(width, 2 * MARGIN + ROW * len(ends))
    height = {node.path: MARGIN + ROW * (row + 0.5) for row, node in enumerate(ends)}
    words_at = MARGIN + (depth + 1) * COLUMN + 8

    def place(node: Node, x: float) -> float:
        """Draw a branch whose line begins at x; returns the height of that line."""
        if not node.children:
            y = height[node.path]
            drawing.lines.append((x, y, words_at - 8, y))
            drawing.labels.append(Label(words_at, y, node.path, BLUE))
            drawing.labels.append(Label(words_at + path_width, y, _end_text(node)))
            return y
        middles = [place(child, x + COLUMN) for child in node.children]
        y = (middles[0] + middles[-1]) / 2
        drawing.lines.append((x, y, x + COLUMN, y))
        drawing.lines.append((x + COLUMN, middles[0], x + COLUMN, middles[-1]))
        text = _shortened(" ".join(map(_shortened, node.words[:INNER_WORDS])), int(COLUMN / (0.5 * FONT)))
        drawing.labels.append(Label(x + 3, y - 8, text, MUTED, FONT - 3))
        return y

    place(root, MARGIN)
    return drawing


def _ends(node: Node) -> list[Node]:
    return [end for child in node.children for end in _ends(child)] if node.children else [node]


def _end_text(node: Node) -> str:
    return f"{'  '.join(map(_shortened, node.words))}   ({node.types:,})"


def _shortened(word: str, most: int = LONGEST_WORD) -> str:
    return word if len(word) <= most else word[: most - 1] + "…"


def _svg(drawing: Drawing) -> str:
    lines = "".join(f"M{x:g} {y:g}L{to_x:g} {to_y:g}" for x, y, to_x, to_y in drawing.lines)
    labels = [
        f'<text x="{label.x:g}" y="{label.y:g}" fill="{label.colour}" font-size="{label.size:g}"'
        f' xml:space="preserve">{escaped_text(label.text)}</text>'
        for label in drawing.labels
    ]
    size = f'width="{drawing.width:.0f}" height="{drawing.height:.0f}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" dominant-baseline="central">',
            '<rect width="100%" height="100%" fill="white"/>',
            f'<path d="{lines}" stroke="{LINE}" stroke-width="1.3" fill="none"/>',
            *labels,
            "</svg>\n",
        ]
    )


def _write_png(drawing: Drawing, path: Path) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise DovetailError(f"{lacking('a .png', 'matplotlib')}; or name an .svg") from error
    inch = 100  # pixels of the layout
    figure = Figure(figsize=(drawing.width / inch, drawing.height / inch), dpi=1.5 * inch)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, drawing.width), ylim=(drawing.height, 0))
    axes.set_axis_off()
    for x, y, to_x, to_y in drawing.lines:
        axes.plot([x, to_x], [y, to_y], color=LINE, linewidth=1)
    for label in drawing.labels:
        points, text = label.size * 72 / inch, printable(label.text)
        axes.text(label.x, label.y, text, color=label.colour, fontsize=points, va="center_baseline", parse_math=False)
    with atomic_writer(path, binary=True) as file:
        figure.savefig(file, format="png")
