"""What is chosen on held-out data after training: how sure to be, and how readily to answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.structures.contract import Structure

USUAL_BIAS, SPREAD = -0.5, 0.5  # of O, as dev data chose it with 100 to 2,500 sentences of several corpora
LEAST_NAME = 0.05  # what is less probable is not called a name, whatever is to be expected
TELLING = 4.0  # things found
FACTORS = np.geomspace(0.3, 1.5, 25)  # what all weights may be multiplied by


def calibration(batch: Structure[Any, Any], gold: Any) -> float:
    """The factor on all potentials under which the right answers are most likely (temperature scaling).

    A model is too sure of what it learnt by heart; on text it has not seen, a factor below one makes its probabilities
    honest. Sentences whose right answer the model cannot give are left out.
    """
    return calibration_of([(batch, gold)])


def calibration_of(held: Iterable[tuple[Structure[Any, Any], Any]]) -> float:
    """The same for the structures of several models, each with the right answers: one factor for all."""
    scored = []
    for batch, gold in held:
        score = batch.score(gold)
        possible = np.isfinite(score)
        if possible.any():
            scored.append((batch, score, possible))
    if not scored:
        return 1.0

    def log_likelihood(factor: float) -> float:
        own = ((factor * score - batch.scaled(factor).log_partition())[able].sum() for batch, score, able in scored)
        return float(sum(own))

    return float(max([1.0, *FACTORS.tolist()], key=log_likelihood))


def best_bias(biases: NDArray[np.float64], f1: Callable[[float], float]) -> float:
    """The bias with the best score, smoothed over its neighbours; of equal ones, the smallest."""
    smooth = smoothed([f1(bias) for bias in biases.tolist()])
    return float(min(biases[smooth >= smooth.max() - 1e-9], key=abs))


def likely_bias(biases: NDArray[np.float64], f1: Callable[[float], float], things: int) -> float:
    """The bias to expect where few things decide: the mean of all, each as likely as its score and the usual bias say.

    ``things`` is the number of things to find. A bias that finds ``TELLING`` more than another is e times as likely;
    before any were seen, biases are spread normally about ``USUAL_BIAS``. The answer is rounded to a tenth.

    >>> [likely_bias(np.array([-1.0, 0.0]), lambda bias: -50 * bias, n) for n in (0, 10_000)]
    [-0.5, -1.0]
    """
    scores = np.array([f1(bias) for bias in biases.tolist()])
    odds = scores * things / 100.0 / TELLING - 0.5 * ((biases - USUAL_BIAS) / SPREAD) ** 2
    chance = np.exp(odds - odds.max())
    return round(float(chance @ biases / chance.sum()), 1)


def expected_bias(names: NDArray[np.float64]) -> float:
    """The bias of O for the best F1 that can be expected, from the probability [N] of each word to be in a name.

    With p[1] >= p[2] >= ..., to call the first k words names is expected to give ``F(k) = 2 (p[1] + ... + p[k]) / (k +
    sum of p)``. At the best k, p[k] is about half of F(k) and not a half, so the bias is ``log(p[k] / (1 - p[k]))``:
    where names are often missed, it is better to guess.

    >>> round(expected_bias(np.array([0.9, 0.9, 0.4, 0.4, 0.1])), 2), expected_bias(np.array([1.0, 0.0]))
    (-0.41, 0.0)
    """
    p = np.sort(names)[::-1]
    if not p.sum() > 0:
        return 0.0
    f1 = 2.0 * np.cumsum(p) / (np.arange(1, len(p) + 1) + p.sum())
    least = min(max(float(p[f1.argmax()]), LEAST_NAME), 0.5)
    return round(float(np.log(least / (1.0 - least))), 2)


def smoothed(scores: Sequence[float]) -> NDArray[np.float64]:
    """Each score as the mean of itself and its neighbours, for less luck in the choice of the best.

    >>> smoothed([0.0, 3.0, 3.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    return np.convolve(np.pad(scores, 1, mode="edge"), np.full(3, 1 / 3), mode="valid")
