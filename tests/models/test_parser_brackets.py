"""Parsers without a grammar: they keep the promises of those that have one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dovetail.errors import DovetailError, InputError, ModelFileError
from dovetail.evaluate.brackets import bracket_scores
from dovetail.features.resources.clusters import Clusters
from dovetail.models.domains.parser import MultiDomainParser
from dovetail.models.parser.estimator import Parser
from dovetail.text.sentence import Sentence
from dovetail.text.tree import Tree
from tests.trees import treebank

QUICK = {"iterations": 4, "folds": 2, "batch": 8, "min_count": 1}
KINDS = ("labelled", "labelled-rules", "brackets")


@pytest.fixture(scope="module")
def parsers() -> dict[str, Parser]:
    return {kind: Parser(kind=kind, threads=2, **QUICK).fit(treebank(80)) for kind in KINDS}  # type: ignore[arg-type]


every_kind = pytest.mark.parametrize("kind", KINDS)
labelled = pytest.mark.parametrize("kind", KINDS[:2])


@labelled
def test_it_learns_a_small_grammar(parsers: dict[str, Parser], kind: str) -> None:
    assert parsers[kind].score(treebank(40, seed=7)) > 90


def test_a_small_model_prunes_unless_nothing_is_pruned(parsers: dict[str, Parser]) -> None:
    everything = Parser(kind="labelled", threshold=0.0, threads=2, **QUICK).fit(treebank(80))  # type: ignore[arg-type]
    assert not everything.model_.coarse_weight.any()
    assert parsers["labelled"].model_.coarse_weight.any()
    assert everything.score(treebank(40, seed=7)) > 90


def test_brackets_alone_have_one_label(parsers: dict[str, Parser]) -> None:
    [tree] = parsers["brackets"].predict([["Ada", "saw", "the", "dog", "."]])
    assert {node.label for node in tree.nodes() if len(node.children) > 1} == {"X"}
    gold = treebank(40, seed=7)
    found = parsers["brackets"].predict([s.words for s in gold])
    assert bracket_scores([s.tree for s in gold if s.tree is not None], found).unlabelled.recall > 85


@every_kind
def test_the_best_of_k_has_the_highest_probability_and_samples_follow(parsers: dict[str, Parser], kind: str) -> None:
    sentence = ["Ada", "saw", "the", "dog", "near", "a", "house", "."]
    [answers] = parsers[kind].kbest([sentence], 5)
    chances = [answer.probability or 0.0 for answer in answers]
    assert chances == sorted(chances, reverse=True)
    assert 0.0 < sum(chances) < 1.0 + 1e-9
    [drawn] = parsers[kind].sample([sentence], 400, seed=3)
    share = np.mean([answer.tree == answers[0].tree for answer in drawn])
    assert share == pytest.approx(chances[0], abs=0.12)


@every_kind
def test_the_probability_of_a_constituent_is_that_of_the_trees_that_have_it(
    parsers: dict[str, Parser], kind: str
) -> None:
    sentence = ["Ada", "slept", "near", "the", "dog", "."]
    spans = parsers[kind].predict_marginals([sentence])[0]
    expected: dict[tuple[int, int, str], float] = {}
    for answer in parsers[kind].kbest([sentence], 3000)[0]:
        assert answer.tree is not None
        for span in {(s.start, s.end, s.label) for s in answer.tree.spans()[1:]}:
            expected[span] = expected.get(span, 0.0) + (answer.probability or 0.0)
    for span in spans:
        if (span.probability or 0.0) > 0.01:
            assert expected.get((span.start, span.end, span.label), 0.0) == pytest.approx(span.probability, abs=0.02)
    [answer] = parsers[kind].parse([sentence], probabilities=True)
    assert answer.tree is not None
    known = {(s.start, s.end, s.label): s.probability for s in spans}
    for span in answer.tree.spans()[1:]:
        assert span.probability == pytest.approx(known[span.start, span.end, span.label])


@every_kind
def test_a_model_goes_through_a_file(parsers: dict[str, Parser], kind: str, tmp_path: Path) -> None:
    parser = parsers[kind]
    parser.save(tmp_path / "m")
    again, dev = Parser.load(tmp_path / "m"), [s.words for s in treebank(10, seed=5)]
    assert again.kind == kind
    assert again.predict(dev) == parser.predict(dev)
    assert again.get_params() | {"threads": 2, "clusters": None} == parser.get_params()
    data = bytearray((tmp_path / "m").read_bytes())
    data[-100] ^= 1
    (tmp_path / "m").write_bytes(data)
    with pytest.raises(ModelFileError, match="damaged"):
        Parser.load(tmp_path / "m")


@labelled
def test_explain_names_the_rival_and_what_speaks_for_either(parsers: dict[str, Parser], kind: str) -> None:
    parser, sentence = parsers[kind], ["Ada", "saw", "the", "dog", "near", "a", "house", "."]
    span = next(s for s in parser.predict([sentence])[0].spans() if s.label == "PP")
    why = parser.explain(sentence, span.start, span.end)
    assert why.label == "PP"
    if why.rival is not None:
        assert sum(e.margin for e in why.evidence) == pytest.approx(why.margin, abs=1e-3)
        assert why.rival.words() == tuple(sentence)
    with pytest.raises(DovetailError, match="is not a constituent of the best tree"):
        parser.explain(sentence, 0, 3)


@every_kind
def test_very_long_sentences_are_cut_and_single_words_are_not(parsers: dict[str, Parser], kind: str) -> None:
    parser, words = parsers[kind], ["Ada", "saw", "the", "dog", ","] * 60
    [parse] = parser.parse([words])
    assert parse.search == "cut"
    assert parse.tree is not None
    assert list(parse.tree.words()) == words
    assert max(span.end for span in parser.predict_marginals([words], 0.5)[0]) == 300
    with pytest.raises(DovetailError, match="250"):
        parser.kbest([words])
    assert parser.predict([]) == []
    assert parser.predict_marginals([]) == []
    [tree] = parser.predict([["Ada"]])
    assert isinstance(tree, Tree)
    assert tree.words() == ("Ada",)


def test_tags_may_be_given_and_odd() -> None:
    parser = Parser(kind="labelled", tags="given", **QUICK).fit(treebank(40))  # type: ignore[arg-type]
    [tree] = parser.predict([Sentence(("Ada", "zzz", "."), {"pos": ("NNP", "ODD", ".")})])
    assert tree.tags() == ("NNP", "ODD", ".")
    with pytest.raises(InputError, match="pos"):
        parser.predict([["Ada", "slept"]])


def test_clusters_are_features_and_travel_in_the_file(tmp_path: Path) -> None:
    clusters = Clusters.of_paths({"dog": "0001", "cat": "0001", "fox": "0001", "saw": "1110", "the": "1010"})
    plain, parser = (
        Parser(kind="labelled", clusters=own, **QUICK).fit(treebank(40))  # type: ignore[arg-type]
        for own in (None, {"brown": clusters})
    )
    assert parser.card_["weights"] > plain.card_["weights"]
    parser.save(tmp_path / "m")
    sentence = ["the", "fox", "saw", "Ada", "."]
    assert Parser.load(tmp_path / "m").predict([sentence]) == parser.predict([sentence])


def test_it_goes_on_from_another_and_may_be_calibrated() -> None:
    some, dev = treebank(40), treebank(20, seed=9)
    first = Parser(kind="labelled-rules", **QUICK).fit(some)  # type: ignore[arg-type]
    again = Parser(kind="labelled-rules", calibrate=True, **QUICK).fit(some, dev=dev, init=first)  # type: ignore[arg-type]
    assert again.card_["dev"] > 80
    with pytest.raises(DovetailError, match="another kind"):
        Parser(kind="labelled").fit(some, init=Parser(iterations=1, folds=2).fit(some))


def test_what_a_grammar_has_is_refused_without_one() -> None:
    with pytest.raises(DovetailError, match="vertical=2: a parser of kind labelled has no grammar"):
        Parser(kind="labelled", vertical=2).check_settings()
    with pytest.raises(DovetailError, match="kind='parser'"):
        Parser(kind="parser").check_settings()
    with pytest.raises(DovetailError, match="have a grammar"):
        MultiDomainParser(parser=Parser(kind="labelled")).check_settings()


@labelled
def test_the_same_bits_for_any_number_of_threads(kind: str) -> None:
    weights = []
    for threads in (1, 2):
        model = Parser(kind=kind, threads=threads, **(QUICK | {"iterations": 2})).fit(treebank(30)).model_  # type: ignore[arg-type]
        assert model is not None
        weights.append(model.weight)
    assert np.array_equal(*weights)
