"""Training with text and features on disk finds the model that training in memory finds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail.errors import DovetailError, InputError
from dovetail.models.linear import stored
from dovetail.models.tagger import scratch
from dovetail.models.tagger.estimator import Tagger
from dovetail.text.sentence import Sentence
from dovetail.text.stored import StoredSentences
from tests.models.corpus import made

FEATURES = ["bias", "word[-1:1]", "ngrams(2, 4)[0]", "word[-1] & shape[0]", "number(n)[0]", "edge(pos[0])"]


@pytest.fixture(autouse=True)
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "stretches_of", lambda *how: stored.stretches_of(*how, tokens=60))


def numbered(sentences: list[Sentence]) -> list[Sentence]:
    """With a layer of numbers, and documents of four sentences."""
    layered = [s.with_layer("n", tuple(str(len(w) / 5) for w in s.words)) for s in sentences]
    return [replace(s, document=i // 4) for i, s in enumerate(layered)]


@pytest.mark.parametrize(
    "how",
    [
        {"features": FEATURES},
        {"features": FEATURES, "min_count": 3, "merge_twins": False},
        {"features": FEATURES, "hash_bits": 10},
        {"features": "ner", "consistency": "agree"},
        {"features": "ner", "order": 2, "scheme": "iobes"},
        {"features": FEATURES, "l1": 0.05, "predict_layers": False},
    ],
)
def test_the_model_is_that_of_memory(how: dict[str, Any], tmp_path: Path) -> None:
    train, dev = numbered(made(60, seed=1)), numbered(made(20, seed=2))
    how = {"predict_layers": False, "iterations": 30, "threads": 1} | how
    alone = Tagger(**how).fit(train, dev=dev)
    on_disk = Tagger(**how).fit(train, dev=dev, scratch=tmp_path / "scratch")
    assert [*(tmp_path / "scratch").iterdir()] == []
    assert alone.card_ == on_disk.card_
    for first, second in zip(alone.predict_marginals(dev), on_disk.predict_marginals(dev), strict=True):
        np.testing.assert_allclose(first, second, atol=1e-4)
    assert len(alone.model_.node.weight) == pytest.approx(len(on_disk.model_.node.weight), abs=3)


def test_the_objective_is_that_of_memory(tmp_path: Path) -> None:
    train = numbered(made(60))
    tagger = Tagger(features=FEATURES, threads=1)
    whole = tagger.prepared(train, tagger.features_for(train, None))
    tagger._scratch = tmp_path
    kept = StoredSentences.write(train, tmp_path / "sentences")
    pieces = tagger._prepare(kept, None, scratch.Run(None, None, None, lambda what: None))  # type: ignore[arg-type]
    assert len(pieces.objective.scorer.stretches) > 3
    assert pieces.objective.parameters == whole.objective.parameters
    rng = np.random.default_rng(0)
    for _ in range(3):  # the order of parameters is another: sizes that do not depend on it
        weight = np.full(whole.objective.parameters, rng.normal() / 10)
        (one, gradient), (other, slope) = whole.objective(weight), pieces.objective(weight)
        assert other == pytest.approx(one)
        np.testing.assert_allclose(np.sort(slope), np.sort(gradient), atol=1e-9)
    np.testing.assert_allclose(np.sort(pieces.curvature()), np.sort(whole.curvature()), rtol=1e-12)  # type: ignore[call-overload]


def test_sentences_come_back(tmp_path: Path) -> None:
    sentences = [*numbered(made(7)), Sentence(()), Sentence(("a\x1fb", "é"), {"ner": ("O", "O")})]
    kept = StoredSentences.write(iter(sentences), tmp_path / "sentences")
    assert [*kept] == [kept[i] for i in range(9)] == kept[:] == sentences
    assert kept[2:5] == sentences[2:5]
    assert kept[::-3] == sentences[::-3]
    assert (kept[-1], kept[9:]) == (sentences[-1], [])
    assert kept.tokens == sum(map(len, sentences))
    with pytest.raises(InputError, match="name a folder with more room"):
        StoredSentences.write(sentences, Path("/dev/full"))


@pytest.mark.parametrize(
    "settings",
    [{"optimiser": "adagrad"}, {"hidden": 3}, {"noise": "dropout:0.5"}, {"cross_validate": 4}, {"observed_only": True}],
)
def test_what_needs_memory_is_refused(settings: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(DovetailError, match=r"scratch|lbfgs"):
        Tagger(**settings).fit(made(5), scratch=tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DovetailError, match="no files can be kept there"):
        Tagger().fit(made(5), scratch=tmp_path / "file")
