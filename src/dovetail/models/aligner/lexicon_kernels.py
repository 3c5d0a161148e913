"""IBM model 1 in both directions, over all pairs of words that ever stand in the same pair of sentences.

Pairs are walked source word by source word. A mark for every target word says where in the row of that source word its
count lies; rows are met in the same order each time, so neither hash tables, nor sorting, nor the numbers of the target
words are kept, and a row stays in the cache. ``Walk`` says where the tokens of each source word are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Floats, Int32s, Int64s, Integers
from dovetail.kernel import steady

Singles = NDArray[Any]
"""Numbers of four bytes."""


class Walk(NamedTuple):
    """The tokens of source word s are ``token[first[s] : first[s + 1]]``, and ``sentence`` says where each stands."""

    first: Int64s  # [source words + 1]
    token: Int32s  # [source tokens]
    sentence: Int32s  # [source tokens]
    source_begin: Int64s  # [sentences + 1]
    target: Int32s  # [target tokens]: words
    target_begin: Int64s  # [sentences + 1]
    row: Int64s  # [source words + 1]: where the counts of each source word begin


class Model(NamedTuple):
    """``p(t | s) = (links + a) * of_source[s]`` and ``p(s | t) = (links + a) * of_target[t]``, and those of no word."""

    links: Singles  # [pairs]
    prior: float  # a
    of_source: Singles  # [source words]: 1 / (count of s + a * target words)
    of_target: Singles  # [target words]: 1 / (count of t + a * source words)
    none_source: Singles  # [source words]: p(s | no word), times that of no word
    none_target: Singles  # [target words]


@steady
def row_sizes(low: int, high: int, walk: Walk, mark: Int32s, out: Int64s) -> None:
    """How many target words the source words from ``low`` to ``high`` stand with, to ``out`` [source words]."""
    for s in range(low, high):
        size = 0
        for at in range(walk.first[s], walk.first[s + 1]):
            k = walk.sentence[walk.token[at]]
            for j in range(walk.target_begin[k], walk.target_begin[k + 1]):
                if mark[walk.target[j]] != s:
                    mark[walk.target[j]] = s
                    size += 1
        out[s] = size


@steady
def first_counts(
    low: int, high: int, walk: Walk, mark: Int32s, slot: Int32s, count: Singles, of_s: Floats, of_t: Floats
) -> None:
    """Each word of a pair of sentences linked to each, or to none, alike: counts of pairs and of words."""
    for s in range(low, high):
        size, row, total = 0, walk.row[s], 0.0
        for at in range(walk.first[s], walk.first[s + 1]):
            k = walk.sentence[walk.token[at]]
            a, b = walk.target_begin[k], walk.target_begin[k + 1]
            share = 1.0 / ((b - a + 1.0) * (walk.source_begin[k + 1] - walk.source_begin[k] + 1.0))
            for j in range(a, b):
                t = walk.target[j]
                if mark[t] != s:
                    mark[t] = s
                    slot[t] = size
                    size += 1
                count[row + slot[t]] += share
                of_t[t] += share
            total += share * (b - a)
        of_s[s] = total


@steady
def add_forward(low: int, high: int, walk: Walk, mark: Int32s, slot: Int32s, model: Model, sums: Singles) -> None:
    """Add ``p(t_j | s)`` of the tokens of these source words to ``sums`` [target tokens]."""
    for s in range(low, high):
        size, row = 0, walk.row[s]
        for at in range(walk.first[s], walk.first[s + 1]):
            k = walk.sentence[walk.token[at]]
            for j in range(walk.target_begin[k], walk.target_begin[k + 1]):
                t = walk.target[j]
                if mark[t] != s:
                    mark[t] = s
                    slot[t] = size
                    size += 1
                sums[j] += (model.links[row + slot[t]] + model.prior) * model.of_source[s]


@steady
def expect(
    low: int, high: int, walk: Walk, mark: Int32s, slot: Int32s, model: Model, sums: Singles, weight: Singles,
    count: Singles, of_s: Floats, of_t: Floats,
) -> None:  # fmt: skip
    """Expected counts, a link being there where both directions have it: the product of their posteriors."""
    for s in range(low, high):
        size, row, total = 0, walk.row[s], 0.0
        for at in range(walk.first[s], walk.first[s + 1]):
            k = walk.sentence[walk.token[at]]
            a, b = walk.target_begin[k], walk.target_begin[k + 1]
            backward = model.none_source[s]
            for j in range(a, b):
                t = walk.target[j]
                if mark[t] != s:
                    mark[t] = s
                    slot[t] = size
                    size += 1
                weight[j - a] = model.links[row + slot[t]] + model.prior
                backward += weight[j - a] * model.of_target[t]
            scale = model.of_source[s] / backward
            for j in range(a, b):
                t = walk.target[j]
                both = scale * weight[j - a] * weight[j - a] * model.of_target[t] / sums[j]
                count[row + slot[t]] += both
                of_t[t] += both
                total += both
        of_s[s] = total


@steady
def likely(
    low: int, high: int, walk: Walk, mark: Int32s, slot: Int32s, model: Model, sums: Singles, weight: Singles,
    least: float, number: Int32s, at: Integers, place: NDArray[np.uint16], pair: Int32s, fill: bool,
) -> None:  # fmt: skip
    """The cells where a direction has a posterior of over ``least``.

    Without ``fill`` they are counted in ``at`` [target tokens], and their pairs marked in ``number`` [pairs]. With it
    ``at`` says where those of a target token go, and ``number`` the numbers that pairs have in ``pair``.
    """
    for s in range(low, high):
        size, row = 0, walk.row[s]
        for o in range(walk.first[s], walk.first[s + 1]):
            i = walk.token[o]
            k = walk.sentence[i]
            a, b = walk.target_begin[k], walk.target_begin[k + 1]
            backward = model.none_source[s]
            for j in range(a, b):
                t = walk.target[j]
                if mark[t] != s:
                    mark[t] = s
                    slot[t] = size
                    size += 1
                weight[j - a] = model.links[row + slot[t]] + model.prior
                backward += weight[j - a] * model.of_target[t]
            for j in range(a, b):
                t = walk.target[j]
                w = weight[j - a]
                if w * model.of_source[s] > least * sums[j] or w * model.of_target[t] > least * backward:
                    if fill:
                        place[at[j]] = i - walk.source_begin[k]
                        pair[at[j]] = number[row + slot[t]]
                    else:
                        number[row + slot[t]] = 1
                    at[j] += 1


@steady
def sort_places(first: Int64s, place: NDArray[np.uint16], pair: Int32s) -> None:
    """Put the cells of each target token in the order of source positions; ``first`` [target tokens + 1]."""
    for j in range(len(first) - 1):
        for x in range(first[j] + 1, first[j + 1]):
            p, q, y = place[x], pair[x], x - 1
            while y >= first[j] and place[y] > p:
                place[y + 1], pair[y + 1] = place[y], pair[y]
                y -= 1
            place[y + 1], pair[y + 1] = p, q


@steady
def target_words(first: Int64s, pair: Int32s, word: Int32s, out: Int32s) -> None:
    """The target word of each pair, to ``out`` [pairs], from the cells of target tokens and their ``word``s."""
    for j in range(len(word)):
        for x in range(first[j], first[j + 1]):
            out[pair[x]] = word[j]
