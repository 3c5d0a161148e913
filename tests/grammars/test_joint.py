"""One grammar for trees and entities: against all trees, with all ways to put entities on them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest

from dovetail.grammars.binarise import Binarisation
from dovetail.grammars.entities import ENTITY_NODE, with_entity_nodes
from dovetail.grammars.joint import ENTITY, INSIDE, OUTSIDE, Carriers, JointGrammar
from dovetail.grammars.treebank import TreebankGrammar
from dovetail.structures.grammar import Derivation, GrammarPotentials, ParseChart
from dovetail.text.brackets import parse_tree
from dovetail.text.sentence import Span

TYPES = ("ORG", "PER")
TREES = [  # an entity on a constituent, on a word, on a unary node, and on two of three children
    ("(S (NP (NNP A) (NNP B)) (VP (V c) (NP (NNP D))))", [Span(0, 2, "PER"), Span(3, 4, "ORG")]),
    ("(S (NP (NNP A)) (VP (V b) (NP (NP (NNP C)) (PP (V d) (NP (NNP E))))))", [Span(2, 5, "ORG")]),
    ("(S (NP (NNP A) (NNP B) (NNP C)) (VP (V d)))", [Span(0, 2, "ORG")]),
    ("(S (NP (NNP A) (NNP B)) (VP (V c)))", [Span(1, 2, "PER")]),
]


@pytest.fixture(scope="module")
def joint() -> JointGrammar:
    uses = [Binarisation()(with_entity_nodes(parse_tree(text), spans)) for text, spans in TREES]
    base = TreebankGrammar.of(uses)
    trees = [base.derivation(each) for each in uses]
    known = [(tree, spans) for tree, (_, spans) in zip(trees, TREES, strict=True) if tree is not None]
    return JointGrammar.of(base, TYPES, Carriers.of(base, known))


def chart(joint: JointGrammar, tags: list[str], whole: bool) -> ParseChart:
    """All trees over some tags, of the joint grammar or of the treebank's alone; each scores nothing."""
    number = {symbol.name: i for i, symbol in enumerate(joint.base.tags)}
    grammar = joint.grammar if whole else joint.base.grammar
    tag = np.full((len(tags), grammar.tags), -np.inf)
    tag[np.arange(len(tags)), [number[name] for name in tags]] = 0.0
    root = np.where(joint.may_be_root, 0.0, -np.inf) if whole else None
    return ParseChart(grammar, GrammarPotentials.of(grammar, tag, root=root))


def placements(joint: JointGrammar, tree: Derivation) -> Iterator[tuple[Span, ...]]:
    """All sets of entities on the nodes of a tree, none inside another."""
    nodes = {(i, i + 1) for i in range(len(tree.tags))} | {(b, e) for _, b, _, e in tree.binary.tolist()}
    for size in range(len(tree.tags) + 1):
        for some in combinations(sorted(nodes), size):
            if all(one[1] <= other[0] for one, other in combinations(some, 2)):
                for types in product(joint.types, repeat=size):
                    yield tuple(Span(*place, kind) for place, kind in zip(some, types, strict=True))


def key(tree: Derivation, entities: tuple[Span, ...]) -> tuple[object, ...]:
    return tree.root, *(tuple(map(tuple, part.tolist())) for part in (tree.binary, tree.unary)), entities


@pytest.mark.parametrize("tags", ["NNP V", "NNP NNP V", "NNP V NNP", "NNP V NNP V NNP", "NNP NNP NNP V NNP"])
def test_its_trees_are_those_of_the_treebank_with_entities_on_them(joint: JointGrammar, tags: str) -> None:
    plain = [tree for tree, _ in chart(joint, tags.split(), whole=False).kbest(10_000)]
    pairs = [(tree, entities) for tree in plain for entities in placements(joint, tree)]
    possible = {key(*pair) for pair in pairs if joint.derivation(*pair) is not None}
    found = [tree for tree, _ in chart(joint, tags.split(), whole=True).kbest(100_000)]
    assert len(found) == len(possible) > len(plain) / 2
    assert {key(base, tuple(spans)) for base, spans in map(joint.parts, found)} == possible


def test_its_training_trees_are_among_them(joint: JointGrammar) -> None:
    for text, spans in TREES:
        tree = with_entity_nodes(parse_tree(text), spans)
        derivation = joint.base.derivation(Binarisation()(tree))
        assert derivation is not None
        for kind in TYPES:  # of any type, though the data has each place with one
            entities = [Span(s.start, s.end, kind) for s in spans]
            whole = joint.derivation(derivation, entities)
            assert whole is not None
            assert joint.parts(whole)[1] == entities


def test_nodes_that_were_added_for_entities_are_nowhere_else(joint: JointGrammar) -> None:
    added = {i for i, symbol in enumerate(joint.base.symbols) if symbol.label == ENTITY_NODE}
    assert added
    g = joint.grammar
    used = np.concatenate([g.parent, g.left, g.right, g.unary_parent, g.unary_child])
    places = {int(joint.symbol_place[a]) for a in used.tolist() if int(joint.symbol_base[a]) in added}
    assert places == {INSIDE, ENTITY}


def test_what_is_below_an_entity_is_inside(joint: JointGrammar) -> None:
    text, spans = TREES[1]
    derivation = joint.base.derivation(Binarisation()(parse_tree(text)))
    assert derivation is not None
    whole = joint.derivation(derivation, spans)
    assert whole is not None
    place = {(b, e): int(joint.symbol_place[joint.grammar.parent[rule]]) for rule, b, _, e in whole.binary.tolist()}
    assert place == {(0, 5): OUTSIDE, (1, 5): OUTSIDE, (2, 5): INSIDE, (3, 5): INSIDE}
    tops = {(b, e): int(joint.symbol_place[joint.grammar.unary_parent[u]]) for u, b, e in whole.unary.tolist()}
    assert tops == {(0, 1): OUTSIDE, (2, 3): INSIDE, (4, 5): INSIDE, (2, 5): ENTITY}


def test_entities_across_nodes_or_each_other_have_no_tree(joint: JointGrammar) -> None:
    derivation = joint.base.derivation(Binarisation()(parse_tree(TREES[1][0])))
    assert derivation is not None
    assert joint.derivation(derivation, [Span(0, 2, "PER")]) is None
    assert joint.derivation(derivation, [Span(2, 5, "ORG"), Span(4, 5, "PER")]) is None


def test_it_goes_through_a_header(joint: JointGrammar) -> None:
    again = JointGrammar.from_file(joint.header(), joint.base)
    assert again.grammar.rules == joint.grammar.rules
    assert np.array_equal(again.unary_type, joint.unary_type)
    with pytest.raises(ValueError, match="symbols that the grammar does not have"):
        JointGrammar.from_file(joint.header() | {"within": [10_000]}, joint.base)
    with pytest.raises(ValueError, match="unary rules that the grammar does not have"):
        JointGrammar.from_file(joint.header() | {"chains": [10_000]}, joint.base)
