"""Searches of settings: what is judged, what is chosen, what is kept."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from dovetail.errors import DovetailError
from dovetail.models.choices import f1_of, summed
from dovetail.models.folds import dealt
from dovetail.models.tagger.estimator import Tagger
from dovetail.tuning import Search, TuneData, tuning_log
from dovetail.tuning.search import PARTS, RUNGS
from dovetail.tuning.standing import Standing, paired_gain
from dovetail.tuning.trials import Outcome, Trial
from tests.models.corpus import made
from tests.models.kinds import KINDS

MODEL = Tagger(features=["word[-1:2]", "shape[0]"], iterations=8, threads=1)
SPACE = {"least": ({}, {"min_count": 1}), "penalty": ({}, {"l2": 50.0}, {"l2": 0.01})}


@pytest.fixture(scope="module")
def data() -> TuneData:
    return TuneData(MODEL, made(40, seed=1))


def search(data: TuneData, **how: object) -> Search:
    return Search(data, space=SPACE, number=4, **how)


def test_counts_are_those_of_models_that_did_not_see_the_part(data: TuneData) -> None:
    outcome = Trial({"cross_validate": 0}, 3, (0, 4), PARTS).run(data)
    part = dealt(list(data.sentences), PARTS, 3)
    for number, counts in outcome.parts.items():
        own = [s for s, p in zip(data.sentences, part, strict=True) if p == int(number)]
        assert counts[0] == sum(len(s.entities()) for s in own)
        assert counts[2] <= min(counts[:2])
    assert outcome.parts.keys() == {"0", "4"}


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_can_be_judged(name: str) -> None:
    kind = KINDS[name]
    outcome = Trial({}, 1, (1,), 4).run(TuneData(kind.model, kind.sentences))
    [counts] = outcome.parts.values()
    assert 0 <= f1_of(np.array(counts)) <= 100
    assert counts[0] > 0
    assert not kind.model._is_trained()


def test_a_bad_setting_loses_and_a_good_one_is_chosen(data: TuneData, tmp_path: Path) -> None:
    stiff = TuneData(Tagger(features=["word[-1:2]", "shape[0]"], iterations=8, l2=80.0, min_count=4), data.sentences)
    found = search(stiff)
    steps = list(found.run(tuning_log(tmp_path / "log"), threads=1))
    verdict = found.verdict()
    assert verdict.settings
    assert verdict.settings == verdict.rival
    assert verdict.gain is not None
    assert verdict.gain.difference > 0
    assert steps[-1].done == steps[-1].of
    most = sum(len(rung.parts) for rung in RUNGS)
    assert all(len(one.counts) == most for one in verdict.finalists)
    assert any(not one.settings for one in verdict.finalists)


def standing(settings: dict[str, float], right: float, spread: float) -> Standing:
    counts = {(1, n): np.array([10, 10, right + spread * (-1) ** n]) for n in range(5)}
    return Standing(settings, counts)


def test_a_gain_within_the_noise_leaves_the_defaults(data: TuneData) -> None:
    found = search(data)
    for right, spread, wins in ((8.0, 0.0, True), (7.1, 3.0, False), (6.0, 0.0, False)):
        found.steps.clear()
        for one in (standing({}, 7.0, 0.0), standing({"l2": 9.0}, right, spread)):
            parts = {str(n): c.tolist() for (_, n), c in one.counts.items()}
            found._step(Outcome("", one.settings, 1, parts, 1.0), False, 0, 2)
        assert bool(found.verdict().settings) == wins


def test_the_error_of_a_gain_is_larger_than_that_of_independent_trials() -> None:
    rng = np.random.default_rng(1)
    own, other = (np.stack([[10] * 5, [10] * 5, rng.integers(3, 9, 5)], axis=1).astype(float) for _ in range(2))
    gain = paired_gain(own, other, PARTS)
    each = np.array([f1_of(a) - f1_of(b) for a, b in zip(own, other, strict=True)])
    assert gain.difference == pytest.approx(f1_of(summed(own)) - f1_of(summed(other)))
    plain = each.std(ddof=1) / np.sqrt(5)
    assert gain.error == pytest.approx(
        plain * np.sqrt(1 + 5 / 4), rel=1e-6
    )  # parts of one size: the jackknife is exact


def test_a_killed_search_goes_on_and_finds_the_same(data: TuneData, tmp_path: Path) -> None:
    whole = search(data)
    list(whole.run(tuning_log(tmp_path / "whole"), threads=1))
    path = tmp_path / "log"
    first = search(data)
    for number, _ in enumerate(first.run(tuning_log(path), threads=1)):
        if number == 2:
            break
    path.write_text(path.read_text() + '{"fingerprint": "x", "settings": {}')  # killed while it wrote
    again = search(data)
    steps = list(again.run(tuning_log(path), threads=1))
    assert [step.was_there for step in steps[:4]] == [True, True, True, False]
    assert again.verdict().settings == whole.verdict().settings
    assert [s.outcome.parts for s in steps] == [s.outcome.parts for s in whole.steps]
    assert all(step.was_there for step in search(data).run(tuning_log(path)))


def test_other_data_or_settings_are_other_trials(data: TuneData) -> None:
    trial = Trial({"l2": 1.0}, 1, (0,), PARTS)
    known = trial.fingerprint(data)
    for other in (
        replace(data, sentences=data.sentences[1:]),
        replace(data, model=Tagger(features=["word[0]"])),
        replace(data, sources=["digest"]),
    ):
        assert trial.fingerprint(other) != known
    assert replace(trial, deal=2).fingerprint(data) != known
    assert trial.fingerprint(replace(data, model=Tagger(**{**MODEL.get_params(), "threads": 2}))) == known


def test_processes_find_the_same(data: TuneData, tmp_path: Path) -> None:
    found = []
    for number, how in enumerate(({"jobs": 1, "threads": 2}, {"jobs": 2})):
        steps = search(data).run(tuning_log(tmp_path / f"{number}"), **how)
        outcomes = [next(steps).outcome for _ in range(2)]  # of the first rung; they come as they finish
        steps.close()
        found.append({repr(outcome.settings): outcome.parts for outcome in outcomes})
    common = found[0].keys() & found[1].keys()
    assert common
    assert all(found[0][key] == found[1][key] for key in common)


def test_a_full_disk_is_one_line_and_loses_nothing(data: TuneData, tmp_path: Path) -> None:
    log = tuning_log(tmp_path / "log")
    outcome = Outcome("a", {}, 1, {"0": [1.0, 1.0, 1.0]}, 0.5)
    log.add(outcome)
    before = log.path.read_bytes()
    full = tuning_log(tmp_path / "full")
    full.path.symlink_to("/dev/full")
    with pytest.raises(DovetailError, match=r"full: cannot be written: No space left on device; 0 finished trials .*"):
        full.add(outcome)
    assert tuning_log(log.path).runs == {"a": outcome}
    assert log.path.read_bytes() == before
    assert asdict(outcome)["parts"] == {"0": [1.0, 1.0, 1.0]}


def test_a_line_that_is_no_trial_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text('{"a": 1}\n{"b": 2}\n')
    with pytest.raises(DovetailError, match=r"log:1: this is not a finished trial; delete the line"):
        tuning_log(path)


def test_too_little_to_search(data: TuneData, tmp_path: Path) -> None:
    with pytest.raises(DovetailError, match="9 sentences are too few"):
        next(search(replace(data, sentences=data.sentences[:9])).run(tuning_log(tmp_path / "log")))
    with pytest.raises(DovetailError, match="1 candidates"):
        next(Search(data, number=1).run(tuning_log(tmp_path / "log")))
