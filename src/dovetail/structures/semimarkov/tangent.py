"""How the marginals of segmentations move with the potentials: covariances with a direction, in linear time."""

from __future__ import annotations

import numpy as np

from dovetail.kernel import kernel
from dovetail.structures.semimarkov.parts import SegmentPosterior, SemiMarkovPotentials
from dovetail.structures.semimarkov.posterior import joints


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
