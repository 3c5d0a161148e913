"""The arrays that nested segmentations are made of: segments within segments, as deep as may be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dovetail.structures.chain.parts import Floats, Integers, Labels


class NestedPotentials(NamedTuple):
    """One number for every part of the nested segmentations of N tokens, with T labels.

    What lies directly in a segment, or in no segment, is a row of elements: single tokens (element 0) and segments of
    label x (element x + 1). Where it lies is its context: 0 for the sentence, y + 1 for a segment of label y. The score
    of a nested segmentation is the sum of

    - ``word[t, p]`` for every token t, with p the context it lies in directly;
    - ``start[t, x] + end[u, x] + inside[t, x] + ... + inside[u, x] + phrase[t * L + u - t, x]`` for every segment from
      token t to token u with label x that lies in no other, the last term only if it has at most L tokens; the same
      with ``T + x`` in place of x for every segment that lies in another;
    - ``nest[p, x]`` for every segment of label x in context p;
    - ``first[p, e]``, ``sibling[p, e, f]`` and ``last[p, e]`` for the first element, neighbours and the last element
      of every context.

    As marginals, each entry is the expected count of its part.
    """

    word: Floats
    """``[N, T + 1]``."""
    start: Floats
    """``[N, 2 * T]``."""
    end: Floats
    """``[N, 2 * T]``."""
    inside: Floats
    """``[N, 2 * T]``."""
    phrase: Floats
    """``[N * L, 2 * T]``; nothing is read past a sentence's end."""
    nest: Floats
    """``[T + 1, T]``."""
    first: Floats
    """``[T + 1, T + 1]``."""
    sibling: Floats
    """``[T + 1, T + 1, T + 1]``."""
    last: Floats
    """``[T + 1, T + 1]``."""

    @property
    def labels(self) -> int:
        """The number of labels, T."""
        return int(self.nest.shape[1])

    @classmethod
    def zeros(cls, tokens: int, labels: int, phrases: int = 0) -> NestedPotentials:
        """Potentials of zero, for phrases of up to so many tokens."""
        elements = labels + 1
        return cls(
            np.zeros((tokens, elements)),
            np.zeros((tokens, 2 * labels)),
            np.zeros((tokens, 2 * labels)),
            np.zeros((tokens, 2 * labels)),
            np.zeros((tokens * phrases, 2 * labels)),
            np.zeros((elements, labels)),
            np.zeros((elements, elements)),
            np.zeros((elements, elements, elements)),
            np.zeros((elements, elements)),
        )


TOKEN_PARTS = ("word", "start", "end", "inside", "phrase")
TABLES = ("nest", "first", "sibling", "last")


class NestedSegments(NamedTuple):
    """The segments of every sentence of a batch, each before those within it, from left to right.

    >>> NestedSegments.of([[(0, 3, 1), (1, 2, 0)], []])
    NestedSegments(start=array([0, 1]), end=array([3, 2]), label=array([1, 0], dtype=int32), offsets=array([0, 2, 2]))
    """

    start: Integers
    """``[segments]``: the first token, counted in its sentence."""
    end: Integers
    """``[segments]``: the token after the last."""
    label: Labels
    """``[segments]``."""
    offsets: Integers
    """``[n + 1]``: the segments of sentence i are offsets[i] .. offsets[i + 1]."""

    @classmethod
    def of(cls, sentences: Sequence[Sequence[tuple[int, int, int]]]) -> NestedSegments:
        """From (start, end, label) of the segments of every sentence, in order."""
        flat = np.array([each for segments in sentences for each in segments], np.int64).reshape(-1, 3)
        offsets = np.zeros(len(sentences) + 1, np.int64)
        np.cumsum([len(segments) for segments in sentences], out=offsets[1:])
        return cls(flat[:, 0].copy(), flat[:, 1].copy(), flat[:, 2].astype(np.int32), offsets)
