"""Where the nodes of a drawn tree go: parents above the middle of their children, words in a row at the bottom."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dovetail.text.tree import Tree


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
    nodes = list(tree.nodes())
    parents = _parents(nodes)
    children: list[list[int]] = [[] for _ in nodes]
    for index, parent in enumerate(parents[1:], 1):
        children[parent].append(index)
    own = [measure(node) for node in nodes]
    below: list[float] = [0] * len(nodes)  # the width of the children side by side
    widths: list[float] = [0] * len(nodes)
    for index in reversed(range(len(nodes))):
        below[index] = sum(widths[child] + gap for child in children[index]) - gap
        widths[index] = max(below[index], own[index])
    lefts: list[float] = [0] * len(nodes)
    depths = [0] * len(nodes)
    for index, width in enumerate(widths):
        left = lefts[index] + (width - below[index]) / 2
        for child in children[index]:
            lefts[child], depths[child] = left, depths[index] + 1
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
    return Layout(placed, widths[0], max(place.depth for place in placed))


def _parents(nodes: list[Tree]) -> list[int]:
    """The index of each node's parent in the order of ``Tree.nodes``."""
    parents = [-1]
    waiting: list[list[int]] = []  # nodes some of whose children are still to come: index, how many
    for index, node in enumerate(nodes):
        if index:
            parents.append(waiting[-1][0])
            waiting[-1][1] -= 1
            if not waiting[-1][1]:
                waiting.pop()
        if node.children:
            waiting.append([index, len(node.children)])
    return parents
