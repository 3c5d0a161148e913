"""What the loops of Brown clustering work on: a window of classes and all words, by the letters of `brown_kernels`."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dovetail.arrays import Flags, Floats, Int32s, Int64s
from dovetail.clusters.counts import Bigrams

TABLE = 1 << 21
"""Logarithms of counts below this are looked up."""


class Window(NamedTuple):
    """The classes at work, one a slot; slots 0 to k - 1 are in use. Changed in place.

    ``pairs[a, d]`` is n(a, d) and ``pairs_t`` its transpose; ``gain`` [slots, slots]; ``log_sum[a, b]`` is scale times
    log(n(a) + n(b)). By slot: ``size`` n(c), ``links`` m(c), ``links_log`` m(c) log n(c) times scale, and ``name``, the
    class's first word. ``least`` is a lower bound of the losses that a slot answers for, that of merging it with
    ``partner``, and exact unless ``stale``; ``dirty`` marks slots whose losses have changed. ``change`` [slots] is room
    for a row, and ``chosen`` [2] for the classes to merge. ``f`` is the table of x log x times scale, rounded.
    """

    pairs: Int32s
    pairs_t: Int32s
    gain: Int64s
    log_sum: Floats
    size: Int64s
    links: Floats
    links_log: Int64s
    name: Int64s
    least: Int64s
    partner: Int64s
    stale: Flags
    dirty: Flags
    change: Int64s
    chosen: Int64s
    f: Int64s
    scale: float


class Words(NamedTuple):
    """All words by number, most frequent first: how often each occurs, and its neighbours on both sides.

    ``parent`` [words] leads from a word to the first word of its class, -1 for a word not yet entered, and ``slot``
    [words] gives the slot of the class that a word is the first of. These two are changed in place.
    """

    times: Int64s
    beside: Bigrams
    parent: Int64s
    slot: Int64s


def empty_window(slots: int, tokens: int) -> Window:
    """A window without classes, for a text of so many words."""
    cells = np.int32 if tokens < 1 << 31 else np.int64
    square = (slots, slots)
    # The greatest number that a loss is made of is below 8 n log n.
    scale = 2.0 ** min(40, int(61 - math.log2(8 * tokens * math.log(tokens + 2) + 1)))
    x = np.arange(min(TABLE, 2 * tokens + 2), dtype=np.float64)
    by_slot = {name: np.zeros(slots, np.int64) for name in ("size", "links_log", "name", "least", "partner", "change")}
    return Window(
        pairs=np.zeros(square, dtype=cells),
        pairs_t=np.zeros(square, dtype=cells),
        gain=np.zeros(square, dtype=np.int64),
        log_sum=np.zeros(square),
        links=np.zeros(slots),
        stale=np.zeros(slots, dtype=np.bool_),
        dirty=np.zeros(slots, dtype=np.bool_),
        **by_slot,
        chosen=np.zeros(2, dtype=np.int64),
        f=(x * np.log(np.maximum(x, 1)) * scale).astype(np.int64),
        scale=scale,
    )
