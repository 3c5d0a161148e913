"""Gradients of objectives against finite differences, all sentences together and a few at a time."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail.learning.objective import AnyObjective
from dovetail.sparse import SparseGradient

STEP = 1e-5


def check_slope(objective: AnyObjective, seed: int = 0, size: float = 0.3, rel: float = 1e-5) -> None:
    """Both faces of an objective have the slope that finite differences give, and the parts add up to the whole."""
    rng = np.random.default_rng(seed)
    weight = rng.normal(size=objective.parameters) * size
    value, gradient = objective(weight)
    assert value > 0.1
    for _ in range(4):
        direction = rng.normal(size=objective.parameters)
        up, down = (objective(weight + s * direction)[0] for s in (STEP, -STEP))
        assert (up - down) / (2 * STEP) == pytest.approx(float(gradient @ direction), rel=rel, abs=rel)
    total, losses = np.zeros(objective.parameters), 0.0
    order = rng.permutation(objective.items)
    for which in np.array_split(order, 3):
        sink = SparseGradient.of_size(objective.parameters)
        objective.touch(which, sink)
        losses += objective.accumulate(weight, which, sink)
        total[sink.listed] += sink.value[sink.listed]
    assert losses == pytest.approx(value)
    np.testing.assert_allclose(total, gradient, atol=1e-8)
