"""Small loops over probabilities and their logarithms that several structures share."""

from __future__ import annotations

import math

import numpy as np

from dovetail.kernel import inner, kernel
from dovetail.structures.contract import Floats


@kernel
def log_add(a: float, b: float) -> float:
    """``log(exp(a) + exp(b))``, also where one or both are minus infinity."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + math.log1p(math.exp(b - a))


@inner
def log_sum(values: Floats, count: int) -> float:
    """``log(sum(exp(values[:count])))``, minus infinity of none or where all are."""
    top = -np.inf
    for i in range(count):
        top = max(top, values[i])
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(count):
        total += math.exp(values[i] - top)
    return top + math.log(total)


@inner
def exp_less(x: float, log_z: float) -> float:
    """``exp(x - log_z)``, and 0 where both are minus infinity."""
    return 0.0 if x == -np.inf else math.exp(x - log_z)


@inner
def draw(weights: Floats, row: int, uniform: float) -> int:
    """The column that a uniform number draws in proportion to a row of weights; weights: [rows, columns]."""
    level = 0.0
    for c in range(weights.shape[1]):
        level += weights[row, c]
    level *= uniform
    chosen = 0
    for c in range(weights.shape[1]):
        if weights[row, c] > 0.0:
            chosen = c
            level -= weights[row, c]
            if level < 0.0:
                break
    return chosen
