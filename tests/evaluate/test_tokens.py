from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.errors import InputError
from dovetail.evaluate import Counts, token_scores

TAG = st.sampled_from(["O", "NN", "VB", "DT"])
CORPUS = st.lists(st.lists(st.tuples(TAG, TAG), max_size=8), max_size=5)


def sides(corpus):
    return tuple([[pair[side] for pair in sentence] for sentence in corpus] for side in (0, 1))


@given(CORPUS, st.sampled_from([None, "O", "NN"]))
def test_scores_are_the_counts_over_tokens(corpus, outside):
    scores = token_scores(*sides(corpus), outside=outside)
    pairs = [pair for sentence in corpus for pair in sentence]
    tags = {tag for pair in pairs for tag in pair} - {outside}
    for tag in tags:
        expected = Counts(
            gold=sum(g == tag for g, _ in pairs),
            predicted=sum(p == tag for _, p in pairs),
            correct=pairs.count((tag, tag)),
        )
        assert scores.per_label[tag] == expected
    assert set(scores.per_label) == tags
    assert scores.gold == sum(g != outside for g, _ in pairs)
    assert scores.predicted == sum(p != outside for _, p in pairs)
    assert scores.correct == sum(g == p != outside for g, p in pairs)
    assert scores.tokens == len(pairs)
    assert scores.confusion == {pair: pairs.count(pair) for pair in pairs}


@given(CORPUS)
def test_micro_f1_of_all_tags_is_accuracy(corpus):
    scores = token_scores(*sides(corpus))
    assert scores.f1 == pytest.approx(scores.accuracy)


def test_tags_known_to_one_side_only():
    scores = token_scores([["A", "A", "B"]], [["A", "C", "C"]])
    assert dict(scores.per_label) == {"A": Counts(2, 1, 1), "B": Counts(1, 0, 0), "C": Counts(0, 2, 0)}
    assert scores.macro.f1 == pytest.approx(200 / 3 / 3)


def test_no_tokens():
    scores = token_scores([], [])
    assert (scores.accuracy, scores.f1, scores.macro.f1) == (0, 0, 0)


def test_lengths_that_differ_are_refused():
    with pytest.raises(InputError, match="sentence 1: 1 gold tags but 2 predicted"):
        token_scores([["A"]], [["A", "A"]])
