"""Projective trees: what is extreme, long or wrong, losses, and the single sentence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.learning.losses import LOSSES
from dovetail.structures.projective import Projective, ProjectiveBatch, ProjectivePotentials
from dovetail.structures.projective.sums import inside_outside, log_inside_outside
from tests.structures.cases import Enumerated, ProjectiveCase
from tests.structures.enumerate_projective import trees
from tests.structures.projective_cases import batches, random_potentials

CASE = ProjectiveCase()


def test_the_twin_itself_counts_as_is_known():
    # Projective trees with one root child: 1, 2, 7, 30, 143; with any number: 1, 3, 12, 55, 273.
    assert [len(trees(n, False)) for n in range(1, 6)] == [1, 2, 7, 30, 143]
    assert [len(trees(n, True)) for n in range(1, 6)] == [1, 3, 12, 55, 273]


@settings(max_examples=30, deadline=None)
@given(batches(max_scale=5.0, most=4))
def test_the_score_of_any_heads_is_that_of_a_tree_or_nothing(case):
    batch, rng = case
    heads = np.concatenate([rng.integers(0, size + 1, size) for size in np.diff(batch.offsets)]).astype(np.int32)
    scores = batch.score(heads)
    for n in range(len(batch)):
        twin, own = Enumerated(CASE, batch, n), CASE.key(batch, heads, n)
        known = dict(zip(twin.keys, twin.scores, strict=True))
        assert_allclose(scores[n], known.get(own, -np.inf), rtol=1e-10, atol=1e-10)


def test_extreme_weights_are_left_to_log_space():
    rng = np.random.default_rng(5)
    offsets = np.array([0, 5])
    batch = ProjectiveBatch(random_potentials(rng, offsets, scale=1e4), offsets)
    log_z = np.zeros(1)
    none = ProjectivePotentials(np.empty((0, 2)), np.empty((0, 2, 2)))
    inside_outside(batch.potentials, batch.places, False, 0, 1, log_z, none)
    twin = Enumerated(CASE, batch, 0)
    assert np.isnan(log_z[0]) or abs(log_z[0] - twin.log_partition()) < 1e-6
    assert_allclose(batch.log_partition()[0], twin.log_partition(), rtol=1e-12)


def test_long_sentences_of_weights_and_of_logarithms_agree():
    rng = np.random.default_rng(6)
    offsets = np.array([0, 60, 130])
    batch = ProjectiveBatch(random_potentials(rng, offsets), offsets)
    log_z, marginals = batch.log_partition_and_marginals()
    other = np.full(2, np.nan)
    expected = ProjectivePotentials(*map(np.empty_like, batch.potentials))
    log_inside_outside(batch.potentials, batch.places, False, 0, 2, other, expected)
    assert_allclose(log_z, other, rtol=1e-12)
    for one, two in zip(marginals, expected, strict=True):
        assert_allclose(one, two, atol=1e-11)


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
    twin = Enumerated(CASE, one.batch, 0)
    assert_allclose(one.log_partition(), twin.log_partition())
    assert_allclose(one.marginals().attach.ravel(), twin.marginals()[:50], atol=1e-12)
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
