"""Trees become rules and come back, whatever is annotated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.grammars.binarise import Binarisation
from dovetail.grammars.clean import clean_tree, under_root
from dovetail.grammars.treebank import TreebankGrammar, projection
from dovetail.text.brackets import parse_tree
from dovetail.text.tree import Tree
from tests.trees import treebank

BINARISATIONS = [
    Binarisation(),
    Binarisation(direction="left"),
    Binarisation(vertical=2, horizontal=1),
    Binarisation(vertical=3, horizontal=2, head_tags=True),
    Binarisation(vertical=2, horizontal=2, direction="left", head_tags=True),
]

TAGS = st.sampled_from(["NN", "VB", "DT"])
LEAVES = st.builds(lambda tag, word: Tree(tag, word=word), TAGS, st.sampled_from(["a", "b"]))
LABELS = st.sampled_from(["S", "NP", "VP", "NN"])  # a label of constituents may be one of words, too
TREES = st.recursive(LEAVES, lambda below: st.builds(Tree, LABELS, st.lists(below, min_size=1, max_size=4).map(tuple)))


@pytest.mark.parametrize("binarisation", BINARISATIONS)
@given(trees=st.lists(TREES, min_size=1, max_size=4))
def test_trees_come_back(binarisation: Binarisation, trees: list[Tree]) -> None:
    clean = [under_root(clean_tree(tree)) for tree in trees]
    binarised = [binarisation(tree) for tree in clean]
    grammar = TreebankGrammar.of(binarised)
    for tree, uses in zip(clean, binarised, strict=True):
        derivation = grammar.derivation(uses)
        assert derivation is not None
        assert len(derivation.binary) == len(tree) - 1
        assert grammar.tree(derivation, tree.words()) == tree


def test_counts_are_those_of_the_trees() -> None:
    trees = [under_root(clean_tree(s.tree)) for s in treebank(30) if s.tree is not None]
    grammar = TreebankGrammar.of(map(Binarisation(), trees))
    assert grammar.root_count.sum() == len(trees)
    assert grammar.binary_count.sum() == sum(len(tree) - 1 for tree in trees)


def test_parent_annotation_and_heads_show_in_the_names() -> None:
    tree = parse_tree("(S (NP (NN rain)) (VP (VBZ falls) (ADVP (RB now))))")
    uses = Binarisation(vertical=2, head_tags=True)(tree)
    assert {use.parent.name for use in uses.binary} == {"S", "VP^S~VBZ"}
    assert {use.chain[0].name for use in uses.unary} == {"NP^S", "ADVP^VP"}


def test_horizontal_order_shows_the_siblings_before() -> None:
    tree = parse_tree("(NP (DT the) (JJ old) (JJ red) (NN house))")
    names = {use.parent.name for use in Binarisation(horizontal=2)(tree).binary}
    assert names == {"NP", "@NP|DT", "@NP|DT_JJ"}
    names = {use.parent.name for use in Binarisation(horizontal=1, direction="left")(tree).binary}
    assert names == {"NP", "@NP|JJ", "@NP|NN"}


def test_cycles_of_unary_labels_are_cut_out() -> None:
    tree = parse_tree("(ROOT (S (NP-SBJ (NP (PRN (NP (NN rain))))) (VP (VBZ falls))))")
    assert str(clean_tree(tree)) == "(ROOT (S (NP (NN rain)) (VP (VBZ falls))))"


def test_a_rule_that_no_tree_has_makes_no_derivation() -> None:
    grammar = TreebankGrammar.of([Binarisation()(parse_tree("(S (NP (NN rain)) (VP (VBZ falls)))"))])
    assert grammar.derivation(Binarisation()(parse_tree("(S (VP (VBZ falls)) (NP (NN rain)))"))) is None


def test_projection_leaves_annotation_out() -> None:
    trees = [under_root(clean_tree(s.tree)) for s in treebank(20) if s.tree is not None]
    fine = TreebankGrammar.of(map(Binarisation(2, 2, head_tags=True), trees))
    coarse = TreebankGrammar.of(map(Binarisation(), trees))
    for symbol, number in zip(fine.symbols, projection(fine, coarse), strict=True):
        assert coarse.symbols[number].label == symbol.label
        assert coarse.symbols[number].partial == symbol.partial


def test_a_grammar_goes_through_a_file() -> None:
    trees = [under_root(clean_tree(s.tree)) for s in treebank(20) if s.tree is not None]
    grammar = TreebankGrammar.of(map(Binarisation(2, 1), trees))
    again = TreebankGrammar.from_file(grammar.header(), grammar.arrays())
    assert again.symbols == grammar.symbols
    assert again.chains == grammar.chains
    assert (again.binary_count == grammar.binary_count).all()
    damaged = grammar.arrays() | {"grammar.binary": grammar.arrays()["grammar.binary"][::-1].copy()}
    with pytest.raises(ValueError, match="order"):
        TreebankGrammar.from_file(grammar.header(), damaged)
