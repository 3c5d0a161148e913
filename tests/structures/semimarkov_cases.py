"""Random batches of small segmentations, masked and extreme ones among them, for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dovetail.structures.semimarkov import Segments, SemiMarkovBatch, SemiMarkovPotentials


def random_potentials(rng, tokens, longest, labels, order, *, scale=1.0, masked=0.0):
    def table(*shape):
        values = rng.normal(size=shape) * scale
        values[rng.random(shape) < masked] = -np.inf
        return values

    transition = table(labels, labels) if order else np.zeros((0, 0))
    return SemiMarkovPotentials(table(tokens, longest, labels), transition, table(labels), table(labels))


def random_direction(rng, potentials):
    return SemiMarkovPotentials(*(rng.normal(size=part.shape) for part in potentials))


def past_the_end(offsets, longest):
    """Which segments cross the end of their sentence: [N, D]."""
    ends = np.repeat(offsets[1:], np.diff(offsets))
    return np.arange(offsets[-1])[:, None] + np.arange(1, longest + 1) > ends[:, None]


@st.composite
def batches(draw, max_scale=1e4, masks=(0.0, 0.0, 0.2, 0.5)):
    """A batch of up to four sentences of up to five tokens, and a random generator."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    order, labels, longest = draw(st.sampled_from([0, 1])), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    tokens = draw(st.lists(st.integers(0, 5 if labels < 3 else 4), min_size=1, max_size=4))
    scale = min(max_scale, draw(st.sampled_from([0.0, 1.0, 5.0, 30.0, 100.0, 1e4])))
    offsets = np.concatenate([[0], np.cumsum(tokens)]).astype(np.int64)
    masked = draw(st.sampled_from(masks))
    potentials = random_potentials(rng, int(offsets[-1]), longest, labels, order, scale=scale, masked=masked)
    if order and draw(st.booleans()):
        potentials.transition[0, 0] = -300.0  # sends all to log space, however mild the rest
    # What lies past the end must never be read.
    potentials.segment[past_the_end(offsets, longest)] = draw(st.sampled_from([np.nan, np.inf, 1e5]))
    lengths = np.array(draw(st.lists(st.integers(1, longest), min_size=labels, max_size=labels)), np.int32)
    return SemiMarkovBatch(potentials, offsets, lengths), rng


def sentence(potentials, tokens):
    """The part of the potentials, or of counts like them, that belongs to some tokens."""
    return potentials._replace(segment=potentials.segment[tokens])


def as_tuples(segments, batch, n):
    """The segments of one sentence, as its twin writes them."""
    own = slice(segments.offsets[n], segments.offsets[n + 1])
    starts = segments.start[own] - batch.offsets[n]
    return tuple(zip(starts.tolist(), segments.length[own].tolist(), segments.label[own].tolist(), strict=True))


def random_segments(rng, batch):
    """A segmentation of every sentence, of lengths that the labels allow, whatever its score."""
    length, label = np.zeros((2, batch.tokens), np.int32)
    for n in range(len(batch)):
        token = int(batch.offsets[n])
        while token < batch.offsets[n + 1]:
            label[token] = rng.integers(batch.labels)
            most = min(batch.lengths[label[token]], batch.offsets[n + 1] - token)
            length[token] = rng.integers(1, most + 1)
            token += int(length[token])
    return Segments.of_tokens(length, label, batch.offsets)
