"""The parser learns a small grammar, keeps its promises and complains of what it cannot use."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dovetail.errors import DovetailError, InputError, ModelFileError
from dovetail.features.resources.clusters import Clusters
from dovetail.models.batching import cut
from dovetail.models.parser.estimator import Parser
from dovetail.text.sentence import Sentence
from dovetail.text.tree import Tree
from tests.trees import treebank


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser(iterations=4, folds=2, batch=8, threads=2).fit(treebank(80))


def test_it_learns_a_small_grammar(parser: Parser) -> None:
    assert parser.score(treebank(40, seed=7)) > 90


def test_the_generative_kind_learns_it_too() -> None:
    assert Parser(features="generative").fit(treebank(80)).score(treebank(40, seed=7)) > 85


def test_rules_alone_are_enough_for_it() -> None:
    rules = Parser(features="rules", vertical=2, relax=2, iterations=3, folds=2, threads=1).fit(treebank(60))
    assert rules.score(treebank(40, seed=7)) > 80
    assert rules.card_["weights"] < 20_000


@pytest.mark.parametrize("threshold", [None, 0.0])
def test_a_mask_says_yes_or_no(parser: Parser, threshold: float | None) -> None:
    mask = parser.model_.mask(["Ada", "saw", "Bob"], ["NNP", "VBD", "NNP"], threshold)
    assert set(np.unique(mask)) <= {0, 1}


def test_words_come_back_in_the_tree(parser: Parser) -> None:
    words = ["Ada", "saw", "the", "unheard-of", "(", "dog", "."]
    [tree] = parser.predict([words])
    assert list(tree.words()) == words
    assert tree.label == "ROOT"


def test_annotate_gives_trees_tags_and_probabilities(parser: Parser) -> None:
    [sentence] = parser.annotate([Sentence(("Ada", "saw", "the", "dog", "."))])
    assert sentence.tree is not None
    assert sentence.layers["pos"] == sentence.tree.tags()
    assert all(0 < (span.probability or 0) <= 1 for span in sentence.tree.spans()[1:])
    assert all(0 < (leaf.probability or 0) <= 1 for leaf in sentence.tree.leaves())


def test_the_best_of_k_is_the_prediction_and_probabilities_sum_to_one(parser: Parser) -> None:
    sentence = ["Ada", "saw", "the", "dog", "near", "a", "house", "."]
    [found] = parser.kbest([sentence], k=500)
    chances = [answer.probability or 0.0 for answer in found]
    assert found[0].tree == parser.predict([sentence])[0]
    assert sum(chances) == pytest.approx(1.0, abs=0.02)
    assert chances == sorted(chances, reverse=True)
    [parse] = parser.parse([sentence], probabilities=True)
    assert 0 < (parse.probability or 0) <= chances[0] + 1e-9
    assert parser.parse([sentence])[0].probability is None


def test_samples_follow_the_probabilities(parser: Parser) -> None:
    sentence = ["Ada", "saw", "the", "dog", "near", "a", "house", "."]
    [drawn] = parser.sample([sentence], n=400, seed=3)
    best, *_ = parser.kbest([sentence], k=50)[0]
    assert sum(answer.tree == best.tree for answer in drawn) / 400 == pytest.approx(best.probability, abs=0.1)


def test_the_probability_of_a_constituent_is_that_of_the_trees_that_have_it(parser: Parser) -> None:
    sentence = ["Ada", "saw", "the", "dog", "near", "a", "house", "."]
    [parse] = parser.parse([sentence], probabilities=True)
    [ranked] = parser.kbest([sentence], k=2000)
    assert parse.tree is not None
    trees = [(a.tree, a.probability or 0.0) for a in ranked if a.tree is not None]
    for span in parse.tree.spans()[1:]:
        place = (span.start, span.end, span.label)
        having = sum(p for tree, p in trees if place in {(s.start, s.end, s.label) for s in tree.spans()})
        assert span.probability == pytest.approx(having, abs=0.02)


def test_decoding_by_recall_finds_trees_as_good(parser: Parser) -> None:
    dev = treebank(40, seed=7)
    usual = parser.score(dev)
    try:
        parser.decode = "recall"
        assert parser.score(dev) > usual - 3
    finally:
        parser.decode = "viterbi"


def test_a_model_goes_through_a_file(parser: Parser, tmp_path: Path) -> None:
    parser.save(tmp_path / "m")
    again = Parser.load(tmp_path / "m")
    dev = [s.words for s in treebank(10, seed=5)]
    assert again.predict(dev) == parser.predict(dev)
    assert again.get_params() | {"threads": 2, "clusters": None} == parser.get_params()


def test_a_damaged_file_is_refused(parser: Parser, tmp_path: Path) -> None:
    parser.save(tmp_path / "m")
    data = bytearray((tmp_path / "m").read_bytes())
    data[-100] ^= 1
    (tmp_path / "m").write_bytes(data)
    with pytest.raises(ModelFileError, match="damaged"):
        Parser.load(tmp_path / "m")


def test_the_same_bits_for_any_number_of_threads() -> None:
    weights = []
    for threads in (1, 2):
        model = Parser(iterations=2, folds=2, batch=8, threads=threads).fit(treebank(30)).model_
        assert model is not None
        weights.append(model.weight)
    assert np.array_equal(*weights)


def test_dev_decides_when_to_stop() -> None:
    seen: list[float] = []
    parser = Parser(iterations=8, patience=1, folds=2, batch=8)
    parser.fit(treebank(40), dev=treebank(20, seed=9), progress=lambda p: seen.append(p.dev or 0.0))
    assert parser.card_["dev"] == max(seen)
    assert parser.card_["stopped"] in ("dev", "limit")


def test_tags_may_be_given() -> None:
    parser = Parser(tags="given", iterations=2, batch=8).fit(treebank(40))
    sentence = Sentence(("Ada", "zzz", "the", "qqq", "."), {"pos": ("NNP", "VBD", "DT", "NN", ".")})
    [tree] = parser.predict([sentence])
    assert tree.tags() == sentence.layers["pos"]
    with pytest.raises(InputError, match="pos"):
        parser.predict([["Ada", "slept"]])


def test_a_tag_that_was_never_seen_is_no_obstacle() -> None:
    parser = Parser(tags="given", iterations=2, batch=8).fit(treebank(40))
    [tree] = parser.predict([Sentence(("Ada", "zzz", "."), {"pos": ("NNP", "ODD", ".")})])
    assert tree.words() == ("Ada", "zzz", ".")


def test_clusters_are_features_and_travel_in_the_file(tmp_path: Path) -> None:
    clusters = Clusters.of_paths({"dog": "0001", "cat": "0001", "fox": "0001", "saw": "1110", "the": "1010"})
    parser = Parser(clusters={"brown": clusters}, iterations=2, folds=2, batch=8).fit(treebank(40))
    parser.save(tmp_path / "m")
    sentence = ["the", "fox", "saw", "Ada", "."]
    assert Parser.load(tmp_path / "m").predict([sentence]) == parser.predict([sentence])


def test_what_the_grammar_cannot_say_comes_in_pieces(parser: Parser) -> None:
    strange = Parser(tags="given", iterations=1, batch=8).fit(treebank(20))
    tags = (".", "DT", ".", "IN", ".")
    [parse] = strange.parse([Sentence(tuple("abcde"), {"pos": tags})])
    assert parse.search == "pieces"
    assert parse.tree.words() == tuple("abcde")
    assert parse.tree.tags() == tags


def test_very_long_sentences_are_cut(parser: Parser) -> None:
    words = ["Ada", "saw", "the", "dog", ","] * 60
    [parse] = parser.parse([words])
    assert parse.search == "cut"
    assert list(parse.tree.words()) == words
    assert all(b - a <= 250 for a, b in cut(words, 250))
    with pytest.raises(DovetailError, match="250"):
        parser.kbest([words])


def test_explain_names_the_rival_and_what_speaks_for_either(parser: Parser) -> None:
    sentence = ["Ada", "saw", "the", "dog", "near", "a", "house", "."]
    tree = parser.predict([sentence])[0]
    span = next(s for s in tree.spans() if s.label == "PP")
    why = parser.explain(sentence, span.start, span.end)
    assert why.label == "PP"
    assert why.margin > 0
    assert sum(e.margin for e in why.evidence) == pytest.approx(why.margin, abs=1e-3)
    with pytest.raises(DovetailError, match="is not a constituent of the best tree; it has S"):
        parser.explain(sentence, 0, 3)


def test_sentences_without_trees_are_refused() -> None:
    with pytest.raises(DovetailError, match="sentence 2 has no tree"):
        Parser().fit([treebank(1)[0], Sentence(("no", "tree"))])
    with pytest.raises(DovetailError, match="no trees of up to 2 words"):
        Parser(max_length=2).fit(treebank(3))


def test_wrong_settings_are_named() -> None:
    for settings in ({"features": "x"}, {"threshold": 2.0}, {"l2": -1.0}, {"folds": 1}, {"decode": "x"}):
        with pytest.raises(DovetailError, match=next(iter(settings))):
            Parser(**settings).fit(treebank(3))  # type: ignore[arg-type]


def test_an_untrained_parser_says_so() -> None:
    with pytest.raises(DovetailError, match="not trained"):
        Parser().predict([["a"]])


def test_one_word_and_no_sentence(parser: Parser) -> None:
    assert parser.predict([]) == []
    [tree] = parser.predict([["Ada"]])
    assert isinstance(tree, Tree)
    assert tree.words() == ("Ada",)
