"""Nested segmentations against enumeration, against the grammar they are, and against semi-Markov sequences."""

from __future__ import annotations

import doctest
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import dovetail.structures.nested.batch
import dovetail.structures.nested.grammar
import dovetail.structures.nested.parts
from dovetail.errors import InputError
from dovetail.structures.nested.batch import NestedBatch, NestedPotentials, NestedSegments
from dovetail.structures.nested.grammar import nested_chart, segments_in
from dovetail.structures.semimarkov import SemiMarkov
from tests.structures.enumerate_nested import EnumeratedNested

MODULES = [dovetail.structures.nested.batch, dovetail.structures.nested.grammar, dovetail.structures.nested.parts]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    failed, tried = doctest.testmod(module)
    assert tried > 0
    assert failed == 0


def random_potentials(rng, tokens, labels, phrases, scale=1.0, masked=0.0):
    def table(empty):
        values = rng.normal(size=empty.shape) * scale
        values[rng.random(empty.shape) < masked] = -np.inf
        return values

    return NestedPotentials(*map(table, NestedPotentials.zeros(tokens, labels, phrases)))


@st.composite
def sentences(draw):
    """A batch of one sentence, small enough to be enumerated."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = draw(st.integers(1, 2))
    tokens = draw(st.integers(1, 4 if labels == 1 else 3))
    scale, masked = draw(st.sampled_from([0.0, 1.0, 5.0, 30.0])), draw(st.sampled_from([0.0, 0.0, 0.1, 0.3]))
    potentials = random_potentials(rng, tokens, labels, draw(st.integers(0, 3)), scale, masked)
    return NestedBatch(potentials, np.array([0, tokens]), draw(st.sampled_from([1, 2, 100])))


def listed(segments, sentence=0):
    some = slice(segments.offsets[sentence], segments.offsets[sentence + 1])
    columns = (segments.start[some], segments.end[some], segments.label[some])
    return list(zip(*(column.tolist() for column in columns), strict=True))


@settings(max_examples=60, deadline=None)
@given(sentences())
def test_everything_agrees_with_enumeration(batch):
    twin = EnumeratedNested(batch)
    log_z, marginals = batch.log_partition_and_marginals()
    assert_allclose(log_z[0], twin.log_z, rtol=1e-9)
    assert_allclose(batch.log_partition()[0], log_z[0])
    best = batch.best()
    if twin.log_z == -np.inf:
        assert listed(best) == []
        assert all(not part.any() for part in marginals)
        return
    assert_allclose(batch.score(NestedSegments.of([twin.trees[0]]))[0], twin.scores[0])
    assert_allclose(batch.score(best)[0], twin.scores.max(), rtol=1e-9)
    for mine, right in zip(marginals, twin.marginals(), strict=True):
        assert_allclose(mine, right, atol=1e-9)
    found, probability = batch.probable(1e-6)
    expected = {segment: p for segment, p in twin.segments().items() if p >= 2e-6}
    mine = dict(zip(listed(found), probability.tolist(), strict=True))
    assert expected.keys() <= mine.keys()
    assert_allclose([mine[segment] for segment in expected], list(expected.values()), atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1000), st.integers(1, 3), st.integers(1, 6))
def test_the_grammar_has_the_same_distribution(seed, labels, tokens):
    rng = np.random.default_rng(seed)
    potentials = random_potentials(rng, tokens + 2, labels, 2)
    batch = NestedBatch(potentials, np.array([0, 2, tokens + 2]), longest=4)
    chart = nested_chart(batch, 1)
    log_z = batch.log_partition()[1]
    assert_allclose(chart.log_partition(), log_z)
    best = chart.best()
    assert segments_in(labels, best) == listed(batch.best(), 1)
    alone = NestedBatch(potentials._replace(**{name: getattr(potentials, name)[2:] for name in ("word", "start", "end",
                        "inside")}, phrase=potentials.phrase[4:]), np.array([0, tokens]), longest=4)  # fmt: skip
    for tree, log_probability in chart.kbest(3):
        segments = NestedSegments.of([segments_in(labels, tree)])
        assert_allclose(alone.score(segments)[0] - log_z, log_probability, atol=1e-9)


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


def test_any_number_of_threads_gives_the_same_bits():
    rng = np.random.default_rng(3)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 20, 150))])
    batch = NestedBatch(random_potentials(rng, int(offsets[-1]), 2, 3), offsets)
    assert len(batch._shards()) > 2
    for threads in (2, 3):
        other = replace(batch, threads=threads)
        assert np.array_equal(other.log_partition(), batch.log_partition())
        assert all(map(np.array_equal, other.marginals(), batch.marginals()))
        assert all(map(np.array_equal, other.best(), batch.best()))


def test_long_sentences_neither_overflow_nor_take_for_ever():
    rng = np.random.default_rng(0)
    potentials = random_potentials(rng, 1000, 2, 3, scale=10.0)
    batch = NestedBatch(potentials, np.array([0, 1000]), longest=20)
    log_z, marginals = batch.log_partition_and_marginals()
    assert np.isfinite(log_z[0])
    assert log_z[0] > batch.score(batch.best())[0]
    assert_allclose(marginals.word.sum(), 1000, rtol=1e-6)


def test_no_words_have_one_segmentation():
    batch = NestedBatch(NestedPotentials.zeros(0, 2), np.array([0, 0]))
    assert batch.log_partition().tolist() == [0.0]
    assert listed(batch.best()) == []


def test_wrong_shapes_are_told():
    potentials = NestedPotentials.zeros(3, 2)._replace(inside=np.zeros((2, 2)))
    with pytest.raises(InputError, match="inside has shape"):
        NestedBatch(potentials, np.array([0, 3]))
