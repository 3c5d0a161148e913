"""The dependency parser: learning, answers, files, and what it says of bad input."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

import dovetail
import dovetail.models.dependency.estimator
from dovetail import DependencyParser, Sentence
from dovetail.errors import DovetailError, InputError, ModelFileError
from dovetail.features.compile import arcs
from dovetail.features.resources.clusters import Clusters
from dovetail.learning.checkpoint import Checkpoint
from dovetail.learning.monitor import Monitor
from dovetail.models import base
from dovetail.models.dependency.relations import templates, with_arcs
from dovetail.models.dependency.training import ArcTraining, arc_objective
from dovetail.models.layers import LayerTaggers
from dovetail.scorers.arcs import ArcScorer
from dovetail.text.dependencies import find_cycle, is_projective
from tests.models.treebank import NAMES, treebank


@pytest.fixture(scope="module")
def data():
    return treebank(60), treebank(20, seed=1)


@pytest.fixture(scope="module")
def parser(data):
    train, dev = data
    return DependencyParser(bits=14, threads=1, iterations=30).fit(train, dev=dev)


@pytest.fixture(scope="module")
def tagging_parser(data):
    return DependencyParser(bits=14, threads=1, iterations=20, predict_tags=True).fit(data[0])


def test_the_gradient_is_the_slope_of_the_objective(data):
    train = data[0][:12]
    words, tags = [s.words for s in train], [s.layers["pos"] for s in train]
    heads = np.concatenate([np.array(s.layers["head"], np.int32) for s in train])
    clusters = {"c": Clusters.of_paths({name: "0110" for name in NAMES})}
    features = arcs.ArcFeatures.learn(words, 1, 8, 10, clusters)
    objective = arc_objective(ArcScorer.of(features, words, tags), heads)
    rng = np.random.default_rng(0)
    weight, direction = rng.normal(size=features.weights) * 0.1, rng.normal(size=features.weights)
    _, gradient = objective(weight)
    slope = (objective(weight + 1e-5 * direction)[0] - objective(weight - 1e-5 * direction)[0]) / 2e-5
    assert_allclose(gradient @ direction, slope, rtol=1e-5)


def test_the_gradient_of_one_weight_at_a_time(data):
    train = data[0][:3]
    words, tags = [s.words for s in train], [s.layers["pos"] for s in train]
    heads = np.concatenate([np.array(s.layers["head"], np.int32) for s in train])
    features = arcs.ArcFeatures.learn(words, 1, 4, 6)
    objective = arc_objective(ArcScorer.of(features, words, tags), heads)
    weight = np.random.default_rng(1).normal(size=features.weights) * 0.1
    _, gradient = objective(weight)
    for place in range(0, features.weights, 29):
        step = np.zeros(features.weights)
        step[place] = 1e-5
        slope = (objective(weight + step)[0] - objective(weight - step)[0]) / 2e-5
        assert_allclose(gradient[place], slope, atol=1e-5)


def test_it_learns(parser, data):
    assert parser.score(data[1]) > 95
    found = parser.predict(data[1])
    right = sum(d.relations == s.layers["deprel"] for d, s in zip(found, data[1], strict=True))
    assert right >= 18
    for dependencies in found:
        assert not find_cycle(dependencies.heads)
        assert is_projective(dependencies.heads)
        assert dependencies.heads.count(-1) == 1
    assert parser.card_["stopped"] in ("dev", "limit", "converged")
    assert parser.card_["dev"] > 95


def test_threads_change_nothing(data):
    one, two = (DependencyParser(bits=12, iterations=5, relations=False, threads=n).fit(data[0]) for n in (1, 2))
    assert np.array_equal(one.model_.fine_weight, two.model_.fine_weight)


def test_probabilities(parser, data):
    some = data[1][:4]
    for table, sentence in zip(parser.predict_marginals(some), some, strict=True):
        assert table.shape == (len(sentence), len(sentence) + 1)
        assert_allclose(table.sum(axis=1), 1.0)
    for trees, table in zip(parser.kbest(some, 50), parser.predict_marginals(some), strict=True):
        chances = [tree.probability for tree in trees]
        assert chances == sorted(chances, reverse=True)
        assert len({tree.heads for tree in trees}) == len(trees)
        assert sum(chances) <= 1 + 1e-9
        best = np.array(trees[0].heads) + 1
        assert table[np.arange(len(best)), best].min() >= trees[0].probability - 1e-9
    annotated = list(parser.annotate(some))
    for sentence, table in zip(annotated, parser.predict_marginals(some), strict=True):
        heads = np.array(sentence.layers["head"], int)
        expected = table[np.arange(len(heads)), heads]
        assert_allclose(np.array(sentence.layers["head_probability"], float), expected, atol=1e-4)
    drawn = parser.sample(some, 5, seed=3)
    assert [len(each) for each in drawn] == [5] * 4
    assert all(is_projective(answer.heads) for each in drawn for answer in each)


def test_the_best_tree_or_the_most_expected(parser, data):
    parser.set_params(decode="best")
    try:
        heads = [d.heads for d in parser.predict(data[1])]
        assert heads == [trees[0].heads for trees in parser.kbest(data[1], 1)]
    finally:
        parser.set_params(decode="expected")


def test_nothing_is_lost_without_pruning(data):
    everything = DependencyParser(bits=12, iterations=10, threshold=0, relations=False).fit(data[0])
    assert everything.score(data[1]) > 90
    assert everything.card_["pruned_gold_arcs"] == 0


def test_files(parser, tagging_parser, data, tmp_path):
    for model in (parser, tagging_parser):
        model.save(tmp_path / "m.dovetail", card={"note": "x"})
        again = dovetail.load(tmp_path / "m.dovetail")
        assert isinstance(again, DependencyParser)
        assert again.predict(data[1]) == model.predict(data[1])
        assert again.card_["note"] == "x"
        assert {k: v for k, v in again.get_params().items() if k not in ("threads", "clusters")} == {
            k: v for k, v in model.get_params().items() if k not in ("threads", "clusters")
        }
        model.save(tmp_path / "half.dovetail", half=True)
        assert (tmp_path / "half.dovetail").stat().st_size < (tmp_path / "m.dovetail").stat().st_size
        assert [d.heads for d in DependencyParser.load(tmp_path / "half.dovetail").predict(data[1])] == [
            d.heads for d in model.predict(data[1])
        ]
        model.save(tmp_path / "small.dovetail", compact=True)
        assert (tmp_path / "small.dovetail").stat().st_size < (tmp_path / "half.dovetail").stat().st_size / 3
        small = DependencyParser.load(tmp_path / "small.dovetail").predict(data[1])
        heads = [np.concatenate([d.heads for d in found]) for found in (small, model.predict(data[1]))]
        assert np.mean(heads[0] == heads[1]) >= 0.98


def test_what_relations_are_told_by():
    words = "The cat that was fed slept on the mat and purred".split()
    tags = "DT NN WDT VBD VBN VBD IN DT NN CC VBD".split()
    clusters = {"c": Clusters.of_paths({"cat": "0101", "mat": "0111"})}
    layers = with_arcs(words, tags, [1, 5, 4, 4, 1, -1, 8, 8, 5, 10, 5], clusters).layers
    assert layers["marker"][8] == "on"
    assert layers["asking"][4] == "that"
    assert layers["joint"][10] == "and"
    assert layers["verbs"][4] == "was"
    assert layers["head_verbs"][2] == "was"
    assert layers["subject"][5] == "NN"
    assert layers["head_subject"][8] == "NN"
    assert layers["place"][10] == "$"
    assert layers["place"][1] == "^"
    assert layers["class_c"][1] == "0101"
    assert layers["head_class_c"][7] == "0111"
    assert layers["class_c"][0] == ""
    assert layers["sibling_word"][8] == "cat"
    assert layers["head_before"][10] == "NN"
    assert layers["same"][10] == "="
    assert {line.split("[")[0] for line in templates(["c"])} > {"class_c", "head_class_c"}


def test_a_file_whose_parts_do_not_fit(parser, tmp_path):
    broken = DependencyParser(bits=14)
    broken.model_ = replace(parser.model_, fine_weight=parser.model_.fine_weight[:-1])
    broken.save(tmp_path / "m.dovetail")
    with pytest.raises(ModelFileError, match="does not fit"):
        DependencyParser.load(tmp_path / "m.dovetail")
    with pytest.raises(ModelFileError, match="kind 'dependency', not 'tagger'"):
        dovetail.Tagger.load(tmp_path / "m.dovetail")


def test_plain_words_where_the_parser_has_a_tagger(tagging_parser):
    [dependencies] = tagging_parser.predict([["Ada", "saw", "Eve", "."]])
    assert dependencies.heads == (1, -1, 1, 1)
    [sentence] = tagging_parser.annotate([Sentence(("Ada", "saw", "Eve", "."))])
    assert sentence.layers["pos"] == ("NNP", "VBD", "NNP", ".")
    assert sentence.layers["deprel"] == ("nsubj", "root", "obj", "punct")


def test_clusters_travel_with_the_model(data, tmp_path):
    clusters = {"names": Clusters.of_paths({name: "0110" for name in NAMES} | {"Kim": "0110"})}
    parser = DependencyParser(bits=14, iterations=15, clusters=clusters, relations=False).fit(data[0])
    parser.save(tmp_path / "m.dovetail")
    again = DependencyParser.load(tmp_path / "m.dovetail")
    assert list(again.clusters) == ["names"]
    some = [Sentence(("Kim", "saw", "Eve", "."), {"pos": ("NNP", "VBD", "NNP", ".")})]
    assert again.predict(some) == parser.predict(some)
    assert again.predict(some)[0].heads == (1, -1, 1, 1)


def test_words_and_tags_never_seen_are_parsed(parser):
    [found] = parser.predict([Sentence(("Qux", "zorked", "Quux", "!"), {"pos": ("XX", "YY", "XX", "ZZ")})])
    assert not find_cycle(found.heads)
    assert len(found.relations) == 4


def test_tags_may_be_named_as_in_conllu(parser, data):
    other = [Sentence(s.words, {"xpos": s.layers["pos"]}) for s in data[1]]
    assert parser.predict(other) == parser.predict(data[1])
    untagged = copy(parser)
    untagged.layers_ = LayerTaggers()
    with pytest.raises(InputError, match="sentence 1 has no layer 'pos' with parts of speech"):
        untagged.predict([["Ada", "slept"]])


def test_empty_sentences_and_nothing(parser):
    assert parser.predict([]) == []
    assert parser.predict([Sentence(())])[0].heads == ()
    assert parser.predict_marginals([Sentence(())])[0].shape == (0, 1)
    assert parser.score([]) == 0.0


def test_a_very_long_sentence_is_parsed_in_pieces(parser, monkeypatch):
    monkeypatch.setattr(dovetail.models.dependency.estimator, "LONGEST", 20)
    words, tags = ("Ada", "saw", "Eve", ".") * 30, ("NNP", "VBD", "NNP", ".") * 30
    [found] = parser.predict([Sentence(words, {"pos": tags})])
    assert len(found.heads) == 120
    assert found.heads.count(-1) == 1
    assert not find_cycle(found.heads)
    with pytest.raises(InputError, match="sentence 1 has 120 words, and a chart holds 20"):
        parser.kbest([Sentence(words, {"pos": tags})], 2)


def test_long_sentences_are_left_out_of_training_and_counted(data):
    parser = DependencyParser(bits=10, iterations=2, max_length=5, relations=False).fit(data[0])
    assert parser.card_["left_out"] == sum(len(s) > 5 for s in data[0]) > 0
    with pytest.raises(DovetailError, match="no words to learn from"):
        DependencyParser(max_length=2).fit(data[0])


def test_crossing_arcs_are_made_projective_and_counted(data):
    layers = {"head": ("3", "4", "0", "3"), "deprel": ("a", "b", "root", "c"), "pos": ("A", "B", "C", "D")}
    crossing = Sentence(("w", "x", "y", "z"), layers)
    parser = DependencyParser(bits=10, iterations=2).fit([*data[0], crossing], dev=[crossing])
    assert parser.card_["projectivised"] == 1
    assert parser.card_["projectivised_dev"] == 1


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        ({"head": None}, "no layer 'head'"),
        ({"deprel": None}, "sentence 1 has no layer 'deprel'"),
        ({"pos": None}, "sentence 1 has no layer 'pos'"),
        ({"head": ("9", "0", "2", "2")}, r"word 1 \(.*\) has the head '9'"),
        ({"head": ("2", "1", "2", "2")}, "cycle"),
        ({"head": ("2", "0", "0", "2")}, "2 words have the head 0"),
        ({"head": ("2", "x", "2", "2")}, "head 'x'"),
    ],
)
def test_bad_trees_are_told(layers, message):
    sentence = Sentence(
        ("Ada", "saw", "Eve", "."),
        {"head": ("2", "0", "2", "2"), "deprel": ("a", "b", "c", "d"), "pos": ("N", "V", "N", ".")},
    )
    broken = replace(sentence, layers={k: v for k, v in {**sentence.layers, **layers}.items() if v is not None})
    with pytest.raises(InputError, match=message):
        DependencyParser(bits=8).fit([broken])


def test_relations_may_be_left_out(data):
    bare = [replace(s, layers={k: v for k, v in s.layers.items() if k != "deprel"}) for s in data[0]]
    parser = DependencyParser(bits=10, iterations=5, relations=False).fit(bare)
    assert set(parser.predict(data[1])[0].relations) == {"root", "dep"}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"decode": "x"}, "decode='x'"),
        ({"bits": 40}, "bits=40"),
        ({"l2": -1.0}, "l2=-1.0"),
        ({"threshold": 2.0}, "threshold=2.0"),
        ({"iterations": 0}, "iterations=0"),
    ],
)
def test_wrong_settings_are_told(setting, message, data):
    with pytest.raises(DovetailError, match=message):
        DependencyParser(**setting).fit(data[0])


def test_an_untrained_parser_says_so():
    with pytest.raises(DovetailError, match="not trained"):
        DependencyParser().predict([Sentence(("a",), {"pos": ("X",)})])


def test_training_goes_on_from_a_checkpoint_and_from_another_model(data, tmp_path, monkeypatch):
    path = tmp_path / "c.checkpoint"
    whole = DependencyParser(bits=10, iterations=30, relations=False, threads=1).fit(data[0])
    with monkeypatch.context() as patch:
        patch.setattr(base, "Monitor", partial(Monitor, save_every=5))
        patch.setattr(Checkpoint, "remove", lambda self: None)
        DependencyParser(bits=10, iterations=10, relations=False, threads=1).fit(data[0], checkpoint=path)
    assert path.exists()
    again = DependencyParser(bits=10, iterations=30, relations=False, threads=1).fit(data[0], checkpoint=path)
    assert not path.exists()
    assert_allclose(again.model_.fine_weight, whole.model_.fine_weight, atol=1e-3)
    warm = DependencyParser(bits=10, iterations=1, relations=False).fit(data[0], init=whole)
    assert warm.score(data[1]) >= 95
    with pytest.raises(DovetailError, match="the same bits"):
        DependencyParser(bits=11, iterations=1, relations=False).fit(data[0], init=whole)


def test_hopeless_arcs_are_few_and_hold_no_gold(data):
    train = data[0]
    heads = np.concatenate([np.array(s.layers["head"], np.int32) for s in train])
    words, tags = [s.words for s in train], [s.layers["pos"] for s in train]
    training = ArcTraining.prepare(
        words, tags, heads, min_count=1, bits=10, row_bits=8, l2=1.0, threshold=0.01, clusters={}, threads=1
    )
    kept = training.scorer.kept
    assert training.lost < 5
    assert kept.mean() < 0.6
