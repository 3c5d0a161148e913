"""The best segmentations, and the score of a given one."""

from __future__ import annotations

import numpy as np

from dovetail.kernel import kernel
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.semimarkov.parts import Segments, SemiMarkovPotentials


@kernel
def viterbi(
    potentials: SemiMarkovPotentials,
    lengths: Labels,
    offsets: Integers,
    low: int,
    high: int,
    lengths_out: Labels,
    labels_out: Labels,
) -> None:
    """The best segmentation of each sentence low .. high; ties go to the lowest label, then the shortest segment.

    lengths_out, labels_out: [N], the length and label of the segment that starts at a token, set where one
    does; none is set in a sentence without an allowed segmentation.
    """
    segment, transition, start, end = potentials
    _, longest, labels = segment.shape
    ordered = transition.shape[0] > 0
    most = 0
    for n in range(low, high):
        most = max(most, offsets[n + 1] - offsets[n])
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
    potentials: SemiMarkovPotentials,
    lengths: Labels,
    offsets: Integers,
    low: int,
    high: int,
    given: Segments,
    scores: Floats,
) -> None:
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


@kernel
def k_best(
    potentials: SemiMarkovPotentials,
    lengths: Labels,
    offsets: Integers,
    low: int,
    high: int,
    lengths_out: Labels,
    labels_out: Labels,
    scores: Floats,
) -> None:
    """The k best segmentations of each sentence low .. high, best first.

    Every boundary keeps, by label, the k best segmentations of what lies before that end in the label, and
    the k best that a segment of the label may follow; each list merges sorted ones.

    lengths_out, labels_out: [k, N], the length and label of the segment that starts at a token, set where
    one does; scores: [n, k], set, minus infinity where there are fewer segmentations.
    """
    segment, transition, start, end = potentials
    _, longest, labels = segment.shape
    k, ordered = lengths_out.shape[0], transition.shape[0] > 0
    most = 0
    for n in range(low, high):
        most = max(most, offsets[n + 1] - offsets[n])
    begin = np.empty((most + 1, labels, k))
    best = np.empty((labels, k))
    before = np.zeros((most + 1, labels, k), np.int32)  # the label before, and its rank in that label's list
    before_rank = np.zeros((most + 1, labels, k), np.int32)
    last = np.zeros((most + 1, labels, k), np.int32)  # length, less 1, of the last segment; rank of what it follows
    last_rank = np.zeros((most + 1, labels, k), np.int32)
    taken = np.empty(max(longest, labels), np.int64)
    for n in range(low, high):
        first, tokens = offsets[n], offsets[n + 1] - offsets[n]
        scores[n] = -np.inf
        if tokens == 0:
            if k > 0:
                scores[n, 0] = 0.0
            continue
        begin[0] = -np.inf
        for y in range(labels if k > 0 else 0):
            begin[0, y, 0] = start[y]
        for e in range(1, tokens + 1):
            for y in range(labels):
                taken[:] = 0
                for rank in range(k):
                    top, chosen = -np.inf, 0
                    for d in range(min(longest, lengths[y], e)):
                        if taken[d] < k:
                            value = begin[e - 1 - d, y, taken[d]] + segment[first + e - 1 - d, d, y]
                            if value > top:
                                top, chosen = value, d
                    best[y, rank] = top
                    last[e, y, rank] = chosen
                    last_rank[e, y, rank] = taken[chosen]
                    taken[chosen] += 1 if top > -np.inf else 0
            for y in range(labels if e < tokens else 0):
                if y > 0 and not ordered:
                    begin[e, y] = begin[e, 0]
                    before[e, y] = before[e, 0]
                    before_rank[e, y] = before_rank[e, 0]
                    continue
                taken[:] = 0
                for rank in range(k):
                    top, chosen = -np.inf, 0
                    for b in range(labels):
                        if taken[b] < k:
                            value = best[b, taken[b]] + (transition[b, y] if ordered else 0.0)
                            if value > top:
                                top, chosen = value, b
                    begin[e, y, rank] = top
                    before[e, y, rank] = chosen
                    before_rank[e, y, rank] = taken[chosen]
                    taken[chosen] += 1 if top > -np.inf else 0
        taken[:] = 0
        for rank in range(k):
            label = 0
            for y in range(labels):
                if taken[y] < k and best[y, taken[y]] + end[y] > scores[n, rank]:
                    scores[n, rank] = best[y, taken[y]] + end[y]
                    label = y
            if scores[n, rank] == -np.inf:
                break
            place = taken[label]
            taken[label] += 1
            e = tokens
            while e > 0:
                length = last[e, label, place] + 1
                place = last_rank[e, label, place]
                e -= length
                lengths_out[rank, first + e] = length
                labels_out[rank, first + e] = label
                label, place = before[e, label, place], before_rank[e, label, place]
