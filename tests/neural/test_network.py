"""Networks as parts of models: training, files, a start from another model, checkpoints, explanations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.extras import NEEDS

pytest.importorskip("torch", reason=NEEDS["torch"])


from dovetail.arrays import offsets_of, taken
from dovetail.errors import ModelFileError
from dovetail.models.nested.estimator import NestedTagger
from dovetail.models.segmenter.estimator import Segmenter
from dovetail.models.tagger.estimator import Tagger
from dovetail.neural.extra import torch
from dovetail.neural.network import MAKERS, Network
from tests.models.kinds import KINDS

SENTENCES = KINDS["tagger"].sentences


class Letters(torch.nn.Module):
    """Words by their first and last letters: a vector of each, a hidden layer, and a layer for every part."""

    kind = "letters"

    def __init__(self, parts, size=4, dropout=0.0):
        super().__init__()
        self.made = {"parts": dict(parts), "size": size, "dropout": dropout}
        self.letters = torch.nn.Embedding(128, size)
        self.dropout = torch.nn.Dropout(dropout)
        self.out = torch.nn.ModuleDict({f"{part}_": torch.nn.Linear(2 * size, n) for part, n in parts.items()})

    def described(self):
        return self.made

    def inputs(self, sentences):
        offsets = offsets_of(sentences)
        ends = [(ord(w[0]) % 128, ord(w[-1]) % 128) for s in sentences for w in s.words]
        letters = torch.tensor(ends, dtype=torch.int64).reshape(-1, 2)
        return lambda which: letters[torch.from_numpy(taken(offsets, which)[0])]

    def forward(self, letters):
        inner = self.dropout(torch.tanh(self.letters(letters).flatten(1)))
        return {part[:-1]: out(inner) for part, out in self.out.items()}


def make_letters(described, form):
    return Letters(**described)


MAKERS["letters"] = "tests.neural.test_network:make_letters"


def with_network(parts):
    """Settings of an estimator whose models have such a network."""

    @dataclass(kw_only=True, eq=False)
    class Mixed:
        dropout: float = 0.0

        def _network(self, form, corpus):
            torch.manual_seed(self.seed)
            return Network(Letters({part: form.outputs(part) for part in parts}, dropout=self.dropout))

    return Mixed


@dataclass(kw_only=True, eq=False)
class NetworkTagger(with_network(["node"]), Tagger):
    pass


@dataclass(kw_only=True, eq=False)
class NetworkSegmenter(with_network(["start", "inside"]), Segmenter):
    pass


@dataclass(kw_only=True, eq=False)
class NetworkNested(with_network(["word", "start"]), NestedTagger):
    pass


def tagger(**settings: Any) -> NetworkTagger:
    known = {"features": ["shape[0]"], "iterations": 30, "consistency": "none", "l2": 0.01}
    return NetworkTagger(**(known | settings))


def same(one: Any, other: Any, atol: float = 0.0) -> None:
    for a, b in zip(one.predict_marginals(SENTENCES), other.predict_marginals(SENTENCES), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=atol)


@pytest.mark.parametrize("optimiser", ["lbfgs", "adam"])
def test_a_network_learns_what_features_do_not_say(optimiser: str, tmp_path: Path) -> None:
    features = Tagger(features=["shape[0]"], iterations=30, consistency="none", l2=0.01).fit(SENTENCES)
    how = {} if optimiser == "lbfgs" else {"optimiser": "adam", "gain": 0.02, "batch": 4, "dropout": 0.1}
    model = tagger(**how).fit(SENTENCES, dev=SENTENCES[:4])
    assert model.score(SENTENCES) > features.score(SENTENCES) + 10
    model.save(tmp_path / "m")
    same(model, Tagger.load(tmp_path / "m"), atol=1e-6)
    model.save(tmp_path / "half", half=True)
    same(model, Tagger.load(tmp_path / "half"), atol=0.02)


def test_training_is_the_same_whatever_random_numbers_others_draw() -> None:
    first = tagger(optimiser="adam", dropout=0.5, iterations=3).fit(SENTENCES)
    torch.rand(3)
    same(first, tagger(optimiser="adam", dropout=0.5, iterations=3, threads=2).fit(SENTENCES))


def test_a_run_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    def stop(progress: Any) -> None:
        if progress.iteration == 26:
            raise RuntimeError

    how = {"optimiser": "adam", "dropout": 0.5}
    whole = tagger(**how).fit(SENTENCES)
    with pytest.raises(RuntimeError):
        tagger(**how).fit(SENTENCES, checkpoint=tmp_path / "run", progress=stop)
    same(whole, tagger(**how).fit(SENTENCES, checkpoint=tmp_path / "run"))


def test_it_starts_from_another_model() -> None:
    first = tagger().fit(SENTENCES)
    same(first, tagger(iterations=1, gain=1e-9, optimiser="sgd", l2=0.0).fit(SENTENCES, init=first), atol=0.01)


def test_explanations_have_the_network_as_a_whole() -> None:
    told = tagger().fit(SENTENCES).explain(SENTENCES[0], 0)
    names = {e.feature for e in told.evidence}
    assert "network letters, as a whole" in names
    assert any(name.startswith("shape[0]") for name in names)


@pytest.mark.parametrize("kind", [NetworkSegmenter, NetworkNested])
def test_segments_can_have_networks_too(kind: Any, tmp_path: Path) -> None:
    sentences = KINDS["segments" if kind is NetworkSegmenter else "nested"].sentences
    more = {"target": "ner"} if kind is NetworkSegmenter else {"min_count": 1}
    model = kind(iterations=5, **more).fit(sentences)
    model.save(tmp_path / "m")
    loaded = kind.load(tmp_path / "m")
    assert list(loaded.annotate(sentences)) == list(model.annotate(sentences))


def test_files_of_a_network_that_is_not_known_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tagger(iterations=1).fit(SENTENCES).save(tmp_path / "m")
    monkeypatch.delitem(MAKERS, "letters")
    with pytest.raises(ModelFileError, match="no network 'letters' is known"):
        Tagger.load(tmp_path / "m")
