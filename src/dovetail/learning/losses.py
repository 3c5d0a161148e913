"""Losses: from potentials and the right answer to a number and the derivative of the potentials.

Each works with any structure batch that answers ``log_partition_and_marginals``, ``best``, ``score``, ``subtract`` and
``with_cost``. Where labels are only partly known, ``allowed`` says which answers agree with what is known.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Labels = Any


class StructureBatch(Protocol):
    """What a loss asks of a batch of structures; ``Any`` is the type of its potentials."""

    def log_partition_and_marginals(self, in_place: bool = False) -> tuple[NDArray[np.float64], Any]:
        """log Z of each structure, and the marginals of all parts; in place, the potentials are overwritten."""

    def best(self) -> NDArray[np.int32]:
        """The best answer of each structure."""

    def score(self, labels: Labels, /) -> NDArray[np.float64]:
        """The score of an answer of each structure."""

    def indicator(self, labels: Labels, /) -> Any:
        """The parts of an answer, as potentials: one where the part is used."""

    def subtract(self, marginals: Any, labels: Labels, /) -> Any:
        """Marginals less the parts of an answer, in place."""

    def with_cost(self, labels: Labels, /, cost: float) -> StructureBatch:
        """The same structures with ``cost`` added to every part that disagrees with an answer."""

    def restrict(self, allowed: ArrayLike) -> StructureBatch:
        """The same structures with only the allowed labels."""


Loss = Callable[[StructureBatch, Labels, NDArray[np.bool_] | None], tuple[float, Any]]


def likelihood(batch: StructureBatch, gold: Labels, allowed: NDArray[np.bool_] | None = None) -> tuple[float, Any]:
    """``log Z - score(gold)``; with partly known labels ``log Z - log Z(allowed)``."""
    if allowed is not None:
        known, inside = batch.restrict(allowed).log_partition_and_marginals()
        log_z, marginals = batch.log_partition_and_marginals()
        return float(log_z.sum() - known.sum()), type(marginals)(
            *(m - i for m, i in zip(marginals, inside, strict=True))
        )
    gold_score = batch.score(gold)
    log_z, marginals = batch.log_partition_and_marginals(in_place=True)
    return float(log_z.sum() - gold_score.sum()), batch.subtract(marginals, gold)


def perceptron(batch: StructureBatch, gold: Labels, allowed: NDArray[np.bool_] | None = None) -> tuple[float, Any]:
    """``max score - score(gold)``."""
    if allowed is not None:
        gold = batch.restrict(allowed).best()
    best = batch.best()
    value = float(batch.score(best).sum() - batch.score(gold).sum())
    return value, batch.subtract(batch.indicator(best), gold)


def softmax_margin(
    batch: StructureBatch, gold: Labels, allowed: NDArray[np.bool_] | None = None, cost: float = 1.0
) -> tuple[float, Any]:
    """``log sum exp(score + cost * wrong labels) - score(gold)`` (Gimpel and Smith): likelihood with a margin."""
    if allowed is not None:
        gold = batch.restrict(allowed).best()
    gold_score = batch.score(gold)
    log_z, marginals = batch.with_cost(gold, cost).log_partition_and_marginals(in_place=True)
    return float(log_z.sum() - gold_score.sum()), batch.subtract(marginals, gold)


LOSSES: dict[str, Loss] = {
    "likelihood": likelihood,
    "perceptron": perceptron,
    "softmax-margin": softmax_margin,
}
