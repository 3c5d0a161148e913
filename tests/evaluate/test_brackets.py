"""Bracket scores are EVALB's: against what it printed, and against the program itself where there is one."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given

from dovetail.errors import InputError
from dovetail.evaluate import bracket_counts, bracket_scores, scores_table
from dovetail.text.brackets import parse_tree
from dovetail.text.tree import Tree
from tests.text.helpers import trees

PAIRS = [
    (  # function tags do not count, PRT is ADVP
        "(TOP (S (NP-SBJ (DT the) (NN cat)) "
        "(VP (VBD sat) (PRT (RP down)) (PP-LOC (IN on) (NP (DT the) (NN mat)))) (. .)))",
        "(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat) (ADVP (RB down)) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))",
    ),
    (  # punctuation does not count
        "(TOP (S (`` ``) (NP (PRP It)) (VP (VBZ rains) (ADVP (RB now))) ('' '') (. .)))",
        "(TOP (S (`` ``) (NP (PRP It)) (VP (VBZ rains) (NP (RB now)) ('' '')) (. .)))",
    ),
    (  # an error: a comma that is tagged as a noun
        "(TOP (S (NP (NP (DT a) (NN list)) (: :) (NP (CD one) (, ,) (CD two))) (VP (VBZ ends))))",
        "(TOP (S (NP (NP (DT a) (NN list)) (: :) (NP (CD one) (NN ,) (CD two))) (VP (VBZ ends))))",
    ),
    ("(TOP (FRAG (: --)))", "(TOP (FRAG (: --)))"),  # skipped: no words are left
    ("(TOP (S (NP (NN rain)) (VP (VBZ falls))))", "(TOP (S (NP (NN snow)) (VP (VBZ falls))))"),  # an error
    (  # equal brackets one by one
        "(TOP (S (NP (NP (NN rain))) (VP (VBZ falls) (NP (NN today)))))",
        "(TOP (S (NP (NP (NP (NN rain)))) (VP (VBZ falls)) (NP (NN today))))",
    ),
    ("(TOP (S (NP (NN rain)) (VP (VBZ falls))))", None),  # skipped: not parsed
    (  # crossing
        "(TOP (NP (NP (DT the) (NN man)) (PP (IN with) (NP (NP (DT a) (NN dog)) (PP (IN on) (NP (NNS boats)))))))",
        "(TOP (NP (NP (NP (DT the) (NN man)) (PP (IN with) (NP (DT a) (NN dog)))) (PP (IN on) (NP (NNS boats)))))",
    ),
]
GOLD = [parse_tree(gold) for gold, _ in PAIRS]
PREDICTED = [parse_tree(predicted) if predicted else None for _, predicted in PAIRS]

# What EVALB printed for these trees with COLLINS.prm; unlabelled with LABELED 0.
PRINTED = """\
-- All --
Number of sentence        =      8
Number of Error sentence  =      2
Number of Skip  sentence  =      2
Number of Valid sentence  =      4
Bracketing Recall         =  81.82
Bracketing Precision      =  78.26
Bracketing FMeasure       =  80.00
Complete match            =  25.00
Average crossing          =   0.50
No crossing               =  75.00
2 or less crossing        = 100.00
Tagging accuracy          =  95.00"""
PRINTED_COUNTS = [[6, 6, 6], [4, 4, 3], [0, 0, 0], [0, 0, 0], [0, 0, 0], [5, 6, 4], [0, 0, 0], [7, 7, 5]]


def test_what_evalb_prints():
    scores = bracket_scores(GOLD, PREDICTED)
    assert scores.report() == PRINTED
    assert f"{scores.unlabelled.recall:.2f} {scores.unlabelled.precision:.2f}" == "86.36 82.61"
    assert f"{scores.unlabelled.f1:.2f}" == "84.44"


def test_counts_of_sentences():
    assert bracket_counts(GOLD, PREDICTED).tolist() == PRINTED_COUNTS
    assert bracket_counts(GOLD, PREDICTED, score="tagging").sum(axis=0).tolist() == [20, 20, 19]
    assert bracket_counts(GOLD, PREDICTED, score="exact").sum(axis=0).tolist() == [4, 4, 1]
    assert bracket_counts(GOLD, PREDICTED, score="unlabelled").sum(axis=0).tolist() == [22, 23, 19]
    assert bracket_counts(GOLD, PREDICTED, max_length=6)[[0, 7]].sum() == 0


def test_length_is_that_of_the_gold_tree_with_its_punctuation():
    assert bracket_scores(GOLD, PREDICTED, max_length=6).sentences == 5
    assert bracket_scores(GOLD, PREDICTED, max_length=5).sentences == 4
    traced = Tree("S", (Tree("-NONE-", word="*"), Tree("VP", (Tree("VB", word="go"),))))
    scores = bracket_scores([traced], [traced], max_length=1)
    assert (scores.valid, scores.tokens) == (1, 1)


def test_root_labels_do_not_matter():
    rooted = [tree.relabelled(lambda label: "ROOT" if label == "TOP" else label) for tree in GOLD]
    assert bracket_counts(rooted, PREDICTED).tolist() == PRINTED_COUNTS


def test_brackets_in_words_may_be_spelled_either_way():
    gold, predicted = Tree("NP", (Tree("NN", word="a(b)"),)), Tree("NP", (Tree("NN", word="a-LRB-b-RRB-"),))
    assert bracket_scores([gold], [predicted]).errors == 0


def test_dictionary_and_table():
    scores = bracket_scores(GOLD, PREDICTED, max_length=40)
    found = scores.as_dict()
    assert (found["exact"], found["tagging"], found["errors"], found["skipped"], found["max_length"]) == (
        25,
        95,
        2,
        2,
        40,
    )
    assert found["f1"] == pytest.approx(80)
    assert found["per_label"]["ADVP"]["gold"] == 2
    assert "accuracy 95.00%" in scores_table(scores)


def test_nothing_to_score():
    scores = bracket_scores([], [])
    assert (scores.f1, scores.exact, scores.average_crossing, scores.tagging) == (0, 0, 0, 0)


def test_as_many_trees_on_both_sides():
    with pytest.raises(InputError, match="8 gold trees but 7 predicted"):
        bracket_scores(GOLD, PREDICTED[1:])


@given(trees())
def test_a_tree_is_exactly_itself(tree):
    scores = bracket_scores([tree], [tree])
    assert scores.crossing == scores.errors == 0
    assert scores.gold == scores.correct == scores.predicted
    assert scores.valid in (0, 1)  # none where all words are punctuation


def _corrupted(tree: Tree, rng: random.Random) -> Tree:
    """The tree with some brackets taken out, put in or renamed, and some tags changed."""

    def change(node: Tree, below: tuple[list[Tree], ...]) -> list[Tree]:
        if node.word is not None:
            tag = rng.choice(["NN", ",", ":", "JJ"]) if rng.random() < 0.02 else node.label
            return [Tree(tag, word=node.word)]
        children = [child for part in below for child in part]
        if node is not tree and rng.random() < 0.2:
            return children
        if len(children) > 2 and rng.random() < 0.2:
            children[:2] = [Tree(rng.choice(["NP", "PRT", "S-1"]), tuple(children[:2]))]
        label = rng.choice(["NP", "VP=3", "ADVP"]) if node is not tree and rng.random() < 0.1 else node.label
        return [Tree(label, tuple(children))]

    return tree.fold(change)[0]


def test_the_same_as_the_program(tmp_path):
    """DOVETAIL_EVALB names a folder with EVALB, compiled, and its COLLINS.prm."""
    folder = os.environ.get("DOVETAIL_EVALB")
    if folder is None:
        pytest.skip("needs DOVETAIL_EVALB, a folder with evalb and COLLINS.prm")
    rng = random.Random(1)
    gold = [tree for tree in GOLD for _ in range(100)]
    predicted = [_corrupted(tree, rng) for tree in gold]
    for name, side in (("gold", gold), ("predicted", predicted)):
        (tmp_path / name).write_text("".join(f"{tree}\n" for tree in side))
    parameters = (Path(folder) / "COLLINS.prm").read_text()
    (tmp_path / "prm").write_text(parameters.replace("MAX_ERROR 10", "MAX_ERROR 100000"))
    command = [Path(folder) / "evalb", "-p", tmp_path / "prm", tmp_path / "gold", tmp_path / "predicted"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    summary = printed.split("=== Summary ===\n\n")[1].split("\n\n")[0]
    assert bracket_scores(gold, predicted).report() == summary
