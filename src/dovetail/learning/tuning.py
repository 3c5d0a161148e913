"""What is chosen on held-out data after training: how sure to be, and how readily to answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.structures.contract import Structure

FACTORS = np.geomspace(0.3, 1.5, 25)  # what all weights may be multiplied by


def calibration(batch: Structure[Any, Any], gold: Any) -> float:
    """The factor on all potentials under which the right answers are most likely (temperature scaling).

    A model is too sure of what it learnt by heart; on text it has not seen, a factor below one makes its probabilities
    honest. Sentences whose right answer the model cannot give are left out.
    """
    score = batch.score(gold)
    possible = np.isfinite(score)
    if not possible.any():
        return 1.0

    def log_likelihood(factor: float) -> float:
        return float((factor * score - batch.scaled(factor).log_partition())[possible].sum())

    return float(max([1.0, *FACTORS.tolist()], key=log_likelihood))


def best_bias(biases: NDArray[np.float64], f1: Callable[[float], float]) -> float:
    """The bias with the best score, smoothed over its neighbours; of equal ones, the smallest."""
    smooth = smoothed([f1(bias) for bias in biases.tolist()])
    return float(min(biases[smooth >= smooth.max() - 1e-9], key=abs))


def smoothed(scores: Sequence[float]) -> NDArray[np.float64]:
    """Each score as the mean of itself and its neighbours, for less luck in the choice of the best.

    >>> smoothed([0.0, 3.0, 3.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    return np.convolve(np.pad(scores, 1, mode="edge"), np.full(3, 1 / 3), mode="valid")
