"""Trees and entities as two models whose spans are coupled softly."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from dovetail.errors import DovetailError
from dovetail.models.joint.estimator import JointParser
from dovetail.models.joint.soft.explain import explain_entity
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


@pytest.mark.parametrize(("label", "coupled"), [("NP", "NP 0-1 with PER"), ("PER", "an entity 0-1 with NP")])
def test_explanations_name_the_couplings_and_add_up(parser: JointParser, label: str, coupled: str) -> None:
    why = parser.explain(WORDS, 0, 1, label)
    assert (why.label, why.start, why.end) == (label, 0, 1)
    assert sum(e.margin for e in why.evidence) == pytest.approx(why.margin, abs=1e-4)
    [told] = [e for e in why.for_it if e.feature.startswith("coupling")]
    assert told.feature.startswith(f"coupling of {coupled} (alone ")
    assert why.what == {"NP": "tree", "PER": "entities"}[label]


def test_an_entity_that_another_engine_chose_is_explained_too(parser: JointParser) -> None:
    model = parser._model()
    text = parser._soft_text(model, [Sentence(tuple(WORDS))], whole=True)
    why = explain_entity(model, text, 2, 4, "PER", 0.0)
    assert why.margin < 0
    assert [(e.start, e.end) for e in why.rival] == [(0, 1)]
    assert sum(e.margin for e in why.evidence) == pytest.approx(why.margin, abs=1e-4)


def test_what_it_cannot_do_is_said(parser: JointParser, tmp_path: Path) -> None:
    with pytest.raises(DovetailError, match="'saw the' is not a constituent, and no entity, of the answer"):
        parser.explain(WORDS, 1, 3)
    with pytest.raises(DovetailError, match=r"'Ada' is not a LOC of the answer; it has S .*PER 'Ada'"):
        parser.explain(WORDS, 0, 1, "LOC")
    with pytest.raises(DovetailError, match="is for coupling='soft'"):
        JointParser(engine="dual").fit(annotated(4))
    with pytest.raises(DovetailError, match="the training data has no entities"):
        JointParser(coupling="soft").fit([replace(s, spans=()) for s in annotated(8)])
