"""The best labellings of a chain, and the score of a given one."""

from __future__ import annotations

import numpy as np

from dovetail.kernel import kernel
from dovetail.structures.chain.parts import NONE, ChainPotentials, layout, predecessors, states
from dovetail.structures.contract import Floats, Integers, Labels
from dovetail.structures.loops import most_tokens


@kernel
def viterbi(
    potentials: ChainPotentials, offsets: Integers, low: int, high: int, order: int, labels_out: Labels, scores: Floats
) -> None:
    """The best labelling of each sentence low .. high; ties go to the lowest label where they part last. labels_out:
    [N], set; scores: [n], set to the score, minus infinity where no labelling is allowed."""
    unary, transition, start, end, edge = potentials
    labels = unary.shape[1]
    groups, stride, first_state = layout(order, labels)
    longest = most_tokens(offsets, low, high)
    best = np.empty((2, transition.shape[0]))
    step = np.empty(labels)
    origin = np.empty(labels, np.int32)
    origins = np.empty((longest, transition.shape[0]), np.int32)
    for n in range(low, high):
        first, length = offsets[n], offsets[n + 1] - offsets[n]
        if length == 0:
            scores[n] = 0.0
            continue
        for c in range(labels):
            best[0, first_state + c] = start[c] + unary[first, c]
        for t in range(1, length):
            now, before = t % 2, (t - 1) % 2
            first_i, last_i = predecessors(order, labels, t)
            for group in range(groups):
                for c in range(labels):
                    step[c] = -np.inf
                    origin[c] = first_i
                for i in range(first_i, last_i):
                    s = group + i * stride
                    for c in range(labels):
                        value = best[before, s] + transition[s, c]
                        if edge.shape[0] > 0:
                            value += edge[first + t, s % labels, c]
                        better = value > step[c]
                        step[c] = value if better else step[c]
                        origin[c] = i if better else origin[c]
                for c in range(labels):
                    best[now, group * labels + c] = step[c] + unary[first + t, c]
                    origins[t, group * labels + c] = origin[c]
        now = (length - 1) % 2
        state, last_state = states(order, labels, length - 1)
        scores[n] = -np.inf
        for s in range(state, last_state):
            value = best[now, s] + end[s % labels]
            if value > scores[n]:
                scores[n] = value
                state = s
        for t in range(length - 1, -1, -1):
            labels_out[first + t] = state % labels
            group = 0 if order == 1 else state // labels
            state = group + origins[t, state] * stride


@kernel
def score_labels(
    potentials: ChainPotentials, offsets: Integers, low: int, high: int, order: int, given: Labels, scores: Floats
) -> None:
    """The score of the given labels of each sentence low .. high; given: [N]; scores: [n], set."""
    unary, transition, start, end, edge = potentials
    labels = unary.shape[1]
    for n in range(low, high):
        first, last = offsets[n], offsets[n + 1]
        scores[n] = 0.0
        if first == last:
            continue
        if given[first] == NONE:
            scores[n] = -np.inf
            continue
        state = layout(order, labels)[2] + given[first]
        scores[n] = start[given[first]] + unary[first, given[first]]
        for token in range(first + 1, last):
            c = given[token]
            scores[n] += transition[state, c] + unary[token, c]
            if edge.shape[0] > 0:
                scores[n] += edge[token, given[token - 1], c]
            state = c if order == 1 else given[token - 1] * labels + c
        scores[n] += end[given[last - 1]]


@kernel
def count_labels(
    offsets: Integers, low: int, high: int, order: int, given: Labels, amount: float, counts: ChainPotentials
) -> None:
    """Add an amount for every part of the given labels of sentences low .. high; given: [N]."""
    labels = counts.unary.shape[1]
    for n in range(low, high):
        first, last = offsets[n], offsets[n + 1]
        if first == last or given[first] == NONE:
            continue
        state = layout(order, labels)[2] + given[first]
        counts.start[given[first]] += amount
        counts.unary[first, given[first]] += amount
        for token in range(first + 1, last):
            c = given[token]
            counts.unary[token, c] += amount
            counts.transition[state, c] += amount
            if counts.edge.shape[0] > 0:
                counts.edge[token, given[token - 1], c] += amount
            state = c if order == 1 else given[token - 1] * labels + c
        counts.end[given[last - 1]] += amount


@kernel
def k_best(
    potentials: ChainPotentials, offsets: Integers, low: int, high: int, order: int, labels_out: Labels, scores: Floats
) -> None:
    """The k best labellings of each sentence low .. high, best first.

    Every state keeps its k best prefixes; a state entered merges the sorted lists of its predecessors.

    labels_out: [k, N], set; scores: [n, k], set, minus infinity where there are fewer labellings.
    """
    unary, transition, start, end, edge = potentials
    labels, table, k = unary.shape[1], transition.shape[0], labels_out.shape[0]
    groups, stride, first_state = layout(order, labels)
    longest = most_tokens(offsets, low, high)
    best = np.empty((2, table, k))
    origins = np.zeros((longest, table, k), np.int32)
    ranks = np.zeros((longest, table, k), np.int32)
    taken = np.empty(table, np.int64)
    for n in range(low, high):
        first, length = offsets[n], offsets[n + 1] - offsets[n]
        scores[n] = -np.inf
        if length == 0:
            scores[n, 0] = 0.0
            continue
        best[0] = -np.inf
        for c in range(labels):
            best[0, first_state + c, 0] = start[c] + unary[first, c]
        for t in range(1, length):
            now, before = t % 2, (t - 1) % 2
            low_i, high_i = predecessors(order, labels, t)
            for into in range(groups * labels):
                group, c = into // labels, into % labels
                taken[:] = 0
                for rank in range(k):
                    top, chosen = -np.inf, low_i
                    for i in range(low_i, high_i):
                        s = group + i * stride
                        if taken[i] == k:
                            continue
                        value = best[before, s, taken[i]] + transition[s, c]
                        if edge.shape[0] > 0:
                            value += edge[first + t, s % labels, c]
                        if value > top:
                            top, chosen = value, i
                    best[now, into, rank] = top + unary[first + t, c]
                    origins[t, into, rank] = chosen
                    ranks[t, into, rank] = taken[chosen]
                    taken[chosen] += 1 if top > -np.inf else 0
        now = (length - 1) % 2
        low_s, high_s = states(order, labels, length - 1)
        taken[:] = 0
        for rank in range(k):
            state = low_s
            for s in range(low_s, high_s):
                if taken[s] < k:
                    value = best[now, s, taken[s]] + end[s % labels]
                    if value > scores[n, rank]:
                        scores[n, rank] = value
                        state = s
            if scores[n, rank] == -np.inf:
                break
            place = taken[state]
            taken[state] += 1
            for t in range(length - 1, -1, -1):
                labels_out[rank, first + t] = state % labels
                group = 0 if order == 1 else state // labels
                origin = origins[t, state, place]
                place = ranks[t, state, place]
                state = group + origin * stride
