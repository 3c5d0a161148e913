"""Scores of words, worked out by hand as the SIGHAN script defines them."""

from __future__ import annotations

import pytest

from dovetail.errors import InputError
from dovetail.evaluate.words import word_counts, word_scores

GOLD = [["共同", "创造", "美好", "的", "新", "世纪"], ["好", "的"]]
FOUND = [["共同", "创造", "美", "好", "的", "新世纪"], ["好", "的"]]


def test_counts_and_scores() -> None:
    scores = word_scores(GOLD, FOUND, vocabulary={"共同", "的", "好", "新"})
    assert (scores.gold, scores.predicted, scores.correct) == (8, 8, 5)
    assert scores.precision == pytest.approx(62.5)
    assert scores.recall == pytest.approx(62.5)
    assert scores.f1 == pytest.approx(62.5)
    # out of the vocabulary: 创造 (found), 美好, 世纪; in it: 共同, 的, 新 (lost), 好, 的
    assert scores.oov_rate == pytest.approx(37.5)
    assert scores.oov_recall == pytest.approx(100 / 3)
    assert scores.iv_recall == pytest.approx(80.0)
    assert "F1 62.50" in str(scores)


def test_without_a_vocabulary_nothing_is_said_of_unknown_words() -> None:
    scores = word_scores(GOLD, FOUND)
    assert scores.oov_recall is None
    assert "oov_recall" not in scores.as_dict()


def test_counts_of_sentences_add_up() -> None:
    assert word_counts(GOLD, FOUND).tolist() == [[6, 6, 3], [2, 2, 2]]


def test_an_empty_side_scores_zero() -> None:
    assert word_scores([], []).f1 == 0.0


@pytest.mark.parametrize("found", [FOUND[:1], [["共同"], ["好", "的"]]])
def test_another_text_is_refused(found: list[list[str]]) -> None:
    with pytest.raises(InputError):
        word_scores(GOLD, found)
