"""Training that is shared out over two workers of a Ray cluster gives the bits that one machine gives."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.errors import DovetailError
from dovetail.machines import objective as shared_objective
from dovetail.machines.objective import Ray, SharedObjective
from dovetail.machines.pieces import Dealt, Stretches, cut
from dovetail.machines.ray import ADDRESS, cluster
from dovetail.models.base import Estimator
from dovetail.scorers import parts
from tests.extras import NEEDS
from tests.models.corpus import made
from tests.models.kinds import KINDS

ray = pytest.importorskip("ray", reason=NEEDS["ray"])
HOW = {"cross_validate": 0, "iterations": 12, "threads": 1}


@pytest.fixture(scope="module")
def two_workers() -> Iterator[None]:
    """A cluster of this machine with two workers, for all tests of a file."""
    with cluster(2):
        yield


@pytest.fixture(autouse=True)
def short_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "STRETCH", 60)


def objective_of(model: Estimator, sentences: list[Any]) -> Any:
    from dovetail.models.training import Run

    return model._prepare(model._examples(sentences, None, "training"), None, Run(None, None, None, print)).objective


@pytest.mark.parametrize("kind", ["tagger", "words", "segments", "nested"])
def test_stretches_add_up_to_the_gradient_of_all_sentences(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, sentences = KINDS[kind].model, KINDS[kind].sentences * 12
    many = objective_of(model, sentences)
    assert len(many.scorer.stretches) > 2
    monkeypatch.setattr(parts, "STRETCH", 10**9)
    once = objective_of(model, sentences)
    assert not once.scorer.stretches
    weight = np.random.default_rng(1).normal(size=once.parameters)
    (value, gradient), (other, slope) = once(weight), many(weight)
    np.testing.assert_allclose(other, value, rtol=1e-12)
    np.testing.assert_allclose(slope, gradient, atol=1e-9)


def test_threads_do_not_change_the_bits_of_stretches() -> None:
    found = [objective_of(dovetail.Tagger(**HOW | {"threads": threads}), made(60)) for threads in (1, 2)]
    weight = np.random.default_rng(1).normal(size=found[0].parameters)
    assert (found[0](weight)[1] == found[1](weight)[1]).all()


@pytest.mark.parametrize("kind", ["tagger", "words", "segments", "nested", "parser"])
def test_pieces_give_the_same_bits(kind: str) -> None:
    model, sentences = KINDS[kind].model, KINDS[kind].sentences * 12
    whole = objective_of(model, sentences)
    pieces = cut(whole)
    assert isinstance(pieces, Dealt if whole.scorer.one_by_one else Stretches)
    weight = np.random.default_rng(1).normal(size=whole.parameters) / 10
    out = np.zeros(whole.parameters)
    value = pieces.total([piece.work(weight) for piece in pieces.pieces], out)
    expected, gradient = whole(weight)
    assert value == expected
    assert (out == gradient).all()


def weights_of(model: Any) -> bytes:
    return b"".join(np.ascontiguousarray(array).tobytes() for array in model.packed()[1].values())


def test_a_cluster_trains_the_same_model(two_workers: None) -> None:
    alone = dovetail.Tagger(**HOW).fit(made(60))
    told: list[str] = []
    together = dovetail.Tagger(**HOW).fit(made(60), sharing=Ray(), doing=told.append)
    assert weights_of(together) == weights_of(alone)
    assert any("2 workers" in line for line in told)


def test_parsers_are_shared_out_too(two_workers: None) -> None:
    sentences, how = KINDS["parser"].sentences, {"optimiser": "lbfgs", "iterations": 3, "threads": 1}
    alone, together = (dovetail.Parser(**how).fit(sentences, sharing=sharing) for sharing in (None, Ray(2)))
    assert weights_of(together) == weights_of(alone)


def test_a_worker_that_dies_changes_nothing(two_workers: None, monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    call = SharedObjective.__call__

    def killing(self: SharedObjective, weight: Any) -> Any:
        if not killed and getattr(self, "passes", 0) == 4:
            killed.append(self.processes()[0])
            os.kill(killed[0], signal.SIGKILL)
        self.passes = getattr(self, "passes", 0) + 1  # type: ignore[attr-defined]
        return call(self, weight)

    monkeypatch.setattr(shared_objective.SharedObjective, "__call__", killing)
    alone, together = dovetail.Tagger(**HOW).fit(made(60)), dovetail.Tagger(**HOW).fit(made(60), sharing=Ray())
    assert killed
    assert weights_of(together) == weights_of(alone)


def test_what_cannot_be_shared_is_told() -> None:
    told: list[str] = []
    dovetail.Tagger(**HOW).fit(made(3), sharing=Ray(), doing=told.append)
    assert any("too little to share out" in line for line in told)
    with pytest.raises(DovetailError, match="use the optimiser lbfgs"):
        dovetail.Tagger(optimiser="adagrad").fit(made(3), sharing=Ray())


def test_a_cluster_that_does_not_answer_is_one_line(tmp_path: Path) -> None:
    script = "from dovetail.machines.ray import cluster\nwith cluster(): pass"
    environment = {**os.environ, ADDRESS: "127.0.0.1:9"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300, cwd=tmp_path
    )
    assert "no Ray cluster answers at 127.0.0.1:9" in done.stderr.splitlines()[-1]
