"""A hierarchical Gaussian prior: base models of any kind whose weights lean on each other (Finkel and Manning 2009).

Every base model m has weights ``theta_m``, drawn around shared weights ``theta_*``, which are drawn around zero:

    sum over m of loss_m(theta_m) + |theta_m - theta_*|**2 / (2 sigma_m**2),  plus |theta_*|**2 / (2 sigma_***2)

With ``theta_* = sigma_* u`` and ``theta_m = theta_* + sigma_m d_m`` the two penalties are one, ``(|u|**2 + sum of
|d_m|**2) / 2``: a plain L2 penalty on the vector ``[u, d_1, ..., d_M]``. So every optimiser and every ``Prior`` serve
as they are (``l2=0.5`` for the variances just as given; another l2 divides all of them by 2 l2), and the variances say
how much is shared: ``sigma_m = 0`` ties the models, ``sigma_* = 0`` parts them, equal ones are feature augmentation
(Daumé 2007).

Only parameters that exist are stored. A model keeps deviations for its own parameters alone; and where a parameter is
used by one model only, ``sigma_* u + sigma_m d`` is one weight with the variance ``sigma_***2 + sigma_m**2``, and is
stored as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail.kernel import kernel
from dovetail.sparse import Listed, SparseGradient
from dovetail.structures.contract import Floats, Integers


@dataclass
class BaseModel:
    """A loss, the numbers of its parameters in the shared vector (None: all, in order), and how far it may deviate."""

    objective: Any
    share: Integers | None = None
    sigma: float = 1.0


class HierarchicalObjective:
    """The losses of base models as one function of ``[u, d_1, ..., d_M]``, for batch and online optimisers.

    ``parameters`` is given as the number of shared parameters; the attribute counts the whole vector. Items of model m
    are numbered after those of the models before it.

    >>> class Loss:
    ...     parameters = 1
    ...     def __init__(self, goal):
    ...         self.goal = goal
    ...     def __call__(self, weight):
    ...         return (weight[0] - self.goal) ** 2, 2 * (weight - self.goal)
    >>> both = HierarchicalObjective([BaseModel(Loss(0.0), sigma=0.0), BaseModel(Loss(2.0), sigma=0.0)], 1)
    >>> value, gradient = both(both.start(np.array([1.0])))
    >>> float(value), gradient.tolist()
    (2.0, [0.0])
    """

    def __init__(self, models: Sequence[BaseModel], parameters: int, top: float = 1.0) -> None:
        if not models:
            raise ValueError("a hierarchy needs one base model at least")
        if not (top >= 0 and all(m.sigma >= 0 for m in models)):
            raise ValueError("standard deviations are zero or positive")
        self.models = list(models)
        self.shared = parameters
        self.spread = top
        self._share: list[Integers] = [_checked(model, parameters) for model in models]
        users = np.zeros(parameters, dtype=np.int64)
        alone = np.zeros(parameters)
        for model, share in zip(self.models, self._share, strict=True):
            if model.objective.parameters != len(users[share]):
                raise ValueError(f"a model of {model.objective.parameters} parameters shares {len(users[share])}")
            users[share] += 1
            alone[share] = model.sigma
        self._scale = np.where(users == 1, np.hypot(top, alone), top)
        self._slot: list[Integers] = []
        place = parameters
        for model, share in zip(self.models, self._share, strict=True):
            deviates = (users[share] > 1) & (model.sigma > 0)
            self._slot.append(np.where(deviates, place - 1 + np.cumsum(deviates), -1))
            place += int(deviates.sum())
        self.parameters = place
        counts = [getattr(m.objective, "items", 0) for m in self.models]
        self._first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.items = int(self._first[-1])
        self._theta: list[Floats] = []
        self._sinks: list[SparseGradient] = []

    # between the whole vector and the weights of models

    def weights_of(self, m: int, weight: Floats) -> Floats:
        """``theta_m`` in the numbering of model m, [its parameters]."""
        return self._weights(m, weight, slice(None))

    def top(self, weight: Floats) -> Floats:
        """``theta_*`` [shared]: the best guess for a model that has not been seen."""
        # What one model alone uses is split between theta_* and its deviation as the two variances are.
        part = np.divide(self.spread**2, self._scale, out=np.zeros(self.shared), where=self._scale > 0)
        return weight[: self.shared] * part

    def start(self, theta: Floats) -> Floats:
        """The whole vector under which every model has the shared weights ``theta`` [shared]."""
        return self.whole(theta, [theta[share] for share in self._share])

    def whole(self, top: Floats, thetas: Sequence[Floats]) -> Floats:
        """The whole vector with these ``theta_*`` [shared] and ``theta_m`` [parameters of m]: the way back."""
        alone = top.copy()
        for share, slot, theta in zip(self._share, self._slot, thetas, strict=True):
            alone[share] = np.where(slot < 0, theta, top[share])
        found = np.zeros(self.parameters)
        np.divide(alone, self._scale, out=found[: self.shared], where=self._scale > 0)
        for m, (slot, theta) in enumerate(zip(self._slot, thetas, strict=True)):
            deviates = slot >= 0
            rest = theta - self.weights_of(m, found)
            found[slot[deviates]] = rest[deviates] / self.models[m].sigma
        return found

    def spread_out(self, values: Floats) -> Floats:
        """Values of the shared parameters [shared], for the whole vector: a deviation has that of its parameter."""
        found = np.zeros(self.parameters)
        found[: self.shared] = values
        for share, slot in zip(self._share, self._slot, strict=True):
            found[slot[slot >= 0]] = values[share[slot >= 0]]
        return found

    def curvature(self, own: Sequence[Floats]) -> Floats:
        """The diagonal of the Hessian from those of the base models, each [its parameters]: see ``LBFGS.minimise``."""
        whole = np.zeros(self.parameters)
        for m, diagonal in enumerate(own):
            self._add(m, diagonal, slice(None), whole)
            deviates = self._slot[m] >= 0
            whole[self._slot[m][deviates]] *= self.models[m].sigma  # squared, by now
        whole[: self.shared] *= self._scale
        return whole

    def _weights(self, m: int, weight: Floats, listed: Listed) -> Floats:
        """``theta_m`` at some of its parameters."""
        sigma = self.models[m].sigma
        if isinstance(listed, slice):
            whole = np.empty(len(self._slot[m]))
            mix(weight, self._share[m], self._slot[m], self._scale, sigma, whole)
            return whole
        shared, slot = self._share[m][listed], self._slot[m][listed]
        theta: Floats = weight[: self.shared][shared] * self._scale[shared]
        deviates = slot >= 0
        theta[deviates] += sigma * weight[slot[deviates]]
        return theta

    def _add(self, m: int, slope: Floats, listed: Listed, out: Floats) -> None:
        """Add to out [parameters] the gradient from that of theta_m at some of its parameters."""
        if isinstance(listed, slice):
            spread(slope, self._share[m], self._slot[m], self._scale, self.models[m].sigma, out)
            return
        shared, slot = self._share[m][listed], self._slot[m][listed]
        out[: self.shared][shared] += slope * self._scale[shared]
        deviates = slot >= 0
        out[slot[deviates]] += self.models[m].sigma * slope[deviates]

    # the batch face

    def __call__(self, weight: Floats) -> tuple[float, Floats]:
        """The sum of the losses and its gradient [parameters]."""
        value, gradient = 0.0, np.zeros(self.parameters)
        for m, model in enumerate(self.models):
            loss, slope = model.objective(self.weights_of(m, weight))
            value += loss
            self._add(m, slope, slice(None), gradient)
        return value, gradient

    # the online face: a batch may hold items of several models

    def touch(self, which: Integers, sink: SparseGradient) -> None:
        """List the parameters that these items use."""
        for m, items in self._parts(which):
            own = self._listing(m, items)
            if own.is_whole:
                sink.list_all()
                return
            slot = self._slot[m][own.listed]
            for numbers in (self._share[m][own.listed], slot[slot >= 0]):
                fresh = numbers[sink.stamp[numbers] != sink.step]
                sink.stamp[fresh] = sink.step
                sink.items[sink.count : sink.count + len(fresh)] = fresh
                sink.count += len(fresh)

    def accumulate(self, weight: Floats, which: Integers, sink: SparseGradient) -> float:
        """The loss on these items; its gradient is added to ``sink``."""
        loss = 0.0
        for m, items in self._parts(which):
            own = self._listing(m, items)
            listed = own.listed
            own.value[listed] = 0.0
            self._theta[m][listed] = self._weights(m, weight, listed)  # what is not listed is not read
            loss += self.models[m].objective.accumulate(self._theta[m], items, own)
            self._add(m, own.value[listed], listed, sink.value)
        return loss

    def _parts(self, which: Integers) -> Iterator[tuple[int, Integers]]:
        """The models that have some of the items, each with their numbers there."""
        model = np.searchsorted(self._first, which, side="right") - 1
        for m in np.unique(model).tolist():
            yield m, which[model == m] - self._first[m]

    def _listing(self, m: int, items: Integers) -> SparseGradient:
        """What some items of a model use, in its own numbering."""
        if not self._sinks:
            self._theta = [np.zeros(model.objective.parameters) for model in self.models]
            self._sinks = [SparseGradient.of_size(model.objective.parameters) for model in self.models]
        own = self._sinks[m]
        own.clear()
        self.models[m].objective.touch(items, own)
        return own


@kernel
def mix(weight: Floats, share: Integers, slot: Integers, scale: Floats, sigma: float, out: Floats) -> None:
    """``theta_m`` out of the whole vector, for all parameters of model m: out [its parameters]."""
    for i in range(len(out)):
        out[i] = weight[share[i]] * scale[share[i]]
        if slot[i] >= 0:
            out[i] += sigma * weight[slot[i]]


@kernel
def spread(slope: Floats, share: Integers, slot: Integers, scale: Floats, sigma: float, out: Floats) -> None:
    """The reverse of :func:`mix`: add to out [parameters] the gradient from that of ``theta_m``."""
    for i in range(len(slope)):
        if slope[i] != 0.0:
            out[share[i]] += slope[i] * scale[share[i]]
            if slot[i] >= 0:
                out[slot[i]] += sigma * slope[i]


def _checked(model: BaseModel, parameters: int) -> Integers:
    if model.share is None:
        return np.arange(parameters)
    share = np.asarray(model.share, dtype=np.int64)
    if share.ndim != 1 or (len(share) and not 0 <= share.min() <= share.max() < parameters):
        raise ValueError(f"a model shares parameters that are not among the {parameters}")
    if len(np.unique(share)) != len(share):
        raise ValueError("a model shares one parameter twice")
    return share
