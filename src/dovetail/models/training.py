"""A training run: what is trained, and what a call of ``fit`` was given for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.learning.monitor import Progress
from dovetail.structures.contract import Floats


class Run(NamedTuple):
    """What a call of ``fit`` was given besides the data."""

    init: Any
    checkpoint: str | Path | None
    progress: Callable[[Progress], None] | None
    doing: Callable[[str], None]
    sharing: Any = None
    """What shares the passes over the data out, if anything does: see ``dovetail.machines``."""

    def shared(self, objective: Any) -> AbstractContextManager[Any]:
        """The objective, worked on by several machines where that is asked for."""
        if self.sharing is None:
            return nullcontext(objective)
        found: AbstractContextManager[Any] = self.sharing.shared(objective, self.doing)
        return found


def uninterrupted(model: Any) -> Any:
    """A model whose training went on to its end. What was to be made with it ends with it: half of it serves nobody."""
    if model.card_.get("stopped") == "interrupted":
        raise KeyboardInterrupt
    return model


class Training:
    """A corpus made ready to train on: what is minimised, and the way back to a model."""

    objective: Any
    """See ``learning.objective``."""
    prior: Any
    """See ``learning.priors``."""
    dev: Callable[[Any], Any]
    """From weights to the structures of held-out sentences, which are compiled once; where there are any."""
    aside: list[Any] | None = None
    """Held-out sentences with their answers, where there are any."""
    weight: Floats
    """What was found, [parameters]."""
    tuned: Any
    """The structures of held-out sentences, as the trained model sees them."""

    def start(self, init: Any = None) -> Floats:
        """Where training starts, [parameters]: zeros, or what can be had from another model."""
        return np.zeros(self.objective.parameters)

    def curvature(self) -> Floats | None:
        """A guess at the diagonal of the Hessian [parameters], for L-BFGS, if there is one."""
        return None

    def export(self, weight: Floats) -> Any:
        """The trained model."""
        raise NotImplementedError

    def fingerprint(self) -> list[NDArray[Any]]:
        """What a checkpoint belongs to: the features and the data."""
        raise NotImplementedError

    def of_domain(self, low: int, high: int) -> Any:
        """Some of the sentences as one of several domains: a ``models.domains.training.Domain``."""
        raise NotImplementedError
