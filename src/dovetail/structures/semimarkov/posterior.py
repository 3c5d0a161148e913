"""Posterior probabilities from segment to segment, and what follows from them: entropy, samples, derivatives."""

from __future__ import annotations

import math

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.contract import Floats, Labels
from dovetail.structures.logs import draw, exp_less
from dovetail.structures.semimarkov.parts import SegmentPosterior, SemiMarkovPotentials


@kernel
def begins(posterior: SegmentPosterior, token: int, last: int, out: Floats) -> float:
    """Set ``out[y] = P(a segment of label y starts at token)``, in a sentence that ends at last; their sum.

    out: [L].
    """
    _, longest, labels = posterior.segment.shape
    for y in range(labels):
        out[y] = 0.0
    for d in range(min(longest, last - token)):
        for y in range(labels):
            out[y] += posterior.segment[token, d, y]
    total = 0.0
    for y in range(labels):
        total += out[y]
    return total


@inner
def joints(posterior: SegmentPosterior, n: int, token: int, last: int, out: Floats) -> None:
    """Set ``out[b, y] = P(a segment of label b ends before token, and one of label y starts there)``.

    Where labels are independent, all that starts there is in row 0, and the other rows are left alone:
    what the label before was does not matter then. token: not the first of sentence n; out: [L, L].
    """
    arrive, depart, base = posterior.messages
    labels = out.shape[1]
    if posterior.transition.shape[0] == 0:
        begins(posterior, token, last, out[0])
        return
    for b in range(labels):
        for y in range(labels):
            if posterior.logged[n]:
                value = arrive[token - base, b] + posterior.transition[b, y] + depart[token - base, y]
                out[b, y] = exp_less(value, posterior.log_z[n])
            else:
                out[b, y] = arrive[token - base, b] * posterior.weights.table[b, y] * depart[token - base, y]


@inner
def surprise(probability: float, total: float) -> float:
    """``- p log(p / total)``: what one choice adds to the entropy of a choice that is made with chance total."""
    return -probability * math.log(probability / total) if probability > 0.0 else 0.0


@kernel
def entropies(posterior: SegmentPosterior, low: int, high: int, out: Floats) -> None:
    """The entropy of the segmentations of sentences low .. high: of each label given the one before, and of
    each length given the label.

    out: [n], set; 0 for a sentence with no segmentation.
    """
    _, longest, labels = posterior.segment.shape
    rows = 1 if posterior.transition.shape[0] == 0 else labels
    joint = np.empty((labels, labels))
    starts = np.empty(labels)
    for n in range(low, high):
        first, last = posterior.offsets[n], posterior.offsets[n + 1]
        out[n] = 0.0
        for token in range(first, last):
            total = begins(posterior, token, last, starts)
            if token == first:
                for y in range(labels):
                    out[n] += surprise(starts[y], total)
            else:
                joints(posterior, n, token, last, joint)
                for b in range(rows):
                    total = 0.0
                    for y in range(labels):
                        total += joint[b, y]
                    for y in range(labels):
                        out[n] += surprise(joint[b, y], total)
            for d in range(min(longest, last - token)):
                for y in range(labels):
                    out[n] += surprise(posterior.segment[token, d, y], starts[y])


@kernel
def samples(
    posterior: SegmentPosterior, low: int, high: int, uniforms: Floats, lengths_out: Labels, labels_out: Labels
) -> None:
    """Segmentations of sentences low .. high drawn from their exact distribution, from the left.

    uniforms: [samples, N, 2] in [0, 1); lengths_out, labels_out: [samples, N], the length and label of the
    segment that starts at a token, set where one does.
    """
    _, longest, labels = posterior.segment.shape
    count, ordered = lengths_out.shape[0], posterior.transition.shape[0] > 0
    joint = np.empty((labels, labels))
    by_label = np.zeros((labels, longest))
    next_token = np.empty(count, np.int64)
    row = np.empty(count, np.int64)
    for n in range(low, high):
        first, last = posterior.offsets[n], posterior.offsets[n + 1]
        next_token[:] = first
        row[:] = 0
        for token in range(first, last):
            if token == first:
                begins(posterior, token, last, joint[0])
            else:
                joints(posterior, n, token, last, joint)
            for d in range(longest):
                for y in range(labels):
                    by_label[y, d] = posterior.segment[token, d, y]
            for i in range(count):
                if next_token[i] == token:
                    label = draw(joint, row[i], uniforms[i, token, 0])
                    length = 1 + draw(by_label, label, uniforms[i, token, 1])
                    labels_out[i, token] = label
                    lengths_out[i, token] = length
                    next_token[i] += length
                    row[i] = label if ordered else 0


@kernel
def tangents(
    posterior: SegmentPosterior, low: int, high: int, direction: SemiMarkovPotentials, out: SemiMarkovPotentials
) -> None:
    """The derivative of the expected counts of sentences low .. high along a direction.

    With D the total of the direction over the parts of a segmentation, the derivative of the probability of
    a part is its covariance with D: ``P(part) * (E[D | part] - E[D])``, and E[D | part] is the sum of what
    the past is expected to bring given the part, the part's own, and what the future is expected to bring.

    direction, out: shaped like the potentials; out is zero in segment, and all is added to.
    """
    segment, (_, longest, labels) = posterior.segment, posterior.segment.shape
    ordered = posterior.transition.shape[0] > 0
    rows = labels if ordered else 1  # where labels are independent, only the boundary matters
    most = 0
    for n in range(low, high):
        most = max(most, posterior.offsets[n + 1] - posterior.offsets[n])
    joint = np.empty((labels, labels))
    totals = np.empty(labels)
    ended = np.empty(labels)
    before = np.empty((most + 1, labels))  # E[D before a segment | label y starts at s]
    until = np.empty((most + 1, labels))  # E[D up to e | label y ends at e], independent: column 0 for all
    after = np.empty((most + 1, labels))  # E[D after e | label y ends at e]
    since = np.empty(labels)  # E[D of a segment and after | label y starts at s]
    for n in range(low, high):
        first, last = posterior.offsets[n], posterior.offsets[n + 1]
        tokens = last - first
        if tokens == 0:
            continue
        for y in range(labels):
            before[0, y] = direction.start[y]
            after[tokens, y] = direction.end[y]
        mean = 0.0
        for e in range(1, tokens + 1):
            for y in range(labels):
                until[e, y] = 0.0
                ended[y] = 0.0
            for d in range(min(longest, e)):
                s = e - 1 - d
                for y in range(labels):
                    p = segment[first + s, d, y]
                    if p > 0.0:
                        until[e, y] += p * (before[s, y] + direction.segment[first + s, d, y])
                        ended[y] += p
            if e == tokens:
                for y in range(labels):
                    mean += until[e, y] + ended[y] * direction.end[y]
                break
            if not ordered:
                for y in range(1, labels):
                    until[e, 0] += until[e, y]
                    ended[0] += ended[y]
            for y in range(rows):
                until[e, y] = until[e, y] / ended[y] if ended[y] > 0.0 else 0.0
            if not ordered:
                for y in range(labels):
                    before[e, y] = until[e, 0]
                continue
            joints(posterior, n, first + e, last, joint)
            for y in range(labels):
                before[e, y] = 0.0
                totals[y] = 0.0
            for b in range(labels):
                for y in range(labels):
                    before[e, y] += joint[b, y] * (until[e, b] + direction.transition[b, y])
                    totals[y] += joint[b, y]
            for y in range(labels):
                before[e, y] = before[e, y] / totals[y] if totals[y] > 0.0 else 0.0
        for s in range(tokens - 1, -1, -1):
            for y in range(labels):
                since[y] = 0.0
                totals[y] = 0.0
            for d in range(min(longest, tokens - s)):
                for y in range(labels):
                    p = segment[first + s, d, y]
                    if p > 0.0:
                        own = direction.segment[first + s, d, y] + after[s + d + 1, y]
                        since[y] += p * own
                        totals[y] += p
                        change = p * (before[s, y] + own - mean)
                        out.segment[first + s, d, y] += change
                        if s == 0:
                            out.start[y] += change
                        if s + d + 1 == tokens:
                            out.end[y] += change
            for y in range(labels):
                since[y] = since[y] / totals[y] if totals[y] > 0.0 else 0.0
            if s == 0:
                break
            joints(posterior, n, first + s, last, joint)
            for b in range(rows):
                later, total = 0.0, 0.0
                for y in range(labels):
                    step = since[y]
                    if ordered:
                        step += direction.transition[b, y]
                        out.transition[b, y] += joint[b, y] * (until[s, b] + step - mean)
                    later += joint[b, y] * step
                    total += joint[b, y]
                after[s, b] = later / total if total > 0.0 else 0.0
            for y in range(rows, labels):
                after[s, y] = after[s, 0]
