"""Optimisers that step after every few sentences: SGD with proximal steps (FOBOS), AdaGrad, averaged perceptron.

Penalties are applied lazily: a weight that no recent batch has used is shrunk when it is next needed, by one proximal
step of the length of all steps it has missed. Weights that share a group in a prior are used together, or wait for the
end of the pass: see ``Prior.lazy``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import InputError
from dovetail.kernel import kernel
from dovetail.learning.monitor import Monitor
from dovetail.learning.objective import AnyObjective
from dovetail.learning.priors import BUILT_IN, Prior, check_prior
from dovetail.sparse import Listed, SparseGradient

Floats = NDArray[np.float64]


@dataclass
class _Run:
    """What all online optimisers share: shuffled passes, the running loss, resuming."""

    objective: AnyObjective
    prior: Prior
    weight: Floats
    memory: Floats
    clock: Floats
    rng: np.random.Generator
    updates: int = 0
    passes: int = 0

    def arrays(self) -> dict[str, Any]:
        seed = self.rng.bit_generator.state
        words = [int(seed["state"][k]) >> s & 0xFFFFFFFF for k in ("state", "inc") for s in (96, 64, 32, 0)]
        words += [int(seed["has_uint32"]), int(seed["uinteger"])]  # half of a number may be left over
        counts = {"updates": np.array(self.updates), "passes": np.array(self.passes)}
        vectors = {"weight": self.weight, "memory": self.memory, "clock": self.clock}
        return vectors | counts | {"rng": np.array(words, dtype=np.uint64)}

    def restore(self, arrays: dict[str, Any]) -> None:
        self.weight, self.memory, self.clock = (np.array(arrays[k]) for k in ("weight", "memory", "clock"))
        self.updates, self.passes = int(arrays["updates"]), int(arrays["passes"])
        words = [int(w) for w in arrays["rng"]]
        state: dict[str, Any] = dict(self.rng.bit_generator.state)
        for name, four in (("state", words[:4]), ("inc", words[4:8])):
            state["state"][name] = four[0] << 96 | four[1] << 64 | four[2] << 32 | four[3]
        if len(words) > 8:
            state["has_uint32"], state["uinteger"] = words[8:]
        self.rng.bit_generator.state = state


@dataclass(frozen=True)
class SGD:
    """Stochastic gradient descent with the gain ``gain * tau / (tau + k)`` at update k, and proximal steps.

    tau is chosen so that the gain halves after ``halving`` passes. Batches are drawn without replacement; the prior is
    scaled by batch / items, so that a pass applies it once. With an L1 prior this is FOBOS.
    """

    limit: int = 30
    batch: int = 16
    gain: float = 0.1
    halving: float = 5.0
    seed: int = 1

    def minimise(
        self,
        objective: AnyObjective,
        prior: Prior,
        start: Floats,
        monitor: Monitor | None = None,
        resume: dict[str, Any] | None = None,
    ) -> Floats:
        """The weights after ``limit`` passes, or the best by the monitor's dev score."""
        self._check(prior, len(start))
        monitor = monitor or Monitor(watched=False)
        batches = -(-objective.items // self.batch)
        run = self._begin(objective, prior, start)
        if resume:
            run.restore(resume)
        sink = SparseGradient.of_size(objective.parameters)
        with monitor.catching_interrupt():
            while run.passes < self.limit:
                loss = 0.0
                order = run.rng.permutation(objective.items)
                for first in range(0, objective.items, self.batch):
                    which = order[first : first + self.batch]
                    sink.clear()
                    objective.touch(which, sink)
                    listed = sink.listed
                    sink.value[listed] = 0.0
                    if prior.lazy:
                        self._catch_up(run, listed)
                    loss += objective.accumulate(run.weight, which, sink)
                    self._update(run, sink, len(which) / objective.items, batches)
                    run.updates += 1
                self._finish_pass(run)
                run.passes += 1
                value = loss + prior.value(prior.shown(self._answer(run)))
                if monitor.after_pass(run.passes, self.limit, value, lambda: self._answer(run), run.arrays):
                    break
        return monitor.result(self._answer(run))

    def _check(self, prior: Prior, parameters: int) -> None:
        check_prior(prior, type(self).__name__, "proximal", parameters)

    def _begin(self, objective: AnyObjective, prior: Prior, start: Floats) -> _Run:
        n = objective.parameters
        return _Run(objective, prior, start.copy(), np.zeros(n), np.zeros(n + 1), np.random.default_rng(self.seed))

    def _catch_up(self, run: _Run, listed: Listed) -> None:
        """Apply the penalty for the steps that these weights have missed; ``clock[-1]`` is the total so far."""
        missed = run.clock[-1] - run.clock[listed]
        run.weight[listed] = run.prior.stepped(run.weight[listed], self._step_length(run, listed, missed), listed)
        run.clock[listed] = run.clock[-1]

    def _step_length(self, run: _Run, listed: Listed, missed: Floats) -> Floats:
        return missed

    def _update(self, run: _Run, sink: SparseGradient, share: float, batches: int) -> None:
        tau = self.halving * batches
        gain = self.gain * tau / (tau + run.updates)
        run.weight[sink.listed] -= gain * sink.value[sink.listed]
        run.clock[-1] += gain * share

    def _finish_pass(self, run: _Run) -> None:
        for some in run.prior.pieces(len(run.weight)):
            self._catch_up(run, some)

    def _answer(self, run: _Run) -> Floats:
        return run.weight


@dataclass(frozen=True)
class AdaGrad(SGD):
    """SGD with a gain of its own for every weight: ``gain / sqrt(sum of squared gradients)``.

    ``memory`` [parameters] is what these sums begin with, zero by default: larger where the first steps should be
    small, since a weight is already near where it belongs.
    """

    gain: float = 0.2
    epsilon: float = 1e-6
    memory: Floats | None = field(default=None, repr=False, compare=False)

    def _begin(self, objective: AnyObjective, prior: Prior, start: Floats) -> _Run:
        run = super()._begin(objective, prior, start)
        return run if self.memory is None else replace(run, memory=self.memory.copy())

    def _catch_up(self, run: _Run, listed: Listed) -> None:
        prior = run.prior
        if isinstance(listed, slice) and type(prior) is Prior and not prior.l1 and prior.exempt is None:
            shrink(run.weight, run.memory, run.clock, self.gain, self.epsilon, prior.l2)
        else:
            super()._catch_up(run, listed)

    def _gains(self, run: _Run, listed: Listed) -> Floats:
        gains: Floats = self.gain / np.sqrt(run.memory[listed] + self.epsilon)
        return gains

    def _step_length(self, run: _Run, listed: Listed, missed: Floats) -> Floats:
        # A weight that no batch used kept its gain, so its missed steps add up to the gain times their share. A
        # weight that never had a gradient is zero, and stays so, unless a penalty of somebody's own may move it.
        steps = missed * self._gains(run, listed)
        return np.where(run.memory[listed] > 0, steps, 0.0) if type(run.prior) in BUILT_IN else steps

    def _update(self, run: _Run, sink: SparseGradient, share: float, batches: int) -> None:
        listed = sink.listed
        if isinstance(listed, slice):
            descend(run.weight, run.memory, sink.value, self.gain, self.epsilon)
        else:
            gradient = sink.value[listed]
            run.memory[listed] += gradient**2
            run.weight[listed] -= self._gains(run, listed) * gradient
        run.clock[-1] += share


@kernel
def shrink(weight: Floats, memory: Floats, clock: Floats, gain: float, epsilon: float, l2: float) -> None:
    """The missed steps of an L2 penalty on every weight, as ``AdaGrad._catch_up`` does for some, in one go."""
    now = clock[-1]
    for i in range(len(weight)):
        missed = now - clock[i]
        if missed > 0.0:
            clock[i] = now
            if weight[i] != 0.0 and memory[i] > 0.0:
                weight[i] /= 1.0 + 2.0 * l2 * missed * gain / np.sqrt(memory[i] + epsilon)


@kernel
def descend(weight: Floats, memory: Floats, gradient: Floats, gain: float, epsilon: float) -> None:
    """A step of AdaGrad on every weight, in one go."""
    for i in range(len(weight)):
        slope = gradient[i]
        if slope != 0.0:
            memory[i] += slope * slope
            weight[i] -= gain / np.sqrt(memory[i] + epsilon) * slope


@dataclass(frozen=True)
class AveragedPerceptron(SGD):
    """Unit steps, sentence by sentence; the answer is the mean of the weights after every sentence (Liang 2005).

    It has no penalty. The mean does what L2 does, so that of a plain prior is not applied; other priors are refused.
    """

    limit: int = 20
    batch: int = 1

    def _check(self, prior: Prior, parameters: int) -> None:
        if type(prior) is not Prior or prior.l1:
            raise InputError(f"the averaged perceptron has no penalty: leave out {prior}, or use SGD, AdaGrad or Adam")

    def _catch_up(self, run: _Run, listed: Listed) -> None:
        pass

    def _finish_pass(self, run: _Run) -> None:
        pass

    def _update(self, run: _Run, sink: SparseGradient, share: float, batches: int) -> None:
        listed = sink.listed
        run.weight[listed] -= sink.value[listed]
        run.memory[listed] -= run.updates * sink.value[listed]

    def _answer(self, run: _Run) -> Floats:
        # mean over updates of the weight: an update at time k counts (n - k) / n
        return run.weight - run.memory / max(run.updates, 1)
