"""What all models have in common: scikit-learn manners, and settings that are checked before anything is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from dovetail.errors import DovetailError
from dovetail.learning.lbfgs import LBFGS
from dovetail.learning.online import SGD, AdaGrad, AveragedPerceptron

OPTIMISERS: dict[str, Callable[..., Any]] = {
    "lbfgs": LBFGS,
    "sgd": SGD,
    "adagrad": AdaGrad,
    "perceptron": AveragedPerceptron,
}


@dataclass(kw_only=True, eq=False)
class Estimator:
    """A dataclass whose fields are its settings; those that training sets are no arguments of its constructor."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init}

    def set_params(self, **settings: Any) -> Self:
        """Change settings; they take effect at the next ``fit``."""
        for name, value in settings.items():
            if name not in self.get_params():
                raise ValueError(f"no setting {name!r}; there are {', '.join(self.get_params())}")
            setattr(self, name, value)
        return self

    def _threads(self) -> int:
        return self.get_params()["threads"] or os.cpu_count() or 1

    def _optimiser(self) -> Any:
        given = self.get_params()
        settings = {"limit": given["iterations"]}
        if given["optimiser"] != "lbfgs":
            settings |= {name: given[name] for name in ("batch", "gain", "seed")}
        return OPTIMISERS[given["optimiser"]](**{k: v for k, v in settings.items() if v is not None})


def check_choice(name: str, value: object, allowed: Iterable[object]) -> None:
    """The value is one of those allowed."""
    choices = list(allowed)
    if value not in choices:
        raise DovetailError(f"{name}={value!r}: choose one of {', '.join(map(str, choices))}")


def check_learning(settings: Mapping[str, Any]) -> None:
    """The loss suits the optimiser, and penalties are no rewards."""
    if settings["loss"] == "perceptron" and settings["optimiser"] == "lbfgs":
        raise DovetailError("the perceptron loss is not smooth: use the optimiser perceptron, sgd or adagrad")
    for name in ("l1", "l2"):
        if not 0 <= settings[name] < np.inf:
            raise DovetailError(f"{name}={settings[name]}: a penalty is zero or positive")


def check_at_least(settings: Mapping[str, Any], least: Mapping[str, int]) -> None:
    """Numbers that are given are not too small."""
    for name, bound in least.items():
        value = settings[name]
        if value is not None and value < bound:
            raise DovetailError(f"{name}={value}: choose {bound} or more")
