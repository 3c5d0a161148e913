"""The settings of a judge of entailment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dovetail.models import settings
from dovetail.models.settings import setting


@dataclass(kw_only=True, eq=False)
class EntailmentSettings:
    """What a judge of entailment looks at and how it learns."""

    names: Any = setting(
        "english", "Model of named entities, for both texts; none for no names.", metavar="MODEL|none", file=True
    )
    """In Python also a trained model. ``english`` is the model that comes with dovetail."""
    parser: Any = setting(None, "Model of trees or dependencies, for both texts.", metavar="MODEL", file=True)
    """In Python also a trained model."""
    samples: int = setting(0, "Number of analyses to draw and to vote; 0 for the best one alone.", least=0)
    task: bool = setting(False, "Learn how pairs of each task differ, where these are known.")
    """It helps where new pairs come from the same tasks, and does harm where they do not."""
    loss: str = settings.loss()
    optimiser: str = settings.optimiser("lbfgs")
    l2: float = settings.l2(15.0)
    """Of features that have a variance of one."""
    iterations: int | None = settings.iterations(None)
    batch: int | None = settings.batch()
    gain: float | None = settings.gain(None)
    calibrate: bool = settings.calibrate()
    patience: int = settings.patience(5)
    seed: int = settings.seed()
    threads: int | None = settings.threads()
