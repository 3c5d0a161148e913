"""What a session gives, keeps and counts, for one annotator and for several."""

from __future__ import annotations

import random
from typing import Any

import pytest

from dovetail.errors import DovetailError
from dovetail.labelling.agreement import kappa
from dovetail.labelling.leases import Leases
from dovetail.labelling.tasks import TASKS
from tests.labelling.conftest import GOLD, SENTENCES


def take(session: Any, tab: str = "a", annotator: str = "ann") -> dict[str, Any]:
    item = session.take(tab, annotator)
    assert item is not None
    return item


def label(session: Any, count: int, tab: str = "a", annotator: str = "ann") -> list[int]:
    found = []
    for _ in range(count):
        found.append(take(session, tab, annotator)["number"])
        session.answer(found[-1], tab, annotator, "done", GOLD)
    return found


def test_every_sentence_comes_once_and_then_none(make_session: Any) -> None:
    session = make_session()
    assert sorted(label(session, len(SENTENCES))) == list(range(len(SENTENCES)))
    assert session.take("a", "ann") is None


def test_two_tabs_never_have_the_same_sentence(make_session: Any) -> None:
    session, rng = make_session(), random.Random(1)
    open_in: dict[str, int] = {}
    for _ in range(300):
        tab = rng.choice("abc")
        if tab in open_in and rng.random() < 0.3:
            session.answer(open_in.pop(tab), tab, "ann", "done", GOLD)
        item = session.take(tab, "ann")
        if item is None:
            break
        open_in[tab] = item["number"]
        assert len(set(open_in.values())) == len(open_in)


def test_the_sentence_of_a_tab_that_is_gone_comes_back() -> None:
    now = [0.0]
    leases = Leases(seconds=10, clock=lambda: now[0])
    assert leases.take(3, "a")
    now[0] = 9
    leases.renew("a")
    now[0] = 18
    assert not leases.take(3, "b")
    now[0] = 20
    assert leases.take(3, "b")


def test_it_goes_on_where_it_was(make_session: Any) -> None:
    session = make_session()
    done = label(session, 7)
    session.answer(take(session)["number"], "a", "ann", "skipped")
    flagged = take(session)["number"]
    session.answer(flagged, "a", "ann", "flagged", GOLD[:1], "which one?")
    session.undo("a", "ann")
    session.answer(flagged, "a", "ann", "flagged", [], "odd")
    before = session.status("a", "ann")["counts"]
    session.close()
    again = make_session()
    assert again.status("a", "ann")["counts"] == before
    assert before == {"total": 120, "done": 7, "left": 113, "mine": 7, "tokens": 56, "skipped": 1, "flagged": 1}
    item = again.open(flagged, "a", "ann")
    assert (item["state"], item["answer"], item["note"]) == ("flagged", [], "odd")
    assert [again.open(n, "a", "ann")["answer"] for n in done] == [GOLD] * 7
    assert take(again)["number"] not in [*done, flagged]


def test_undo_goes_back_answer_by_answer(make_session: Any) -> None:
    session = make_session()
    first, second = label(session, 2)
    assert session.undo("a", "ann")["number"] == second
    item = session.undo("a", "ann")
    assert (item["number"], item["answer"]) == (first, GOLD)
    assert session.undo("a", "ann") is None
    assert session.labelled() == []


def test_another_annotator_gets_other_sentences_and_some_second_looks(make_session: Any) -> None:
    session = make_session()
    ann = set(label(session, 60))
    shared = [n for n in label(session, 50, "b", "bob") if n in ann]
    assert 0 < len(shared) <= len([n for n in ann if n % 10 == 0])
    [found] = session.status("a", "ann")["agreement"]
    assert (found["first"], found["second"], found["sentences"]) == ("ann", "bob", len(shared))
    assert (found["kappa"], found["f1"]) == (1.0, 100.0)


def test_of_several_answers_most_count_and_then_the_latest(make_session: Any) -> None:
    session = make_session()
    for name, answer in (("ann", GOLD), ("bob", GOLD[:1])):
        session.answer(0, "a", name, "done", answer)
    assert session.task.read(session.labelled()[0]) == GOLD[:1]
    session.answer(0, "a", "cleo", "done", GOLD)
    session.answer(0, "a", "bob", "done", [])
    assert session.task.read(session.labelled()[0]) == GOLD


def test_agreement_is_that_of_the_textbook() -> None:
    # Cohen 1960: agreement 0.7 where 0.41 + ... is expected, by hand
    first, second = "yyyyyynnnn", "yyyyynnnny"
    seen, chance = 0.8, 0.6 * 0.6 + 0.4 * 0.4
    assert kappa(first, second) == pytest.approx((seen - chance) / (1 - chance))


def test_labelled_files_are_taken_over_once(make_session: Any) -> None:
    session = make_session()
    given = [TASKS["entities"].write(s, GOLD) for s in SENTENCES[:4]]
    assert (session.add_labelled("gold", given), session.add_labelled("gold", given)) == (4, 0)
    assert {take(session)["number"] for _ in range(1)}.isdisjoint(range(4))
    assert len(session.labelled()) == 4


@pytest.mark.parametrize(
    ("task", "answer", "told"),
    [
        ("entities", [[0, 3, "PER"], [2, 4, "LOC"]], "overlap"),
        ("entities", [[0, 3, "PER"], [0, 2, "LOC"]], "overlap"),
        ("nested", [[0, 3, "PER"], [2, 4, "LOC"]], "cross"),
        ("entities", [[0, 99, "PER"]], "does not lie"),
        ("entities", [[-1, 2, "PER"]], "does not lie"),
        ("entities", [[0, True, "PER"]], "is not"),
        ("entities", [[0, 1, "DOG"]], "no label 'DOG'"),
        ("entities", None, "give a list"),
        ("words", ["PER"], "for each of the 8 words"),
        ("words", ["DOG"] * 8, "no label"),
    ],
)
def test_wrong_answers_are_refused_and_not_kept(make_session: Any, task: str, answer: Any, told: str) -> None:
    session = make_session(task)
    with pytest.raises(DovetailError, match=told):
        session.answer(0, "a", "ann", "done", answer)
    assert session.store.entries == []


def test_nested_and_word_answers_come_back_as_they_were(make_session: Any) -> None:
    session = make_session("nested")
    both = [[3, 6, "ORG"], [5, 6, "LOC"]]
    session.answer(0, "a", "ann", "done", both[::-1])
    assert session.task.read(session.labelled()[0]) == both
    session.close()
    session.store.path.unlink()
    words = make_session("words")
    given = ["PER", None, "LOC", None, None, None, None, None]
    words.answer(0, "a", "ann", "done", given)
    assert words.task.read(words.labelled()[0]) == given


def test_search_finds_words_and_states(make_session: Any) -> None:
    session = make_session()
    session.answer(5, "a", "ann", "flagged")
    assert [row["number"] for row in session.search("", "flagged", "ann")] == [5]
    rows = session.search("CLARA SAW THE BANK OF BERN", "", "ann")
    assert all("Clara saw" in row["text"] for row in rows)
    assert len(rows) == 2
