"""What one model does, models of several domains do too, of whatever kind they are."""

from __future__ import annotations

import copy
import os
import pickle
import signal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import DependencyParser, MultiDomainParser, MultiDomainTagger, Parser, Segmenter, Sentence, Tagger
from dovetail.errors import DovetailError
from dovetail.learning.checkpoint import Checkpoint
from dovetail.learning.monitor import Monitor, Progress
from dovetail.models import base
from tests.models.corpus import made
from tests.models.kinds import KINDS
from tests.trees import treebank

DATA: dict[str, dict[str, list[Sentence]]] = {
    "tagger": {"news": made(20, seed=1), "web": made(10, seed=2)},
    "parser": {"news": treebank(12, 1), "web": treebank(8, 2)},
    "dependency": {"news": KINDS["dependency"].sentences, "web": KINDS["dependency"].sentences[:4]},
}
PATTERNS: dict[str, Any] = {
    "tagger": partial(Tagger, features=["word[-1:2]", "shape[0]"], min_count=1, threads=1),
    "parser": partial(Parser, tags="given", batch=4, threads=1),
    "dependency": partial(DependencyParser, bits=10, threads=1),
}
every_kind = pytest.mark.parametrize("kind", DATA)


def new(kind: Any, several: dict[str, Any] | None = None, **settings: Any) -> Any:
    pattern = PATTERNS[kind](**{"iterations": 4} | settings)
    kind, one = (MultiDomainTagger, "tagger") if kind == "tagger" else (MultiDomainParser, "parser")
    return kind(**{one: pattern}, **(several or {}))


def same(one: Any, two: Any, tolerance: float = 0.0) -> None:
    (_, a), (_, b) = one.packed(), two.packed()
    assert a.keys() == b.keys()
    for name, array in a.items():
        np.testing.assert_allclose(array, b[name], atol=tolerance)


@every_kind
def test_copies_and_files_answer_the_same(kind: str, tmp_path: Path) -> None:
    model, some = new(kind).fit(DATA[kind]), DATA[kind]["news"][:4]
    model.save(tmp_path / "m", card={"note": "mine"})
    model.save(tmp_path / "half", half=True)
    loaded = dovetail.load(tmp_path / "m")
    assert loaded.card_["note"] == "mine"
    for again in (loaded, dovetail.load(tmp_path / "half"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.domains_ == ("news", "web")
        for domain in (None, "news", "web"):
            assert again.predict(some, domain) == model.predict(some, domain)
    assert (tmp_path / "half").stat().st_size < (tmp_path / "m").stat().st_size


@every_kind
def test_all_answers_of_one_model(kind: str) -> None:
    model, some = new(kind).fit(DATA[kind]), DATA[kind]["web"][:2]
    one = model.model_of("web")
    assert model.kbest(some, 3, "web") == one.kbest(some, 3)
    assert model.sample(some, 2, 5, "web") == one.sample(some, 2, 5)
    assert len(model.predict_marginals(some, "web")) == 2
    assert type(one) is type(getattr(model, model.one))


@every_kind
@pytest.mark.parametrize("optimiser", ["lbfgs", "adagrad"])
def test_dev_is_the_mean_over_domains(kind: str, optimiser: str) -> None:
    seen: list[Progress] = []
    dev = {"web": DATA[kind]["web"][:3], "news": DATA[kind]["news"][:3]}
    model = new(kind, optimiser=optimiser, calibrate=True).fit(DATA[kind], dev=dev, progress=seen.append)
    scores = {name: model.score(some, name) for name, some in dev.items()}
    assert model.card_["dev"] == pytest.approx(np.mean([*scores.values()]))
    assert {name: model.model_of(name).card_["dev"] for name in dev} == pytest.approx(scores)
    assert any(each.dev is not None for each in seen)
    assert model.card_["sentences"] == sum(map(len, DATA[kind].values()))
    assert model.model_of("web").card_["sentences"] == len(DATA[kind]["web"])


def test_dev_stops_and_tunes_parsers() -> None:
    dev = {"web": DATA["parser"]["web"]}
    how = {"patience": 1, "iterations": 9}
    plain, tuned = (new("parser", calibrate=c, **how).fit(DATA["parser"], dev=dev) for c in (False, True))
    before, after = plain.parser_of("web").weights_, tuned.parser_of("web").weights_
    factor = after[before != 0] / before[before != 0]
    np.testing.assert_allclose(factor, factor[0], rtol=1e-3)
    assert factor[0] != 1.0
    np.testing.assert_array_equal(plain.parser_of("news").weights_, tuned.parser_of("news").weights_)
    assert plain.card_["stopped"] == "dev"


@every_kind
def test_training_goes_on_from_a_checkpoint(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.checkpoint"
    whole = new(kind, optimiser="adagrad", iterations=6).fit(DATA[kind])
    seen: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(base, "Monitor", partial(Monitor, save_every=1))
        patch.setattr(Checkpoint, "remove", lambda self: None)
        new(kind, optimiser="adagrad", iterations=3).fit(DATA[kind], checkpoint=path)
    if kind != "dependency":  # whose training on all sentences is not in the checkpoint, and is longer now
        again = new(kind, optimiser="adagrad", iterations=6)
        again.fit(DATA[kind], checkpoint=path, progress=lambda p: seen.append(p.iteration))
        assert seen == [4, 5, 6]
        assert not path.exists()
        same(again, whole)
    new(kind, optimiser="adagrad", iterations=3).fit(DATA[kind], checkpoint=path)
    with monkeypatch.context() as patch:
        patch.setattr(base, "Monitor", partial(Monitor, save_every=1))
        patch.setattr(Checkpoint, "remove", lambda self: None)
        new(kind, optimiser="adagrad", iterations=3).fit(DATA[kind], checkpoint=path)
    for other in (new(kind, l2=9.0, optimiser="adagrad"), new(kind, {"sigma": 0.7}, optimiser="adagrad")):
        with pytest.raises(DovetailError, match="other data or settings"):
            other.fit(DATA[kind], checkpoint=path)


def test_a_checkpoint_is_of_one_sigma(tmp_path: Path) -> None:
    data = DATA["tagger"]
    with pytest.raises(DovetailError, match="give sigma"):
        new("tagger").fit(data, dev=data, checkpoint=tmp_path / "c")
    new("tagger", {"sigma": 0.2}).fit(data, dev=data, checkpoint=tmp_path / "c")


@every_kind
def test_an_interruption_keeps_the_best_so_far(kind: str) -> None:
    seen: list[int] = []

    def stop(progress: Progress) -> None:
        seen.append(progress.iteration)
        if len(seen) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    settings = {"relations": False} if kind == "dependency" else {}
    model = new(kind, iterations=50, optimiser="adagrad", **settings).fit(DATA[kind], progress=stop)
    assert model.card_["stopped"] == "interrupted"
    assert len(seen) <= 4  # parsers of dependencies have begun with all sentences
    assert len(model.predict(DATA[kind]["web"], "web")) == len(DATA[kind]["web"])


@every_kind
def test_threads_change_nothing(kind: str) -> None:
    same(*(new(kind, optimiser="adagrad", threads=n).fit(DATA[kind]) for n in (1, 3)))


@every_kind
def test_training_starts_from_a_model_of_one(kind: str) -> None:
    pattern = PATTERNS[kind](iterations=8, optimiser="lbfgs").fit([s for some in DATA[kind].values() for s in some])
    cold, warm = list[Progress](), list[Progress]()
    new(kind, iterations=1, optimiser="lbfgs").fit(DATA[kind], progress=cold.append)
    new(kind, iterations=1, optimiser="lbfgs").fit(DATA[kind], init=pattern, progress=warm.append)
    assert not warm or warm[0].objective < cold[0].objective  # at the optimum there is no pass to tell of


@every_kind
def test_the_pattern_is_not_trained(kind: str) -> None:
    model = new(kind).fit(DATA[kind])
    pattern = getattr(model, model.one)
    assert (pattern.model_, pattern.card_) == (None, {})


def test_kinds_that_cannot_share_are_told() -> None:
    with pytest.raises(DovetailError, match="tagger=Segmenter: give a Tagger"):
        MultiDomainTagger(tagger=Segmenter()).fit(DATA["tagger"])  # type: ignore[arg-type]
    with pytest.raises(DovetailError, match="parser=Tagger: give a Parser or a DependencyParser"):
        MultiDomainParser(parser=Tagger()).fit(DATA["tagger"])  # type: ignore[arg-type]
