"""Segmenter: both families, words and entities."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.errors import DovetailError, ModelFileError
from dovetail.features.resources.variety import Variety
from dovetail.models.segmenter.estimator import Segmenter
from dovetail.models.segmenter.model import length_bound
from dovetail.text.sentence import Sentence, Span
from tests.models.corpus import made

NOUNS, VERBS = ["北京", "上海人", "人", "天坛", "老朋友"], ["爱", "看见", "想"]
TRAIN = [[a, v, b] for a, v, b in product(NOUNS, VERBS, NOUNS)]
ENTITIES = made(60, seed=1)


MODELS = ("markov", "semi-markov")


@pytest.fixture(scope="module", params=MODELS)
def words(request: pytest.FixtureRequest) -> Segmenter:
    return Segmenter(model=request.param, l2=0.05, threads=1).fit(TRAIN, dev=TRAIN[::7])


@pytest.fixture(scope="module", params=MODELS)
def entities(request: pytest.FixtureRequest) -> Segmenter:
    return Segmenter(model=request.param, target="ner", min_count=1, threads=1).fit(ENTITIES, dev=made(20, seed=2))


def test_words_are_found(words: Segmenter) -> None:
    assert words.predict(["北京人爱看见老朋友", "", "人想人"])[2] == ["人", "想", "人"]
    assert words.predict([""]) == [[]]
    assert words.score(TRAIN) == pytest.approx(100.0)
    scores = words.word_scores(TRAIN)
    assert scores.f1 == pytest.approx(100.0)
    assert scores.unknown == 0


def test_white_space_always_parts_words(words: Segmenter) -> None:
    assert words.predict(["北 京爱　人"]) == [words.predict(["北"])[0] + words.predict(["京爱"])[0] + ["人"]]
    [spans] = words.predict_entities([" 北京 爱人"])
    assert "".join("北京爱人"[s.start : s.end] for s in spans) == "北京爱人"


def test_full_width_is_seen_as_half_width_and_written_as_it_was() -> None:
    train = [["1998", "年", "好"], ["3", "月", "好"], ["12", "月", "3", "日"]] * 4
    segmenter = Segmenter(l2=0.01, threads=1).fit(train)
    assert segmenter.predict(["１９９８年好"]) == [["１９９８", "年", "好"]]
    assert segmenter.known(["１９９８", "５"]) == {"１９９８"}
    apart = Segmenter(l2=0.01, normalise_width=False, threads=1).fit(train)
    assert apart.known(["１９９８", "1998"]) == {"1998"}


def test_probabilities_are_sums_over_all_segmentations(words: Segmenter) -> None:
    text = "北京人爱"
    every = words.kbest([text], 8)[0]
    assert sum(s.probability for s in every) == pytest.approx(1.0, abs=1e-6)
    assert [s.probability for s in every] == sorted((s.probability for s in every), reverse=True)
    for span in words.predict_entities([text])[0]:
        bare = replace(span, probability=None)
        assert span.probability == pytest.approx(sum(s.probability for s in every if bare in s.spans), abs=1e-6)


def test_samples_follow_the_probabilities(words: Segmenter) -> None:
    [drawn] = words.sample(["北京人"], 400, seed=3)
    [best, *_] = words.kbest(["北京人"], 1)[0]
    share = np.mean([answer.spans == best.spans for answer in drawn])
    assert share == pytest.approx(best.probability, abs=0.08)


def test_a_saved_model_answers_the_same(words: Segmenter, tmp_path: Path) -> None:
    words.save(tmp_path / "m")
    again = dovetail.load(tmp_path / "m")
    assert isinstance(again, Segmenter)
    texts = ["北京人爱看见老朋友", "上海人想天坛"]
    assert again.predict(texts) == words.predict(texts)
    assert again.known(["北京", "巴黎"]) == {"北京"}
    assert again.family == words.family
    first = words.predict_entities(texts)
    for a, b in zip(chain(*first), chain(*again.predict_entities(texts)), strict=True):
        assert a.probability == pytest.approx(b.probability, abs=1e-5)


def test_entities_are_found(entities: Segmenter) -> None:
    dev = made(20, seed=2)
    assert entities.score(dev) > 80
    for sentence, tags in zip(dev, entities.predict(dev), strict=True):
        assert len(tags) == len(sentence)
    [one, *_] = entities.annotate(dev)
    assert all(0 < (span.probability or 0) <= 1 for span in one.spans)
    spans = entities.predict_entities(dev, threshold=0.9)
    assert all((s.probability or 0) >= 0.9 for each in spans for s in each)


def test_entities_agree_between_score_and_the_scorer(entities: Segmenter) -> None:
    dev = made(20, seed=2)
    expected = dovetail.entity_scores([s.layers["ner"] for s in dev], entities.predict(dev)).f1
    assert entities.score(dev) == pytest.approx(expected)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("optimiser", ["perceptron", "adagrad"])
def test_online_learners_train_both_families(model: str, optimiser: str) -> None:
    segmenter = Segmenter(model=model, optimiser=optimiser, iterations=5, threads=1).fit(TRAIN)
    assert segmenter.score(TRAIN) > 97


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_nothing(threads: int, tmp_path: Path) -> None:
    Segmenter(model="semi-markov", threads=threads, iterations=5).fit(TRAIN).save(tmp_path / "m")
    Segmenter(model="semi-markov", threads=3, iterations=5).fit(TRAIN).save(tmp_path / "n")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "n").read_bytes()


def test_the_bound_covers_nearly_all_segments() -> None:
    spans = [[Span(0, 2, "W")] * 999, [Span(0, 9, "W")]]
    assert length_bound(spans) == 2
    assert length_bound([*spans, [Span(0, 9, "W")]]) == 9


def test_sentences_with_segments_beyond_the_bound_are_counted() -> None:
    segmenter = Segmenter(model="semi-markov", longest=2, threads=1).fit(TRAIN)
    assert segmenter.card_["left_out"] == sum(any(len(w) > 2 for w in words) for words in TRAIN)
    assert max(map(len, segmenter.predict(["老朋友爱上海人"])[0])) <= 2
    with pytest.raises(DovetailError, match="longest"):
        Segmenter(model="semi-markov", longest=2).fit([["老朋友"]])


def test_raw_text_finds_its_way_into_a_model(tmp_path: Path) -> None:
    raw = Variety.count(["".join(words) for words in TRAIN], least=2)
    for model in MODELS:
        segmenter = Segmenter(model=model, resources={"raw": raw}, iterations=10, threads=1).fit(TRAIN)
        segmenter.save(tmp_path / "m")
        again = Segmenter.load(tmp_path / "m")
        assert again.predict(["北京爱人"]) == segmenter.predict(["北京爱人"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "hmm"}, "model="),
        ({"model": "semi-markov", "order": 2}, "order="),
        ({"features": "nothing"}, "nothing"),
        ({"loss": "perceptron"}, "not smooth"),
        ({"l2": -1.0}, "penalty"),
        ({"min_count": 0}, "min_count"),
        ({"target": "ner"}, "no layer 'ner'"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        Segmenter(**settings).fit(TRAIN)


def test_wrong_input_is_told(words: Segmenter, entities: Segmenter) -> None:
    for wrong in ("北京", [["北京"]], [1]):
        with pytest.raises(DovetailError):
            words.predict(wrong)  # type: ignore[arg-type]
    with pytest.raises(DovetailError, match="single"):
        words.fit(["北京"])
    with pytest.raises(DovetailError, match="no tokens"):
        Segmenter().fit([])
    with pytest.raises(DovetailError, match="raw text"):
        next(words.annotate([Sentence(("a",))]))
    with pytest.raises(DovetailError, match="white space"):
        words.kbest(["北 京"])
    with pytest.raises(DovetailError, match="not trained"):
        Segmenter().predict(["北京"])
    with pytest.raises(DovetailError):
        entities.predict("Ada slept")


def test_a_tagger_is_no_segmenter(words: Segmenter, tmp_path: Path) -> None:
    words.save(tmp_path / "m")
    with pytest.raises(ModelFileError, match="segmenter"):
        dovetail.Tagger.load(tmp_path / "m")


def test_scikit_learn_manners() -> None:
    segmenter = Segmenter(l2=0.5)
    assert segmenter.set_params(l2=0.25).get_params()["l2"] == 0.25
    with pytest.raises(ValueError, match="no setting"):
        segmenter.set_params(nothing=1)


def test_tags_can_be_explained_and_segments_cannot(words: Segmenter) -> None:
    if words.family == "markov":
        assert words.explain("北京人", 0).tag == "B-W"
        with pytest.raises(DovetailError, match="position"):
            words.explain("北京人", 3)
    else:
        with pytest.raises(DovetailError, match="whole segments"):
            words.explain("北京人", 0)
