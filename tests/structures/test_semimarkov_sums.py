"""Sums over segmentations that are long, extreme, of many lengths, or chains by another name."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from dovetail.structures.chain import ChainBatch, ChainPotentials
from dovetail.structures.semimarkov import SemiMarkovBatch, SemiMarkovPotentials
from tests.structures.semimarkov_cases import (
    batches,
    random_direction,
    random_potentials,
)

quick = settings(max_examples=150, deadline=None)


@quick
@given(batches(max_scale=5.0, masks=(0.0, 0.2)))
def test_without_transitions_is_with_transitions_of_zero(case):
    batch, rng = case
    labels = batch.labels
    shapes = ((0, 0), (labels, labels))
    free, bound = (
        SemiMarkovBatch(batch.potentials._replace(transition=np.zeros(shape)), batch.offsets, batch.lengths)
        for shape in shapes
    )
    assert_allclose(free.log_partition(), bound.log_partition(), rtol=1e-12, atol=1e-12)
    assert_allclose(free.marginals().segment, bound.marginals().segment, rtol=1e-10, atol=1e-12)
    assert_allclose(free.entropy(), bound.entropy(), rtol=1e-9, atol=1e-10)
    direction = random_direction(rng, batch.potentials)
    moves = (
        b.jvp(direction._replace(transition=np.zeros(shape))) for b, shape in zip((free, bound), shapes, strict=True)
    )
    assert_allclose(*(move.segment for move in moves), rtol=1e-8, atol=1e-10)


def iob_chain(unary, begin, inside, transition, types):
    """A chain over O, B-1, I-1, B-2, I-2, ... and the segment potentials that mean the same.

    unary: [tokens, 1 + 2 * types]; begin: [types + 1], added when an entity (0: an O) starts; inside:
    [types], added for every step within; transition: [types + 1, types + 1], from label to label.
    """
    tags = 1 + 2 * types
    label = np.array([0, *np.repeat(np.arange(1, types + 1), 2)])
    steps = np.full((tags, tags), -np.inf)
    for a in range(tags):
        for b in range(tags):
            if b == 0 or b % 2 == 1:
                steps[a, b] = transition[label[a], label[b]] + begin[label[b]]
            elif label[a] == label[b]:
                steps[a, b] = inside[label[b] - 1]
    start = np.array([-np.inf if tag and tag % 2 == 0 else begin[label[tag]] for tag in range(tags)])
    tokens = len(unary)
    segment = np.full((tokens, tokens, types + 1), -np.inf)
    for t in range(tokens):
        segment[t, 0, 0] = begin[0] + unary[t, 0]
        for kind in range(1, types + 1):
            score = begin[kind] + unary[t, 2 * kind - 1]
            for d in range(tokens - t):
                score += (inside[kind - 1] + unary[t + d, 2 * kind]) if d else 0.0
                segment[t, d, kind] = score
    return (unary, steps, start), (segment, transition)


def test_a_chain_of_iob_tags_is_the_same_distribution():
    rng = np.random.default_rng(3)
    types, tokens = 2, 7
    chain, semi = iob_chain(
        rng.normal(size=(tokens, 1 + 2 * types)),
        rng.normal(size=types + 1),
        rng.normal(size=types),
        rng.normal(size=(types + 1, types + 1)),
        types,
    )
    tags = ChainBatch(ChainPotentials.of(*chain), [0, tokens])
    segments = SemiMarkovBatch(SemiMarkovPotentials.of(*semi), [0, tokens], [1, tokens, tokens])
    assert_allclose(segments.log_partition(), tags.log_partition(), rtol=1e-12)
    assert_allclose(segments.entropy(), tags.entropy(), rtol=1e-10)
    by_tag = tags.marginals().unary
    by_segment = segments.marginals().segment
    assert_allclose(by_segment[:, 0, 0], by_tag[:, 0], rtol=1e-9)
    assert_allclose(by_segment[:, :, 1:].sum(1), by_tag[:, 1::2], rtol=1e-9)
    # An entity ends where it is not gone on with.
    found = tags.path_probabilities([0], [2], [[1, 2, 2]], not_after=[[tag == 2 for tag in range(5)]])
    assert_allclose(by_segment[2, 2, 1], found[0], rtol=1e-9)
    assert_allclose(segments.kbest(4)[1], tags.kbest(4)[1], rtol=1e-12)
    best, expected = segments.best(), np.zeros(tokens, int)
    for start, length, label in zip(best.start, best.length, best.label, strict=True):
        if label:
            expected[start : start + length] = 2 * label
            expected[start] = 2 * label - 1
    assert tags.best().tolist() == expected.tolist()


def test_potentials_that_lose_a_path_to_underflow_are_summed_in_log_space():
    # Label 1 is worse than 0 by 800 at the first token, better by as much at the next two, and there is no
    # way from 0 to 1, so both paths weigh the same. Probabilities would have lost one without a trace.
    segment = np.array([[0.0, -800.0], [-400.0, 0.0], [-400.0, 0.0]])[:, None]
    potentials = SemiMarkovPotentials.of(segment, [[0.0, -np.inf], [-np.inf, 0.0]])
    log_z, marginals = SemiMarkovBatch(potentials, [0, 3]).log_partition_and_marginals()
    assert_allclose(log_z, [np.log(2) - 800])
    assert_allclose(marginals.segment, np.full((3, 1, 2), 0.5))


def test_small_losses_that_add_up_are_noticed():
    # As above, but no step alone is extreme: label 1 loses 100 a token, ten times, and wins it back at the end.
    segment = np.zeros((11, 1, 2))
    segment[:10, 0, 1] = -100.0
    segment[10, 0, 0] = -1000.0
    potentials = SemiMarkovPotentials.of(segment, [[0.0, -np.inf], [-np.inf, 0.0]])
    log_z, marginals = SemiMarkovBatch(potentials, [0, 11]).log_partition_and_marginals()
    assert_allclose(log_z, [np.log(2) - 1000])
    assert_allclose(marginals.segment, np.full((11, 1, 2), 0.5))


@pytest.mark.parametrize("order", [0, 1])
def test_a_long_sentence_neither_underflows_nor_drifts(order):
    rng = np.random.default_rng(7)
    tokens, longest, labels = 20_000, 3, 2
    potentials = random_potentials(rng, tokens, longest, labels, order, scale=3.0)
    log_z, marginals = SemiMarkovBatch(potentials, [0, tokens]).log_partition_and_marginals()
    transition = potentials.transition if order else np.zeros((labels, labels))
    begin = [potentials.start]
    for e in range(1, tokens + 1):
        ways = [begin[e - 1 - d] + potentials.segment[e - 1 - d, d] for d in range(min(longest, e))]
        arrive = np.logaddexp.reduce(ways, axis=0)
        begin.append(np.logaddexp.reduce(arrive[:, None] + transition, axis=0))
    assert_allclose(log_z[0], np.logaddexp.reduce(arrive + potentials.end), rtol=1e-12)
    covered = marginals.segment.sum((0, 2)) @ np.arange(1, longest + 1)
    assert_allclose(covered, tokens, rtol=1e-9)
    if order:
        assert_allclose(marginals.transition.sum(), marginals.segment.sum() - 1, rtol=1e-9)


def test_log_space_agrees_with_probabilities_on_a_batch_of_many_lengths():
    rng = np.random.default_rng(8)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 40, 200))])
    potentials = random_potentials(rng, int(offsets[-1]), 5, 4, 1, scale=2.0, masked=0.05)
    direction = random_direction(rng, potentials)

    def batch_with(value):
        transition = potentials.transition.copy()
        transition[0, 0] = value
        return SemiMarkovBatch(potentials._replace(transition=transition), offsets, [1, 5, 3, 5])

    # One transition that is all but forbidden sends every sentence to log space.
    forbidden, all_but = batch_with(-np.inf), batch_with(-1e4)
    assert forbidden._weights.safe
    assert not all_but._weights.safe
    log_z, marginals = forbidden.log_partition_and_marginals()
    log_z_again, again = all_but.log_partition_and_marginals()
    assert_allclose(log_z, log_z_again, rtol=1e-12)
    assert_allclose(forbidden.entropy(), all_but.entropy(), rtol=1e-9, atol=1e-12)
    for a, b in zip((*marginals, *forbidden.jvp(direction)), (*again, *all_but.jvp(direction)), strict=True):
        assert_allclose(a, b, rtol=1e-8, atol=1e-10)
