"""Scaled sums over segmentations, many sentences abreast in lanes: log Z and expected counts.

``arrive[e, y]``, the weight of all segmentations of the first e tokens that end in label y, is kept as a probability:
it is divided at every boundary e by its sum, whose logarithm is the ``level[e]``. A segment from s to e then weighs
``exp(potential + level[s] - level[e])``.

With transitions this is exact as long as no factor is smaller than ``FLOOR``, because then no product of four factors
underflows and no path is lost; a sentence where that fails is left to its hypergraph. Without transitions it is always
exact: all paths to a boundary have the same future, so those that underflow do not matter.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.contract import Booleans, Floats, Integers, Labels
from dovetail.structures.lanes import FLOOR, LOG_FLOOR, exponentiate
from dovetail.structures.semimarkov.parts import SemiMarkovPotentials, TransitionWeights

LANES = 32
# The most numbers in one work array, unless one sentence alone needs more.
WORK = 1 << 18
# A sum of weights is at least a third power of FLOOR, or nothing.
LEAST = FLOOR**3


class Shapes(NamedTuple):
    """The J kinds of segment that some label allows, the short ones first."""

    depth: Integers  # [J]: the length less 1
    label: Integers  # [J]
    within: Integers  # [D + 1]: how many kinds have at most so many tokens


class Lanes(NamedTuple):
    """Sentences side by side, K of them at most."""

    first: Integers  # [K]: the first token
    tokens: Integers  # [K]: how many; 0 in a lane that is not in use
    log_z: Floats  # [K]
    exact: Booleans  # [K]: false where a sentence needs log space


class Work(NamedTuple):
    """Room for sentences side by side: B boundaries, that is one more than there are tokens."""

    weights: Floats  # [B, J, K]: of each kind of segment that starts at s: potential, then weight, then probability
    entry: Floats  # [B, L, K]: the level at which a segment starts; minus infinity where none can
    begin: Floats  # [B, L, K]: the weight of all that lies before a segment of label y
    arrive: Floats  # [B, L, K]: the weight of all that ends in a segment of label y; sums to 1, or is 0
    leave: Floats  # [L, K]: the weight of all that lies after a segment of label y, times inverse
    depart: Floats  # [B, L, K]: the weight of all that starts with a segment of label y
    inverse: Floats  # [B, K]: what the weights of segments that end at a boundary must be multiplied with
    row: Floats  # [J, 1, K]: all segments that end at one boundary
    power: Integers  # [K]: scratch of :func:`exponentiate`
    high: Floats  # [K]: scratch
    low: Floats  # [K]: scratch


@inner
def make_shapes(longest: int, lengths: Labels) -> Shapes:
    """The kinds of segment of labels that allow these lengths: [L]."""
    count = 0
    for y in range(lengths.size):
        count += min(longest, lengths[y])
    shapes = Shapes(np.empty(count, np.int64), np.empty(count, np.int64), np.zeros(longest + 1, np.int64))
    j = 0
    for d in range(longest):
        for y in range(lengths.size):
            if d < lengths[y]:
                shapes.depth[j] = d
                shapes.label[j] = y
                j += 1
        shapes.within[d + 1] = j
    return shapes


@kernel
def make_work(boundaries: int, kinds: int, labels: int, lanes: int) -> Work:
    """Room for so many sentences of so many boundaries."""
    shape = (boundaries, labels, lanes)
    return Work(
        np.empty((boundaries, kinds, lanes)), np.empty(shape), np.empty(shape), np.empty(shape),
        np.empty((labels, lanes)), np.empty(shape), np.empty((boundaries, lanes)), np.empty((kinds, 1, lanes)),
        np.empty(lanes, np.int64), np.empty(lanes), np.empty(lanes),
    )  # fmt: skip


@kernel
def load(potentials: SemiMarkovPotentials, shapes: Shapes, lanes: Lanes, steps: int, weights: Floats) -> None:
    """Bring the potentials into lanes, start and end included; what crosses a sentence's end is forbidden."""
    segment, _, start, end = potentials
    for s in range(steps):
        for k in range(lanes.first.size):
            for j in range(shapes.depth.size):
                d, y = shapes.depth[j], shapes.label[j]
                value = -np.inf
                if s + d < lanes.tokens[k]:
                    value = segment[lanes.first[k] + s, d, y]
                    if s == 0:
                        value += start[y]
                    if s + d + 1 == lanes.tokens[k]:
                        value += end[y]
                weights[s, j, k] = value


@kernel
def forward(transitions: TransitionWeights, shapes: Shapes, lanes: Lanes, steps: int, work: Work) -> None:
    """From potentials to weights, entry, begin, arrive and inverse; and log_z and exact of the lanes."""
    weights, entry, begin, arrive, _, _, inverse, row, power, high, low = work
    depth, label, within = shapes
    bits = row.view(np.int64)
    labels, width = entry.shape[1], high.size
    table, ordered = transitions.table, transitions.table.shape[0] > 0
    for y in range(labels):
        for k in range(width):
            entry[0, y, k] = 0.0
            begin[0, y, k] = 1.0
            arrive[0, y, k] = 0.0
    for e in range(1, steps + 1):
        kinds = within[min(e, within.size - 1)]
        for k in range(width):
            high[k] = -np.inf
            low[k] = 0.0
        for j in range(kinds):
            s, y = e - 1 - depth[j], label[j]
            for k in range(width):
                value = entry[s, y, k] + weights[s, j, k]
                row[j, 0, k] = value
                high[k] = value if value > high[k] else high[k]
        for k in range(width):
            # For now, what to take off the row: its largest, and nothing where nothing leads to this boundary.
            inverse[e, k] = high[k] if high[k] > -np.inf else 0.0
        for j in range(kinds):
            for k in range(width):
                value = row[j, 0, k] - inverse[e, k]
                row[j, 0, k] = value
                value = value if value > -np.inf else 0.0
                low[k] = value if value < low[k] else low[k]
        exponentiate(row[:kinds], 1, power, bits[:kinds])
        for y in range(labels):
            for k in range(width):
                arrive[e, y, k] = 0.0
        for j in range(kinds):
            s, y = e - 1 - depth[j], label[j]
            for k in range(width):
                weight = row[j, 0, k]
                weights[s, j, k] = weight
                arrive[e, y, k] += begin[s, y, k] * weight
        for k in range(width):
            total = 0.0
            for y in range(labels):
                total += arrive[e, y, k]
            inverse[e, k] = 1.0 / total if total > LEAST else 0.0
            level = high[k] + math.log(total) if total > LEAST else -np.inf
            high[k] = level
            if e == lanes.tokens[k]:
                lanes.log_z[k] = level
            if ordered and low[k] < LOG_FLOOR:
                lanes.exact[k] = False
        for y in range(labels):
            for k in range(width):
                share = arrive[e, y, k] * inverse[e, k]
                arrive[e, y, k] = share
                begin[e, y, k] = 0.0 if ordered else 1.0
                entry[e, y, k] = high[k]
                lanes.exact[k] &= share >= FLOOR or share == 0.0 or not ordered
        if ordered:
            for y in range(labels):
                for b in range(labels):
                    for k in range(width):
                        begin[e, y, k] += table[b, y] * arrive[e, b, k]
                for k in range(width):
                    entry[e, y, k] = high[k] + transitions.shift if begin[e, y, k] > 0.0 else -np.inf


@kernel
def backward(
    transitions: TransitionWeights, shapes: Shapes, lanes: Lanes, steps: int, work: Work, counts: Floats
) -> None:
    """From weights to probabilities and depart; counts: [L, L] or [0, 0], added to."""
    weights, _, begin, arrive, leave, depart, inverse, _, _, future, _ = work
    depth, label, within = shapes
    labels, width = leave.shape
    table, ordered = transitions.table, transitions.table.shape[0] > 0
    for s in range(steps):
        for y in range(labels):
            for k in range(width):
                depart[s, y, k] = 0.0
        for j in range(depth.size):
            if s + depth[j] >= steps:
                for k in range(width):
                    weights[s, j, k] = 0.0
    for e in range(steps, 0, -1):
        for k in range(width):
            # A lane that is not exact has no future, and so counts for nothing.
            future[k] = 1.0 if e == lanes.tokens[k] and lanes.exact[k] else 0.0
        if ordered and e < steps:
            for b in range(labels):
                for k in range(width):
                    leave[b, k] = future[k]
                for y in range(labels):
                    count = 0.0
                    for k in range(width):
                        after = table[b, y] * depart[e, y, k]
                        leave[b, k] += after
                        count += arrive[e, b, k] * after
                    counts[b, y] += count
                for k in range(width):
                    leave[b, k] *= inverse[e, k]
        else:
            for y in range(labels if e < steps else 0):
                for k in range(width):
                    future[k] += depart[e, y, k]
            for y in range(labels):
                for k in range(width):
                    leave[y, k] = future[k] * inverse[e, k]
        for j in range(within[min(e, within.size - 1)]):
            s, y = e - 1 - depth[j], label[j]
            for k in range(width):
                after = weights[s, j, k] * leave[y, k]
                depart[s, y, k] += after
                weights[s, j, k] = begin[s, y, k] * after


@inner
def store(shapes: Shapes, lanes: Lanes, work: Work, expected: SemiMarkovPotentials) -> None:
    """Bring the probabilities from the lanes that are exact to expected; segment is set, the rest added to."""
    longest, labels = expected.segment.shape[1:]
    for k in range(lanes.first.size):
        if lanes.tokens[k] == 0 or not lanes.exact[k]:
            continue
        for s in range(lanes.tokens[k]):
            token = lanes.first[k] + s
            for d in range(longest):
                for y in range(labels):
                    expected.segment[token, d, y] = 0.0
            for j in range(shapes.depth.size):
                expected.segment[token, shapes.depth[j], shapes.label[j]] = work.weights[s, j, k]
        for y in range(labels):
            expected.start[y] += work.depart[0, y, k]
            expected.end[y] += work.arrive[lanes.tokens[k], y, k]


@kernel
def forward_backward(
    potentials: SemiMarkovPotentials, lengths: Labels, transitions: TransitionWeights, offsets: Integers,
    sentences: Integers, log_z: Floats, expected: SemiMarkovPotentials,
) -> None:  # fmt: skip
    """Log Z and expected counts of some sentences, given from the longest to the shortest. lengths: [L], the most
    tokens of a segment of each label; sentences: indices into offsets [n + 1]. log_z: [n], set, to NaN where a sentence
    needs log space; nothing else is then done for that sentence. expected.segment is set, and may be the array given;
    the rest of expected is added to. Without rows in expected.segment no count is made."""
    _, longest, labels = potentials.segment.shape
    shapes = make_shapes(longest, lengths)
    kinds = max(1, shapes.depth.size)
    boundaries = offsets[sentences[0] + 1] - offsets[sentences[0]] + 1
    width = min(LANES, sentences.size, max(1, WORK // (kinds * boundaries)))
    work = make_work(boundaries, kinds, labels, width)
    lanes = Lanes(np.empty(width, np.int64), np.empty(width, np.int64), np.empty(width), np.empty(width, np.bool_))
    rank = 0
    while rank < sentences.size:
        steps = offsets[sentences[rank] + 1] - offsets[sentences[rank]]
        if steps == 0:
            log_z[sentences[rank]] = 0.0
            rank += 1
            continue
        filled = 0
        for k in range(width):
            lanes.first[k] = 0
            lanes.tokens[k] = 0
            lanes.exact[k] = transitions.safe
            if filled == k and rank + k < sentences.size:
                n = sentences[rank + k]
                tokens = offsets[n + 1] - offsets[n]
                # Much shorter sentences wait for a group of their own.
                if 2 * tokens > steps:
                    lanes.first[k] = offsets[n]
                    lanes.tokens[k] = tokens
                    filled += 1
        load(potentials, shapes, lanes, steps, work.weights)
        forward(transitions, shapes, lanes, steps, work)
        for k in range(filled):
            log_z[sentences[rank + k]] = lanes.log_z[k] if lanes.exact[k] else np.nan
        rank += filled
        if expected.segment.shape[0] == 0:
            continue
        backward(transitions, shapes, lanes, steps, work, expected.transition)
        store(shapes, lanes, work, expected)
