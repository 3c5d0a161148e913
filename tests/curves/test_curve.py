"""Learning curves: what is drawn, what is kept, what is done again."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dovetail.curves import Configuration, LearningCurve
from dovetail.curves.data import CurveData, draw_order
from dovetail.curves.runs import Run, RunLog, train_and_score
from dovetail.errors import DovetailError, InputError
from dovetail.models.tagger.estimator import Tagger
from dovetail.text.sentence import Sentence
from tests.models.corpus import made

SETTINGS = {"features": ["word[0]", "shape[0]"], "iterations": 10, "min_count": 1}
SMALL = Configuration("small", SETTINGS)


@pytest.fixture(scope="module")
def data() -> CurveData:
    return CurveData(made(30, seed=1), made(10, seed=2))


def scores(runs: list[tuple[Run, bool]]) -> dict[tuple[str, int, int], float]:
    return {(run.series, run.sentences, run.draw): run.score for run, _ in runs}


def test_draws_are_nested_without_replacement_and_the_same_for_all(data: CurveData) -> None:
    other = Configuration("other", SETTINGS | {"l2": 1})
    tasks = LearningCurve([SMALL, other], [5, 12, None], draws=2).tasks(data)
    found = {(t.series, t.size, t.draw): set(t.indices) for t in tasks}
    assert found.keys() == {
        (name, *point) for name in ("small", "other") for point in [(5, 1), (5, 2), (12, 1), (12, 2), (30, 1)]
    }
    for draw in (1, 2):
        assert len(found["small", 5, draw]) == 5
        assert found["small", 5, draw] < found["small", 12, draw]
        assert found["small", 12, draw] == found["other", 12, draw]
    assert found["small", 12, 1] != found["small", 12, 2]
    assert draw_order(30, 1, seed=1) != draw_order(30, 1, seed=2)
    assert sorted(draw_order(30, 1, seed=1)) == list(range(30))


def test_a_point_is_the_score_of_the_tagger_trained_so(data: CurveData, tmp_path: Path) -> None:
    [(run, _)] = LearningCurve([SMALL], [12], draws=1).runs(data, RunLog(tmp_path / "runs.jsonl"))
    drawn = [data.train[i] for i in sorted(draw_order(30, 1, seed=1)[:12])]
    assert run.score == Tagger(**SETTINGS).fit(drawn, dev=data.dev).score(data.dev)
    assert run.tokens == sum(map(len, drawn))


def test_without_tuning_dev_has_no_say(data: CurveData) -> None:
    untuned = replace(data, tune=False)
    model = train_and_score(SMALL, untuned, range(12)).model
    expected = Tagger(**SETTINGS).fit(data.train[:12])
    np.testing.assert_array_equal(model.model_.node.weight, expected.model_.node.weight)
    assert untuned.fingerprint != data.fingerprint


def test_test_data_scores(data: CurveData) -> None:
    test = made(10, seed=9)
    trained = train_and_score(SMALL, replace(data, test=test), range(12))
    assert trained.score == trained.model.score(test) != trained.model.score(data.dev)


def test_a_draw_without_entities_scores_no_accuracy() -> None:
    dull = Sentence(("it", "rains"), {"ner": ("O", "O")})
    data = CurveData([dull, dull, *made(5, seed=1)], made(5, seed=2))
    assert train_and_score(SMALL, data, [0, 1]).score == 0


def test_plain_labels_score_accuracy(data: CurveData) -> None:
    trained = train_and_score(Configuration("pos", SETTINGS | {"target": "pos"}), data, range(12))
    assert trained.precision is None
    assert trained.score == trained.model.score(data.dev) > 50


def test_a_segmenter_scores_words() -> None:
    train = [Sentence(("北京", "人", "爱", "北京")), Sentence(("人", "爱", "人")), Sentence(("北京", "爱", "人"))] * 4
    data = CurveData(train, train[:3])
    trained = train_and_score(Configuration("words", {"l2": 0.01}, "segmenter"), data, range(12))
    assert (trained.score, trained.precision, trained.recall) == (100, 100, 100)


def test_nothing_is_done_twice(data: CurveData, tmp_path: Path) -> None:
    log = tmp_path / "runs.jsonl"
    first = list(LearningCurve([SMALL], [5, 12], draws=2).runs(data, RunLog(log)))
    assert not any(was_there for _, was_there in first)
    again = list(LearningCurve([SMALL], [5, 12, 20], draws=2).runs(data, RunLog(log)))
    assert [was_there for _, was_there in again] == [True] * 4 + [False] * 2
    assert scores(first).items() <= scores(again).items()


def test_a_new_name_is_no_new_run(data: CurveData, tmp_path: Path) -> None:
    log = tmp_path / "runs.jsonl"
    list(LearningCurve([SMALL], [5], draws=1).runs(data, RunLog(log)))
    [(run, was_there)] = LearningCurve([Configuration("new", SETTINGS)], [5], draws=1).runs(data, RunLog(log))
    assert (run.series, was_there) == ("new", True)


@pytest.mark.parametrize("change", ["setting", "train", "dev", "seed"])
def test_a_change_is_noticed(data: CurveData, tmp_path: Path, change: str) -> None:
    log = tmp_path / "runs.jsonl"
    list(LearningCurve([SMALL], [5], draws=1).runs(data, RunLog(log)))
    configuration = Configuration("small", SETTINGS | {"l2": 0.7}) if change == "setting" else SMALL
    changed = {
        "train": CurveData([*data.train[:-1], Sentence(("A",), {"pos": ("X",), "ner": ("O",)})], data.dev),
        "dev": CurveData(data.train, data.dev[:-1]),
    }.get(change, data)
    plan = LearningCurve([configuration], [5], draws=1, seed=2 if change == "seed" else 1)
    [(_, was_there)] = plan.runs(changed, RunLog(log))
    assert not was_there


def test_processes_give_the_same(data: CurveData, tmp_path: Path) -> None:
    plan = LearningCurve([SMALL], [5, 12], draws=2)
    alone = list(plan.runs(data, RunLog(tmp_path / "alone.jsonl")))
    abreast = list(plan.runs(data, RunLog(tmp_path / "abreast.jsonl"), jobs=2))
    assert scores(abreast) == scores(alone)


def test_an_error_in_a_process_comes_through(data: CurveData, tmp_path: Path) -> None:
    plan = LearningCurve([Configuration("picky", SETTINGS | {"min_count": 1000})], [5, 12], draws=1)
    with pytest.raises(DovetailError, match=r"picky with (5|12) sentences: no feature occurs 1000 times"):
        list(plan.runs(data, RunLog(tmp_path / "runs.jsonl"), jobs=2))


def test_an_interrupted_training_is_no_point(data: CurveData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fit = Tagger.fit

    def interrupted(self: Tagger, *arguments: object, **options: object) -> Tagger:
        return fit(self, *arguments, **options, progress=lambda _: signal.raise_signal(signal.SIGINT))  # type: ignore[arg-type]

    monkeypatch.setattr(Tagger, "fit", interrupted)
    log = tmp_path / "runs.jsonl"
    with pytest.raises(KeyboardInterrupt):
        list(LearningCurve([SMALL], [12], draws=1).runs(data, RunLog(log)))
    assert not log.exists()


def test_a_foreign_log_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text('{"words": []}\n')
    with pytest.raises(InputError, match=r"runs.jsonl:1: this is not a finished run"):
        RunLog(path)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (LearningCurve([SMALL, SMALL], [5]), "one name"),
        (LearningCurve([SMALL], []), "a size"),
        (LearningCurve([SMALL], [0]), "a size"),
        (LearningCurve([SMALL], [5], draws=0), "1 or more"),
        (LearningCurve([Configuration("a", {"l9": 1})], [5]), "no setting 'l9'"),
    ],
)
def test_wrong_plans(data: CurveData, plan: LearningCurve, message: str) -> None:
    with pytest.raises(DovetailError, match=message):
        plan.tasks(data)
