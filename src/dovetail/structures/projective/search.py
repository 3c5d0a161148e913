"""Down the charts to one tree, the best one or one drawn at random; the k best trees; the parts of a given one."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.contract import Floats, Labels
from dovetail.structures.projective.parts import LEFT, NONE, RIGHT, Places, ProjectivePotentials
from dovetail.structures.projective.sums import LogCharts, attachment, fill, inc_terms, make_charts, trap_terms


@inner
def largest_at(terms: Floats, count: int) -> int:
    """Where the largest of the first terms is, the first of equal ones."""
    best = 0
    for i in range(1, count):
        if terms[i] > terms[best]:
            best = i
    return best


@inner
def drawn_at(terms: Floats, count: int, uniform: float) -> int:
    """One of the first terms, drawn with the probability of their exponentials by a uniform number."""
    top = terms[largest_at(terms, count)]
    total = 0.0
    for i in range(count):
        total += math.exp(terms[i] - top)
    left, chosen = uniform * total, 0
    for i in range(count):
        weight = math.exp(terms[i] - top)
        if weight > 0.0:
            chosen = i
            left -= weight
            if left < 0.0:
                break
    return chosen


@kernel
def walk(
    attach: Floats, m: int, several: bool, charts: LogCharts, uniforms: Floats, stack: Labels, heads: Labels
) -> None:
    """The heads of one tree of full charts: [m - 1].

    uniforms: [m - 1, 2], two numbers for each word draw a tree from charts of sums; [0, 2] takes the best tree of
    charts of maxima. stack: [m, 2], room for sides that are to be filled: head, fence.
    """
    stack[0, 0], stack[0, 1] = 0, m
    waiting, word = 1, 0
    while waiting > 0:
        waiting -= 1
        h, b = stack[waiting]
        if h <= b <= h + 1:
            continue
        count = inc_terms(h, b, charts)
        chosen = drawn_at(charts.terms, count, uniforms[word, 0]) if len(uniforms) else largest_at(charts.terms, count)
        d = min(h + 1, b) + chosen
        heads[d - 1] = h
        count = trap_terms(attach, m, several, h, d, charts)
        chosen = drawn_at(charts.terms, count, uniforms[word, 1]) if len(uniforms) else largest_at(charts.terms, count)
        fence = min(h, d) + 1 + chosen
        word += 1
        stack[waiting, 0], stack[waiting, 1] = d, b
        stack[waiting + 1, 0], stack[waiting + 1, 1] = d, fence
        stack[waiting + 2, 0], stack[waiting + 2, 1] = h, fence
        waiting += 3


@kernel
def best_trees(
    potentials: ProjectivePotentials, places: Places, several: bool, low: int, high: int, heads: Labels
) -> None:
    """The best tree of each sentence low .. high; of equal ones, that of the leftmost dependents, then fences.

    heads: [N], set, to ``NONE`` in a sentence without an allowed tree.
    """
    charts = make_charts(places, low, high)
    stack = np.empty((3 * charts.terms.size, 2), np.int32)
    none = np.empty((0, 2))
    for n in range(low, high):
        m = places.words[n + 1] - places.words[n] + 1
        attach = potentials.attach[places.arcs[n] : places.arcs[n + 1]]
        first = places.words[n] + n
        score = fill(attach, potentials.stop[first : first + m], several, False, charts)
        mine = heads[places.words[n] : places.words[n + 1]]
        if score > -np.inf:
            walk(attach, m, several, charts, none, stack, mine)
        else:
            mine[:] = NONE


@kernel
def sampled_trees(
    potentials: ProjectivePotentials, places: Places, several: bool, low: int, high: int, uniforms: Floats,
    heads: Labels,
) -> int:  # fmt: skip
    """Trees drawn from the exact distribution of each sentence low .. high; the first sentence without any, or -1.

    uniforms: [samples, N, 2]; heads: [samples, N], set.
    """
    charts = make_charts(places, low, high)
    stack = np.empty((3 * charts.terms.size, 2), np.int32)
    for n in range(low, high):
        begin, end = places.words[n], places.words[n + 1]
        m = end - begin + 1
        attach = potentials.attach[places.arcs[n] : places.arcs[n + 1]]
        if fill(attach, potentials.stop[begin + n : end + n + 1], several, True, charts) == -np.inf:
            return n
        for i in range(uniforms.shape[0]):
            walk(attach, m, several, charts, uniforms[i, begin:end], stack, heads[i, begin:end])
    return -1


class Ranked(NamedTuple):
    """The best ways to make each entry of a chart of M rows, best first; K of them, minus infinity past the last."""

    score: Floats
    """``[M, M + 1, K]``."""
    split: Labels
    """``[M, M + 1, K]``: the fence, or the outermost dependent."""
    near: Labels
    """``[M, M + 1, K]``: which of the ways of the part next to the head."""
    far: Labels
    """``[M, M + 1, K]``: which of the ways of the other part."""


@inner
def make_ranked(m: int, k: int) -> Ranked:
    """Room for the charts of a sentence of up to m positions."""
    shape = (m, m + 1, k)
    return Ranked(
        np.empty(shape), np.empty(shape, np.int32), np.empty(shape, np.int32), np.empty(shape, np.int32)
    )  # fmt: skip


@kernel
def merge(near: Floats, far: Floats, extra: float, split: int, row: int, column: int, out: Ranked) -> None:
    """Rank the sums of two ranked lists, and a constant, among the ways to make an entry.

    The way made of the i-th and the j-th best is among the k best only if (i + 1) * (j + 1) <= k.
    """
    k = near.size
    score = out.score[row, column]
    for i in range(k):
        for j in range(k // (i + 1)):
            value = near[i] + far[j] + extra
            if not value > score[k - 1]:
                break
            place = k - 1
            while place > 0 and value > score[place - 1]:
                score[place] = score[place - 1]
                out.split[row, column, place] = out.split[row, column, place - 1]
                out.near[row, column, place] = out.near[row, column, place - 1]
                out.far[row, column, place] = out.far[row, column, place - 1]
                place -= 1
            score[place] = value
            out.split[row, column, place] = split
            out.near[row, column, place] = i
            out.far[row, column, place] = j


@inner
def fill_ranked(attach: Floats, stop: Floats, several: bool, inc: Ranked, trap: Ranked) -> None:
    """The k best ways to make each entry of the charts inc [h, fence] and trap [h, d] of one sentence."""
    m = stop.shape[0]
    inc.score[:m, : m + 1] = -np.inf
    trap.score[:m, : m + 1] = -np.inf
    for h in range(m):
        inc.score[h, h, 0] = inc.score[h, h + 1, 0] = 0.0
    for length in range(1, m):
        for i in range(m - length):
            for side in range(2):
                if i == 0 and side == LEFT:
                    continue
                h, d = (i, i + length) if side == RIGHT else (i + length, i)
                low, high = (h + 1, d) if side == RIGHT else (d + 1, h)
                nearest = low if side == RIGHT else high
                for b in range(low, high + 1):
                    # The side of d that looks to h is complete; it is empty where the fence is next to d.
                    ended = stop[d, 1 - side, 0 if b == d + 1 - side else 1]
                    extra = ended + attachment(attach, m, several, h, d, 1 if b == nearest else 0)
                    merge(inc.score[h, b], inc.score[d, b], extra, b, h, d, trap)
                b = d + side
                for dependent in range(min(h + 1, b), max(h, b)):
                    ended = stop[dependent, side, 0 if b == dependent + side else 1]
                    merge(trap.score[h, dependent], inc.score[dependent, b], ended, dependent, h, b, inc)


@kernel
def k_best(
    potentials: ProjectivePotentials, places: Places, several: bool, low: int, high: int, heads: Labels, scores: Floats
) -> None:
    """The k best trees of each sentence low .. high, best first.

    heads: [k, N], set, to ``NONE`` where there are fewer trees; scores: [n, k], set, to minus infinity there.
    """
    k, longest = heads.shape[0], 0
    for n in range(low, high):
        longest = max(longest, places.words[n + 1] - places.words[n])
    inc, trap = make_ranked(longest + 1, k), make_ranked(longest + 1, k)
    stack = np.empty((3 * longest + 4, 3), np.int32)
    for n in range(low, high):
        begin, end = places.words[n], places.words[n + 1]
        m = end - begin + 1
        attach = potentials.attach[places.arcs[n] : places.arcs[n + 1]]
        stop = potentials.stop[begin + n : end + n + 1]
        fill_ranked(attach, stop, several, inc, trap)
        for rank in range(k):
            score = inc.score[0, m, rank] + (stop[0, RIGHT, 1] if m > 1 else 0.0)
            scores[n, rank] = score
            mine = heads[rank, begin:end]
            if score == -np.inf:
                mine[:] = NONE
                continue
            stack[0, 0], stack[0, 1], stack[0, 2] = 0, m, rank
            waiting = 1
            while waiting > 0:
                waiting -= 1
                h, b, way = stack[waiting]
                if h <= b <= h + 1:
                    continue
                d = inc.split[h, b, way]
                mine[d - 1] = h
                attached, beyond = inc.near[h, b, way], inc.far[h, b, way]
                fence = trap.split[h, d, attached]
                within, towards = trap.near[h, d, attached], trap.far[h, d, attached]
                stack[waiting, 0], stack[waiting, 1], stack[waiting, 2] = d, b, beyond
                stack[waiting + 1, 0], stack[waiting + 1, 1], stack[waiting + 1, 2] = d, fence, towards
                stack[waiting + 2, 0], stack[waiting + 2, 1], stack[waiting + 2, 2] = h, fence, within
                waiting += 3


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
