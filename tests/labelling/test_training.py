"""What the process beside the page finds, and what the page makes of it."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest

from dovetail.active import uncertainty
from dovetail.labelling.exporting import exported, formats
from dovetail.labelling.forecast import Point, interval, next_point
from dovetail.labelling.guesses import Guesser
from dovetail.labelling.ranking import without_model
from dovetail.labelling.tasks import TASKS
from dovetail.labelling.training import Job, train, unpacked
from dovetail.text.sentence import Sentence
from tests.labelling.conftest import GOLD, SENTENCES

NESTED = [*GOLD, [5, 6, "LOC"]]
WORDS = ["NAME", "VERB", "DET", "NAME", "PREP", "NAME", "ADV", "."]
ANSWERS = {"entities": GOLD, "nested": NESTED, "words": WORDS}
LABELS = {"entities": ["PER", "LOC", "ORG"], "nested": ["PER", "LOC", "ORG"], "words": [*dict.fromkeys(WORDS)]}
CAR = Sentence(tuple("Fritz sold his old car in Rome ?".split()))


@pytest.mark.parametrize("task", TASKS)
def test_a_model_is_trained_judged_and_asked_what_comes_next(task: str) -> None:
    labelled = [TASKS[task].write(s, ANSWERS[task]) for s in SENTENCES[::5]]
    text = [*SENTENCES[1::5], CAR]
    found = train(Job(task, labelled, len(labelled), {0}, careful=True), text)
    assert found.why == ""
    assert 0 < found.seconds < 60
    assert found.point is not None
    assert 50 < found.point.low <= found.point.score <= found.point.high <= 100
    model = unpacked(task, found.packed)
    # first the sentence that is unlike all others, never one that is taken
    assert found.ranked[0] == len(text) - 1
    assert uncertainty(model, text, "least-confident").argmax() == len(text) - 1
    assert 0 not in found.ranked
    guesser = Guesser(model, task, LABELS[task], "your model")
    [right] = guesser.answers(SENTENCES[2:3])
    told = guesser.guess(SENTENCES[2])
    if task == "words":
        assert [pair[0] for pair in right] == WORDS
        assert [rows[0][0] for rows in told["words"]] == WORDS
        doubtful = guesser.guess(CAR)["words"]
        assert max(map(len, doubtful)) == 4, "rivals are shown, too"
        assert all(p >= 0.1 for rows in doubtful for _, p in rows[1:]), "but only probable ones"
    else:
        assert right == ANSWERS[task]
        assert [span[:3] for span in told["entities"]] == right
        assert all(0.5 < span[3] <= 1 for span in told["entities"])
    why = guesser.why(SENTENCES[2], 0)
    assert why["word"] == SENTENCES[2].words[0]
    assert task == "nested" or (why["tag"] in ("PER", "NAME") and why["for"][0][1] > 0)


@pytest.mark.parametrize(("task", "answer"), [("entities", []), ("entities", [[0, 8, "PER"]]), ("words", [None] * 8)])
def test_what_is_missing_for_a_model_is_said(task: str, answer: Any) -> None:
    labelled = [TASKS[task].write(s, answer) for s in SENTENCES[:30]]
    found = train(Job(task, labelled, 30, (), careful=True), SENTENCES)
    assert found.packed is None
    assert found.why.startswith("a model needs")


def test_the_interval_is_wilsons() -> None:
    # Wilson's interval are the shares that lie as far from what was seen as their own deviation says
    low, high = interval(70.0, 200)
    for share in (low / 100, high / 100):
        assert abs(share - 0.7) / math.sqrt(share * (1 - share) / 200) == pytest.approx(1.959964)


def test_the_cost_of_the_next_point_is_that_of_the_curve() -> None:
    curve = [Point(n, 0, 30 + 8 * math.log(n), 0, 0) for n in (30, 50, 90, 170)]
    more = next_point(curve)
    assert more is not None
    assert 30 + 8 * math.log(170 + more) == pytest.approx(curve[-1].score + 1, abs=0.05)
    assert next_point([Point(n, 0, 60 - n / 10, 0, 0) for n in (30, 50, 90)]) is None  # it falls


def test_without_a_model_names_and_good_lengths_come_first() -> None:
    text = [Sentence(("Yes", ".")), Sentence(("THIS", "LINE", "SHOUTS", "ALOUD")), *SENTENCES[:5]]
    assert {0, 1} == set(without_model(text, (), names=True)[-2:])
    assert 3 not in without_model(text, {3}, names=True)


@pytest.mark.parametrize("form", formats(has_model=False))
def test_what_is_labelled_can_be_had_in_every_format(form: str, tmp_path: Any) -> None:
    from dovetail.text.formats import read

    labelled = [TASKS["entities"].write(s, GOLD) for s in SENTENCES[:3]]
    name, data = exported(labelled, form, "news")
    (tmp_path / name).write_bytes(data)
    back = [s for document in read(tmp_path / name, form) for s in document]
    assert [[[e.start, e.end, e.label] for e in s.spans or s.entities()] for s in back] == [GOLD] * 3


def test_the_page_does_not_wait_for_training(make_session: Any) -> None:
    session = make_session()
    session.start()
    for _ in range(6):
        number = session.take("a", "ann")["number"]
        session.answer(number, "a", "ann", "done", GOLD)
    assert session.models.status()["training"]["busy"]
    assert session.models.status()["model"] is None  # and yet all answers are in
    for _ in range(3000):
        if session.models.status()["model"] is not None:
            break
        time.sleep(0.02)
    assert [span[:3] for span in session.take("a", "ann")["guess"]["entities"]] == GOLD
    assert np.isfinite(session.models.status()["training"]["processor"])


def test_the_first_model_guesses_until_the_own_one_is_as_good(make_session: Any) -> None:
    models = make_session().models
    models.base, models.own = object(), object()
    scores = [(None, 50.0, "base"), (60.0, None, "base"), (49.0, 50.0, "base"), (50.0, 50.0, "own")]
    for models.own_score, models.base_score, who in scores:
        assert models.guesser is getattr(models, who)
    models.base = None
    assert models.guesser is models.own
