"""The choice of sentences from a stream."""

from __future__ import annotations

import pytest

from dovetail.active import selection
from dovetail.active.selection import select
from dovetail.active.uncertainty import MEASURES, uncertainty
from dovetail.errors import DovetailError
from dovetail.models.tagger.estimator import Tagger
from dovetail.text.sentence import Sentence
from tests.models.corpus import made


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger(features=["word[-1:2]", "shape[0]"], iterations=20, threads=1).fit(made(30, seed=1))


def distinct(n: int) -> list[Sentence]:
    return list({sentence.words: sentence for sentence in made(n, seed=7)}.values())


@pytest.mark.parametrize("by", MEASURES)
def test_the_least_sure_come_first(tagger: Tagger, by: str) -> None:
    pool = distinct(60)
    scores = uncertainty(tagger, pool, by)
    choices = select(tagger, pool, 10, by=by)
    assert [c.score for c in choices] == pytest.approx(sorted(scores, reverse=True)[:10])
    assert all(c.score == pytest.approx(scores[c.position]) and c.sentence is pool[c.position] for c in choices)


@pytest.mark.parametrize("diversity", [0.0, 0.4])
def test_blocks_change_nothing(tagger: Tagger, monkeypatch: pytest.MonkeyPatch, diversity: float) -> None:
    pool = distinct(60)
    whole = select(tagger, iter(pool), 3, diversity=diversity)
    monkeypatch.setattr(selection, "BLOCK", 7)
    in_blocks = select(tagger, iter(pool), 3, diversity=diversity)
    assert [c.position for c in in_blocks] == [c.position for c in whole]


def test_labelled_empty_and_repeated_sentences_are_passed_over(tagger: Tagger) -> None:
    pool = distinct(20)
    offered = [Sentence(()), pool[0], pool[1], pool[0], pool[2]]
    choices = select(tagger, offered, 9, labelled=[Sentence(pool[1].words)])
    assert sorted(c.position for c in choices) == [1, 4]


def test_diversity_avoids_sentences_that_are_alike(tagger: Tagger) -> None:
    alike = [Sentence(("Zeno", "met", name, "Zork", "Zaum", ".")) for name in ("Plato", "Platon", "Platona")]
    other = Sentence(("11", "points", "for", "them"))
    plain = select(tagger, [*alike, other], 2)
    diverse = select(tagger, [*alike, other], 2, diversity=0.9)
    assert 3 not in {c.position for c in plain}
    assert 3 in {c.position for c in diverse}


def test_random_choice_needs_no_model_and_follows_its_seed() -> None:
    pool = distinct(60)
    first, again, other = (select(None, pool, 5, by="random", seed=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_comments_tell_rank_score_and_place(tagger: Tagger) -> None:
    sentence = Sentence(("Zeno",), comments=("-DOCSTART- -X- O", "# note"))
    [choice] = select(tagger, [sentence], 1, by="margin")
    assert choice.with_comments(1, "margin").comments == (
        "# rank = 1",
        f"# margin = {choice.score:.4f}",
        "# sentence = 1",
        "# note",
    )


def test_wrong_arguments(tagger: Tagger) -> None:
    with pytest.raises(DovetailError, match="1 or more"):
        select(tagger, [], 0)
    with pytest.raises(DovetailError, match="from 0 to 1"):
        select(tagger, [], 1, diversity=2)
    with pytest.raises(DovetailError, match="asks a model"):
        select(None, [], 1)
    with pytest.raises(DovetailError, match="no measure 'odd'"):
        select(tagger, [], 1, by="odd")


@pytest.mark.parametrize("by", ["random", "margin"])
def test_an_option_that_would_have_no_effect_is_refused(tagger: Tagger, by: str) -> None:
    with pytest.raises(DovetailError, match=f"{by} does not grow with the length of a sentence"):
        select(tagger, [], 1, by=by, discount=0.5)
