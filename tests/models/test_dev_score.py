"""The dev score that a model tells of is that of the model as it was tuned, not of one on the way there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dovetail.models.dependency.estimator import DependencyParser
from dovetail.models.dependency.training import ArcTraining
from dovetail.models.domains.tagger import MultiDomainTagger
from dovetail.models.joint.estimator import JointParser
from dovetail.models.joint.training import JointTraining
from dovetail.models.linear.model import LinearModel
from dovetail.models.linear.training import LinearTraining
from dovetail.models.nested.estimator import NestedTagger
from dovetail.models.parser.model import ParserModel
from dovetail.models.segmenter.estimator import Segmenter
from dovetail.models.tagger.estimator import Tagger
from dovetail.scorers.arcs import ArcScorer
from dovetail.text.sentence import Sentence
from tests.models.kinds import KINDS


def _odd(sentences: list[Sentence]) -> list[Sentence]:
    """The sentences, the tags of every third away, so that no model is right about all of them."""
    return [replace(s, layers={"ner": ("O",) * len(s)}, spans=()) if i % 3 == 0 else s for i, s in enumerate(sentences)]


MODELS: dict[str, tuple[Any, str]] = {
    "tagger": (Tagger(features=["shape[0]", "suffix(2)[0]"], iterations=2), "tagger"),
    "markov": (Segmenter(target="ner", model="markov", iterations=2), "tagger"),
    "segments": (Segmenter(target="ner", iterations=2), "tagger"),
    "nested": (NestedTagger(iterations=2, min_count=1), "tagger"),
    "dependency": (DependencyParser(bits=10, iterations=1), "dependency"),
    "joint": (JointParser(iterations=1, entity_min_count=1), "joint"),
}


def _lie(where: type, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """While training, held-out sentences are looked at, and their score is 12.5."""
    look = getattr(where, what)

    def lying(*given: Any) -> Any:
        look(*given)
        return lambda *_: 12.5

    monkeypatch.setattr(where, what, lying)


@pytest.mark.parametrize("name", MODELS)
def test_held_out_text_is_compiled_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not again to tune the model, nor to score it."""
    model, kind = MODELS[name]
    seen: list[str] = []

    def count(where: type, what: str) -> None:
        do = getattr(where, what)
        monkeypatch.setattr(where, what, lambda *given: seen.append(what) or do(*given))

    for home, method in ((LinearTraining, "reader"), (LinearModel, "batch"), (ParserModel, "lists"), (ArcScorer, "of")):
        count(home, method)
    own = {"threshold": 0.0, "relations": False, "predict_layers": False} if name == "dependency" else {}
    tags = {"tags": "given"} if name == "joint" else {}
    train = [s.with_layer("pos", s.tree.tags()) if s.tree else s for s in KINDS[kind].sentences]
    replace(model, **own, **tags).fit(train, dev=train[:4])
    assert seen == {"dependency": ["of", "of"], "joint": ["lists"]}.get(name, ["reader"])  # of arcs the corpus, too


@pytest.mark.parametrize("documents", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_the_dev_score_is_that_of_the_model(name: str, documents: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model, kind = MODELS[name]
    train = KINDS[kind].sentences
    dev = _odd(train) if kind == "tagger" else train
    if documents:
        train, dev = ([replace(s, document=i // 4) for i, s in enumerate(some)] for some in (train, dev))
    trainings = {"dependency": ArcTraining, "joint": JointTraining}
    where, what = (trainings[name], "dev_scorer") if name in trainings else (type(model), "_dev_scorer")
    _lie(where, what, monkeypatch)
    model.fit(train, dev=iter(dev))
    assert model.card_["dev"] == pytest.approx(model.score(dev))
    assert model.card_["dev"] != 12.5


def test_of_domains_it_is_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    flat = KINDS["tagger"].sentences
    dev = {"a": flat, "b": _odd(flat)}
    _lie(MultiDomainTagger, "_dev_scorer", monkeypatch)
    model = MultiDomainTagger(tagger=Tagger(features=["shape[0]"], iterations=2)).fit({"a": flat, "b": flat}, dev=dev)
    scores = [model.score(sentences, name) for name, sentences in dev.items()]
    assert model.card_["dev"] == pytest.approx(np.mean(scores))
    assert scores[0] != scores[1]
