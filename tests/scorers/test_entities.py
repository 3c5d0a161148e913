"""The likelihood of entities by segments: against all segmentations written out, and in runs as one by one."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.learning.losses import LOSSES
from dovetail.models.joint.training import Least, entity_objective, wanted_features
from dovetail.scorers.entities import EntityParameters, EntityScorer, entity_layout, entity_outputs, in_runs
from dovetail.scorers.linear import Layout
from dovetail.scorers.listed import FeatureLists, SentenceLists
from tests.scorers.slopes import check_slope

TYPES, LONGEST, FEATURES = 2, 3, 5
LENGTHS = [3, 1, 4]
ENTITIES = [[(0, 2, 1)], [], [(1, 2, 0), (2, 4, 1)]]


@pytest.fixture
def scorer() -> EntityScorer:
    rng = np.random.default_rng(5)
    counts = rng.integers(1, 4, size=sum(LENGTHS) + len(LENGTHS))  # after its words a sentence has a gap
    ptr = np.concatenate([[0], np.cumsum(counts)])
    lists = {"entity": FeatureLists(ptr, rng.integers(0, FEATURES, size=int(ptr[-1])).astype(np.int32))}
    first = np.cumsum([0, *(n + 1 for n in LENGTHS)]).tolist()
    sentences = [SentenceLists(lists, place, n) for place, n in zip(first, LENGTHS, strict=False)]
    size = entity_outputs(TYPES)
    labels = np.tile(np.arange(size, dtype=np.uint8), FEATURES)
    made = EntityParameters(TYPES, Layout(np.arange(0, FEATURES * size + 1, size), labels, size))
    return EntityScorer(made, sentences, LONGEST)


def loss_by_hand(scorer: EntityScorer, weight: np.ndarray) -> float:
    """All ways to have entities of up to three words in a sentence, one by one, each scored by the definition."""
    total = 0.0
    table = weight.reshape(FEATURES, 3, TYPES + 1)
    for sentence, right in zip(scorer.sentences, ENTITIES, strict=True):
        lists, n = sentence.lists["entity"], sentence.length
        of = [lists.feature[lists.ptr[sentence.first + t] : lists.ptr[sentence.first + t + 1]] for t in range(n)]
        word = np.array([sum(table[f] for f in features) for features in of])  # [n, 3, types + 1]
        start, inside, end = (word[:, :, :-1] + word[:, :, -1:]).transpose(1, 0, 2)

        def score(entities: tuple[tuple[int, int, int], ...], start=start, inside=inside, end=end) -> float:
            return sum(start[i, x] + inside[i + 1 : j, x].sum() + end[j - 1, x] for i, j, x in entities)

        def ways(begin: int, n: int = n) -> list[tuple[tuple[int, int, int], ...]]:
            if begin == n:
                return [()]
            found = list(ways(begin + 1))
            for j in range(begin + 1, min(begin + LONGEST, n) + 1):
                found += [((begin, j, x), *rest) for x in range(TYPES) for rest in ways(j)]
            return found

        total += float(np.logaddexp.reduce([score(way) for way in ways(0)])) - score(tuple(right))
    return total


def test_loss_is_that_of_all_segmentations(scorer: EntityScorer) -> None:
    weight = np.random.default_rng(1).normal(size=scorer.parameters)
    assert entity_objective(scorer, ENTITIES)(weight)[0] == pytest.approx(loss_by_hand(scorer, weight))


@pytest.mark.parametrize("loss", ["likelihood", "softmax-margin"])
def test_gradient_is_the_slope(scorer: EntityScorer, loss: str) -> None:
    check_slope(entity_objective(scorer, ENTITIES, LOSSES[loss]), seed=2)


def test_neighbours_in_one_go_are_as_one_by_one(scorer: EntityScorer) -> None:
    first, second, third = scorer.sentences
    assert [len(run) for run in in_runs(scorer.sentences)] == [3]
    assert [len(run) for run in in_runs([second, first, third])] == [1, 1, 1]
    assert [len(run) for run in in_runs([third, first, second])] == [1, 2]
    weight = np.random.default_rng(3).normal(size=scorer.parameters)
    loss, gradient = entity_objective(scorer, ENTITIES)(weight)
    order = [1, 0, 2]
    apart = EntityScorer(scorer.made, [scorer.sentences[i] for i in order], LONGEST)
    found = entity_objective(apart, [ENTITIES[i] for i in order])(weight)
    assert found[0] == pytest.approx(loss)
    np.testing.assert_allclose(found[1], gradient, atol=1e-9)


def test_features_have_parameters_of_the_types_they_are_seen_with(scorer: EntityScorer) -> None:
    lists = scorer.sentences[0].lists["entity"]
    layout = entity_layout(scorer.sentences, ENTITIES, FEATURES, TYPES, np.ones(FEATURES, bool))
    seen: dict[int, set[int]] = {f: set() for f in range(FEATURES)}
    for sentence, each in zip(scorer.sentences, ENTITIES, strict=True):
        for t in range(sentence.length):
            for f in lists.feature[lists.ptr[sentence.first + t] : lists.ptr[sentence.first + t + 1]].tolist():
                seen[f] |= {TYPES} | {kind for begin, end, kind in each if begin <= t < end}
    for f, kinds in seen.items():
        outputs = layout.label[layout.ptr[f] : layout.ptr[f + 1]].tolist()
        assert sorted(outputs) == sorted(part * (TYPES + 1) + kind for part in range(3) for kind in kinds)
    counts = np.bincount(lists.feature, minlength=FEATURES)
    often = counts == counts.max()
    rare = entity_layout(scorer.sentences, ENTITIES, FEATURES, TYPES, often)
    assert (np.diff(rare.ptr) > 0).tolist() == often.tolist()


def test_features_of_entities_that_occur_often_enough(scorer: EntityScorer) -> None:
    lists = scorer.sentences[0].lists["entity"]
    documents = np.arange(len(scorer.sentences)) // 2  # two sentences each
    words = np.bincount(lists.feature, minlength=FEATURES).tolist()  # gaps have features here, and count
    found: list[set[int]] = [set() for _ in range(FEATURES)]
    for sentence, document in zip(scorer.sentences, documents.tolist(), strict=True):
        for t in range(sentence.first, sentence.first + sentence.length):
            for f in lists.feature[lists.ptr[t] : lists.ptr[t + 1]].tolist():
                found[f].add(document)
    for least in (Least(1, 1), Least(3, 1), Least(1, 2), Least(3, 2)):
        wanted = wanted_features(lists, FEATURES, scorer.sentences, documents, least)
        expected = [w >= least.words and len(d) >= least.documents for w, d in zip(words, found, strict=True)]
        assert wanted.tolist() == expected
    assert 0 < sum(len(d) >= 2 for d in found) < FEATURES  # so that the last two differ from the first two
