"""Posterior probabilities from segment to segment, and what follows from them: entropy, samples."""

from __future__ import annotations

import math

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.chain.parts import Floats, Labels
from dovetail.structures.chain.posterior import draw, exp_less
from dovetail.structures.semimarkov.parts import SegmentPosterior


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
