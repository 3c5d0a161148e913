"""Down the charts to one tree: the best one, or one drawn at random."""

from __future__ import annotations

import math

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.chain.parts import Floats, Labels
from dovetail.structures.projective.log import LogCharts, fill, inc_terms, make_charts, trap_terms
from dovetail.structures.projective.parts import NONE, Places, ProjectivePotentials


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
