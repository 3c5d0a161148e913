"""Scores of semantic roles."""

from __future__ import annotations

import pytest

from dovetail.errors import InputError
from dovetail.evaluate.roles import joined_arguments, role_counts, role_scores
from dovetail.text.frames import Frame
from dovetail.text.sentence import Sentence

WORDS = tuple("abcdefgh")


def sentence(*frames: Frame | None) -> Sentence:
    return Sentence(WORDS, frames=None if frames == (None,) else frames)


def test_pieces_are_joined_as_the_scorer_joins_them():
    frame = Frame(
        4, arguments=[(0, 1, "C-ARG1"), (1, 2, "ARG1"), (2, 3, "V"), (3, 4, "R-ARG1"), (5, 6, "C-ARG1"), (6, 7, "C-V")]
    )
    assert [(a.label, a.pieces) for a in joined_arguments(frame)] == [
        ("ARG1", ((0, 1),)),  # nothing before it to continue
        ("ARG1", ((1, 2), (5, 6))),
        ("R-ARG1", ((3, 4),)),
    ]


def test_an_argument_of_two_pieces_is_right_as_a_whole():
    gold = sentence(Frame(1, arguments=[(0, 1, "ARG0"), (2, 3, "ARG1"), (4, 5, "C-ARG1"), (6, 7, "ARGM-TMP")]))
    half = sentence(Frame(1, arguments=[(0, 1, "ARG0"), (2, 3, "ARG1"), (6, 7, "ARGM-LOC")]))
    scores = role_scores([gold], [half])
    assert (scores.gold, scores.predicted, scores.correct) == (3, 3, 1)
    assert (scores.core.gold, scores.core.predicted, scores.core.correct) == (2, 2, 1)
    assert role_counts([gold], [half]).tolist() == [[3, 3, 1]]
    assert role_counts([gold], [half], core=True).tolist() == [[2, 2, 1]]
    assert role_scores([gold], [gold]).f1 == 100.0


def test_predicates_that_were_not_found_take_their_arguments_along():
    gold = sentence(Frame(1, "a.01", "a", [(0, 1, "ARG0")]), Frame(3, "b.01", "b", [(4, 5, "ARG1")]))
    found = sentence(Frame(1, "a.02", "a", [(0, 1, "ARG0")]), Frame(6, "c.01", "c", [(4, 5, "ARG1")]))
    scores = role_scores([gold], [found])
    assert scores.f1 == scores.predicates.f1 == 50.0
    assert scores.sense_accuracy == 0.0
    record = scores.as_dict()
    assert (record["f1"], record["core_f1"], record["predicate_f1"]) == (50.0, 50.0, 50.0)
    assert record["per_label"]["ARG1"]["correct"] == 0


def test_what_cannot_be_scored():
    with pytest.raises(InputError, match="gold sentence 1 has no frames"):
        role_scores([sentence(None)], [sentence()])
    with pytest.raises(InputError, match="1 gold sentences but 0"):
        role_scores([sentence()], [])
    with pytest.raises(InputError, match="8 gold words but 1"):
        role_scores([sentence()], [Sentence(("a",), frames=())])
