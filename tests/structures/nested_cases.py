"""Random batches of short sentences with nested segments, masked and extreme ones among them, for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dovetail.structures.nested import NestedBatch, NestedPotentials


def random_potentials(rng, tokens, labels, phrases, scale=1.0, masked=0.0):
    def table(empty):
        values = rng.normal(size=empty.shape) * scale
        values[rng.random(empty.shape) < masked] = -np.inf
        return values

    return NestedPotentials(*map(table, NestedPotentials.zeros(tokens, labels, phrases)))


@st.composite
def batches(draw, max_scale=30.0, masks=(0.0, 0.0, 0.1, 0.3)):
    """A batch of up to two sentences, small enough to be enumerated, and a random generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = draw(st.integers(1, 2))
    lengths = draw(st.lists(st.integers(0, 3 if labels == 1 else 2), min_size=1, max_size=2))
    scale = min(max_scale, draw(st.sampled_from([0.0, 1.0, 5.0, 30.0])))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    phrases, masked = draw(st.integers(0, 3)), draw(st.sampled_from(masks))
    potentials = random_potentials(rng, int(offsets[-1]), labels, phrases, scale, masked)
    return NestedBatch(potentials, offsets, draw(st.sampled_from([1, 2, 100]))), rng
