"""L-BFGS (Liu and Nocedal), and its orthant-wise form (Andrew and Gao) when there is an L1 penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.kernel import kernel
from dovetail.learning.monitor import Monitor
from dovetail.learning.priors import Prior, check_prior
from dovetail.memory import release_memory

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Objective = Callable[[Floats], tuple[float, Floats]]


@dataclass
class State:
    """Everything needed to go on: the point, its value and slope, and the last steps, changes and objectives.

    Steps and changes only shape the search direction, so they are kept in single precision: half the memory and time.
    ``products`` are those of each step with its change.
    """

    weight: Floats
    value: float
    gradient: Floats
    iteration: int = 0
    steps: list[Singles] = field(default_factory=list)
    changes: list[Singles] = field(default_factory=list)
    recent: list[float] = field(default_factory=list)
    products: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.products = [dot(step, change) for step, change in zip(self.steps, self.changes, strict=True)]

    def arrays(self) -> dict[str, Any]:
        """The state as plain arrays, for a checkpoint."""
        empty = np.empty((0, len(self.weight)), dtype=np.float32)
        return {
            "weight": self.weight,
            "value": np.array(self.value),
            "gradient": self.gradient,
            "iteration": np.array(self.iteration),
            "steps": np.array(self.steps) if self.steps else empty,
            "changes": np.array(self.changes) if self.changes else empty,
            "recent": np.array(self.recent),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any]) -> State:
        """The state from a checkpoint."""
        weight, gradient = np.array(arrays["weight"]), np.array(arrays["gradient"])
        steps, changes = ([np.array(row) for row in arrays[name]] for name in ("steps", "changes"))
        recent = arrays["recent"].tolist()
        return cls(weight, float(arrays["value"]), gradient, int(arrays["iteration"]), steps, changes, recent)


@dataclass(frozen=True)
class LBFGS:
    """Minimise ``loss(w) + prior(w)`` for a smooth loss.

    Stops when the objective has fallen by less than ``tolerance`` (relative) over the last ``window`` iterations, or at
    the ``limit``.

    >>> optimum = LBFGS().minimise(lambda w: (float((w - 3) @ (w - 3)), 2 * (w - 3)), Prior(), np.zeros(2))
    >>> bool(np.allclose(optimum, 3))
    True
    """

    limit: int = 200
    memory: int = 6
    tolerance: float = 1e-5
    window: int = 10

    def minimise(
        self,
        loss: Objective,
        prior: Prior,
        start: Floats,
        monitor: Monitor | None = None,
        resume: dict[str, Any] | None = None,
        curvature: Floats | None = None,
    ) -> Floats:
        """The weights that minimise the objective, or the best by the monitor's dev score.

        ``curvature`` [parameters] is a guess at the diagonal of the Hessian, up to a factor. Common features curve the
        objective more than rare ones; knowing so from the start saves a third of the iterations.
        """
        check_prior(prior, "L-BFGS", "gradient", len(start))
        monitor = monitor or Monitor(watched=False)
        if curvature is not None and not curvature.min(initial=1.0) > 0.0:
            curvature = np.where(curvature > 0.0, curvature, 1.0)  # what no sentence uses, without L2: it has no slope

        def smooth(weight: Floats) -> tuple[float, Floats]:
            value, gradient = loss(weight)
            shown = prior.shown(weight)
            if type(prior) is Prior:
                add_scaled(gradient, 2.0 * prior.l2, shown)
                return value + prior.l2 * float(shown @ shown), gradient
            return value + prior.value(shown), gradient + prior.shown(prior.gradient(shown))

        state = State.from_arrays(resume) if resume else State(start, *smooth(start))
        with monitor.catching_interrupt():
            while state.iteration < self.limit:
                if not self._step(smooth, prior, state, curvature):
                    monitor.reason = "converged"
                    break
                if state.iteration == 2:
                    release_memory()  # all kernels are loaded by now; most of the history of steps is yet to come
                objective = self._full(prior, state.weight, state.value)
                state.recent = [*state.recent, objective][-1 - self.window :]
                stop = monitor.after_pass(state.iteration, self.limit, objective, lambda: state.weight, state.arrays)
                if stop:
                    break
                fallen = state.recent[0] - objective if len(state.recent) > self.window else np.inf
                if fallen < self.tolerance * abs(objective):
                    monitor.reason = "converged"
                    break
            if monitor.dev_score is not None and monitor.dev_score(state.weight) >= monitor.best_dev:
                return state.weight
        return monitor.result(state.weight)

    @staticmethod
    def _full(prior: Prior, weight: Floats, smooth: float) -> float:
        """The objective with its L1 part."""
        return smooth + (float(np.sum(prior.threshold * np.abs(weight))) if prior.l1 else 0.0)

    def _step(self, smooth: Objective, prior: Prior, state: State, curvature: Floats | None) -> bool:
        """One step along the quasi-Newton direction; False when no step goes down."""
        slope = _pseudo_gradient(state.weight, state.gradient, prior) if prior.l1 else state.gradient
        direction = _two_loop(slope, state, curvature)
        if prior.l1:
            direction = np.where(direction * slope < 0, direction, 0.0)
        descent = float(direction @ slope)
        if descent >= 0:
            return False
        length = 1.0 if state.steps else 1.0 / max(float(np.sqrt(direction @ direction)), 1e-12)
        if prior.l1:
            found = self._orthant_search(smooth, prior, state, slope, direction, length)
        else:
            found = self._wolfe_search(smooth, state, direction, descent, length)
        if found is None:
            if not state.steps:
                return False
            # The curvature went stale: try once more along the gradient.
            state.steps, state.changes, state.products = [], [], []
            return self._step(smooth, prior, state, curvature)
        weight, value, gradient = found
        if curves_upwards(weight, state.weight, gradient, state.gradient):
            self._remember(state, weight, gradient)
        state.weight, state.value, state.gradient = weight, value, gradient
        state.iteration += 1
        return True

    def _remember(self, state: State, weight: Floats, gradient: Floats) -> None:
        """Keep the step to a new point and the change of the gradient, in place of the oldest."""
        full = len(state.steps) >= self.memory
        step = state.steps.pop(0) if full else np.empty(len(weight), dtype=np.float32)
        change = state.changes.pop(0) if full else np.empty(len(weight), dtype=np.float32)
        difference(weight, state.weight, step)
        difference(gradient, state.gradient, change)
        state.steps.append(step)
        state.changes.append(change)
        state.products = [*state.products[full:], dot(step, change)]

    @staticmethod
    def _wolfe_search(
        smooth: Objective, state: State, direction: Floats, descent: float, length: float
    ) -> tuple[Floats, float, Floats] | None:
        """Bisection for a step that meets the weak Wolfe conditions (Lewis and Overton)."""
        low, high = 0.0, np.inf
        weight = np.empty_like(direction)
        for _ in range(30):
            np.multiply(direction, length, out=weight)
            weight += state.weight
            value, gradient = smooth(weight)
            if not value <= state.value + 1e-4 * length * descent:
                high = length
            elif float(direction @ gradient) < 0.9 * descent:
                low = length
            else:
                return weight, value, gradient
            length = (low + high) / 2 if np.isfinite(high) else 2 * length
        return (weight, value, gradient) if value < state.value else None

    def _orthant_search(
        self, smooth: Objective, prior: Prior, state: State, slope: Floats, direction: Floats, length: float
    ) -> tuple[Floats, float, Floats] | None:
        """Backtracking inside the orthant of the current point: a weight that would change its sign becomes zero."""
        orthant = np.where(state.weight != 0, np.sign(state.weight), -np.sign(slope))
        before = self._full(prior, state.weight, state.value)
        for _ in range(30):
            weight = state.weight + length * direction
            weight[weight * orthant < 0] = 0.0
            value, gradient = smooth(weight)
            if self._full(prior, weight, value) <= before + 1e-4 * float(slope @ (weight - state.weight)):
                return weight, value, gradient
            length /= 2
        return None


def _pseudo_gradient(weight: Floats, gradient: Floats, prior: Prior) -> Floats:
    """The steepest direction of smooth + L1: at zero, only what exceeds the penalty counts."""
    threshold = prior.threshold
    at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - threshold, 0.0)
    return np.where(weight != 0, gradient + np.sign(weight) * threshold, at_zero)


@kernel
def dot(a: Floats | Singles, b: Floats | Singles) -> float:
    """The inner product, summed in double precision. Shapes: [n]."""
    total = 0.0
    for i in range(len(a)):
        total += np.float64(a[i]) * np.float64(b[i])
    return total


@kernel
def curves_upwards(weight: Floats, old_weight: Floats, gradient: Floats, old_gradient: Floats) -> bool:
    """Whether the gradient rises along a step, by enough to tell. Shapes: [n]."""
    rise = square = 0.0
    for i in range(len(weight)):
        change = gradient[i] - old_gradient[i]
        rise += (weight[i] - old_weight[i]) * change
        square += change * change
    return rise > 1e-10 * square


@kernel
def scaled_square(a: Floats | Singles, scale: Floats) -> float:
    """``sum of a**2 / scale``, without a temporary. Shapes: [n]."""
    total = 0.0
    for i in range(len(a)):
        total += np.float64(a[i]) * np.float64(a[i]) / scale[i]
    return total


@kernel
def add_scaled(out: Floats, factor: float, vector: Floats | Singles) -> None:
    """``out += factor * vector`` without a temporary. Shapes: [n]."""
    for i in range(len(out)):
        out[i] += factor * vector[i]


@kernel
def difference(a: Floats, b: Floats, out: Singles) -> None:
    """``out = a - b`` in single precision. Shapes: [n]."""
    for i in range(len(out)):
        out[i] = np.float32(a[i] - b[i])


@kernel
def add_scaled_and_dot(out: Floats, factor: float, vector: Singles, other: Singles) -> float:
    """``out += factor * vector``, and the inner product of that with ``other``, in one pass. Shapes: [n]."""
    total = 0.0
    for i in range(len(out)):
        out[i] += factor * np.float64(vector[i])
        total += out[i] * np.float64(other[i])
    return total


def _two_loop(slope: Floats, state: State, curvature: Floats | None) -> Floats:
    """Minus the inverse Hessian estimate times the slope."""
    direction = -slope
    steps, changes, products = state.steps, state.changes, state.products
    last = len(steps) - 1
    scales = [0.0] * len(steps)
    along = dot(steps[last], direction) if steps else 0.0
    for i in range(last, -1, -1):
        scales[i] = along / products[i]
        # Long vectors are read from memory: each pass also finds the product that the next one starts from.
        along = add_scaled_and_dot(direction, -scales[i], changes[i], steps[max(i - 1, 0)])
    if curvature is not None:
        direction /= curvature
    if steps:
        newest = changes[-1]
        direction *= products[-1] / (dot(newest, newest) if curvature is None else scaled_square(newest, curvature))
        along = dot(changes[0], direction)
    for i in range(len(steps)):
        along = add_scaled_and_dot(direction, scales[i] - along / products[i], steps[i], changes[min(i + 1, last)])
    return direction
