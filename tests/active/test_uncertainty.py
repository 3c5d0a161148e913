"""Measures of uncertainty, beside what the k best taggings say when k is all of them."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.active.uncertainty import MEASURES, SUMS, uncertainty
from dovetail.errors import DovetailError
from dovetail.models.tagger.estimator import Tagger
from tests.models.corpus import made

FEATURES = ["word[-1:2]", "shape[0]"]


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(features=FEATURES, iterations=20, threads=1).fit(made(30, seed=1))


def enumerated(tagger: Tagger, words: list[str]) -> dict[str, float]:
    """The measures by their definitions, over every possible tagging of a short sentence."""
    [taggings] = tagger.kbest([words], k=len(tagger.classes_) ** len(words))
    p = np.array([tagging.probability for tagging in taggings])
    assert p.sum() == pytest.approx(1)
    tokens = 0.0
    for i in range(len(words)):
        each = [p[[t.tags[i] == tag for t in taggings]].sum() for tag in tagger.classes_]
        tokens -= sum(q * np.log(q) for q in each if q > 0)
    return {
        "token-entropy": tokens,
        "sequence-entropy": float(-(p * np.log(p)).sum()),
        "least-confident": -float(np.log(p.max())),
        "margin": float(p[1] / p[0]),
    }


@pytest.mark.parametrize("by", MEASURES)
def test_measures_are_those_of_all_taggings(tagger: Tagger, by: str) -> None:
    sentences = [["Ada", "left", "Rome"], ["Zeno", "."], ["Kurt"]]
    found = uncertainty(tagger, sentences, by)
    assert found == pytest.approx([enumerated(tagger, words)[by] for words in sentences], rel=1e-6)


@pytest.mark.parametrize("by", MEASURES)
def test_a_sentence_scores_the_same_alone_and_among_others(tagger: Tagger, by: str) -> None:
    sentences = [["Zeno", "met", "Plato"], [], ["Ada", "."], ["in", "Rome", "Zeno", "fell"]]
    together = uncertainty(tagger, sentences, by)
    assert together == pytest.approx([uncertainty(tagger, [s], by)[0] for s in sentences])
    assert together[1] == 0


@pytest.mark.parametrize("by", SUMS)
def test_discount_divides_by_a_power_of_the_length(tagger: Tagger, by: str) -> None:
    sentences = [["Zeno", "met", "Plato", "."], ["Ada"]]
    whole = uncertainty(tagger, sentences, by)
    assert uncertainty(tagger, sentences, by, discount=1) == pytest.approx(whole / [4, 1])
    assert uncertainty(tagger, sentences, by, discount=0.5) == pytest.approx(whole / [2, 1])


def test_entropies_agree_where_labels_are_independent() -> None:
    tagger = Tagger(features=FEATURES, order=0, constrain=False, threads=1).fit(made(20, seed=1))
    sentences = [["Zeno", "met", "Plato"]]
    tokens, whole = (uncertainty(tagger, sentences, by) for by in ("token-entropy", "sequence-entropy"))
    assert tokens == pytest.approx(whole)


def test_no_sentences(tagger: Tagger) -> None:
    assert uncertainty(tagger, []).shape == (0,)


@pytest.mark.parametrize(
    ("by", "discount", "message"),
    [
        ("doubt", 0.0, "no measure 'doubt'; choose one of token-entropy"),
        ("margin", 0.5, "margin does not grow"),
        ("token-entropy", 2.0, "from 0 to 1"),
        ("random", 0.0, "asks no model"),
    ],
)
def test_wrong_arguments(tagger: Tagger, by: str, discount: float, message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        uncertainty(tagger, [["a"]], by, discount)
