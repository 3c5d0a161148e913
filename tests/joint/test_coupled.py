"""Two structures whose spans are coupled, as one: against all pairs of answers written out, and its slope."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.errors import InputError
from dovetail.joint.coupled import Both, CoupledBatch, Links
from dovetail.learning.losses import LOSSES
from dovetail.structures.brackets import BracketBatch, BracketPotentials
from dovetail.structures.contract import tables
from dovetail.structures.semimarkov import SemiMarkovBatch, SemiMarkovPotentials

OFFSETS = np.array([0, 3, 3, 7])


def batch(seed: int, links: list[tuple[int, int, int]], forbidden: float = 0.3) -> CoupledBatch:
    """Sentences of three, no and four words: brackets of three labels, segments of two beside none."""
    rng = np.random.default_rng(seed)
    span = rng.normal(size=(6 + 10, 3))
    span[(rng.random(span.shape) < forbidden) & (np.arange(3) > 0)] = -np.inf
    segment = rng.normal(size=(7, 3, 3))
    first = BracketBatch(BracketPotentials(span), OFFSETS)
    second = SemiMarkovBatch(SemiMarkovPotentials.of(segment), OFFSETS, np.array([1, 3, 3], np.int32))
    sentence, begin, end = np.array(links, np.int64).reshape(-1, 3).T
    table = np.zeros((len(links), 3, 2))
    table[:, 1:, 1] = 2.0 * rng.normal(size=(len(links), 2))
    return CoupledBatch(first, second, Links(sentence, begin, end, ((1,), (2,)), ((1, 2),)), table)


LONE = [(0, 0, 2), (2, 1, 4)]  # one a sentence: no loops
SEVERAL = [(0, 0, 2), (2, 1, 4), (0, 1, 2), (0, 1, 3), (2, 0, 2)]


def pairs(made: CoupledBatch) -> list[Both]:
    """All pairs of answers to the first sentence."""
    one, two = made.take(np.array([0])).first.kbest(200), made.take(np.array([0])).second.kbest(200)
    return [
        Both(a, b)
        for a, x in zip(one[0], one[1][0], strict=True)
        for b, y in zip(two[0], two[1][0], strict=True)
        if x > -np.inf and y > -np.inf
    ]


@pytest.mark.parametrize("seed", range(4))
def test_sums_over_pairs_are_exact_without_loops_though_labels_are_forbidden(seed: int) -> None:
    made = batch(seed, LONE)
    own = made.take(np.array([0]))
    scores = np.array([own.score(pair)[0] for pair in pairs(made)])
    log_z, marginals = made.log_partition_and_marginals()
    np.testing.assert_allclose(log_z[0], np.logaddexp.reduce(scores), atol=1e-8)
    assert log_z[1] == 0.0
    weight = np.exp(scores - log_z[0])
    expected = sum(p * own.indicator(pair).table for p, pair in zip(weight, pairs(made), strict=True))
    np.testing.assert_allclose(marginals.table[:1], expected, atol=1e-8)


@pytest.mark.parametrize("links", [LONE, [], SEVERAL])
@pytest.mark.parametrize("loss", ["likelihood", "softmax-margin"])
def test_marginals_are_the_slope_of_log_z(links: list[tuple[int, int, int]], loss: str) -> None:
    made = batch(5, links)
    right = made.best()
    _, slope = LOSSES[loss](made, right)
    rng = np.random.default_rng(1)
    direction = [rng.normal(size=part.shape) for part in tables(made.potentials)]

    def moved(step: float) -> float:
        parts = iter(part + step * along for part, along in zip(tables(made.potentials), direction, strict=True))
        first = made.first.with_potentials(type(made.first.potentials)(next(parts)))
        second = made.second.with_potentials(type(made.second.potentials)(*(next(parts) for _ in range(4))))
        return LOSSES[loss](CoupledBatch(first, second, made.links, next(parts)), right)[0]

    expected = sum(float((a * b).sum()) for a, b in zip(tables(slope), direction, strict=True))
    close = {"rtol": 1e-5, "atol": 1e-6} if links != SEVERAL else {"rtol": 1e-2, "atol": 1e-3}
    np.testing.assert_allclose(expected, (moved(1e-4) - moved(-1e-4)) / 2e-4, **close)


@pytest.mark.parametrize("engine", ["bp", "dual", "brute"])
def test_engines_find_the_best_pair(engine: str) -> None:
    made = CoupledBatch(*(getattr(batch(2, LONE), name) for name in ("first", "second", "links", "table")), engine)
    best = made.take(np.array([0])).score(made.take(np.array([0])).best())[0]
    own = made.take(np.array([0]))
    assert best == pytest.approx(max(own.score(pair)[0] for pair in pairs(made)))


def test_what_the_second_has_when_the_first_is_known_is_exact() -> None:
    made = batch(3, SEVERAL).take(np.array([0]))
    one = made.first.best()
    given, every = made.given(one), [pair for pair in pairs(batch(3, SEVERAL)) if np.array_equal(pair[0][0], one[0])]
    for pair in every:
        if all(np.array_equal(a, b) for a, b in zip(pair.first, one, strict=True)):
            less = made.score(pair) - made.first.score(one)
            np.testing.assert_allclose(given.score(pair.second), less, atol=1e-9)


def test_sentences_do_not_depend_on_their_neighbours() -> None:
    made = batch(4, SEVERAL)
    whole = made.log_partition_and_marginals()[0]
    for n in range(3):
        np.testing.assert_allclose(made.take(np.array([n])).log_partition_and_marginals()[0], whole[n : n + 1])


def test_tables_fit_the_spans() -> None:
    made = batch(0, LONE)
    with pytest.raises(InputError, match="expected as many of each"):
        CoupledBatch(made.first, made.second, made.links, made.table[:1])


@pytest.mark.parametrize("links", [LONE, [], SEVERAL, [(2, 1, 4)]])
def test_structures_that_have_heard_the_other_have_its_marginals(links: list[tuple[int, int, int]]) -> None:
    made = batch(6, links)
    log_z, counts = made.log_partition_and_marginals()
    np.testing.assert_allclose(made.log_partition(), log_z, atol=1e-9)
    for structure, expected in zip(made.informed, (counts.first, counts.second), strict=True):
        for one, two in zip(tables(structure.log_partition_and_marginals()[1]), tables(expected), strict=True):
            np.testing.assert_allclose(one, two, atol=1e-9)
