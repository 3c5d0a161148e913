"""Random batches of short sentences with labelled brackets, masked and extreme ones among them, for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dovetail.structures.brackets import BracketBatch, BracketPotentials
from dovetail.structures.ruled import RuledBatch, RuledPotentials


def random_potentials(rng, offsets, labels, *, scale=1.0, masked=0.0):
    n = np.diff(offsets)
    span = rng.normal(size=(int((n * (n + 1) // 2).sum()), labels)) * scale
    span[rng.random(span.shape) < masked] = -np.inf
    return BracketPotentials(span)


def random_rules(rng, offsets, labels, *, scale=1.0, masked=0.0):
    rule = rng.normal(size=(labels,) * 3) * scale
    rule[rng.random(rule.shape) < masked / 4] = -np.inf
    return RuledPotentials(random_potentials(rng, offsets, labels, scale=scale, masked=masked).span, rule)


@st.composite
def batches(draw, max_scale=1e4, masks=(0.0, 0.0, 0.2, 0.5), kind=BracketBatch, potentials=random_potentials):
    """A batch of up to three sentences, small enough to be enumerated, and a random generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = draw(st.integers(1, 3))
    lengths = draw(st.lists(st.integers(0, {1: 5, 2: 4, 3: 3}[labels]), min_size=1, max_size=3))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    scale = min(max_scale, draw(st.sampled_from([0.0, 1.0, 5.0, 30.0, 1000.0, 1e4])))
    return kind(potentials(rng, offsets, labels, scale=scale, masked=draw(st.sampled_from(masks))), offsets), rng


def ruled(**limits):
    """The same with rules."""
    return batches(kind=RuledBatch, potentials=random_rules, **limits)
