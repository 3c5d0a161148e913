"""Random batches of small chains, masked and extreme ones among them, for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dovetail.structures.chain import ChainBatch, ChainPotentials


def random_potentials(rng, tokens, labels, order, *, scale=1.0, masked=0.0, edges=False):
    states = labels if order == 1 else labels * labels + labels

    def table(*shape):
        values = rng.normal(size=shape) * scale
        values[rng.random(shape) < masked] = -np.inf
        return values

    edge = table(tokens, labels, labels) if edges else np.zeros((0, labels, labels))
    return ChainPotentials(table(tokens, labels), table(states, labels), table(labels), table(labels), edge)


def random_direction(rng, potentials):
    return ChainPotentials(*(rng.normal(size=part.shape) for part in potentials))


@st.composite
def batches(draw, max_scale=800.0, masks=(0.0, 0.0, 0.2, 0.5), labels=None):
    """A batch of up to four sentences of up to five tokens, and a random generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    order = draw(st.sampled_from([1, 2]))
    labels = labels or draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(0, 5 if labels < 4 else 4), min_size=1, max_size=4))
    scale = min(max_scale, draw(st.sampled_from([0.0, 1.0, 5.0, 100.0, 800.0])))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    masked, edges = draw(st.sampled_from(masks)), draw(st.booleans())
    potentials = random_potentials(rng, int(offsets[-1]), labels, order, scale=scale, masked=masked, edges=edges)
    if draw(st.booleans()):
        potentials.transition[0, 0] = -300.0  # sends all to log space, however mild the rest
    return ChainBatch(potentials, offsets, order), rng


def sentence(potentials, tokens):
    """The part of the potentials, or of counts like them, that belongs to some tokens."""
    return potentials._replace(unary=potentials.unary[tokens], edge=potentials.edge[tokens])
