"""The brute-force twin of a semi-Markov sequence: every segmentation is written out."""

from __future__ import annotations

import numpy as np

from dovetail.structures.semimarkov import SemiMarkovPotentials


def segmentations(tokens, lengths, start=0):
    """All ways to cut tokens into labelled segments, as tuples of (start, length, label)."""
    if start == tokens:
        yield ()
    for label, longest in enumerate(lengths):
        for length in range(1, min(longest, tokens - start) + 1):
            for rest in segmentations(tokens, lengths, start + length):
                yield ((start, length, label), *rest)


def parts(segmentation, potentials):
    """The counts of the parts of one segmentation, shaped like the potentials of its sentence."""
    counts = SemiMarkovPotentials(*(np.zeros_like(part) for part in potentials))
    for i, (start, length, label) in enumerate(segmentation):
        counts.segment[start, length - 1, label] += 1
        if i > 0 and counts.transition.size:
            counts.transition[segmentation[i - 1][2], label] += 1
    if segmentation:
        counts.start[segmentation[0][2]] += 1
        counts.end[segmentation[-1][2]] += 1
    return counts
