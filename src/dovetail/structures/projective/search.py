"""Down the charts to the best tree; the parts of a given one; and all of them as a hypergraph."""

from __future__ import annotations

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.contract import Booleans, Floats, Integers, Labels
from dovetail.structures.hypergraph import Hypergraph
from dovetail.structures.projective.parts import LEFT, NONE, RIGHT, Places, ProjectivePotentials
from dovetail.structures.projective.sums import LogCharts, fill, inc_terms, make_charts, trap_terms


@inner
def largest_at(terms: Floats, count: int) -> int:
    """Where the largest of the first terms is, the first of equal ones."""
    best = 0
    for i in range(1, count):
        if terms[i] > terms[best]:
            best = i
    return best


@inner
def walk(attach: Floats, m: int, several: bool, charts: LogCharts, stack: Labels, heads: Labels) -> None:
    """The heads [m - 1] of the best tree of charts of maxima; stack: room for the head and fence of sides to fill."""
    stack[0, 0], stack[0, 1] = 0, m
    waiting = 1
    while waiting > 0:
        waiting -= 1
        h, b = stack[waiting]
        if h <= b <= h + 1:
            continue
        d = min(h + 1, b) + largest_at(charts.terms, inc_terms(h, b, charts))
        heads[d - 1] = h
        fence = min(h, d) + 1 + largest_at(charts.terms, trap_terms(attach, m, several, h, d, charts))
        stack[waiting, 0], stack[waiting, 1] = d, b
        stack[waiting + 1, 0], stack[waiting + 1, 1] = d, fence
        stack[waiting + 2, 0], stack[waiting + 2, 1] = h, fence
        waiting += 3


@kernel
def best_trees(
    potentials: ProjectivePotentials, places: Places, several: bool, low: int, high: int, heads: Labels
) -> None:
    """Set the heads [N] of the best tree of each sentence low .. high, ``NONE`` where no tree is allowed."""
    charts = make_charts(places, low, high)
    stack = np.empty((3 * charts.terms.size, 2), np.int32)
    for n in range(low, high):
        m = places.words[n + 1] - places.words[n] + 1
        attach = potentials.attach[places.arcs[n] : places.arcs[n + 1]]
        first = places.words[n] + n
        score = fill(attach, potentials.stop[first : first + m], several, False, charts)
        mine = heads[places.words[n] : places.words[n + 1]]
        if score > -np.inf:
            walk(attach, m, several, charts, stack, mine)
        else:
            mine[:] = NONE


def tree_graph(allowed: Booleans, several: bool) -> Hypergraph:
    """The trees of allowed arcs [m, m]: ``inc`` and ``trap`` as in the charts of sums; ``comp`` is ``inc`` and stop."""
    m, fences = len(allowed), np.arange(len(allowed) + 1)
    arcs = ~np.eye(m, dtype=bool) & (fences[:m] > 0)  # the root hangs on nothing
    h, d = np.nonzero(arcs)
    # Narrow spans come before wide ones, an arc before the side that it ends; the last is the side of the root.
    width = 2 * np.abs(h - d)
    number = 1 + np.argsort(np.argsort(np.concatenate([width, width + 1]), kind="stable"))
    trap, inc = np.zeros((m, m), np.int64), np.zeros((m, m + 1), np.int64)
    trap[h, d], inc[h, d + (d > h)] = np.split(number, 2)

    def stop(head: Integers, side: Integers, fence: Integers) -> Integers:
        """The part "a head takes no more on a side, which is filled up to a fence"."""
        part: Integers = 2 * m * m + 4 * head + 2 * side + (fence != head + side)
        return part

    h, d = np.nonzero(arcs & allowed)
    ends = np.stack([h, d, d > h])
    low, high = np.minimum(h, d)[:, None], np.maximum(h, d)[:, None]
    arc, b = np.nonzero((fences > low) & (fences <= high))
    h, d, side = ends[:, arc]
    first = b == h + side
    attached = (trap[h, d], inc[h, b], inc[d, b], 2 * (h * m + d) + first, stop(d, 1 - side, b))
    attached = tuple(each[first | (h > 0) | several] for each in attached)
    arc, b = np.nonzero(np.where(ends[2][:, None], fences > high, (fences > 0) & (fences <= low)))
    h, d, side = ends[:, arc]
    whole = np.where((h == 0) & (b == m), stop(h, side, b), -1)
    return Hypergraph.of(1 + len(number), (attached, (inc[h, b], trap[h, d], inc[d, b], -1, stop(d, side, b), whole)))


@kernel
def is_tree(heads: Labels, several: bool) -> bool:
    """Whether the heads [words] of a sentence make a projective tree below the root."""
    words = heads.size
    roots = 0
    for d in range(1, words + 1):
        h = heads[d - 1]
        if h < 0 or h == d:
            return False
        roots += 1 if h == 0 else 0
        steps = 0
        while h > 0 and steps <= words:
            h = heads[h - 1]
            steps += 1
        if steps > words:
            return False  # a cycle
        left, right = min(heads[d - 1], d), max(heads[d - 1], d)
        for other in range(left + 1, right):
            if heads[other - 1] < left or heads[other - 1] > right:
                return False  # crossing arcs
    return roots == 1 or (several and roots > 0) or words == 0


@inner
def nearest_dependents(heads: Labels, nearest: Labels) -> None:
    """The innermost dependent on each side of every position, 0 for none: [positions, 2], set."""
    nearest[:] = 0
    for d in range(heads.size, 0, -1):
        if heads[d - 1] < d:
            nearest[heads[d - 1], RIGHT] = d
    for d in range(1, heads.size + 1):
        if heads[d - 1] > d:
            nearest[heads[d - 1], LEFT] = d


@kernel
def score_trees(
    potentials: ProjectivePotentials, places: Places, several: bool, low: int, high: int, heads: Labels, scores: Floats
) -> None:
    """The score of given heads [N] for each sentence low .. high: [n], minus infinity where they make no tree."""
    for n in range(low, high):
        begin, end = places.words[n], places.words[n + 1]
        mine, m = heads[begin:end], end - begin + 1
        if not is_tree(mine, several):
            scores[n] = -np.inf
            continue
        nearest = np.empty((m, 2), np.int32)
        nearest_dependents(mine, nearest)
        total = 0.0
        for d in range(1, m):
            h = mine[d - 1]
            first = 1 if nearest[h, RIGHT if h < d else LEFT] == d else 0
            total += potentials.attach[places.arcs[n] + h * m + d, first]
        for h in range(m if m > 1 else 0):
            for side in range(2):
                if h > 0 or side == RIGHT:
                    total += potentials.stop[begin + n + h, side, 1 if nearest[h, side] > 0 else 0]
        scores[n] = total


@kernel
def count_trees(
    places: Places, low: int, high: int, heads: Labels, amount: float, counts: ProjectivePotentials
) -> None:
    """Add an amount to every part of the trees of sentences low .. high, given by their heads [N]."""
    for n in range(low, high):
        begin, end = places.words[n], places.words[n + 1]
        mine, m = heads[begin:end], end - begin + 1
        if m == 1 or mine[0] == NONE:
            continue
        nearest = np.empty((m, 2), np.int32)
        nearest_dependents(mine, nearest)
        for d in range(1, m):
            h = mine[d - 1]
            first = 1 if nearest[h, RIGHT if h < d else LEFT] == d else 0
            counts.attach[places.arcs[n] + h * m + d, first] += amount
        for h in range(m):
            for side in range(2):
                if h > 0 or side == RIGHT:
                    counts.stop[begin + n + h, side, 1 if nearest[h, side] > 0 else 0] += amount
