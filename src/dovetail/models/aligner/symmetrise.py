"""Links of two directions made one set."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Cell = tuple[int, int]
"""A source position and a target position, from 0."""
NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))


def union(forward: set[Cell], backward: set[Cell]) -> set[Cell]:
    """The links that either direction has."""
    return forward | backward


def intersection(forward: set[Cell], backward: set[Cell]) -> set[Cell]:
    """The links that both directions have."""
    return forward & backward


def grow_diag_final_and(forward: set[Cell], backward: set[Cell]) -> set[Cell]:
    """Grow the intersection towards the union (Koehn, Och and Marcu 2003).

    First by links beside links, also diagonally, one of whose words has none yet; then, forward before backward, by
    links both of whose words have none.

    >>> sorted(grow_diag_final_and({(0, 0), (0, 1), (3, 3)}, {(0, 0), (2, 1)}))
    [(0, 0), (0, 1), (3, 3)]
    """
    either, found = forward | backward, forward & backward
    sources, targets = {i for i, _ in found}, {j for _, j in found}

    def add(cell: Cell) -> None:
        found.add(cell)
        sources.add(cell[0])
        targets.add(cell[1])

    waiting = sorted(found)
    while waiting:
        grown = []
        for i, j in waiting:
            for down, right in NEIGHBOURS:
                cell = i + down, j + right
                if cell in either and cell not in found and (cell[0] not in sources or cell[1] not in targets):
                    add(cell)
                    grown.append(cell)
        waiting = sorted(found) if grown else []
    for some in (forward, backward):
        for cell in sorted(some):
            if cell[0] not in sources and cell[1] not in targets:
                add(cell)
    return found


WAYS: dict[str, Callable[[set[Cell], set[Cell]], set[Cell]]] = {
    "union": union,
    "intersection": intersection,
    "grow-diag-final-and": grow_diag_final_and,
    "forward": lambda forward, _: forward,
    "backward": lambda _, backward: backward,
}


def best_links(cells: Iterable[tuple[int, int, float]], each: int) -> set[Cell]:
    """The likeliest link of each word of side ``each`` (0 source, 1 target), unless having none is likelier still.

    >>> best_links([(0, 0, 0.5), (1, 0, 0.2), (0, 1, 0.3)], each=1)
    {(0, 0)}
    """
    best: dict[int, tuple[float, Cell]] = {}
    none: dict[int, float] = {}
    for i, j, p in cells:
        word = (i, j)[each]
        none[word] = none.get(word, 1.0) - p
        if word not in best or p > best[word][0]:
            best[word] = p, (i, j)
    return {cell for word, (p, cell) in best.items() if p > none[word]}
