"""Priors over weights: L2, L1 and both together (elastic); of groups of weights, group lasso and elitist lasso.

What optimisers ask of a prior is its ``value`` and its ``proximal`` step,

    argmin over v of  sum over p of (v[p] - w[p])**2 / (2 step[p]) + penalty(v),

in which each weight may have a step of its own, as AdaGrad gives it: then the distance has a diagonal metric, and the
closed forms below are those for this metric. Weights of one group depend on each other, so they are stepped together.

A penalty of your own is a subclass of ``Prior`` that defines its ``value`` and what the optimiser needs: a ``gradient``
for L-BFGS, a ``proximal`` step for SGD, AdaGrad and Adam. Where the step of a weight depends on others, ``lazy=False``
has all weights stepped together. Optimisers try a penalty out before they begin, and refuse one that does not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dovetail.errors import InputError
from dovetail.kernel import kernel
from dovetail.structures.contract import Booleans, Floats, Integers

SOME = 1 << 16  # weights at a time: a list of all of them would take more memory than they do


@dataclass(frozen=True)
class Prior:
    """The penalty ``sum over p of l2 * w[p]**2 + l1 * scale[p] * abs(w[p])``.

    ``l2`` has the meaning of CRFsuite's c2, and equals 1 / (2 sigma**2) for a Gaussian prior with variance sigma**2;
    ``l1`` has the meaning of CRFsuite's c1. ``scale`` [parameters] is one except where merged features need more.

    >>> Prior(l2=0.5, l1=1.0).value(np.array([2.0, -1.0]))
    5.5
    """

    l2: float = 0.0
    l1: float = 0.0
    scale: Floats | None = field(default=None, repr=False)
    exempt: Booleans | None = field(default=None, repr=False)
    """Which weights the penalty leaves alone, [parameters], such as those of a network; None for none.

    ``value``, ``gradient`` and ``proximal`` do not look at it: optimisers do, by ``shown`` and ``stepped``.
    """

    lazy: ClassVar[bool] = True
    """Whether weights that a batch does not use may wait for their steps, and take all that they missed as one."""

    def __post_init__(self) -> None:
        if not (self.l1 >= 0 and self.l2 >= 0 and np.isfinite(self.l1) and np.isfinite(self.l2)):
            raise ValueError(f"penalties must be zero or positive, not l1={self.l1}, l2={self.l2}")

    @property
    def threshold(self) -> Floats | float:
        """The L1 penalty of each weight."""
        threshold = self.l1 if self.scale is None else self.l1 * self.scale
        return threshold if self.exempt is None else np.where(self.exempt, 0.0, threshold)

    def value(self, weight: Floats) -> float:
        """The whole penalty."""
        smooth = self.l2 * float(weight @ weight)
        return smooth + (float(np.sum(self.threshold * np.abs(weight))) if self.l1 else 0.0)

    def gradient(self, weight: Floats) -> Floats:
        """The gradient of the penalty [parameters], without that of L1, which has none at zero."""
        return 2.0 * self.l2 * weight

    def proximal(self, weight: Floats, step: Floats | float, which: Integers | slice = slice(None)) -> Floats:
        """The proximal step, ``argmin over v of (v - w)**2 / 2 + step * penalty(v)``, of the weights ``which``: FOBOS.

        Shapes: ``weight`` and ``step`` are those of ``which``. Of a group, all weights are among them or none.
        """
        if self.l1:
            threshold = self.l1 if self.scale is None else self.l1 * self.scale[which]
            weight = np.sign(weight) * np.maximum(np.abs(weight) - step * threshold, 0.0)
        return weight / (1.0 + 2.0 * self.l2 * step) if self.l2 else weight

    def shown(self, weight: Floats) -> Floats:
        """The weights as the penalty sees them, [parameters]: those that it leaves alone are zero."""
        return weight if self.exempt is None else np.where(self.exempt, 0.0, weight)

    def stepped(self, weight: Floats, step: Floats | float, which: Integers | slice) -> Floats:
        """The proximal step of the weights ``which``, shaped like ``weight``; those left alone stay as they are."""
        found = self.proximal(weight if self.exempt is None else weight.copy(), step, which)
        return found if self.exempt is None else np.where(self.exempt[which], weight, found)

    def of_some(self, which: Integers) -> Prior:
        """The same penalty of some weights alone."""
        scale = None if self.scale is None else self.scale[which]
        return Prior(self.l2, self.l1, scale, None if self.exempt is None else self.exempt[which])

    def shortened(self, step: Floats | float, weight: Floats) -> Floats:
        """The steps that are left for more penalties after the proximal step of L2, shaped like ``weight``.

        ``(v - w)**2 / (2 s) + l2 v**2`` is ``(v - w')**2 / (2 s')`` and a constant, with w' and s' smaller than w and s
        by 1 + 2 l2 s; and an L1 penalty lowers abs(w) before whatever else there is.
        """
        return np.ascontiguousarray(np.broadcast_to(step / (1.0 + 2.0 * self.l2 * step), weight.shape))

    def pieces(self, parameters: int) -> Iterator[Integers]:
        """All weights, some at a time; those of a group together."""
        size = SOME if self.lazy else max(parameters, 1)
        for first in range(0, parameters, size):
            yield np.arange(first, min(first + size, parameters))


@dataclass(frozen=True)
class GroupLasso(Prior):
    """``Prior`` and ``sum over groups g of amount[g] * sqrt(sum over p in g of w[p]**2)``: whole groups become zero.

    ``group`` [parameters] is the group of each weight, -1 for none; ``amount`` [groups]. A column that stands for m
    merged features has the same part in the norm as they have, m (u / sqrt(m))**2 = u**2, as long as all m are of one
    group. Where the groups are large, a proximal step of one costs more than the gradient of a few sentences, so it
    is taken once a pass, of the length of all steps.

    With steps s[p] and the norm r of what is to be found, v[p] = w[p] r / (r + amount s[p]): so r solves
    ``sum over p of w[p]**2 / (r + amount s[p])**2 = 1``, and there is none, and all is zero, where that sum is at most
    one for r = 0.

    >>> prior = GroupLasso(group=np.array([0, 0, 1]), amount=np.array([1.0, 1.0]))
    >>> prior.value(np.array([3.0, 4.0, -2.0])), prior.proximal(np.array([3.0, -4.0, 0.5]), 1.0).round(3).tolist()
    (7.0, [2.4, -3.2, 0.0])
    """

    group: Integers = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)
    amount: Floats = field(default_factory=lambda: np.zeros(0), repr=False)

    lazy: ClassVar[bool] = False

    def norms(self, weight: Floats) -> Floats:
        """The norm of each group, [groups]."""
        inside = self.group >= 0
        return np.sqrt(np.bincount(self.group[inside], weight[inside] ** 2, minlength=len(self.amount)))

    def value(self, weight: Floats) -> float:
        """The whole penalty."""
        return super().value(weight) + float(self.amount @ self.norms(weight))

    def proximal(self, weight: Floats, step: Floats | float, which: Integers | slice = slice(None)) -> Floats:
        """The step of groups after that of L1 and L2: exact, if their steps are as much shorter as L2 made them."""
        weight = super().proximal(weight, step, which)
        return self._grouped(weight, self.shortened(step, weight), which)

    def _grouped(self, weight: Floats, step: Floats, which: Integers | slice) -> Floats:
        group = self.group[which]
        inside = np.flatnonzero(group >= 0)
        own, size = group[inside], len(self.amount)
        square, shift = weight[inside] ** 2, (self.amount[own] * step[inside])
        low = np.zeros(size)
        high = np.sqrt(np.bincount(own, square, minlength=size))  # the root lies between: shifts are positive

        def excess(radius: Floats) -> Floats:
            below = radius[own] + shift
            with np.errstate(divide="ignore", invalid="ignore"):
                part = np.where(square > 0, square / below**2, 0.0)
            return np.asarray(np.bincount(own, part, minlength=size) - 1.0, np.float64)

        some = excess(low) > 0
        for _ in range(60):
            middle = (low + high) / 2
            rising = excess(middle) > 0
            np.copyto(low, middle, where=rising)
            np.copyto(high, middle, where=~rising)
        radius = np.where(some, (low + high) / 2, 0.0)
        factor = np.divide(radius[own], radius[own] + shift, out=np.zeros(len(own)), where=some[own])
        out = weight.copy()
        out[inside] *= factor
        return out


@dataclass(frozen=True)
class Elitist(Prior):
    """``Prior`` and ``elitist * sum over groups g of (sum over p in g of abs(w[p]))**2``: members of a group compete.

    The groups are the copies of one weight in all experts of a pool: of ``copies`` * n weights, those numbered i,
    n + i, 2 n + i, ... are a group. A group of one is L2. Copies of a column that stands for m merged features need no
    other penalty than others do: the best split of the sums s[j] over features is even, and costs
    (sum of abs(s[j]))**2 / m, which is (sum of abs(u[j]))**2.

    With steps s[p] and the sum S of what is to be found, abs(v[p]) = max(abs(w[p]) - 2 elitist s[p] S, 0). Let the
    members be in order of abs(w[p]) / s[p], largest first; with the first k of them in use, S is
    (sum of abs(w)) / (1 + 2 elitist sum of s), and k is the largest for which the k-th is above 2 elitist S
    (Kowalski and Torresani 2009, there for equal steps). ``exact=False`` takes all members for k, which spares the
    sorting and shrinks a little less.

    >>> prior = Elitist(elitist=0.5, copies=2)
    >>> prior.value(np.array([-3.0, 1.0])), prior.proximal(np.array([-3.0, 1.0]), 1.0).tolist()
    (8.0, [-1.5, 0.0])
    """

    elitist: float = 0.0
    copies: int = 1
    exact: bool = True

    def value(self, weight: Floats) -> float:
        """The whole penalty."""
        total = np.abs(weight).reshape(self.copies, -1).sum(axis=0)
        return super().value(weight) + self.elitist * float(total @ total)

    def proximal(self, weight: Floats, step: Floats | float, which: Integers | slice = slice(None)) -> Floats:
        """The step of groups after that of L1 and L2."""
        weight = np.array(super().proximal(weight, step, which))
        steps = self.shortened(step, weight)
        rivals(weight.reshape(self.copies, -1), steps.reshape(self.copies, -1), self.elitist, self.exact)
        return weight

    def pieces(self, parameters: int) -> Iterator[Integers]:
        """Copies together."""
        each = parameters // self.copies
        first = np.arange(self.copies)[:, None] * each
        for numbers in super().pieces(each):
            yield (first + numbers).ravel()


BUILT_IN = (Prior, GroupLasso, Elitist)
NEEDED_BY = {"gradient": "L-BFGS", "proximal": "SGD, AdaGrad or Adam"}


def check_prior(prior: Any, optimiser: str, need: str, parameters: int) -> None:
    """Raise an ``InputError`` unless an optimiser that asks for ``gradient`` or ``proximal`` can take a penalty."""
    name = type(prior).__name__
    if not isinstance(prior, Prior):
        raise InputError(f"{optimiser}: a penalty is a subclass of dovetail.learning.priors.Prior, not {prior!r:.60}")
    if prior.exempt is not None and (prior.exempt.shape != (parameters,) or prior.exempt.dtype != bool):
        raise InputError(f"{name}: exempt must be an array of {parameters} booleans, one for each weight")
    if type(prior) is Prior or (type(prior) in BUILT_IN and need == "proximal"):
        return
    if wrong := _misfit(prior, need, parameters):
        others = [who for what, who in NEEDED_BY.items() if what != need and not _misfit(prior, what, parameters)]
        raise InputError(f"{optimiser} needs {name}.{need}, which {wrong}: {', or use '.join(['define it', *others])}")


def _misfit(prior: Prior, need: str, parameters: int) -> str:
    """Say what is wrong with a method of a penalty, tried at random weights; nothing where it fits the value."""
    rng, some = np.random.default_rng(0), np.arange(0, parameters, 2)
    (weight, near), step = rng.normal(size=(2, parameters)), rng.uniform(0.1, 1.0, parameters)
    near *= 1e-4 / max(parameters, 1) ** 0.5
    try:
        if need == "gradient":
            slope = np.broadcast_to(prior.gradient(weight.copy()), weight.shape)
            rise = (prior.value(weight + near) - prior.value(weight - near)) / 2.0
            fits = abs(slope @ near - rise) <= 1e-3 * np.sqrt((slope @ slope) * (near @ near)) + 1e-12
            return "has no value at zero under L1" if prior.l1 else "" if fits else "is not that of its value"
        moved = np.broadcast_to(prior.proximal(weight.copy(), step, slice(None)), weight.shape)
        tried = (moved, weight, weight + near, weight - near)
        first, *others = (float(np.sum((to - weight) ** 2 / (2.0 * step)) + prior.value(to)) for to in tried)
        if not first <= min(others) + 1e-12 * (1.0 + abs(first)):
            return "is not the step of its value"
        alone = not prior.lazy or np.allclose(prior.proximal(weight[some], step[some], some), moved[some])
        return "" if alone else "is otherwise for some weights than for all (say lazy = False in the class)"
    except Exception as error:  # of somebody's own
        return f"fails ({error})"


@kernel
def rivals(weight: Floats, step: Floats, penalty: float, exact: bool) -> None:
    """Proximal steps of ``penalty * (sum of abs(w))**2`` in the columns of weight, in place. Shapes: [copies, n]."""
    copies, n = weight.shape
    order, ratio = np.empty(copies, np.int64), np.empty(copies)
    for i in range(n):
        for j in range(copies):  # sorted by insertion: there are few copies
            ratio[j] = abs(weight[j, i]) / step[j, i] if step[j, i] > 0.0 else np.inf
            k = j
            while exact and k > 0 and ratio[order[k - 1]] < ratio[j]:
                order[k] = order[k - 1]
                k -= 1
            order[k] = j
        total, steps, found = 0.0, 0.0, 0.0
        for k in range(copies):
            j = order[k]
            if exact and ratio[j] <= 2.0 * penalty * found:
                break
            total += abs(weight[j, i])
            steps += step[j, i]
            found = total / (1.0 + 2.0 * penalty * steps)
        for j in range(copies):
            left = max(abs(weight[j, i]) - 2.0 * penalty * step[j, i] * found, 0.0)
            weight[j, i] = left if weight[j, i] >= 0.0 else -left
