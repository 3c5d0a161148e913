"""Random batches of small sentences, with forbidden arcs and extreme scores among them, for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dovetail.structures.projective import ProjectiveBatch, ProjectivePotentials
from dovetail.structures.projective.parts import Places, read_mask


def random_potentials(rng, offsets, *, scale=1.0, masked=0.0):
    places = Places.of(np.asarray(offsets))
    attach = rng.normal(size=(places.arcs[-1], 2)) * scale
    stop = rng.normal(size=(offsets[-1] + len(offsets) - 1, 2, 2)) * scale
    attach[rng.random(attach.shape) < masked] = -np.inf
    stop[rng.random(stop.shape) < masked / 4] = -np.inf
    return ProjectivePotentials(attach, stop)


@st.composite
def batches(draw, max_scale=1e4, masks=(0.0, 0.0, 0.2, 0.5), most=5):
    """A batch of up to four sentences of up to five words, and a random generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    words = draw(st.lists(st.integers(0, most), min_size=1, max_size=4))
    offsets = np.concatenate([[0], np.cumsum(words)]).astype(np.int64)
    scale = min(max_scale, draw(st.sampled_from([0.0, 1.0, 5.0, 30.0, 100.0, 1e4])))
    potentials = random_potentials(rng, offsets, scale=scale, masked=draw(st.sampled_from(masks)))
    # What is no part of a tree must never be read.
    arcs, sides = read_mask(Places.of(offsets))
    odd = draw(st.sampled_from([np.nan, np.inf, 1e5]))
    potentials.attach[~arcs] = odd
    potentials.stop[~sides] = odd
    return ProjectiveBatch(potentials, offsets, several=draw(st.booleans())), rng
