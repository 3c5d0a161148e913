"""Trees and entities as two models whose spans are coupled softly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dovetail.errors import DovetailError
from dovetail.models.joint.estimator import JointParser
from dovetail.text.sentence import Sentence
from tests.models.test_joint_parser import annotated

WORDS = ["Ada", "saw", "the", "old", "house", "."]


@pytest.fixture(scope="module")
def parser() -> JointParser:
    return JointParser(coupling="soft", folds=2, iterations=4).fit(annotated(60), dev=annotated(10, seed=3))


def test_it_learns_trees_and_entities(parser: JointParser) -> None:
    assert parser.score(annotated(40, seed=5)) > 90
    [spans] = parser.predict_entities([WORDS])
    assert (spans[0].start, spans[0].end, spans[0].label) == (0, 1, "PER")
    assert 0.5 < (spans[0].probability or 0) <= 1


def test_it_learns_from_text_that_has_one_layer() -> None:
    trees = [replace(s, spans=()) for s in annotated(30, seed=7)]
    entities = [Sentence(s.words, {}, s.spans) for s in annotated(30, seed=8)]
    made = JointParser(coupling="soft", folds=2, iterations=2)
    made.fit(annotated(12), trees_only=trees, entities_only=entities)
    assert (made.card_["trees_only"], made.card_["entities_only"]) == (30, 30)
    assert made.score(annotated(30, seed=5)) > 80


@pytest.mark.parametrize("engine", ["dual", "gibbs"])
def test_engines_find_a_pair_that_is_as_probable(parser: JointParser, engine: str) -> None:
    other = replace(parser, engine=engine, decode="viterbi")
    other.model_ = replace(parser._model(), bonus=0.0)
    plain = replace(parser, decode="viterbi")
    plain.model_ = other.model_
    [one], [two] = plain.parse([WORDS], probabilities=True), other.parse([WORDS], probabilities=True)
    assert one.tree == two.tree
    assert one.spans is not None
    assert two.spans is not None
    assert [e.label for e in one.spans] == [e.label for e in two.spans]


def test_pairs_come_in_order_and_sum_to_one(parser: JointParser) -> None:
    [answers] = parser.kbest([WORDS[:3] + WORDS[4:]], k=60)
    chances = [answer.probability or 0.0 for answer in answers]
    assert chances == sorted(chances, reverse=True)
    assert sum(chances) == pytest.approx(1.0, abs=0.05)


def test_what_it_cannot_do_is_said(parser: JointParser, tmp_path: Path) -> None:
    with pytest.raises(DovetailError, match="only trees of one grammar"):
        parser.explain(WORDS, 0, 1)
    with pytest.raises(DovetailError, match="is for coupling='soft'"):
        JointParser(engine="dual").fit(annotated(4))
    with pytest.raises(DovetailError, match="the training data has no entities"):
        JointParser(coupling="soft").fit([replace(s, spans=()) for s in annotated(8)])
