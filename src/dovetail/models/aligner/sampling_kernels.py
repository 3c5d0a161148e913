"""Gibbs sampling of the links of one direction: every target token is linked to one source token of its pair, or none.

The weight of source token i for target token j, all other links given (Östling and Tiedemann 2016)::

    (c(s_i, t_j) + a b(t_j | s_i)) / (c(s_i) + a)                         translation, with b of the parts of words
        * J(i - previous) J(next - i) / J(next - previous)                jumps between the sources of linked neighbours
        * (n(s_i, f + 1) + b g(f + 1)) / (n(s_i, f) + b g(f))             fertility: how many words it is linked to
        * (agreement, if the sampler of the other direction links i to j)

where c and n leave this token out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Floats, Int32s, Int64s, Integers
from dovetail.kernel import steady, steady_inner
from dovetail.models.aligner.lexicon_kernels import Singles

FERTILITIES = 8
REACH = 64
JUMPS = 2 * REACH + 1
BACKOFF = 20.0
"""So many jumps of all words stand behind those of each class."""


class Cells(NamedTuple):
    """The cells of target token j are ``first[j]`` to ``first[j + 1]``: source positions, and pairs of words."""

    first: Int64s
    place: NDArray[np.uint16]
    pair: Int32s
    source: Int32s  # [source tokens]: words
    source_begin: Int64s
    target: Int32s  # [target tokens]: words
    target_begin: Int64s


class Counts(NamedTuple):
    """What the model of one direction has counted."""

    pair: Singles  # [pairs]
    word: Singles  # [source words]
    none: Singles  # [target words]: links to no word
    jump: Floats  # [classes, JUMPS]: from a source word of this class
    fertility: Singles  # [source words, FERTILITIES]: of its tokens, how many have so many links


class Prior(NamedTuple):
    """What the model of one direction believes beforehand."""

    pair: Singles  # [pairs]: a b(t | s)
    word: float  # a
    none: float  # of each target word
    to_none: float  # how often a word is linked to none
    fertility: float
    agreement: float
    jump_class: Int32s  # [source words]


@steady_inner
def uniform(state: NDArray[np.uint64]) -> float:
    """The next number between 0 and 1 (xorshift64*)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return np.float64((x * np.uint64(2685821657736338717)) >> np.uint64(11)) / 9007199254740992.0


@steady_inner
def bin_of(jump: Any) -> Any:
    """Where a jump is counted; all long ones together."""
    return min(max(jump, -REACH), REACH) + REACH


@steady
def start(cells: Cells, weight: Singles, state: NDArray[np.uint64], link: Int32s) -> None:
    """Draw the first links by the weights of pairs [pairs]: ``link`` [target tokens] is a cell, or -1 for none."""
    for j in range(len(link)):
        a, b = cells.first[j], cells.first[j + 1]
        total = 0.0
        for x in range(a, b):
            total += weight[cells.pair[x]]
        left = uniform(state) * total
        link[j] = -1
        for x in range(a, b):
            link[j] = x
            left -= weight[cells.pair[x]]
            if left <= 0:
                break


@steady
def count_links(cells: Cells, link: Int32s, jump_class: Int32s, fertile: Integers, counts: Counts) -> None:
    """Count everything anew; ``fertile`` [source tokens] gets the number of links of each source token."""
    counts.pair[:] = 0
    counts.word[:] = 0
    counts.none[:] = 0
    counts.fertility[:] = 0
    fertile[:] = 0
    for k in range(len(cells.source_begin) - 1):
        begin = cells.source_begin[k]
        for j in range(cells.target_begin[k], cells.target_begin[k + 1]):
            if link[j] < 0:
                counts.none[cells.target[j]] += 1
            else:
                i = begin + cells.place[link[j]]
                counts.pair[cells.pair[link[j]]] += 1
                counts.word[cells.source[i]] += 1
                fertile[i] += 1
        for i in range(begin, cells.source_begin[k + 1]):
            counts.fertility[cells.source[i], min(fertile[i], FERTILITIES - 1)] += 1
    count_jumps(cells, link, jump_class, counts.jump)


@steady
def count_jumps(cells: Cells, link: Int32s, jump_class: Int32s, jump: Floats) -> None:
    """Count the jumps of all sentences anew: from before the first word, between linked words, to after the last."""
    jump[:] = 0
    for k in range(len(cells.source_begin) - 1):
        begin, previous, kind = cells.source_begin[k], -1, 0
        for j in range(cells.target_begin[k], cells.target_begin[k + 1]):
            if link[j] >= 0:
                i = int(cells.place[link[j]])
                jump[kind, bin_of(i - previous)] += 1
                previous, kind = i, jump_class[cells.source[begin + i]]
        jump[kind, bin_of(cells.source_begin[k + 1] - begin - previous)] += 1


@steady
def jump_probabilities(jump: Floats) -> Floats:
    """From counts [classes, JUMPS]; those of all classes stand behind each."""
    classes = jump.shape[0]
    every = np.zeros(JUMPS)
    for c in range(classes):
        for d in range(JUMPS):
            every[d] += jump[c, d]
    every = (every + 0.5) / (every.sum() + 0.5 * JUMPS)
    found = np.empty((classes, JUMPS))
    for c in range(classes):
        total = jump[c].sum()
        for d in range(JUMPS):
            found[c, d] = (jump[c, d] + BACKOFF * every[d]) / (total + BACKOFF)
    return found


@steady
def linked_places(cells: Cells, link: Int32s, out: Integers) -> None:
    """The source position of each link, -1 for none: [target tokens]."""
    for j in range(len(link)):
        out[j] = -1 if link[j] < 0 else int(cells.place[link[j]])


@steady
def sweep(
    cells: Cells, link: Int32s, fertile: Integers, counts: Counts, prior: Prior, other: Integers, with_jumps: bool,
    with_fertility: bool, learn: bool, state: NDArray[np.uint64], sums: NDArray[np.uint16],
    unit: int,
) -> None:  # fmt: skip
    """Draw every link anew, given all others; ``other`` [source tokens] is what the other direction links them to.

    Unless ``learn``, counts of words stay as they are: text is linked with a model that is done. Where ``sums`` [cells]
    is not empty, probabilities are added to it, as whole numbers: a probability of one is ``unit``.
    """
    jump = jump_probabilities(counts.jump)
    general = np.zeros(FERTILITIES)
    for s in range(counts.fertility.shape[0]):
        for f in range(FERTILITIES):
            general[f] += counts.fertility[s, f]
    general = prior.fertility * (general + 1e-3) / (general.sum() + 1e-3 * FERTILITIES)
    nones = 0.0
    for t in range(len(counts.none)):
        nones += counts.none[t] + prior.none
    widest = 1
    for j in range(len(link)):
        widest = max(widest, cells.first[j + 1] - cells.first[j])
    weight = np.empty(widest)
    step = np.float32(1.0 if learn else 0.0)
    for k in range(len(cells.source_begin) - 1):
        begin = cells.source_begin[k]
        length = cells.source_begin[k + 1] - begin
        last = cells.target_begin[k + 1]
        previous, kind, ahead = -1, 0, cells.target_begin[k]
        for j in range(cells.target_begin[k], last):
            t = cells.target[j]
            if link[j] < 0:
                counts.none[t] -= step
            else:
                i = begin + cells.place[link[j]]
                s, f = cells.source[i], fertile[i]
                counts.pair[cells.pair[link[j]]] -= step
                counts.word[s] -= step
                counts.fertility[s, min(f, FERTILITIES - 1)] -= step
                counts.fertility[s, min(f - 1, FERTILITIES - 1)] += step
                fertile[i] = f - 1
            none = prior.to_none * (counts.none[t] + prior.none) / nones
            after = length
            if with_jumps:
                ahead = max(ahead, j + 1)
                while ahead < last and link[ahead] < 0:
                    ahead += 1
                if ahead < last:
                    after = int(cells.place[link[ahead]])
                none *= jump[kind, bin_of(after - previous)]
            a, b = cells.first[j], cells.first[j + 1]
            total = none
            for x in range(a, b):
                p = int(cells.place[x])
                s = cells.source[begin + p]
                w = (1.0 - prior.to_none) * (counts.pair[cells.pair[x]] + prior.pair[cells.pair[x]])
                w /= counts.word[s] + prior.word
                if with_jumps:
                    w *= jump[kind, bin_of(p - previous)] * jump[prior.jump_class[s], bin_of(after - p)]
                if with_fertility:
                    f = min(fertile[begin + p], FERTILITIES - 1)
                    more = min(f + 1, FERTILITIES - 1)
                    w *= (counts.fertility[s, more] + general[more]) / (counts.fertility[s, f] - step + general[f])
                if other[begin + p] == j - cells.target_begin[k]:
                    w *= prior.agreement
                weight[x - a] = w
                total += w
            if len(sums):
                scale = unit / total
                for x in range(a, b):
                    sums[x] += np.uint16(weight[x - a] * scale + 0.5)
            left = uniform(state) * total - none
            link[j] = -1
            if left > 0:
                for x in range(a, b):
                    link[j] = x
                    left -= weight[x - a]
                    if left <= 0:
                        break
            if link[j] < 0:
                counts.none[t] += step
            else:
                p = int(cells.place[link[j]])
                s, f = cells.source[begin + p], fertile[begin + p]
                counts.pair[cells.pair[link[j]]] += step
                counts.word[s] += step
                counts.fertility[s, min(f, FERTILITIES - 1)] -= step
                counts.fertility[s, min(f + 1, FERTILITIES - 1)] += step
                fertile[begin + p] = f + 1
                previous, kind = p, prior.jump_class[s]


@steady
def turned(cells: Cells, size: int) -> tuple[Int64s, NDArray[np.uint16], Int32s]:
    """The same cells by source token, of which there are ``size``: where each begins, target positions, and pairs."""
    first = np.zeros(size + 1, np.int64)
    for k in range(len(cells.source_begin) - 1):
        for x in range(cells.first[cells.target_begin[k]], cells.first[cells.target_begin[k + 1]]):
            first[cells.source_begin[k] + cells.place[x] + 1] += 1
    for i in range(size):
        first[i + 1] += first[i]
    at = first[:-1].copy()
    place, pair = np.empty(len(cells.place), np.uint16), np.empty(len(cells.place), np.int32)
    for k in range(len(cells.source_begin) - 1):
        for j in range(cells.target_begin[k], cells.target_begin[k + 1]):
            for x in range(cells.first[j], cells.first[j + 1]):
                i = cells.source_begin[k] + cells.place[x]
                place[at[i]], pair[at[i]] = j - cells.target_begin[k], cells.pair[x]
                at[i] += 1
    return first, place, pair


@steady
def brought_back(cells: Cells, first: Int64s, other: NDArray[np.uint16], out: NDArray[np.uint16]) -> None:
    """Numbers of cells in the order of ``turned`` put into the order of ``cells``."""
    at = first[:-1].copy()
    for k in range(len(cells.source_begin) - 1):
        for j in range(cells.target_begin[k], cells.target_begin[k + 1]):
            for x in range(cells.first[j], cells.first[j + 1]):
                i = cells.source_begin[k] + cells.place[x]
                out[x] = other[at[i]]
                at[i] += 1
