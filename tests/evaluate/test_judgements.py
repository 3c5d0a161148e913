from __future__ import annotations

import numpy as np
import pytest

from dovetail.errors import InputError
from dovetail.evaluate import average_precision, judgement_difference, judgement_scores
from tests.extras import NEEDS


def test_average_precision_is_that_of_the_challenge_and_of_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics", reason=NEEDS["sklearn"])
    rng = np.random.default_rng(0)
    for ties in (False, True):
        for _ in range(20):
            gold = rng.random(30) < 0.5
            gold[0] = True
            chance = rng.integers(0, 9, 30) / 10 if ties else rng.permutation(30) / 30
            found = average_precision(gold, chance)
            assert found == pytest.approx(100 * metrics.average_precision_score(gold, chance))
            if not ties:
                ranked = gold[np.argsort(-chance)].tolist()
                sums = [sum(ranked[: i + 1]) / (i + 1) for i, right in enumerate(ranked) if right]
                assert found == pytest.approx(100 * sum(sums) / len(sums))


def test_scores_with_intervals() -> None:
    rng = np.random.default_rng(1)
    gold = rng.random(300) < 0.5
    good = np.where(gold, 0.6, 0.4) + rng.normal(0, 0.1, 300)
    scores = judgement_scores(gold, good.clip(0, 1))
    assert scores.accuracy == pytest.approx(100 * np.mean((good > 0.5) == gold))
    for value, (low, high) in (
        (scores.accuracy, scores.accuracy_interval), (scores.average_precision, scores.average_precision_interval)
    ):  # fmt: skip
        assert low < value < high
        assert 2 < high - low < 12
    assert "300 pairs\naccuracy 8" in str(scores)
    assert scores.as_dict()["pairs"] == 300
    assert judgement_scores(gold, good.clip(0, 1)) == scores


def test_differences_on_the_same_pairs() -> None:
    gold = np.arange(200) % 2 == 0
    perfect, poor = gold.astype(float), np.full(200, 0.9)
    better = judgement_difference(gold, perfect, poor)
    assert (better.accuracy, better.average_precision) == (50.0, 50.0)
    assert 35 < better.accuracy_interval[0] < 50 < better.accuracy_interval[1] < 65
    same = judgement_difference(gold, poor, poor)
    assert same.accuracy_interval == same.average_precision_interval == (0.0, 0.0)


def test_odd_input() -> None:
    for gold, chances in (([], []), ([True], [0.5, 0.5]), ([True], [1.5]), ([True], [float("nan")])):
        with pytest.raises(InputError):
            judgement_scores(gold, chances)
    with pytest.raises(InputError, match="resamples"):
        judgement_scores([True], [0.5], resamples=0)
