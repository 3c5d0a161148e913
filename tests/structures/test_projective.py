"""Projective trees against their twin, which writes out all of them."""

from __future__ import annotations

import doctest
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

import dovetail.structures.projective.batch
import dovetail.structures.projective.parts
from dovetail.errors import InputError
from dovetail.learning.losses import LOSSES
from dovetail.structures.projective import Projective, ProjectiveBatch, ProjectivePotentials
from dovetail.structures.projective.sums import inside_outside
from tests.structures.enumerate_projective import EnumeratedProjective, trees
from tests.structures.projective_cases import batches, enumerated, random_potentials, sentence

MODULES = [
    dovetail.structures.projective.batch,
    dovetail.structures.projective.parts,
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    failed, tried = doctest.testmod(module)
    assert tried > 0
    assert failed == 0


def test_the_twin_itself_counts_as_is_known():
    # Projective trees with one root child: 1, 2, 7, 30, 143; with any number: 1, 3, 12, 55, 273.
    assert [len(trees(n, False)) for n in range(1, 6)] == [1, 2, 7, 30, 143]
    assert [len(trees(n, True)) for n in range(1, 6)] == [1, 3, 12, 55, 273]


@settings(max_examples=60, deadline=None)
@given(batches())
def test_sums(case):
    batch, _ = case
    log_z, marginals = batch.log_partition_and_marginals()
    assert_allclose(batch.log_partition(), log_z, rtol=1e-12)
    entropy = batch.entropy()
    for n, _, twin in enumerated(batch):
        size = np.abs(twin.scores[np.isfinite(twin.scores)]).max(initial=1.0)
        assert_allclose(log_z[n], twin.log_partition(), rtol=1e-10, atol=1e-10)
        for part, expected in zip(sentence(marginals, batch, n), twin.marginals(), strict=True):
            assert_allclose(part, expected, atol=1e-10 * size)
        assert_allclose(entropy[n], twin.entropy(), atol=1e-9 * size)


@settings(max_examples=40, deadline=None)
@given(batches())
def test_the_best_trees_and_their_scores(case):
    batch, _ = case
    best, (heads, scores) = batch.best(), batch.kbest(7)
    best_score = batch.score(best)
    for n, words, twin in enumerated(batch):
        ranked = np.sort(twin.scores)[::-1]
        possible = ranked[ranked > -np.inf]
        assert_allclose(best_score[n], ranked[0], rtol=1e-9, atol=1e-9)
        assert_allclose(scores[n, : len(possible)], possible[:7], rtol=1e-9, atol=1e-9)
        assert (scores[n, len(possible) :] == -np.inf).all()
        found = [tuple(heads[k, words].tolist()) for k in range(min(7, len(possible)))]
        assert len(set(found)) == len(found)
        known = dict(zip(twin.trees, twin.scores, strict=True))
        for k, tree in enumerate(found):
            assert_allclose(known[tree], scores[n, k], rtol=1e-9, atol=1e-9)
        if not len(possible):
            assert (best[words] == -1).all()


@settings(max_examples=30, deadline=None)
@given(batches(max_scale=5.0, most=4))
def test_the_score_of_any_heads_is_that_of_a_tree_or_nothing(case):
    batch, rng = case
    heads = np.concatenate([rng.integers(0, size + 1, size) for size in np.diff(batch.offsets)]).astype(np.int32)
    scores = batch.score(heads)
    for n, words, twin in enumerated(batch):
        known = dict(zip(twin.trees, twin.scores, strict=True))
        assert_allclose(scores[n], known.get(tuple(heads[words].tolist()), -np.inf), rtol=1e-10, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(batches(max_scale=30.0))
def test_derivatives_of_marginals_are_covariances(case):
    batch, rng = case
    direction = ProjectivePotentials(*(rng.normal(size=part.shape) for part in batch.potentials))
    change = batch.jvp(direction)
    for n, _, twin in enumerated(batch):
        expected = twin.covariance(sentence(direction, batch, n))
        for part, right in zip(sentence(change, batch, n), expected, strict=True):
            assert_allclose(part, right, atol=1e-8)


def test_marginals_are_the_slope_of_log_z_and_jvp_is_theirs():
    rng = np.random.default_rng(3)
    offsets = np.array([0, 4, 9])
    batch = ProjectiveBatch(random_potentials(rng, offsets), offsets)
    direction = ProjectivePotentials(*(rng.normal(size=part.shape) for part in batch.potentials))
    marginals, change = batch.marginals(), batch.jvp(direction)

    def moved(step):
        parts = (p + step * d for p, d in zip(batch.potentials, direction, strict=True))
        return replace(batch, potentials=ProjectivePotentials(*parts))

    slope = (moved(1e-5).log_partition().sum() - moved(-1e-5).log_partition().sum()) / 2e-5
    assert_allclose(slope, sum((m * d).sum() for m, d in zip(marginals, direction, strict=True)), rtol=1e-7)
    for part, up, down in zip(change, moved(1e-5).marginals(), moved(-1e-5).marginals(), strict=True):
        assert_allclose(part, (up - down) / 2e-5, atol=1e-8)


def test_samples_are_as_frequent_as_they_are_probable():
    rng = np.random.default_rng(0)
    offsets = np.array([0, 3, 3, 7])
    for several in (False, True):
        batch = ProjectiveBatch(random_potentials(rng, offsets), offsets, several)
        drawn = batch.sample(20_000, rng)
        assert (batch.score(drawn[0]) > -np.inf).all()
        for n, words, twin in enumerated(batch):
            places = {tree: i for i, tree in enumerate(twin.trees)}
            counts = np.bincount([places[tuple(row)] for row in drawn[:, words].tolist()], minlength=len(places))
            assert_allclose(counts / len(drawn), twin.probabilities(), atol=0.015)
            assert n < 3


def test_extreme_weights_are_left_to_log_space():
    rng = np.random.default_rng(5)
    offsets = np.array([0, 5])
    batch = ProjectiveBatch(random_potentials(rng, offsets, scale=1e4), offsets)
    log_z = np.zeros(1)
    none = ProjectivePotentials(np.empty((0, 2)), np.empty((0, 2, 2)))
    inside_outside(batch.potentials, batch.places, False, 0, 1, log_z, none)
    [(_, _, twin)] = enumerated(batch)
    assert np.isnan(log_z[0]) or abs(log_z[0] - twin.log_partition()) < 1e-6
    assert_allclose(batch.log_partition()[0], twin.log_partition(), rtol=1e-12)


def test_long_sentences_of_weights_and_of_logarithms_agree():
    rng = np.random.default_rng(6)
    offsets = np.array([0, 60, 130])
    batch = ProjectiveBatch(random_potentials(rng, offsets), offsets)
    from dovetail.structures.projective.sums import log_inside_outside

    log_z, marginals = batch.log_partition_and_marginals()
    other = np.full(2, np.nan)
    expected = ProjectivePotentials(*map(np.empty_like, batch.potentials))
    log_inside_outside(batch.potentials, batch.places, False, 0, 2, other, expected)
    assert_allclose(log_z, other, rtol=1e-12)
    for one, two in zip(marginals, expected, strict=True):
        assert_allclose(one, two, atol=1e-11)


def test_any_number_of_threads_gives_the_same_bits():
    rng = np.random.default_rng(1)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 30, 300))])
    alone = ProjectiveBatch(random_potentials(rng, offsets), offsets)
    assert len(alone._shards) > 3

    def answers(batch):
        sums = batch.log_partition_and_marginals()
        more = batch.best(), *batch.kbest(2), batch.sample(2, np.random.default_rng(0)), batch.entropy()
        return [sums[0], *sums[1], *more, *batch.jvp(batch.potentials)]

    expected = answers(alone)
    for threads in (2, None):
        assert all(map(np.array_equal, answers(replace(alone, threads=threads)), expected))


def test_in_place_is_the_same():
    rng = np.random.default_rng(2)
    offsets = np.array([0, 4, 4, 9])
    potentials = random_potentials(rng, offsets)
    expected = ProjectiveBatch(potentials, offsets).log_partition_and_marginals()
    copy = ProjectivePotentials(*(part.copy() for part in potentials))
    found = ProjectiveBatch(copy, offsets).log_partition_and_marginals(in_place=True)
    assert_allclose(found[0], expected[0])
    assert found[1].attach is copy.attach
    for one, two in zip(found[1], expected[1], strict=True):
        assert_allclose(one, two)


def test_an_impossible_sentence_spoils_no_other():
    rng = np.random.default_rng(4)
    offsets = np.array([0, 3, 6])
    batch = ProjectiveBatch(random_potentials(rng, offsets), offsets)
    allowed = np.ones(32, bool)
    allowed[:16] = False
    restricted = batch.restrict(allowed)
    log_z, marginals = restricted.log_partition_and_marginals()
    assert log_z[0] == -np.inf
    assert log_z[1] == batch.log_partition()[1]
    assert not marginals.attach[:16].any()
    assert restricted.entropy()[0] == 0.0
    assert restricted.best()[:3].tolist() == [-1, -1, -1]
    assert restricted.score(restricted.best())[0] == -np.inf
    with pytest.raises(InputError, match="sentence 0: every tree is forbidden"):
        restricted.sample(1, rng)


@pytest.mark.parametrize("loss", LOSSES)
def test_losses_have_the_slope_they_say(loss):
    rng = np.random.default_rng(8)
    offsets = np.array([0, 4, 6])
    potentials = random_potentials(rng, offsets)
    gold = np.array([2, 0, 2, 3, 0, 1], np.int32)
    direction = ProjectivePotentials(*(rng.normal(size=part.shape) for part in potentials))

    def value(step):
        parts = (p + step * d for p, d in zip(potentials, direction, strict=True))
        return LOSSES[loss](ProjectiveBatch(ProjectivePotentials(*parts), offsets), gold, None)

    slope = (value(1e-6)[0] - value(-1e-6)[0]) / 2e-6
    found = sum((g * d).sum() for g, d in zip(value(0.0)[1], direction, strict=True))
    assert_allclose(found, slope, rtol=1e-5)


def test_one_sentence():
    rng = np.random.default_rng(9)
    attach, stop = rng.normal(size=(5, 5, 2)), rng.normal(size=(5, 2, 2))
    one = Projective(attach, stop)
    twin = EnumeratedProjective(ProjectivePotentials(attach, stop), False)
    assert_allclose(one.log_partition(), twin.log_partition())
    assert_allclose(one.marginals().attach, twin.marginals().attach, atol=1e-12)
    everything = one.kbest(100)
    assert len(everything) == 30
    assert_allclose(sum(np.exp(log_p) for _, log_p in everything), 1.0)
    assert_allclose(-sum(np.exp(log_p) * log_p for _, log_p in everything), one.entropy())
    assert one.sample(3, rng).shape == (3, 4)
    allowed = np.zeros((5, 5), bool)
    best = one.best()
    allowed[best, np.arange(1, 5)] = True
    assert_allclose(one.restrict(allowed).log_partition(), one.score(best))
    change = one.jvp(ProjectivePotentials(attach, stop))
    assert change.attach.shape == (5, 5, 2)


def test_an_empty_sentence_has_one_tree():
    one = Projective(np.zeros((1, 1, 2)))
    assert one.log_partition() == 0.0
    assert one.entropy() == 0.0
    assert one.best().size == 0
    assert [(heads.size, log_p) for heads, log_p in one.kbest(2)] == [(0, 0.0)]
    assert len(ProjectiveBatch(ProjectivePotentials(np.zeros((0, 2)), np.zeros((0, 2, 2))), [0]).log_partition()) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: ProjectiveBatch(b.potentials._replace(attach=np.zeros((9, 3))), b.offsets), "attach has shape"),
        (lambda b: ProjectiveBatch(b.potentials._replace(stop=np.zeros((3, 2))), b.offsets), "stop has shape"),
        (lambda b: ProjectiveBatch(b.potentials, [0, 3]), "have 16 arcs and 4 positions"),
        (lambda b: ProjectiveBatch(b.potentials, [1, 2]), "offsets must rise"),
        (
            lambda b: ProjectiveBatch(b.potentials._replace(attach=np.full((9, 2), np.nan)), b.offsets),
            "attach holds NaN",
        ),
        (lambda b: b.score([0, 3]), "sentence 0: head 3 is no position"),
        (lambda b: b.score([0]), "heads have shape"),
        (lambda b: b.jvp(b.potentials._replace(attach=np.full((9, 2), np.inf))), "must be finite"),
        (lambda b: b.restrict(np.ones(4)), "allowed has shape"),
        (lambda b: Projective(np.zeros((2, 3, 2))), "attach has shape"),
    ],
)
def test_wrong_arrays_are_told(change, message):
    batch = ProjectiveBatch(ProjectivePotentials(np.zeros((9, 2)), np.zeros((3, 2, 2))), [0, 2])
    with pytest.raises(InputError, match=message):
        change(batch)
