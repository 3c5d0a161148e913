"""Probabilities of rules and words."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.grammars.binarise import Binarisation
from dovetail.grammars.clean import clean_tree, under_root
from dovetail.grammars.lexicon import Lexicon
from dovetail.grammars.pcfg import log_probabilities
from dovetail.grammars.relax import relaxed
from dovetail.grammars.treebank import TreebankGrammar
from dovetail.grammars.unknown import unknown_class
from dovetail.structures.grammar import GrammarPotentials, ParseChart
from dovetail.text.brackets import parse_tree
from tests.trees import treebank


def grammar_of(count: int = 40, vertical: int = 2, horizontal: int = 1) -> TreebankGrammar:
    trees = [under_root(clean_tree(s.tree)) for s in treebank(count) if s.tree is not None]
    return TreebankGrammar.of(map(Binarisation(vertical, horizontal), trees))


def sums_by_parent(grammar: TreebankGrammar, smoothing: float) -> np.ndarray:
    binary, unary, _ = log_probabilities(grammar, smoothing)
    g = grammar.grammar
    parents = np.concatenate([g.parent, g.unary_parent])
    return np.bincount(parents, np.exp(np.concatenate([binary, unary])), g.symbols)[np.unique(parents)]


def test_rules_of_a_parent_sum_to_one() -> None:
    assert np.allclose(sums_by_parent(grammar_of(), 0.0), 1.0)


def test_smoothed_rules_of_a_parent_sum_to_at_most_one() -> None:
    sums = sums_by_parent(grammar_of(), 5.0)
    assert np.all(sums <= 1.0 + 1e-9)
    assert np.all(sums > 0.3)


def test_the_log_probability_of_a_tree_is_that_of_its_rules() -> None:
    tree = parse_tree("(S (NP (NN rain)) (VP (VBZ falls)))")
    other = parse_tree("(S (NP (NN rain)) (VP (VBZ falls) (NP (NN rain))))")
    grammar = TreebankGrammar.of(map(Binarisation(), [tree, other]))
    derivation = grammar.derivation(Binarisation()(tree))
    assert derivation is not None
    binary, unary, root = log_probabilities(grammar)
    tags = np.zeros((2, grammar.grammar.tags))
    potentials = GrammarPotentials.of(grammar.grammar, tags, begin=binary, unary_begin=unary, root=root)
    chart = ParseChart(grammar.grammar, potentials)
    assert chart.score(derivation) == pytest.approx(np.log(1.0 * 0.5))  # S: 1, NP -> NN: 1, VP -> VBZ: one of two


def test_relaxation_adds_rules_and_loses_none() -> None:
    grammar = grammar_of(60)
    wider = relaxed(grammar, least=2)
    assert wider.grammar.rules > grammar.grammar.rules
    assert wider.binary_count.sum() == grammar.binary_count.sum()
    assert wider.symbols == grammar.symbols
    assert relaxed(grammar, least=10_000).grammar.rules == grammar.grammar.rules


def test_known_words_keep_their_tags_and_unknown_ones_those_of_their_class() -> None:
    words = [["the", "dog", "barked"], ["the", "cat", "walked"], ["the", "sea", "roared"]]
    lexicon = Lexicon.of(words, [[0, 1, 2]] * 3, tags=3)
    assert lexicon.tag_probabilities("the").argmax() == 0
    assert lexicon.tag_probabilities("jumped").argmax() == 2
    assert np.isclose(lexicon.tag_probabilities("jumped").sum(), 1.0)
    assert lexicon.log_scores(["the", "jumped"]).shape == (2, 3)


def test_clusters_tell_the_tags_of_unknown_words() -> None:
    words = [["walk", "tree"], ["run", "lake"], ["jump", "hill"]]
    verbs = {"walk", "run", "jump", "leap"}
    lexicon = Lexicon.of(words, [[0, 1]] * 3, tags=2, group=lambda word: "verb" if word in verbs else "noun")
    assert lexicon.tag_probabilities("leap").argmax() == 0
    assert lexicon.tag_probabilities("pond").argmax() == 1


def test_a_lexicon_goes_through_a_file() -> None:
    lexicon = Lexicon.of([["the", "dog"]], [[0, 1]], tags=2)
    again = Lexicon.from_file(lexicon.header(), lexicon.arrays())
    assert np.array_equal(again.log_scores(["the", "fog"]), lexicon.log_scores(["the", "fog"]))


@pytest.mark.parametrize("word", ["", "-", "É", "1", "ßs", "A" * 10_000])
def test_every_word_has_a_class(word: str) -> None:
    assert unknown_class(word).startswith("unk")
