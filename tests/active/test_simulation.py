"""The trial of active learning on labelled text."""

from __future__ import annotations

from pathlib import Path

import pytest

from dovetail.active.simulation import Simulation, Strategy
from dovetail.active.uncertainty import uncertainty
from dovetail.curves.configurations import Configuration
from dovetail.curves.data import CurveData, draw_order
from dovetail.curves.runs import Run, RunLog, train_and_score
from dovetail.errors import DovetailError
from tests.models.corpus import made

SMALL = Configuration("small", {"features": ["word[0]", "shape[0]"], "iterations": 10, "min_count": 1})


@pytest.fixture(scope="module")
def data() -> CurveData:
    pool = list({sentence.words: sentence for sentence in made(80, seed=1)}.values())
    return CurveData(pool, made(20, seed=2))


def simulate(data: CurveData, log: Path, **options: int) -> list[tuple[Run, bool]]:
    given = {"start": 5, "step": 4, "until": 15, "draws": 2} | options
    plan = Simulation(SMALL, [Strategy("token-entropy")], **given)
    return list(plan.runs(data, RunLog(log)))


def test_sizes_and_series(data: CurveData, tmp_path: Path) -> None:
    runs = [run for run, _ in simulate(data, tmp_path / "runs.jsonl")]
    found = sorted((run.series, run.draw, run.sentences) for run in runs)
    assert found == [(s, d, n) for s in ("random", "token-entropy") for d in (1, 2) for n in (5, 9, 13, 15)]
    plan = Simulation(SMALL, [], start=5, step=4, until=15)
    assert plan.sizes_of_runs(data) == [5, 9, 13, 15] * len(plan.tasks(data))


def test_strategies_begin_alike_and_random_goes_on_in_the_order_of_the_draw(data: CurveData, tmp_path: Path) -> None:
    runs = [run for run, _ in simulate(data, tmp_path / "runs.jsonl", draws=1)]
    first = [run for run in runs if run.sentences == 5]
    assert first[0].score == first[1].score
    assert first[0].tokens == first[1].tokens
    order = draw_order(len(data.train), 1, 1)
    taken = [i for run in sorted(runs, key=lambda r: r.sentences) if run.series == "random" for i in run.chosen]
    assert taken == order[5:15]


def test_the_most_uncertain_of_the_rest_are_chosen(data: CurveData, tmp_path: Path) -> None:
    runs = [run for run, _ in simulate(data, tmp_path / "runs.jsonl", draws=1)]
    [first] = [run for run in runs if run.series == "token-entropy" and run.sentences == 5]
    start = draw_order(len(data.train), 1, 1)[:5]
    model = train_and_score(SMALL, data, start).model
    scores = uncertainty(model, data.train, "token-entropy")
    rest = sorted((i for i in range(len(data.train)) if i not in start), key=lambda i: -scores[i])
    assert list(first.chosen) == rest[:4]


def test_goes_on_where_it_was_interrupted(data: CurveData, tmp_path: Path) -> None:
    whole = simulate(data, tmp_path / "whole.jsonl")
    lines = (tmp_path / "whole.jsonl").read_text().splitlines(keepends=True)
    part = tmp_path / "part.jsonl"
    part.write_text("".join(lines[:5]) + lines[5][:40])  # killed in the middle of a line
    resumed = simulate(data, part)
    assert sum(was_there for _, was_there in resumed) == 5

    def points(runs: list[tuple[Run, bool]]) -> set[tuple[str, int, int, float]]:
        return {(run.series, run.draw, run.sentences, run.score) for run, _ in runs}

    assert points(resumed) == points(whole)
    assert all(was_there for _, was_there in simulate(data, part))


def test_a_pool_that_runs_out(tmp_path: Path) -> None:
    data = CurveData(made(8, seed=1), made(5, seed=2))
    runs = [run for run, _ in simulate(data, tmp_path / "runs.jsonl", until=100, draws=1)]
    assert max(run.sentences for run in runs) == 8


def test_wrong_arguments(data: CurveData, tmp_path: Path) -> None:
    with pytest.raises(DovetailError, match="too few to start with 500"):
        simulate(data, tmp_path / "runs.jsonl", start=500, until=600)
    with pytest.raises(DovetailError, match="only a tagger"):
        Simulation(Configuration("words", kind="segmenter"), []).tasks(data)
    with pytest.raises(DovetailError, match="1 or more"):
        simulate(data, tmp_path / "runs.jsonl", step=0)
