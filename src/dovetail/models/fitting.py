"""The one way to the best weights: an objective, its prior, where to start, a monitor, and perhaps a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dovetail.learning.checkpoint import Checkpoint
from dovetail.learning.losses import LOSSES, Loss
from dovetail.learning.monitor import Monitor
from dovetail.learning.objective import AnyObjective
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.priors import Prior
from dovetail.models.base import OPTIMISERS, Estimator, check_choice, check_loss

Floats = NDArray[np.float64]
NOT_OF_THE_TASK = ("threads", "iterations", "clusters")  # settings under which a checkpoint may be taken up


def check_learner(loss: str, optimiser: str) -> None:
    """There are such a loss and such an optimiser, and they suit each other."""
    check_choice("loss", loss, LOSSES)
    check_choice("optimiser", optimiser, OPTIMISERS)
    check_loss(loss, optimiser)


class Learner(Estimator):
    """An estimator with the settings ``loss``, ``optimiser``, ``iterations``, ``batch``, ``gain`` and ``seed``."""

    loss: str
    optimiser: str

    def _loss(self) -> Loss:
        return LOSSES["perceptron" if self.optimiser == "perceptron" else self.loss]

    def _is_batch(self) -> bool:
        return self.optimiser == "lbfgs"

    def _task(self) -> dict[str, Any]:
        """The settings that a checkpoint is bound to."""
        return {name: value for name, value in self.get_params().items() if name not in NOT_OF_THE_TASK}


class Training(Protocol):
    """A corpus made ready to be learnt."""

    @property
    def objective(self) -> AnyObjective:
        """The loss."""

    @property
    def prior(self) -> Prior:
        """The penalty on weights."""

    @property
    def start(self) -> Floats:
        """The weights to start from."""

    def curvature(self) -> Floats | None:
        """A guess at the diagonal of the Hessian, for L-BFGS, if there is one."""

    def data(self) -> list[NDArray[Any]]:
        """What tells this corpus from others, for checkpoints."""


def minimised(
    training: Training,
    optimiser: Any,
    monitor: Monitor,
    checkpoint: str | Path | None = None,
    settings: dict[str, Any] | None = None,
) -> Floats:
    """The best weights. A ``checkpoint`` of these settings and data is taken up, and deleted at the end."""
    saved, resume = None, None
    if checkpoint is not None:
        saved = Checkpoint.of(checkpoint, settings or {}, *training.data(), training.start)
        resume, monitor.save = saved.load(), saved.save
        if resume is not None:
            monitor.restore(resume)
    hints = {"curvature": training.curvature()} if isinstance(optimiser, LBFGS) else {}
    weight: Floats = optimiser.minimise(training.objective, training.prior, training.start, monitor, resume, **hints)
    if saved is not None and not monitor.interrupted:
        saved.remove()
    return weight
