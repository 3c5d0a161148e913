"""The best segmentation, the score of a given one, and all of them as a hypergraph."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dovetail.kernel import kernel
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.hypergraph import Hypergraph
from dovetail.structures.loops import most_tokens
from dovetail.structures.semimarkov.parts import Segments, SemiMarkovPotentials


@kernel
def viterbi(
    potentials: SemiMarkovPotentials, lengths: Labels, offsets: Integers, low: int, high: int, lengths_out: Labels,
    labels_out: Labels,
) -> None:  # fmt: skip
    """The best segmentation of each sentence low .. high; ties go to the lowest label, then the shortest segment.
    lengths_out, labels_out: [N], the length and label of the segment that starts at a token, set where one does; none
    is set in a sentence without an allowed segmentation."""
    segment, transition, start, end = potentials
    _, longest, labels = segment.shape
    ordered = transition.shape[0] > 0
    most = most_tokens(offsets, low, high)
    begin = np.empty((most + 1, labels))
    best = np.empty(labels)
    before = np.zeros((most + 1, labels), np.int32)  # the label before a segment of label y that starts at s
    last = np.zeros((most + 1, labels), np.int32)  # the length, less 1, of the best segment that ends at e
    for n in range(low, high):
        first, tokens = offsets[n], offsets[n + 1] - offsets[n]
        for y in range(labels):
            begin[0, y] = start[y]
        for e in range(1, tokens + 1):
            for y in range(labels):
                best[y] = -np.inf
                last[e, y] = 0
            for d in range(min(longest, e)):
                s = e - 1 - d
                for y in range(labels):
                    value = begin[s, y] + segment[first + s, d, y]
                    better = d < lengths[y] and value > best[y]
                    best[y] = value if better else best[y]
                    last[e, y] = d if better else last[e, y]
            if e == tokens:
                break
            for y in range(labels):
                begin[e, y] = -np.inf
                before[e, y] = 0
            for b in range(labels):
                for y in range(labels if ordered else 1):
                    value = best[b] + transition[b, y] if ordered else best[b]
                    better = value > begin[e, y]
                    begin[e, y] = value if better else begin[e, y]
                    before[e, y] = b if better else before[e, y]
            for y in range(0 if ordered else 1, 0 if ordered else labels):
                begin[e, y] = begin[e, 0]
                before[e, y] = before[e, 0]
        top, label = -np.inf, 0
        for y in range(labels if tokens > 0 else 0):
            if best[y] + end[y] > top:
                top, label = best[y] + end[y], y
        e = tokens if top > -np.inf else 0
        while e > 0:
            length = last[e, label] + 1
            e -= length
            lengths_out[first + e] = length
            labels_out[first + e] = label
            label = before[e, label]


@kernel
def score_segments(
    potentials: SemiMarkovPotentials, lengths: Labels, offsets: Integers, low: int, high: int, given: Segments,
    scores: Floats,
) -> None:  # fmt: skip
    """The score of the given segments of each sentence low .. high; scores: [n], set."""
    segment, transition, start, end = potentials
    for n in range(low, high):
        begin, stop = given.offsets[n], given.offsets[n + 1]
        scores[n] = 0.0
        if begin == stop:
            if offsets[n + 1] > offsets[n]:
                scores[n] = -np.inf
            continue
        scores[n] = start[given.label[begin]] + end[given.label[stop - 1]]
        for i in range(begin, stop):
            y = given.label[i]
            d = given.length[i] - 1
            scores[n] += segment[given.start[i], d, y] if d < lengths[y] else -np.inf
            if i > begin and transition.shape[0] > 0:
                scores[n] += transition[given.label[i - 1], y]


@kernel
def count_segments(given: Segments, amount: float, counts: SemiMarkovPotentials) -> None:
    """Add an amount for every part of the given segments of all sentences."""
    for n in range(given.offsets.size - 1):
        begin, stop = given.offsets[n], given.offsets[n + 1]
        if begin == stop:
            continue
        counts.start[given.label[begin]] += amount
        counts.end[given.label[stop - 1]] += amount
        for i in range(begin, stop):
            counts.segment[given.start[i], given.length[i] - 1, given.label[i]] += amount
            if i > begin and counts.transition.shape[0] > 0:
                counts.transition[given.label[i - 1], given.label[i]] += amount


@lru_cache(maxsize=64)
def segment_graph(tokens: int, longest: int, lengths: tuple[int, ...], ordered: bool) -> Hypergraph:
    """The segmentations of so many tokens, from the left: of the pieces that end at each boundary the last label, and
    what may follow, by the label of what follows if that matters."""
    labels, width = len(lengths), len(lengths) if ordered else 1
    vertices = 2 + tokens * (labels + width)
    transition = tokens * longest * labels
    start = transition + (labels * labels if ordered else 0)

    def ended(boundary: Integers, label: Integers) -> Integers:
        return 1 + (boundary - 1) * (labels + width) + label

    def begun(boundary: Integers, label: Integers) -> Integers:
        return np.where(boundary > 0, ended(boundary, labels + label % width), 0)

    d, s, y = np.nonzero(np.ones((longest, tokens, labels), bool))  # of equal segmentations, the shortest last segment
    fits = (s + d < tokens) & (d < np.array(lengths)[y])
    d, s, y = d[fits], s[fits], y[fits]
    e, b, c = np.nonzero(np.ones((tokens - 1, labels, width), bool))
    last = np.arange(labels)
    place = (s * longest + d) * labels + y
    segments = (ended(s + d + 1, y), begun(s, y), 0, place, np.where(s > 0, -1, start + y))
    steps = (begun(e + 1, c), ended(e + 1, b), 0, -1, transition + b * labels + c if ordered else -1)
    ends = (vertices - 1, ended(np.array(tokens), last), 0, -1, start + labels + last)
    return Hypergraph.of(vertices, (segments, steps, ends))
