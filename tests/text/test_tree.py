from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given

from dovetail.text.brackets import parse_tree
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tree import Tree, base_label, escaped, unescaped
from tests.text.helpers import trees

SEA = parse_tree("(ROOT (S (NP-SBJ (DT the) (NN sea)) (VP (VBZ is) (ADJP (JJ big))) (. .)))")


def height(tree: Tree) -> int:
    return tree.fold(lambda node, below: 1 + max(below, default=0))


def test_words_tags_and_spans():
    assert SEA.words() == ("the", "sea", "is", "big", ".")
    assert SEA.tags() == ("DT", "NN", "VBZ", "JJ", ".")
    assert [(s.start, s.end, s.label) for s in SEA.spans()] == [
        (0, 5, "ROOT"),
        (0, 5, "S"),
        (0, 2, "NP-SBJ"),
        (2, 4, "VP"),
        (3, 4, "ADJP"),
    ]
    assert len(SEA) == 5
    assert height(SEA) == 5


@pytest.mark.parametrize("arguments", [("",), ("NP",), ("NP", (Tree("NN", word="a"),), "a")])
def test_what_is_no_node_is_refused(arguments):
    with pytest.raises(ValueError, match="needs"):
        Tree(*arguments)


@given(trees())
def test_a_tree_is_rebuilt_from_its_spans(tree):
    assert Tree.from_spans(tree.words(), tree.tags(), tree.spans()[1:]) == tree


@given(trees())
def test_places_agree_with_words(tree):
    words = tree.words()
    for start, end, node in tree.places():
        assert words[start:end] == node.words()


@given(trees(), trees())
def test_trees_are_equal_where_their_brackets_are(one, other):
    assert (one == other) == (str(one) == str(other))
    assert one == pickle.loads(pickle.dumps(one))
    assert hash(one) == hash(copy.deepcopy(one))


def test_probabilities_are_kept_but_not_compared():
    sure = Tree("NP", (Tree("NN", word="rain"),), probability=0.5)
    assert sure == Tree("NP", (Tree("NN", word="rain"),))
    assert pickle.loads(pickle.dumps(sure)).probability == 0.5
    assert sure.spans() == (Span(0, 1, "NP", 0.5),)
    assert sure.with_leaves(["snow"]).probability == 0.5


def test_crossing_spans_make_no_tree():
    with pytest.raises(ValueError, match="crosses"):
        Tree.from_spans("abc", "XYZ", [Span(0, 2, "A"), Span(1, 3, "B")])
    with pytest.raises(ValueError, match="outside"):
        Tree.from_spans("abc", "XYZ", [Span(0, 4, "A")])


def test_a_very_deep_tree_is_no_trouble():
    tree = Tree("NN", word="x")
    for _ in range(20_000):
        tree = Tree("NP", (tree,))
    assert parse_tree(str(tree)) == tree
    assert hash(tree) == hash(pickle.loads(pickle.dumps(tree)))
    assert height(tree) == 20_001
    assert len(tree.relabelled(str.lower).spans()) == 20_000
    assert repr(Sentence(("x",), tree=tree)) == repr(Sentence(("x",), tree=copy.deepcopy(tree)))


def test_a_sentence_and_its_tree_have_the_same_length():
    with pytest.raises(ValueError, match="tree of 5 words for 1 word"):
        Sentence(("sea",), tree=SEA)


@pytest.mark.parametrize(
    ("label", "base"),
    [("NP-SBJ-1", "NP"), ("NP=2", "NP"), ("S", "S"), ("-LRB-", "-LRB-"), ("-NONE-", "-NONE-"), ("-", "-"), ("|", "|")],
)
def test_base_label(label, base):
    assert base_label(label) == base


def test_escapes():
    assert unescaped(escaped("CD4(+)")) == "CD4(+)"
    assert escaped("a b") == "a\u00a0b"


def test_with_leaves_takes_as_many():
    with pytest.raises(ValueError, match="4 words"):
        SEA.with_leaves(["a"] * 4)
    assert SEA.with_leaves("abcde", "VWXYZ").tags() == tuple("VWXYZ")
