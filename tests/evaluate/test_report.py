from __future__ import annotations

import json

from dovetail.evaluate import entity_scores, scores_dict, scores_table, token_scores

GOLD = [["B-PER", "I-PER", "O"], ["B-地点", "O", "B-ORG"]]
PREDICTED = [["B-PER", "I-PER", "O"], ["B-地点", "B-ORG", "O"]]


def test_dictionary_survives_json():
    result = scores_dict(entity_scores(GOLD, PREDICTED))
    assert json.loads(json.dumps(result)) == result
    assert result["f1"] == result["precision"] == 200 / 3
    assert result["macro_f1"] == 200 / 3
    assert result["accuracy"] == 400 / 6
    assert (result["sentences"], result["tokens"]) == (2, 6)
    assert result["per_label"]["ORG"] == {
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
        "gold": 1,
        "predicted": 1,
        "correct": 0,
    }


def test_dictionary_of_spans_has_no_tokens():
    result = scores_dict(entity_scores([[(0, 1, "PER")]], [[]]))
    assert (result["accuracy"], result["tokens"]) == (None, None)
    assert json.loads(json.dumps(result)) == result


def test_table_is_aligned_with_wide_characters():
    assert scores_table(entity_scores(GOLD, PREDICTED)) == (
        "label  precision  recall      F1  gold  predicted  correct\n"
        "ORG         0.00    0.00    0.00     1          1        0\n"
        "PER       100.00  100.00  100.00     1          1        1\n"
        "地点      100.00  100.00  100.00     1          1        1\n"
        "micro      66.67   66.67   66.67     3          3        2\n"
        "macro      66.67   66.67   66.67\n"
        "\n"
        "2 sentences, 6 tokens, accuracy 66.67%"
    )


def test_table_of_spans_and_of_tokens():
    assert scores_table(entity_scores([[(0, 1, "PER")]], [[]])).endswith("\n\n1 sentence")
    assert "accuracy 50.00%" in scores_table(token_scores([["NN", "VB"]], [["NN", "NN"]]))
