"""Trees as labelled brackets, and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.grammars.binarise import Binarisation
from dovetail.grammars.brackets import BracketLabels, bracketed, unbracketed
from dovetail.grammars.clean import clean_tree
from dovetail.text.brackets import parse_tree
from dovetail.text.tree import Tree


def trees():
    words = st.builds(lambda tag, word: Tree(tag, (), word), st.sampled_from(["NN", "+", "@"]), st.sampled_from("ab"))
    labels = st.sampled_from(["NP", "VP", "@NP", "A+B"])
    return st.recursive(
        words, lambda below: st.builds(Tree, labels, st.lists(below, min_size=1, max_size=4).map(tuple))
    )


@settings(deadline=None)
@given(trees(), st.sampled_from(["left", "right"]))
def test_a_tree_comes_back_from_its_brackets(tree, direction):
    tree = clean_tree(tree)
    brackets = bracketed(tree, Binarisation(direction=direction))
    assert len(brackets) == 2 * len(tree) - 1
    assert unbracketed(brackets, tree.words(), tree.tags()) == [tree]


def test_probabilities_are_put_at_the_nodes():
    tree = parse_tree("(S (VP (VB Go) (NP (NN home))))")
    known = {(0, 2, "S"): 0.5, (0, 2, "VP"): 0.25, (1, 2, "NP"): 1.0}
    [found] = unbracketed(bracketed(tree, Binarisation()), tree.words(), tree.tags(), known)
    assert [node.probability for node in found.nodes()] == [0.5, 0.25, None, 1.0, None]


def test_labels_know_where_they_can_be():
    trees = [parse_tree(line) for line in ("(S (NP (NN a)) (VP (VB b)) (. c))", "(S (VP (VB b)))")]
    labels = BracketLabels.of([bracketed(tree, Binarisation()) for tree in trees])
    assert labels.names == ("", "@ S", "NP", "S", "S VP", "VP")
    assert [labels.names[x] for x in np.flatnonzero(labels.single)] == ["", "NP", "S VP", "VP"]
    single, wide, top = (tuple(labels.names[x] for x in each) for each in labels.choices())
    assert (single, wide, top) == (("", "NP", "S VP", "VP"), ("@ S", "S"), ("S",))
    assert labels.parts[labels.number["S VP"]] == ("S", "VP")
    assert labels.constituents == ("NP", "S", "VP")
    assert labels.shares.sum(axis=1).tolist() == [0, 0, 1, 1, 2, 1]
    assert labels.numbered([(0, 2, "S"), (0, 1, "NP"), (1, 2, "VP")]) == [(0, 2, 3), (0, 1, 2), (1, 2, 5)]


@pytest.mark.parametrize("label", ["NP", "FRAG", "@ S"])
def test_labels_that_are_not_known_over_so_many_words(label):
    labels = BracketLabels.of([[(0, 2, "S"), (0, 1, "NP"), (1, 2, "")]])
    assert labels.numbered([(0, 2, label), (0, 1, "NP"), (1, 2, "")]) is None
