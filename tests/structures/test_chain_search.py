"""Best labellings, k-best lists, scores and indicators, against the brute-force twin."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from numpy.testing import assert_allclose

from dovetail.structures.chain import ChainBatch, ChainPotentials
from tests.structures.chain_cases import batches, enumerated, sentence
from tests.structures.enumerate_chain import dot, parts

quick = settings(max_examples=150, deadline=None)


@quick
@given(batches())
def test_best_has_the_best_score(case):
    batch, _ = case
    scores = batch.score(batch.best())
    for n, _, twin in enumerated(batch):
        assert_allclose(scores[n], twin.scores.max(), rtol=1e-12, atol=1e-12)


def test_ties_go_to_the_lowest_label():
    batch = ChainBatch(ChainPotentials.of(np.zeros((7, 3)), np.zeros((3, 3))), [0, 1, 3, 7])
    assert not batch.best().any()
    labels, scores = batch.kbest(2)
    assert not labels[0].any()
    assert not scores.any()


@quick
@given(batches())
def test_kbest_is_the_sorted_list_without_repeats(case):
    batch, _ = case
    k = 6
    labels, scores = batch.kbest(k)
    for n, tokens, twin in enumerated(batch):
        possible = np.sort(twin.scores[twin.scores > -np.inf])[::-1][:k]
        assert_allclose(scores[n, : len(possible)], possible, rtol=1e-12, atol=1e-12)
        assert (scores[n, len(possible) :] == -np.inf).all()
        found = [tuple(row[tokens].tolist()) for row in labels[: len(possible)]]
        assert len(set(found)) == len(found)
        for labelling, score in zip(found, scores[n], strict=False):
            assert_allclose(twin.scores[twin.labellings.index(labelling)], score, rtol=1e-12, atol=1e-12)


@quick
@given(batches(masks=(0.0,)))
def test_score_and_indicator(case):
    batch, rng = case
    labels = rng.integers(0, batch.labels, batch.offsets[-1])
    scores, counts = batch.score(labels), batch.indicator(labels)
    shared = [np.zeros_like(table) for table in batch.potentials[1:4]]
    for n, tokens, twin in enumerated(batch):
        truth = parts(tuple(labels[tokens].tolist()), twin.potentials, batch.order)
        assert_allclose(scores[n], dot(truth, twin.potentials), rtol=1e-12, atol=1e-12)
        own = sentence(counts, tokens)
        assert np.array_equal(own.unary, truth.unary)
        assert np.array_equal(own.edge, truth.edge)
        shared = [total + table for total, table in zip(shared, truth[1:4], strict=True)]
    assert all(np.array_equal(table, total) for table, total in zip(counts[1:4], shared, strict=True))
    assert not any(part.any() for part in batch.subtract(counts, labels))


@quick
@given(batches(masks=(0.0,)))
def test_a_cost_raises_every_other_label(case):
    batch, rng = case
    gold, other = rng.integers(0, batch.labels, (2, int(batch.offsets[-1])))
    costly = batch.with_cost(gold, 2.5)
    assert_allclose(costly.score(gold), batch.score(gold), rtol=1e-12, atol=1e-9)
    wrong = np.array([(gold[a:b] != other[a:b]).sum() for a, b in pairwise(batch.offsets)])
    assert_allclose(costly.score(other), batch.score(other) + 2.5 * wrong, rtol=1e-12, atol=1e-9)
