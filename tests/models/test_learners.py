"""Parsers learn by every loss and optimiser, go on from checkpoints and other models, and look at dev text once."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dovetail import DependencyParser, JointParser, MultiDomainParser, Parser, Sentence, Span
from dovetail.errors import DovetailError
from dovetail.learning.checkpoint import Checkpoint
from dovetail.learning.monitor import Monitor, Progress
from dovetail.models import base
from dovetail.models.parser.pruning import Pruner
from dovetail.scorers.joint_trees import JointParameters
from dovetail.structures.grammar import batch
from dovetail.text.brackets import parse_tree
from tests.models.treebank import treebank
from tests.trees import NAMES


def attachments(count: int, seed: int) -> list[Sentence]:
    """Who saw what, and a phrase that hangs on the verb after ``with``, else on the noun; names are entities."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        name, verb, noun = rng.choice(NAMES), rng.choice(["saw", "found"]), rng.choice(["dog", "king"])
        place, other = rng.choice(["with", "with", "near", "in"]), rng.choice([*NAMES, "night"])
        tag = "NNP" if other in NAMES else "NN"
        phrase, object_ = f"(PP (IN {place}) (NP ({tag} {other})))", f"(NP (DT the) (NN {noun}))"
        parts = f"{object_} {phrase}" if place == "with" else f"(NP {object_} {phrase})"
        tree = parse_tree(f"(ROOT (S (NP (NNP {name})) (VP (VBD {verb}) {parts}) (. .)))")
        spans = tuple(Span(i, i + 1, "PER") for i, word in enumerate(tree.words()) if word in NAMES)
        found.append(Sentence(tree.words(), {"pos": tree.tags()}, tree=tree, spans=spans))
    return found


TREES, OTHERS = attachments(24, 1), attachments(12, 7)
MODELS: dict[str, tuple[Callable[..., Any], list[Sentence], list[Sentence]]] = {
    "parser": (partial(Parser, tags="given", threads=1), TREES, OTHERS),
    "joint": (partial(JointParser, tags="given", threads=1, balance=False), TREES, OTHERS),
    "dependency": (
        partial(DependencyParser, bits=10, relations=False, threads=1, l2=0.1), treebank(24), treebank(12, 1)
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["parser", "dependency"])
@pytest.mark.parametrize("how", [{"loss": "perceptron", "optimiser": "adagrad"}, {"loss": "softmax-margin"}])
def test_parsers_of_domains_learn_by_other_losses_and_optimisers(kind: str, how: dict[str, str]) -> None:
    new, train, others = MODELS[kind]
    parsers = MultiDomainParser(parser=new(iterations=6, **how)).fit({"a": train[:12], "b": train[12:]})
    assert all(parsers.score(others, domain) > 80 for domain in (None, "a", "b"))


def test_a_loss_that_is_not_smooth_needs_another_optimiser() -> None:
    for new, train, _ in MODELS.values():
        with pytest.raises(DovetailError, match="not smooth"):
            new(loss="perceptron", optimiser="lbfgs").fit(train)
        with pytest.raises(DovetailError, match="loss='hinge'"):
            new(loss="hinge").fit(train)


@pytest.mark.parametrize("kind", ["parser", "joint"])
def test_training_goes_on_from_a_checkpoint(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new, train, others = MODELS[kind]
    path = tmp_path / "c.checkpoint"
    new = partial(new, patience=9)
    whole = new(iterations=6).fit(train, dev=others)
    with monkeypatch.context() as patch:
        patch.setattr(base, "Monitor", partial(Monitor, save_every=3))
        patch.setattr(Checkpoint, "remove", lambda self: None)
        new(iterations=3).fit(train, dev=others, checkpoint=path)
    seen: list[Progress] = []
    again = new(iterations=6).fit(train, dev=others, checkpoint=path, progress=seen.append)
    assert [each.iteration for each in seen] == [4, 5, 6]
    assert not path.exists()
    np.testing.assert_array_equal(again.model_.weight, whole.model_.weight)


@pytest.mark.parametrize("kind", ["parser", "joint"])
def test_training_starts_from_another_model(kind: str) -> None:
    new, train, _ = MODELS[kind]
    first = new(iterations=6).fit(train[:16])
    still = partial(new, iterations=1, gain=1e-12, l2=0.0)  # stays where it starts
    lone: list[Progress] = []
    warm: list[Progress] = []
    still().fit(train, progress=lone.append)
    still().fit(train, init=first, progress=warm.append)
    assert warm[0].objective < 0.7 * lone[0].objective
    same = still().fit(train[:16], init=first)
    np.testing.assert_allclose(same.model_.weight, first.model_.weight, atol=1e-6)


@pytest.mark.parametrize("kind", ["parser", "joint"])
def test_a_calibrated_model_answers_alike_and_is_no_less_honest(kind: str) -> None:
    new, train, others = MODELS[kind]
    plain, sure = (new(iterations=3, l2=1e-4, calibrate=c).fit(train, dev=others) for c in (False, True))
    assert plain.predict(others) == sure.predict(others)

    def log_likelihood(model: Any) -> float:
        total = 0.0
        for found, sentence in zip(model.kbest(others, k=50), plain.annotate(others), strict=True):
            total += np.log(sum(answer.probability for answer in found if answer.tree == sentence.tree) or 1e-9)
        return total

    factor = np.median(sure.model_.weight[plain.model_.weight != 0] / plain.model_.weight[plain.model_.weight != 0])
    assert 0.25 < factor < 1.6
    assert factor != pytest.approx(1.0)
    assert log_likelihood(sure) >= log_likelihood(plain)


@pytest.mark.parametrize("kind", ["parser", "joint"])
def test_dev_is_pruned_once_and_searched_once_a_pass(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    new, train, others = MODELS[kind]
    masks: list[int] = []
    searches: list[int] = []
    prune, search = Pruner.mask, batch.search.viterbi
    monkeypatch.setattr(Pruner, "mask", lambda *how, **more: (masks.append(1), prune(*how, **more))[1])
    monkeypatch.setattr(batch.search, "viterbi", lambda *how: (searches.append(1), search(*how))[1])
    new(iterations=4).fit(train, dev=others)
    assert len(masks) == len(train) + len(others)
    assert len(searches) == 5 * len(others)  # dev is scored at the end, too


def test_entities_are_balanced_on_potentials_that_are_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    new, train, others = MODELS["joint"]
    made: list[int] = []
    potentials = JointParameters.potentials
    monkeypatch.setattr(JointParameters, "potentials", lambda *how: (made.append(1), potentials(*how))[1])
    new(iterations=2, balance=True).fit(train, dev=others)
    # two passes over train and dev, one for the balance, one for the score at the end
    assert len(made) == 2 * len(train) + 4 * len(others)
