"""What every estimator does alike: one signature, one kind of answer, files, copies, checkpoints, interruption."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.errors import DovetailError
from dovetail.learning.checkpoint import Checkpoint
from dovetail.learning.monitor import Monitor, Progress
from dovetail.models import base
from dovetail.models.answer import Answer
from dovetail.models.base import Estimator
from dovetail.text.sentence import Span
from tests.models.kinds import KINDS

every_kind = pytest.mark.parametrize("name", KINDS)
TRAINED: dict[str, Any] = {}


def trained(name: str) -> Any:
    if name not in TRAINED:
        TRAINED[name] = new(name).fit(KINDS[name].sentences)
    return TRAINED[name]


def new(name: str, /, **settings: Any) -> Any:
    model = KINDS[name].model
    return type(model)(**(model.get_params(deep=False) | settings))


def weights(model: Any) -> list[Any]:
    """Everything that training found."""
    found: dict[str, Any] = model.packed()[1]
    return [found[name] for name in sorted(found)]


def plain(answers: Any) -> Any:
    """Answers without their probabilities."""
    return [[(s.start, s.end, s.label) if isinstance(s, Span) else s for s in _list(each)] for each in answers]


def _list(answer: Any) -> list[Any]:
    return list(answer) if isinstance(answer, list | tuple) else [answer]


def same(one: Any, two: Any) -> None:
    for a, b in zip(weights(one), weights(two), strict=True):
        np.testing.assert_array_equal(a, b)


@every_kind
def test_the_same_names_and_arguments(name: str) -> None:
    model = trained(name)
    wanted = {
        "fit": ("X", "y"), "predict": ("X",), "predict_marginals": ("X",), "kbest": ("X", "k"),
        "sample": ("X", "n", "seed"), "score": ("X", "y"), "save": ("path",), "load": ("path",),
        "annotate": ("items", "probabilities"), "get_params": ("deep",), "set_params": (),
    }  # fmt: skip
    for method, arguments in wanted.items():
        parameters = list(inspect.signature(getattr(model, method)).parameters)
        assert tuple(parameters[: len(arguments)]) == arguments, method
    fit = inspect.signature(Estimator.fit).parameters
    assert [*fit][3:] == ["dev", "init", "checkpoint", "progress", "doing", "sharing"]
    assert "half" in inspect.signature(model.save).parameters


@every_kind
def test_one_kind_of_answer_that_writes_itself_into_a_sentence(name: str) -> None:
    model, inputs = trained(name), KINDS[name].inputs[:3]
    for answers in (model.kbest(inputs, 3), model.sample(inputs, 4, seed=2)):
        assert len(answers) == 3
        assert all(isinstance(answer, Answer) for some in answers for answer in some)
    for some in model.kbest(inputs, 3):
        chances = [answer.probability for answer in some]
        assert chances == sorted(chances, reverse=True)
        assert 0 < sum(chances) <= 1 + 1e-9
    assert [len(some) for some in model.sample(inputs, 4, seed=2)] == [4, 4, 4]
    assert model.sample(inputs, 4, seed=2) == model.sample(inputs, 4, seed=2)
    if name not in ("words", "entailment"):
        sentences = [s if isinstance(s, dovetail.Sentence) else dovetail.Sentence(tuple(s)) for s in inputs]
        for sentence, annotated, answer in zip(
            sentences, model.annotate(sentences), model._answers(sentences, True), strict=True
        ):
            assert answer.write(sentence) == annotated


@pytest.mark.parametrize("name", [*KINDS, "roles alone"])
def test_samples_carry_their_probability(name: str) -> None:
    kind = KINDS[name.partition(" ")[0]]
    model = new("roles", ranked=0).fit(kind.sentences) if name == "roles alone" else trained(name)
    inputs, found = [*kind.inputs[:3], *kind.inputs[-3:]], 0
    for listed, drawn in zip(model.kbest(inputs, 3), model.sample(inputs, 20, seed=2), strict=True):
        for answer in drawn:
            if name in ("labelled", "ruled"):  # many bracketings are one tree
                assert answer.probability is None
                found += 1
            for known in (each for each in listed if replace(each, probability=answer.probability) == answer):
                assert answer.probability in (None, pytest.approx(known.probability, rel=1e-9))
                found += answer.probability is not None
    assert found > 20


@pytest.mark.parametrize(
    ("name", "weight"), [("dependency", "fine_weight"), ("labelled", "weight"), ("joint", "weight")]
)
def test_no_probability_is_above_one(name: str, weight: str) -> None:
    """Where a model is sure, rounding makes the score of an answer a little larger than log Z."""
    model, inputs = copy.copy(trained(name)), KINDS[name].inputs
    found: list[float] = []
    for factor in (3, 10, 30, 100, 300):
        sure = replace(trained(name).model_, **{weight: np.float32(factor) * getattr(trained(name).model_, weight)})
        model.model_ = sure
        found += [answer.probability for some in model.kbest(inputs, 3) for answer in some]
        marginals = model.predict_marginals(inputs)
        found += np.concatenate([np.ravel(own) for own in marginals]).tolist() if name == "dependency" else []
    assert max(found) == 1.0


@every_kind
def test_copies_answer_the_same(name: str) -> None:
    model, inputs = trained(name), KINDS[name].inputs
    for made in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert type(made) is type(model)
        assert made.predict(inputs) == model.predict(inputs)
        assert made.get_params(deep=False) == model.get_params(deep=False)


@every_kind
def test_files_in_full_and_half_precision(name: str, tmp_path: Path) -> None:
    model, inputs = trained(name), KINDS[name].inputs
    model.save(tmp_path / "whole", card={"note": "mine"})
    model.save(tmp_path / "half", half=True)
    whole, half = dovetail.load(tmp_path / "whole"), dovetail.load(tmp_path / "half")
    assert whole.card_["note"] == "mine"
    same(whole, model)
    assert plain(whole.predict(inputs)) == plain(half.predict(inputs)) == plain(model.predict(inputs))
    assert (tmp_path / "half").stat().st_size < (tmp_path / "whole").stat().st_size


@every_kind
def test_compact_files(name: str, tmp_path: Path) -> None:
    model, inputs = trained(name), KINDS[name].inputs
    model.save(tmp_path / "compact", compact=True)
    assert plain(dovetail.load(tmp_path / "compact").predict(inputs)) == plain(model.predict(inputs))
    with pytest.raises(DovetailError, match="choose one"):
        model.save(tmp_path / "both", half=True, compact=True)


CHARTS = ["tagger", "pruning the charts"]
STEPS = {
    "parser": CHARTS,
    "labelled": CHARTS,
    "ruled": CHARTS,
    "joint": CHARTS,
    "soft": [
        "tagger", "trees by themselves", "entities by themselves",
        *(f"what is coupled, part {i} of 3" for i in (1, 2, 3)),
    ],
    "roles": [
        "learning predicates and senses", "extracting features",
        *(f"labels of the joint model, part {i} of 2" for i in (1, 2)), "joint model",
    ],
    "dependency": [
        "learning the layer pos", "choosing the arcs to look at", "training the parser", "training the relations",
    ],
    "entailment": ["analysing the pairs"],
}  # fmt: skip
"""What each kind says that it is doing, in order; nothing, where it only trains."""


@every_kind
def test_dev_is_scored_as_score_does_and_progress_is_told(name: str) -> None:
    kind, seen, doing = KINDS[name], list[Progress](), list[str]()
    model = new(name).fit(kind.sentences, dev=kind.sentences[:4], progress=seen.append, doing=doing.append)
    assert model.card_["dev"] == pytest.approx(model.score(kind.sentences[:4]))
    assert {"sentences", "tokens", "stopped", "dev"} <= set(model.card_)
    assert any(each.dev is not None for each in seen)
    assert doing == STEPS.get(name, [])
    assert "card_" not in repr(model)  # settings alone: the card can be long


@every_kind
@pytest.mark.parametrize("optimiser", ["lbfgs", "adagrad"])
def test_training_goes_on_from_a_checkpoint(
    name: str, optimiser: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, path = KINDS[name], tmp_path / "c.checkpoint"
    make: Callable[..., Any] = partial(new, name, optimiser=optimiser, threads=1)
    whole = make(iterations=6).fit(kind.sentences)
    with monkeypatch.context() as patch:
        patch.setattr(base, "Monitor", partial(Monitor, save_every=1))
        patch.setattr(Checkpoint, "remove", lambda self: None)
        make(iterations=3).fit(kind.sentences, checkpoint=path)
    again = make(iterations=6).fit(kind.sentences, checkpoint=path)
    assert not path.exists()
    for a, b in zip(weights(again), weights(whole), strict=True):
        np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), atol=2e-3)
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "remove", lambda self: None)
        patch.setattr(base, "Monitor", partial(Monitor, save_every=1))
        make(iterations=3).fit(kind.sentences, checkpoint=path)
    with pytest.raises(DovetailError, match="other data or settings"):
        make(iterations=6, l2=9.0).fit(kind.sentences, checkpoint=path)


@every_kind
def test_an_interruption_keeps_the_best_so_far(name: str) -> None:
    seen: list[int] = []

    def stop(progress: Progress) -> None:
        seen.append(progress.iteration)
        if len(seen) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    model = new(name, iterations=50, optimiser="adagrad").fit(KINDS[name].sentences, progress=stop)
    assert model.card_["stopped"] == "interrupted"
    assert len(model.predict(KINDS[name].inputs)) == len(KINDS[name].inputs)


@every_kind
def test_an_interruption_of_the_tuning_keeps_the_model(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, path, model = KINDS[name], tmp_path / "c.checkpoint", new(name)

    def tuned(*given: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(base, "Monitor", partial(Monitor, save_every=1))
    monkeypatch.setattr(type(model), "_tuned", tuned)
    model.fit(kind.sentences, dev=kind.sentences[:4], checkpoint=path)
    assert model.card_["stopped"] == "interrupted"
    assert len(model.predict(kind.inputs)) == len(kind.inputs)
    monkeypatch.undo()
    assert path.exists()
    assert new(name).fit(kind.sentences, dev=kind.sentences[:4], checkpoint=path).card_["stopped"] != "interrupted"
    assert not path.exists()


@every_kind
def test_seeds_and_threads(name: str) -> None:
    sentences = KINDS[name].sentences
    one, two = (new(name, optimiser="adagrad", iterations=2, threads=n).fit(sentences) for n in (1, 3))
    same(one, two)
    if name in ("tagger", "segments"):  # the others have two sentences, over and over
        first, other = (new(name, optimiser="adagrad", iterations=2, seed=n, batch=2).fit(sentences) for n in (1, 7))
        pairs = zip(weights(first), weights(other), strict=True)
        assert any(a.shape != b.shape or not np.array_equal(a, b) for a, b in pairs)


@every_kind
def test_training_starts_from_another_model(name: str) -> None:
    kind = KINDS[name]
    first = new(name, iterations=8, optimiser="lbfgs").fit(kind.sentences)
    cold, warm = list[Progress](), list[Progress]()
    new(name, iterations=1, optimiser="lbfgs").fit(kind.sentences, progress=cold.append)
    new(name, iterations=1, optimiser="lbfgs").fit(kind.sentences, init=first, progress=warm.append)
    # Where that model is at the optimum, no step goes down, and there is no pass to tell of.
    assert not warm or warm[0].objective <= cold[0].objective + 1e-9


@every_kind
def test_no_model_no_answer(name: str) -> None:
    model, inputs = new(name), KINDS[name].inputs
    for ask in (model.predict, model.kbest, model.sample, model.predict_marginals, model.save):
        with pytest.raises(DovetailError, match="not trained"):
            ask(inputs if ask != model.save else "nowhere")
    assert replace(model).needs == ()
