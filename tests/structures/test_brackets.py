"""Binary bracketings: what is long, extreme or wrong, and the single sentence."""

from __future__ import annotations

from math import comb, log

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose

from dovetail.errors import InputError
from dovetail.learning.losses import LOSSES
from dovetail.structures.brackets import BracketBatch, Bracketing, BracketPotentials, Brackets
from tests.structures.bracket_cases import batches, random_potentials
from tests.structures.cases import BracketCase, Enumerated
from tests.structures.enumerate_brackets import bracketings

CASE = BracketCase()


def catalan(n):
    return comb(2 * n, n) // (n + 1)


def test_the_twin_itself_counts_as_is_known():
    assert [len(bracketings(n, 1)) for n in range(1, 7)] == [catalan(n - 1) for n in range(1, 7)]
    assert len(bracketings(3, 2)) == 2 * 2**5


@pytest.mark.parametrize("words", [1, 2, 40, 250])
def test_long_sentences_have_as_many_bracketings_as_is_known(words):
    batch = BracketBatch(BracketPotentials(np.zeros((words * (words + 1) // 2, 3))), [0, words])
    expected = log(catalan(words - 1)) + (2 * words - 1) * log(3)
    assert_allclose(batch.log_partition(), [expected], rtol=1e-12)
    assert_allclose(batch.entropy(), [expected], rtol=1e-10)
    assert_allclose(batch.marginals().span.sum(), 2 * words - 1, rtol=1e-10)


@pytest.mark.parametrize("size", [1e5, 1e6])
def test_extreme_potentials_of_a_long_sentence(size):
    rng = np.random.default_rng(3)
    offsets = np.array([0, 60])
    batch = BracketBatch(random_potentials(rng, offsets, 4, scale=size), offsets)
    best = batch.best()
    log_z, marginals = batch.log_partition_and_marginals()
    assert_allclose(log_z, batch.score(best), rtol=1e-12)  # one bracketing has it all
    assert_allclose(marginals.span, batch.indicator(best).span, atol=1e-9)
    assert_allclose(batch.entropy(), [0.0], atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(batches(max_scale=5.0))
def test_the_score_of_any_spans_is_that_of_a_bracketing_or_nothing(case):
    batch, rng = case
    sizes = np.diff(batch.offsets).tolist()
    spans = []
    for n in sizes:
        places = [(i, j, int(rng.integers(batch.labels))) for i in range(n) for j in range(i + 1, n + 1)]
        chosen = rng.permutation(len(places))[: max(0, 2 * n - 1)]
        spans.append(sorted((places[c] for c in chosen), key=lambda s: (s[0], -s[1])))
    scores = batch.score(Brackets.of(spans))
    for n, own in enumerate(spans):
        twin = Enumerated(CASE, batch, n)
        known = dict(zip(twin.keys, twin.scores, strict=True))
        assert_allclose(scores[n], known.get(tuple(own), -np.inf), rtol=1e-10, atol=1e-10)


def test_what_is_no_bracketing_has_no_score():
    batch = BracketBatch(BracketPotentials(np.zeros((6, 1))), [0, 3])
    whole = [(0, 3, 0), (0, 2, 0), (0, 1, 0), (1, 2, 0), (2, 3, 0)]
    assert batch.score(Brackets.of([whole])) == 0.0
    for wrong in ([], whole[:1], whole[:-1], [*whole, (2, 3, 0)], whole[::-1], [(0, 3, 0), (0, 3, 0)]):
        assert batch.score(Brackets.of([wrong])) == -np.inf


def test_clear_errors():
    with pytest.raises(InputError, match=r"span has shape \(5, 1\), expected \(6, labels\)"):
        BracketBatch(BracketPotentials(np.zeros((5, 1))), [0, 3])
    with pytest.raises(InputError, match="labels"):
        BracketBatch(BracketPotentials(np.zeros((6, 0))), [0, 3])
    with pytest.raises(InputError, match="NaN or plus infinity"):
        BracketBatch(BracketPotentials(np.full((6, 1), np.inf)), [0, 3])
    with pytest.raises(InputError, match="5 rows"):
        Bracketing(np.zeros((5, 1)))
    batch = BracketBatch(BracketPotentials(np.zeros((6, 2))), [0, 3])
    with pytest.raises(InputError, match=r"sentence 0: \(0, 4, 0\) is no span"):
        batch.score(Brackets.of([[(0, 4, 0)]]))
    with pytest.raises(InputError, match=r"\(0, 1, 2\) is no span"):
        batch.indicator(Brackets.of([[(0, 1, 2)]]))
    with pytest.raises(InputError, match="not those of 1 sentences"):
        batch.score(Brackets.of([[], []]))


def test_a_span_that_ends_before_it_begins_is_no_part():
    batch = BracketBatch(BracketPotentials(np.zeros((6, 2))), [0, 3])
    parts = batch.span([0, 0], [2, 0], [1, 3], [0, 1])
    assert batch.read(batch.marginals(), parts).tolist() == [0.0, 0.5]


@pytest.mark.parametrize("loss", LOSSES)
def test_slopes_of_losses(loss):
    rng = np.random.default_rng(0)
    offsets = np.array([0, 3, 7])
    batch = BracketBatch(random_potentials(rng, offsets, 2), offsets)
    gold = batch.sample(1, rng)[0]
    value, slope = LOSSES[loss](batch.with_potentials(BracketPotentials(batch.potentials.span.copy())), gold, None)
    assert np.isfinite(value)
    step = rng.normal(size=slope.span.shape) * 1e-6

    def at(sign):
        return LOSSES[loss](batch.with_potentials(BracketPotentials(batch.potentials.span + sign * step)), gold, None)

    assert_allclose((at(1)[0] - at(-1)[0]) / 2, (slope.span * step).sum(), rtol=1e-4, atol=1e-11)
