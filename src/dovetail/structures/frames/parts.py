"""The parts of frames: which candidates there are, and a number for each label of each of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.errors import InputError
from dovetail.kernel import kernel
from dovetail.structures.contract import Floats, Integers, Labels

MOST = 10
"""Labels that may be used once, at most: time and memory double with each."""


class FramePotentials(NamedTuple):
    """One number for every label of every candidate; a candidate without a label has none, and adds nothing."""

    role: Floats
    """``[N, L]``."""


class Places(NamedTuple):
    """Candidates between boundaries. Boundary 0 is the beginning of the words, others are where candidates end."""

    before: Labels  # [N]: the last boundary that is not after the first word of a candidate
    after: Labels  # [N]: that at its end
    ends: Labels  # [n]: the boundaries of each frame, besides 0

    @classmethod
    def of(cls, begin: Labels, end: Labels, offsets: Integers) -> Places:
        """From the words ``begin`` up to ``end`` of each candidate, which come in the order of their ends."""
        made = cls(np.zeros(len(begin), np.int32), np.zeros(len(begin), np.int32), np.zeros(len(offsets) - 1, np.int32))
        if not _place(begin, end, offsets, *made):
            raise InputError("candidates must have words, and come in the order of their ends")
        return made


@kernel
def _place(
    begin: Labels, end: Labels, offsets: Integers, before: Labels, after: Labels, count: Labels
) -> bool:  # fmt: skip
    """Set the boundaries of candidates; whether these are in order."""
    for n in range(offsets.size - 1):
        boundary, last = 0, 0
        for c in range(offsets[n], offsets[n + 1]):
            if begin[c] < 0 or begin[c] >= end[c] or end[c] < last:
                return False
            if end[c] > last or boundary == 0:
                boundary += 1
                last = end[c]
            after[c] = boundary
            # The boundaries before this one lie in the order of the candidates: look back from here.
            found, other = 0, c - 1
            while other >= offsets[n]:
                if end[other] <= begin[c]:
                    found = after[other]
                    break
                other -= 1
            before[c] = found
        count[n] = boundary
    return True
