"""The faces of a semi-Markov sequence: threads, shapes, complaints, losses, and the single sequence."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.learning.losses import LOSSES
from dovetail.structures.semimarkov import Segments, SemiMarkov, SemiMarkovBatch, SemiMarkovPotentials
from tests.structures.cases import Enumerated, SemiMarkovCase
from tests.structures.semimarkov_cases import random_direction, random_potentials, random_segments


@pytest.mark.parametrize("order", [0, 1])
def test_sentences_answer_the_same_alone_and_in_company(order):
    rng = np.random.default_rng(order)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 50, 90))])
    potentials = random_potentials(rng, int(offsets[-1]), 4, 3, order, scale=2.0, masked=0.02)
    batch = SemiMarkovBatch(potentials, offsets, [1, 4, 3])
    log_z, marginals = batch.log_partition_and_marginals()
    for n in range(0, len(batch), 7):
        tokens = slice(offsets[n], offsets[n + 1])
        alone = SemiMarkov(potentials.segment[tokens], *potentials[1:], lengths=[1, 4, 3])
        assert_allclose(alone.log_partition(), log_z[n], rtol=1e-12)
        assert_allclose(alone.marginals().segment, marginals.segment[tokens], rtol=1e-10, atol=1e-14)


def test_a_label_of_length_none_is_never_used():
    rng = np.random.default_rng(1)
    batch = SemiMarkovBatch(random_potentials(rng, 6, 3, 2, 1), [0, 6], [0, 3])
    assert not batch.marginals().segment[:, :, 0].any()
    assert batch.best().label.all()
    assert SemiMarkovBatch(batch.potentials, [0, 6], [0, 0]).log_partition()[0] == -np.inf


def test_one_sequence():
    rng = np.random.default_rng(9)
    potentials = random_potentials(rng, 5, 3, 2, 1)
    one, batch = SemiMarkov(*potentials, lengths=[1, 3]), SemiMarkovBatch(potentials, [0, 5], [1, 3])
    assert one.log_partition() == batch.log_partition()[0]
    everything = one.kbest(1000)
    assert len(everything) < 1000
    assert_allclose(-sum(np.exp(log_p) * log_p for _, log_p in everything), one.entropy())
    best, only_best = one.best(), np.zeros(potentials.segment.shape, bool)
    only_best[best.start, best.length - 1, best.label] = True
    assert_allclose(one.restrict(only_best).log_partition(), one.score(best))


def test_an_empty_sequence_has_one_segmentation():
    one = SemiMarkov(np.zeros((0, 3, 2)))
    assert one.log_partition() == 0.0
    assert one.entropy() == 0.0
    assert one.best().start.size == 0
    assert [(cut.start.size, log_p) for cut, log_p in one.kbest(2)] == [(0, 0.0)]
    assert one.marginals().segment.shape == (0, 3, 2)
    none = SemiMarkovBatch(SemiMarkovPotentials.of(np.zeros((0, 3, 2))), [0])
    assert none.log_partition().shape == (0,)


def test_the_twin_itself_on_a_case_done_by_hand():
    # Two tokens, labels 0 of one token and 1 of up to two, 1 never after 1: segmentations 0 0, 0 1, 1 0, and 1
    # over both, which weigh 1, 2, 1 and 4.
    segment = np.log([[[1.0, 1.0], [9.0, 4.0]], [[1.0, 2.0], [9.0, 9.0]]])
    batch = SemiMarkovBatch(SemiMarkovPotentials.of(segment, [[0, 0], [0, -np.inf]]), [0, 2], [1, 2])
    twin = Enumerated(SemiMarkovCase(), batch, 0)
    assert_allclose(twin.log_partition(), np.log(8))
    assert_allclose(twin.marginals()[:4], [3 / 8, 1 / 8, 0, 4 / 8])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("order", [0, 1])
def test_losses_have_the_slope_they_say(loss, order):
    rng = np.random.default_rng(order)
    offsets, lengths = [0, 4, 9], [1, 3]
    potentials = random_potentials(rng, 9, 3, 2, order)
    direction = random_direction(rng, potentials)

    def batch_at(step):
        parts = (part + step * change for part, change in zip(potentials, direction, strict=True))
        return SemiMarkovBatch(SemiMarkovPotentials(*parts), offsets, lengths)

    gold = random_segments(rng, batch_at(0.0))
    step = 1e-6
    slope = (LOSSES[loss](batch_at(step), gold, None)[0] - LOSSES[loss](batch_at(-step), gold, None)[0]) / (2 * step)
    value, gradient = LOSSES[loss](batch_at(0.0), gold, None)
    assert value > 0.0
    assert_allclose(sum((g * d).sum() for g, d in zip(gradient, direction, strict=True)), slope, rtol=1e-6, atol=1e-8)
    # With nothing known all agree that there is nothing to learn, but for the margin.
    if loss != "softmax-margin":
        value, gradient = LOSSES[loss](batch_at(0.0), gold, np.ones(potentials.segment.shape, bool))
        assert_allclose(value, 0.0, atol=1e-12)
        assert_allclose(gradient.segment, 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"segment": np.zeros((4, 3))}, r"segment has shape \(4, 3\)"),
        ({"segment": np.zeros((4, 0, 2))}, r"segment has shape \(4, 0, 2\)"),
        ({"transition": np.zeros((3, 2))}, r"transition has shape \(3, 2\), expected \(2, 2\)"),
        ({"start": np.zeros(3)}, "start has shape"),
        ({"segment": np.full((4, 3, 2), np.nan)}, "segment holds NaN"),
        ({"transition": [[0, np.inf], [-np.inf, 0]]}, "transition holds NaN or plus infinity"),
        ({"lengths": [1]}, r"lengths have shape \(1,\), expected \(2,\)"),
        ({"lengths": [1, -1]}, "lengths must not be negative"),
    ],
)
def test_what_is_wrong_is_said(change, message):
    with pytest.raises(InputError, match=message):
        SemiMarkov(**{"segment": np.zeros((4, 3, 2)), "transition": np.zeros((2, 2)), **change})


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        (([0, 2], [2, 2], [0, 1], [0, 2, 2]), "sentence 0: the segment at token 2 meets neither"),
        (([0, 1, 3], [2, 2, 1], [0, 1, 0], [0, 2, 3]), "sentence 0: the segment at token 0 meets neither"),
        (([1, 3], [2, 1], [0, 1], [0, 1, 2]), "sentence 0: the segment at token 1"),
        (([0, 3], [3, 1], [0, 2], [0, 1, 2]), "labels of segments must be from 0 to 1"),
        (([0, 3], [3, 0], [0, 1], [0, 1, 2]), "lengths of segments must be from 1 to 3"),
        (([0], [4], [0], [0, 1, 1]), "lengths of segments must be from 1 to 3"),
        (([0, 3], [3, 1], [0, 1], [0, 2]), "offsets of segments must rise from 0 to their number, 2"),
        (([0, 3], [3, 1], [0], [0, 1, 2]), "one entry each a segment"),
    ],
)
def test_segments_that_do_not_fit_are_refused(segments, message):
    batch = SemiMarkovBatch(SemiMarkovPotentials.of(np.zeros((4, 3, 2))), [0, 3, 4])
    for use in (batch.score, batch.indicator, lambda given: batch.with_cost(given, 1.0)):
        with pytest.raises(InputError, match=message):
            use(Segments(*segments))


def test_segments_too_long_for_their_label_are_impossible():
    batch = SemiMarkovBatch(SemiMarkovPotentials.of(np.zeros((4, 3, 2))), [0, 3, 4], [1, 3])
    assert batch.score(Segments([0, 3], [3, 1], [0, 1], [0, 1, 2])).tolist() == [-np.inf, 0.0]
    assert batch.score(Segments([3], [1], [0], [0, 0, 1])).tolist() == [-np.inf, 0.0]


def test_wrong_offsets_directions_and_masks_are_refused():
    potentials = SemiMarkovPotentials.of(np.zeros((4, 3, 2)))
    with pytest.raises(InputError, match="offsets must rise from 0 to the number of tokens, 4"):
        SemiMarkovBatch(potentials, [0, 3])
    batch = SemiMarkovBatch(potentials, [0, 4])
    with pytest.raises(InputError, match="the shapes of the potentials"):
        batch.jvp(SemiMarkovPotentials.of(np.zeros((3, 3, 2))))
    with pytest.raises(InputError, match="must be finite"):
        batch.jvp(SemiMarkovPotentials.of(np.full((4, 3, 2), -np.inf)))
    with pytest.raises(InputError, match="allowed has shape"):
        batch.restrict(np.ones((3, 3, 2), bool))


@pytest.mark.parametrize("transition", [None, np.zeros((3, 3))])
def test_ties_go_to_the_lowest_label_and_the_shortest_segment(transition):
    batch = SemiMarkovBatch(SemiMarkovPotentials.of(np.zeros((7, 4, 3)), transition), [0, 1, 3, 7])
    best = batch.best()
    assert not best.label.any()
    assert best.length.tolist() == [1] * 7
    found, scores = batch.kbest(2)
    assert found[0].length.tolist() == best.length.tolist()
    assert not found[0].label.any()
    assert not scores.any()
