"""From scores at the start, at the end, inside and of the whole of segments to potentials, and the gradient back.

Scores at boundaries may tell segments of one token from longer ones: a row of ``start`` and ``end`` then has the scores
of all labels for single tokens and after them those for longer segments, [2 * labels] in all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dovetail.kernel import kernel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@kernel
def add_up(
    start: Floats,
    end: Floats,
    inside: Floats,
    phrase: Floats,
    offsets: Integers,
    lengths: NDArray[np.int32],
    low: int,
    high: int,
    out: Floats,
) -> None:
    """Potentials of all segments of sentences low to high; zero where a segment cannot be.

    start, end: [tokens, labels] or [tokens, 2 * labels]; inside: [tokens, labels]; phrase: [tokens * longest, labels];
    each may have no rows, if no template looks there. out: [tokens, longest, labels].
    """
    longest, labels = out.shape[1], out.shape[2]
    apart = labels if start.shape[1] > labels else 0
    starts, ends, insides, phrases = len(start) > 0, len(end) > 0, len(inside) > 0, len(phrase) > 0
    running = np.empty(labels)
    for i in range(low, high):
        for t in range(offsets[i], offsets[i + 1]):
            running[:] = 0.0
            for d in range(longest):
                shift = apart if d > 0 else 0
                last = t + d
                if last >= offsets[i + 1]:
                    for y in range(labels):
                        out[t, d, y] = 0.0
                    continue
                for y in range(labels):
                    if d >= lengths[y]:
                        out[t, d, y] = 0.0
                        continue
                    total = 0.0
                    if insides:
                        running[y] += inside[last, y]
                        total += running[y]
                    if starts:
                        total += start[t, shift + y]
                    if ends:
                        total += end[last, shift + y]
                    if phrases:
                        total += phrase[t * longest + d, y]
                    out[t, d, y] = total


@kernel
def share_out(
    gradient: Floats,
    offsets: Integers,
    lengths: NDArray[np.int32],
    low: int,
    high: int,
    start: Floats,
    end: Floats,
    inside: Floats,
) -> None:
    """The gradient of the potentials [tokens, longest, labels] as that of the scores, for sentences low to high.

    ``gradient`` becomes zero where a segment cannot be; seen as [tokens * longest, labels] it is that of ``phrase``.
    """
    longest, labels = gradient.shape[1], gradient.shape[2]
    apart = labels if start.shape[1] > labels else 0
    starts, ends, insides = len(start) > 0, len(end) > 0, len(inside) > 0
    for i in range(low, high):
        first, last = offsets[i], offsets[i + 1]
        start[first:last] = 0.0
        end[first:last] = 0.0
        inside[first:last] = 0.0
        for t in range(first, last):
            for d in range(longest):
                shift = apart if d > 0 else 0
                for y in range(labels):
                    if t + d >= last or d >= lengths[y]:
                        gradient[t, d, y] = 0.0
                        continue
                    g = gradient[t, d, y]
                    if starts:
                        start[t, shift + y] += g
                    if ends:
                        end[t + d, shift + y] += g
                    if insides:  # as differences: from t on, up to t + d
                        inside[t, y] += g
                        if t + d + 1 < last:
                            inside[t + d + 1, y] -= g
        if insides:
            for t in range(first + 1, last):
                for y in range(labels):
                    inside[t, y] += inside[t - 1, y]
