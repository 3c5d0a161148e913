from __future__ import annotations

import pytest

from dovetail.errors import InputError
from dovetail.evaluate import attachment_counts, attachment_scores
from dovetail.text.sentence import Sentence

GOLD = Sentence(
    ("The", "cat", "sat", "down", "."),
    {"head": ("2", "3", "0", "3", "3"), "deprel": ("det", "nsubj", "root", "advmod", "punct")},
)
PREDICTED = Sentence(
    GOLD.words, {"head": ("2", "3", "0", "2", "2"), "deprel": ("det", "obj", "root", "advmod", "punct")}
)


def test_scores():
    scores = attachment_scores([GOLD], [PREDICTED])
    assert (scores.uas, scores.las, scores.label_accuracy, scores.exact) == (60, 40, 80, 0)
    assert scores.per_relation["det"].f1 == 100
    assert scores.per_relation["nsubj"].gold == 1
    assert scores.per_relation["obj"].predicted == 1
    assert attachment_scores([GOLD, GOLD], [GOLD, PREDICTED]).exact == 50


def test_without_punctuation():
    scores = attachment_scores([GOLD], [PREDICTED], punctuation=False)
    assert (scores.words, scores.uas, scores.las) == (4, 75, 50)


def test_words_without_gold_heads_do_not_count():
    partial = GOLD.with_layer("head", ("2", "3", "0", "_", "_"))
    assert attachment_scores([partial], [PREDICTED]).uas == 100


def test_without_relations_there_is_no_labelled_score():
    bare = Sentence(GOLD.words, {"head": GOLD.layers["head"]})
    scores = attachment_scores([GOLD], [bare])
    assert (scores.uas, scores.las) == (100, 0)
    assert attachment_scores([bare], [bare]).las == 0


def test_counts():
    assert attachment_counts([GOLD, GOLD], [GOLD, PREDICTED]).tolist() == [[5, 5, 5], [5, 5, 3]]
    assert attachment_counts([GOLD], [PREDICTED], score="las").tolist() == [[5, 5, 2]]
    assert attachment_counts([GOLD], [PREDICTED], punctuation=False).tolist() == [[4, 4, 3]]


def test_dictionary():
    assert attachment_scores([GOLD], [PREDICTED]).as_dict()["las"] == 40


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([GOLD], [], "1 gold sentences but 0"),
        ([GOLD], [Sentence(("a",), {"head": ("0",)})], "sentence 1: the gold and the predicted words differ"),
        ([GOLD], [Sentence(GOLD.words)], "sentence 1: the predicted side has no layer 'head'"),
        ([Sentence(GOLD.words)], [GOLD], "the gold side has no layer"),
    ],
)
def test_what_does_not_match_is_refused(gold, predicted, message):
    with pytest.raises(InputError, match=message):
        attachment_scores(gold, predicted)
