"""Adam, for networks above all, and AdamW."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.kernel import steady
from dovetail.learning.objective import AnyObjective
from dovetail.learning.optimisers.online import SGD, _Run
from dovetail.learning.priors import BUILT_IN, Prior
from dovetail.sparse import Listed, SparseGradient

Floats = NDArray[np.float64]


class Rates(NamedTuple):
    """The numbers of a step: how slowly both means forget, how much of them has been seen, and the gain."""

    first: float
    second: float
    first_seen: float
    second_seen: float
    gain: float
    epsilon: float


@dataclass(frozen=True)
class Adam(SGD):
    """Steps along the running mean of gradients, over the root of that of their squares (Kingma and Ba 2015).

    ``memory`` has both means, [2, parameters]. A weight that a batch does not use keeps its means, as in the lazy Adam
    for sparse gradients. The gain falls as that of SGD does. The prior is a proximal step in the metric of each weight,
    as for AdaGrad, so that the optimum is that of all optimisers. ``decay`` is that of AdamW (Loshchilov and Hutter
    2019): every step takes gain times decay off a weight, whatever its gradients are, and whether or not the prior
    leaves it alone.
    """

    gain: float = 0.005
    decay: float = 0.0
    first: float = 0.9
    second: float = 0.999
    epsilon: float = 1e-8

    def _begin(self, objective: AnyObjective, prior: Prior, start: Floats) -> _Run:
        return replace(super()._begin(objective, prior, start), memory=np.zeros((2, len(start))))

    def _rates(self, run: _Run) -> Rates:
        """Those of the next step, and of what the last ones have missed."""
        tau = self.halving * self._batches(run)
        gain, step = self.gain * tau / (tau + run.updates), max(run.updates, 1)
        return Rates(self.first, self.second, 1 - self.first**step, 1 - self.second**step, gain, self.epsilon)

    def _batches(self, run: _Run) -> int:
        return -(-run.objective.items // self.batch)

    def _catch_up(self, run: _Run, listed: Listed) -> None:
        prior = run.prior
        if isinstance(listed, slice) and type(prior) is Prior and not prior.l1:
            decay, exempt = self.decay * self._batches(run), np.zeros(0, bool) if prior.exempt is None else prior.exempt
            shrink(run.weight, run.memory, run.clock, self._rates(run), prior.l2, decay, exempt)
            return
        if self.decay:
            missed = run.clock[-1] - run.clock[listed]
            run.weight[listed] *= np.exp(-self.decay * self._batches(run) * self._rates(run).gain * missed)
        super()._catch_up(run, listed)

    def _step_length(self, run: _Run, listed: Listed, missed: Floats) -> Floats:
        rates, squares = self._rates(run), run.memory[1][listed]
        root = np.sqrt(squares / rates.second_seen) + self.epsilon
        steps = missed * rates.gain / root  # what never had a gradient stays, unless a penalty of one's own moves it
        return np.where(squares > 0, steps, 0.0) if type(run.prior) in BUILT_IN else steps

    def _update(self, run: _Run, sink: SparseGradient, share: float, batches: int) -> None:
        rates = self._rates(replace(run, updates=run.updates + 1))
        if isinstance(sink.listed, slice):
            descend(run.weight, run.memory, sink.value, rates)
        else:
            descend_some(run.weight, run.memory, sink.value, sink.listed, rates)
        run.clock[-1] += share


@steady
def shrink(
    weight: Floats, memory: Floats, clock: Floats, rates: Rates, l2: float, decay: float, exempt: NDArray[np.bool_]
) -> None:
    """The missed steps of an L2 penalty and of decay on every weight, as ``Adam._catch_up`` does for some, in one go.

    weight: [n]; memory: [2, n]; clock: [n + 1]; exempt: [n], the weights without L2, or [0] for none.
    """
    now = clock[-1]
    for i in range(len(weight)):
        missed = (now - clock[i]) * rates.gain
        if missed > 0.0:
            clock[i] = now
            kept = np.exp(-decay * missed) if decay > 0.0 else 1.0
            if memory[1, i] > 0.0 and not (len(exempt) and exempt[i]):
                kept /= 1.0 + 2.0 * l2 * missed / (np.sqrt(memory[1, i] / rates.second_seen) + rates.epsilon)
            weight[i] *= kept


@steady
def descend(weight: Floats, memory: Floats, gradient: Floats, rates: Rates) -> None:
    """A step on every weight. weight, gradient: [n]; memory: [2, n]."""
    for i in range(len(weight)):
        slope = gradient[i]
        memory[0, i] = rates.first * memory[0, i] + (1.0 - rates.first) * slope
        memory[1, i] = rates.second * memory[1, i] + (1.0 - rates.second) * slope * slope
        root = np.sqrt(memory[1, i] / rates.second_seen) + rates.epsilon
        weight[i] -= rates.gain * memory[0, i] / rates.first_seen / root


@steady
def descend_some(weight: Floats, memory: Floats, gradient: Floats, listed: NDArray[np.int64], rates: Rates) -> None:
    """A step on some weights: as ``descend``."""
    for k in range(len(listed)):
        i = listed[k]
        slope = gradient[i]
        memory[0, i] = rates.first * memory[0, i] + (1.0 - rates.first) * slope
        memory[1, i] = rates.second * memory[1, i] + (1.0 - rates.second) * slope * slope
        root = np.sqrt(memory[1, i] / rates.second_seen) + rates.epsilon
        weight[i] -= rates.gain * memory[0, i] / rates.first_seen / root
