"""Projection: against loops over words, and the tagger that is learnt from it."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail import DovetailError, InputError, Sentence, Tagger
from dovetail.models.pair.bitext import Linked, linked_batches
from dovetail.models.pair.projection import carried, confusion_of, joined, project, projected_tags
from dovetail.text.bitext import Link, Pair
from tests.models.pair.made import bitext, english, gold, tagger


def test_a_language_without_labels():
    pairs, links = bitext()
    expected = list(project(tagger(), pairs, links))
    learnt = Tagger(features=["word[-1:2]"], min_count=1, l2=0.01, threads=1).fit(expectations=expected)
    assert learnt.predict([pair.target for pair in pairs]) == gold()
    assert learnt.card_["expectations"] == len(pairs)
    tags = [s.layers["ner"] for s in projected_tags(tagger(), pairs, links)]
    assert [[tag[2:] for tag in own] for own in tags] == [[tag[2:] for tag in own] for own in gold()]


def test_names_are_no_rarer_than_they_are_wanted():
    pairs, links = bitext()
    few = [Pair(("saw",), ("vidis",))] * 60
    assert len(list(project(tagger(), pairs + few, links + [[]] * 60))) == 36 + 10
    assert len(list(project(tagger(), pairs + few, links + [[]] * 60, nameless=None))) == 96
    assert len(list(projected_tags(tagger(), pairs + few, links + [[]] * 60, nameless=0.0))) == 36


def test_labels_beside_expectations():
    pairs, links = bitext()
    expected = list(project(tagger(), pairs, links, how="hard"))
    few = [["Zamenhofo", "vidis", "Bern-domo", "."]], [["B-PER", "O", "B-WORK", "O"]]
    learnt = Tagger(features=["word[-1:2]"], min_count=1, l2=0.01, threads=1).fit(*few, expectations=expected)
    assert "B-WORK" in learnt.classes_
    assert learnt.predict([["Zamenhofo", "Berno", "vidis"]]) == [["B-PER", "B-LOC", "O"]]


def test_what_is_carried_is_a_weighted_mean():
    rng = np.random.default_rng(1)
    pairs = [Pair(("a",) * 4, ("x",) * 5), Pair(("b",) * 3, ("y",) * 2)]
    links = [[Link(i, j, rng.uniform(0.1, 1)) for i in range(4) for j in range(4) if rng.uniform() < 0.5], [Link(2, 0)]]
    some, beliefs = Linked.of(pairs, links), rng.dirichlet([1, 1, 1], 7)
    q, weight = carried(some, beliefs)
    for pair, own in enumerate(links):
        for j in range(len(pairs[pair].target)):
            row = (0, 5)[pair] + j
            reach = [(link.probability, beliefs[(0, 4)[pair] + link.source]) for link in own if link.target == j]
            assert weight[row] == pytest.approx(max((p for p, _ in reach), default=0))
            if reach:
                assert q[row] == pytest.approx(sum(p * m for p, m in reach) / sum(p for p, _ in reach))


def test_entities_are_joined_as_in_the_source():
    beliefs = np.array([[0.1, 0.9], [0.2, 0.8], [1.0, 0.0], [0.1, 0.9]])
    assert joined(beliefs, np.array([0, 1, 0]), np.array([1, 0, 3]))[:, 1].tolist() == [0.8, 0.8, 0.0]
    model = Tagger(features=["word[0]"], min_count=1, l2=0.001, cross_validate=0, threads=1)
    model.fit([["Ada", "King", ",", "Bern"]] * 3, [["B-PER", "I-PER", "O", "B-PER"]] * 3)
    pair = Pair(("Ada", "King", ",", "Bern"), ("Ado", "·", "Kingo", "Berno", "(", "Ado"))
    links = [[Link(0, 0), Link(1, 2), Link(3, 3), Link(0, 5)]]
    [one] = project(model, [pair], links, unlinked=0.3)
    best = {}
    for position, label, probability in zip(one.position.tolist(), one.label, one.probability, strict=True):
        best[position] = max(best.get(position, (0.0, "")), (probability, label))
    assert [best[i][1] for i in range(6)] == ["B-PER", "I-PER", "I-PER", "B-PER", "O", "B-PER"]
    assert one.weight[one.position == 1].tolist() == pytest.approx([0.3] * int((one.position == 1).sum()), abs=1e-3)


def test_types_where_the_word_before_is_not_known():
    model = tagger()
    [one] = project(model, [Pair(("Ada", "saw"), ("x", "Ado"))], [[Link(0, 1)]], unlinked=0.0)
    assert "PER" in one.label
    assert set(one.position.tolist()) == {1}


def test_errors_of_the_source_are_counted():
    sentences = [Sentence(tuple(w), {"ner": tuple(t)}) for w, t in english()]
    wrong = [Sentence(("Ada", "saw", "Bern", "."), {"ner": ("B-PER", "O", "B-PER", "O")})]
    table = confusion_of(tagger(), [*sentences, *wrong])
    assert np.allclose(table.sum(axis=1), 1)
    assert table.shape == (4, 4)
    assert np.allclose(table[1], [0.0, 18.1 / 19.1, 0.0, 1 / 19.1])  # 18 right, one wrong, and a tenth of a right one


def test_types_with_other_names():
    pairs, links = bitext()
    expected = list(project(tagger(), pairs, links, types={"ORG": "O", "LOC": "PLACE"}))
    labels = {label for one in expected for label in one.label}
    assert not any("ORG" in label or "LOC" in label for label in labels)
    assert "B-PLACE" in labels
    with pytest.raises(DovetailError, match="the map names 'GPE'"):
        list(project(tagger(), pairs, links, types={"GPE": "LOC"}))


def test_parts_of_speech_cross_too():
    plain = Tagger(target="pos", features=["word[0]"], min_count=1, l2=0.01, threads=1)
    plain.fit([["dogs", "ran"], ["cats", "slept"]], [["N", "V"], ["N", "V"]])
    pairs, links = [Pair(("dogs", "slept"), ("dormis", "hundoj"))] * 3, [[Link(0, 1), Link(1, 0)]] * 3
    learnt = Tagger(target="pos", features=["word[0]"], min_count=1, l2=0.01, threads=1)
    assert learnt.fit(expectations=project(plain, pairs, links)).predict([["hundoj", "dormis"]]) == [["N", "V"]]


@pytest.mark.parametrize(
    ("pairs", "links", "told"),
    [
        ([Pair(("a",), ("b",))], [[Link(0, 1)]], r"links:1: .*word 1 of the target, which has 1"),
        ([Pair(("a",), ("b",))] * 2, [[Link(0, 0)]], "links:2: the links end here, and the bitext go on"),
        ([], [[Link(0, 0)]], "links:1: the bitext end here"),
    ],
)
def test_bad_links(pairs, links, told):
    with pytest.raises(InputError, match=told):
        list(linked_batches(pairs, links))


def test_empty_sides_lose_nothing():
    pairs = [Pair((), ("x",)), Pair(("Ada",), ()), Pair(("Ada",), ("Ado",)), Pair((), ())]
    found = list(project(tagger(), pairs, [[], [], [Link(0, 0)], []], nameless=None))
    assert [one.words for one in found] == [("x",), (), ("Ado",), ()]
    assert list(project(tagger(), [], [])) == []


def test_nothing_to_learn_from():
    with pytest.raises(DovetailError, match="nothing to learn from"):
        Tagger().fit(expectations=[])
    with pytest.raises(DovetailError, match=r"make it by Expectation\.of"):
        Tagger().fit(expectations=[["Ada"]])
    pairs, links = bitext()
    with pytest.raises(DovetailError, match="other than perceptron"):
        Tagger(optimiser="perceptron").fit(expectations=project(tagger(), pairs, links))
