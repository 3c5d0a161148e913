"""Several copies of one linear model trained together: the objectives of pools whose experts compete for features.

Experts that are linear in the same features make a pool that is linear in them too, with the weights
``sum over j of mixing[j] * theta_j``. So the likelihood of the pool depends on that sum alone, and one pass over the
corpus serves all experts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.learning.objective import AnyObjective
from dovetail.sparse import SparseGradient
from dovetail.structures.contract import Floats, Integers


@dataclass(eq=False)
class Copies:
    """A pool's loss, and ``alone`` times the loss of each expert by itself, as a function of all weights.

    The weights are those of the experts one after another, [copies * parameters of one]; ``mixing`` [copies].

    With ``alone`` zero this is the objective of the elitist pool (Wang 2014, section 3.2.2). Its optimum under the
    prior ``Elitist`` is that of one model under L2: of all experts with the same sum, the penalty is least where
    they agree in sign, and there it is the square of that sum. What differs is the way there. With ``alone`` above
    zero an expert must predict without the others, and what it gives up to them it misses.
    """

    whole: AnyObjective
    mixing: Floats
    alone: float = 0.0

    def __post_init__(self) -> None:
        self._weight = np.zeros(self.whole.parameters)
        self._sink = SparseGradient.of_size(self.whole.parameters)

    @property
    def items(self) -> int:
        """The number of sentences."""
        return self.whole.items

    @property
    def copies(self) -> int:
        """The number of experts."""
        return len(self.mixing)

    @property
    def parameters(self) -> int:
        """The number of weights of all experts."""
        return self.copies * self.whole.parameters

    def pool(self, weight: Floats) -> Floats:
        """The weights of the pool, [parameters of one]."""
        pooled: Floats = self.mixing @ weight.reshape(self.copies, -1)
        return pooled

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The loss on all sentences and its gradient [parameters]."""
        value, gradient = self.whole(self.pool(weight))
        slopes = np.outer(self.mixing, gradient)
        if self.alone:
            for own, slope in zip(weight.reshape(self.copies, -1), slopes, strict=True):
                more, gradient = self.whole(own)
                value += self.alone * more
                slope += self.alone * gradient
        return value, slopes.ravel()

    def touch(self, which: Integers, sink: SparseGradient) -> None:
        """List the parameters that some sentences use: all copies of each, those of an expert together."""
        self._sink.clear()
        self.whole.touch(which, self._sink)
        if self._sink.is_whole:
            sink.list_all()
            return
        listed = self._sink.items[: self._sink.count]
        every = (np.arange(self.copies)[:, None] * self.whole.parameters + listed).ravel()
        sink.items[: len(every)] = every
        sink.count = len(every)

    def accumulate(self, weight: Floats, which: Integers, sink: SparseGradient) -> float:
        """The loss on some sentences, which ``touch`` has listed; its gradient is added to ``sink``."""
        listed = self._sink.listed
        thetas, slopes = (each.reshape(self.copies, -1) for each in (weight, sink.value))
        loss, slope = self._of(self.mixing @ thetas[:, listed], which)
        for share, out in zip(self.mixing.tolist(), slopes, strict=True):
            out[listed] += share * slope
        if self.alone:
            for own, out in zip(thetas, slopes, strict=True):
                more, slope = self._of(own[listed], which)
                loss += self.alone * more
                out[listed] += self.alone * slope
        return loss

    def _of(self, own: Floats, which: Integers) -> tuple[float, Floats]:
        """The loss of one model with these weights where they are listed, and its slope there."""
        listed = self._sink.listed
        self._weight[listed] = own
        self._sink.value[listed] = 0.0
        return self.whole.accumulate(self._weight, which, self._sink), self._sink.value[listed].copy()
