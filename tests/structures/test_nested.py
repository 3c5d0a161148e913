"""Nested segmentations against semi-Markov sequences, and what the conformance suite does not ask them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.structures.nested.batch import NestedBatch, NestedPotentials, NestedSegments
from dovetail.structures.semimarkov import SemiMarkov
from tests.structures.cases import Enumerated, NestedCase
from tests.structures.nested_cases import batches, random_potentials


def listed(segments, sentence=0):
    some = slice(segments.offsets[sentence], segments.offsets[sentence + 1])
    columns = (segments.start[some], segments.end[some], segments.label[some])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def flat_potentials(rng, tokens, labels, order):
    """Random potentials without nesting, and the semi-Markov sequence whose label 0 is a single word."""
    p = random_potentials(rng, tokens, labels, 2)
    for table in (p.first, p.sibling, p.last):
        table[1:] = 0.0
        if not order:
            table[0] = 0.0
    p.word[:, 1:] = 0.0
    p.nest[1:] = -np.inf
    p.nest[0] = 0.0
    segment = np.full((tokens, tokens, labels + 1), -np.inf)
    segment[:, 0, 0] = p.word[:, 0]
    for t in range(tokens):
        for d in range(tokens - t):
            inside = p.inside[t : t + d + 1, :labels].sum(axis=0)
            segment[t, d, 1:] = p.start[t, :labels] + p.end[t + d, :labels] + inside
            if d < 2:
                segment[t, d, 1:] += p.phrase[2 * t + d, :labels]
    tables = {"transition": p.sibling[0], "start": p.first[0], "end": p.last[0]} if order else {}
    return p, SemiMarkov(segment, **tables)


@pytest.mark.parametrize("order", [0, 1])
def test_without_nesting_it_is_semi_markov_with_no_bound_on_lengths(order):
    rng = np.random.default_rng(order)
    for tokens in (1, 2, 7, 12):
        potentials, flat = flat_potentials(rng, tokens, 3, order)
        batch = NestedBatch(potentials, np.array([0, tokens]))
        assert_allclose(batch.log_partition()[0], flat.log_partition())
        found, probability = batch.probable(0.0)
        right = flat.marginals()
        mine = np.zeros((tokens, tokens, 3))
        mine[found.start, found.end - found.start - 1, found.label] = probability
        assert_allclose(mine, right.segment[:, :, 1:], atol=1e-12)
        marginals = batch.marginals()
        assert_allclose(marginals.word[:, 0], right.segment[:, 0, 0], atol=1e-12)
        if order:
            assert_allclose(marginals.sibling[0], right.transition, atol=1e-12)
            assert_allclose(marginals.first[0], right.start, atol=1e-12)
            assert_allclose(marginals.last[0], right.end, atol=1e-12)
        best = flat.best()
        segments = zip(best.start.tolist(), (best.start + best.length).tolist(), best.label.tolist(), strict=True)
        assert listed(batch.best()) == [(i, j, y - 1) for i, j, y in segments if y]


def test_long_sentences_neither_overflow_nor_take_for_ever():
    rng = np.random.default_rng(0)
    potentials = random_potentials(rng, 400, 2, 3, scale=10.0)
    batch = NestedBatch(potentials, np.array([0, 400]), longest=20)
    log_z, marginals = batch.log_partition_and_marginals()
    assert np.isfinite(log_z[0])
    assert log_z[0] > batch.score(batch.best())[0]
    assert_allclose(marginals.word.sum(), 400, rtol=1e-6)


def test_no_words_have_one_segmentation():
    batch = NestedBatch(NestedPotentials.zeros(0, 2), np.array([0, 0]))
    assert batch.log_partition().tolist() == [0.0]
    assert listed(batch.best()) == []


def test_wrong_shapes_are_told():
    potentials = NestedPotentials.zeros(3, 2)._replace(inside=np.zeros((2, 2)))
    with pytest.raises(InputError, match="inside has shape"):
        NestedBatch(potentials, np.array([0, 3]))


@settings(max_examples=40, deadline=None)
@given(batches(max_scale=5.0))
def test_probable_segments(case):
    batch, _ = case
    found, probability = batch.probable(1e-6)
    twins = [Enumerated(NestedCase(), batch, n) for n in range(len(batch))]
    for n, twin in enumerate(twins):
        right: Counter[tuple[int, int, int]] = Counter()
        for (_, segments), p in zip(twin.keys, twin.probabilities(), strict=True):
            right.update(dict.fromkeys(segments, p))
        own = dict(zip(listed(found, n), probability[slice(*found.offsets[n : n + 2])].tolist(), strict=True))
        assert {segment for segment, p in right.items() if p >= 2e-6} <= own.keys()
        assert_allclose(list(own.values()), [right[segment] for segment in own], atol=1e-9)


def test_a_segment_longer_than_all_phrases_needs_a_wider_table():
    batch = NestedBatch(random_potentials(np.random.default_rng(1), 5, 1, 2), np.array([0, 2, 5]))
    with pytest.raises(InputError, match=r"3 tokens .* with_phrases\(3\)"):
        batch.span([1], [0], [3], [0])
    wide = batch.with_phrases(3)
    assert_allclose(wide.log_partition(), batch.log_partition(), rtol=1e-12)
    answer = NestedSegments.of([[], [(0, 3, 0), (1, 3, 0)]])
    gain = wide.plus(wide.span([1, 1], [0, 1], [3, 3], [0, 0]), [2.0, 0.5]).score(answer) - batch.score(answer)
    assert_allclose(gain, [0.0, 2.5])


def test_what_cannot_be_has_no_score():
    batch = NestedBatch(NestedPotentials.zeros(3, 2), np.array([0, 3]), longest=2)
    assert batch.score(NestedSegments.of([[(0, 3, 0)]])).tolist() == [-np.inf]
    assert batch.score(NestedSegments.of([[(0, 2, 0)]])).tolist() == [0.0]
