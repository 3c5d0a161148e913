"""Random batches of small frames, masked and extreme ones among them, and all their answers written out."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import strategies as st

from dovetail.structures.frames import FrameBatch, FramePotentials

ONCE = ([-1], [0], [0, -1], [1, 0, -1], [0, 0, -1])


def spans(rng, words, count):
    """So many different spans of so many words, in the order of their ends."""
    every = list(combinations(range(words + 1), 2))
    chosen = rng.choice(len(every), min(count, len(every)), replace=False) if every else []
    return sorted((every[i] for i in chosen), key=lambda span: (span[1], span[0]))


def random_batch(rng, sizes, once, *, scale=1.0, masked=0.0):
    rows = [spans(rng, words, count) for words, count in sizes]
    begin, end = np.array([span for row in rows for span in row], np.int32).reshape(-1, 2).T
    role = rng.normal(size=(len(begin), len(once))) * scale
    role[rng.random(role.shape) < masked] = -np.inf
    return FrameBatch(FramePotentials(role), np.cumsum([0, *map(len, rows)]), begin, end, once)


@st.composite
def batches(draw, max_scale=1e4, masks=(0.0, 0.0, 0.2, 0.5)):
    """A batch of up to four frames of up to five candidates, and a random generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5)), min_size=1, max_size=4))
    scale = min(max_scale, draw(st.sampled_from([0.0, 1.0, 5.0, 100.0, 1e4])))
    return random_batch(rng, sizes, draw(st.sampled_from(ONCE)), scale=scale, masked=draw(st.sampled_from(masks))), rng


def answers(batch, n):
    """The labels of the candidates of one frame, in every way that the rules allow."""
    first, after = batch.offsets[n : n + 2].tolist()

    def extended(c, end, used):
        if c == after:
            yield ()
            return
        yield from ((-1, *rest) for rest in extended(c + 1, end, used))
        if batch.begin[c] >= end:
            for label, bit in enumerate(batch.once.tolist()):
                if bit < 0 or bit not in used:
                    yield from ((label, *rest) for rest in extended(c + 1, batch.end[c], used | {bit} - {-1}))

    return extended(first, 0, frozenset())
