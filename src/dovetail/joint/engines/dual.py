"""Dual decomposition: structures and couplings each find their own best, and prices make them agree.

With u(f, v, x) the price for value x of variable v at factor f, structures gain what couplings pay:

    D(u) = sum over structures of max(score + u) + sum over factors of max(potential - u)

is never below the best joint score, and where all agree on all variables it is reached: a certificate. Prices are
lowered on subgradients, with steps by Polyak's rule over the number of times the bound rose (Koo et al. 2010; Rush and
Collins 2012), or by L-BFGS on the same function with soft maxima at falling temperatures, which is smooth (Jojic, Gould
and Koller 2010). The answers of the structures are always possible together, so each is also a candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail.errors import InputError
from dovetail.joint.graph import Graph
from dovetail.joint.result import Incumbent, Result, check, improved
from dovetail.joint.wiring import Messages, Wiring
from dovetail.structures.contract import Booleans, Floats, Integers

METHODS = ("subgradient", "smooth", "both")
TEMPERATURES = (0.3, 0.1, 0.03, 0.01)
COMPACT = 0.7  # of the components still open, or fewer: go on with these alone


def solve(graph: Graph, *, method: str = "both", iterations: int = 200, temperatures: Any = TEMPERATURES) -> Result:
    """The best answers, with a certificate where structures and couplings agree, and a gap where not.

    method: ``subgradient`` for up to so many iterations, ``smooth`` for up to half as many evaluations at each
    temperature, or ``both``: half of the subgradients, which settle what is easy, then the smooth ones for what is
    left.
    """
    if method not in METHODS:
        raise InputError(f"no method {method!r}; there are {', '.join(METHODS)}")
    if iterations < 1:
        raise InputError("iterations must be at least 1")
    check_temperatures(temperatures)
    wiring = check(graph)
    incumbent, rounds, interrupted = Incumbent(wiring), 0, False
    search = Search.whole(incumbent)
    try:
        if method != "smooth":
            search, rounds = subgradients(search, iterations if method == "subgradient" else (iterations + 1) // 2)
        if method != "subgradient" and incumbent.open.any():
            search, _ = search.narrowed()
            rounds += _smooth(search, max(iterations // 2, 1), temperatures)
        if incumbent.open.any():
            improved(wiring, incumbent)
    except KeyboardInterrupt:
        interrupted = True
    return incumbent.result("dual", ~incumbent.open, rounds, interrupted)


def check_temperatures(temperatures: Any) -> None:
    """An error unless there are some, all above zero."""
    if not len(temperatures) or not all(0.0 < t < np.inf for t in temperatures):
        raise InputError(f"temperatures are numbers above 0, at least one, not {temperatures!r}")


def bounded(incumbent: Incumbent, steps: int) -> None:
    """Tell an incumbent how good any answer can be, and better ones that turn up on the way."""
    subgradients(Search.whole(incumbent), steps)


@dataclass
class Search:
    """The components that are still open, with their prices."""

    wiring: Wiring
    incumbent: Incumbent
    components: Integers
    """Their numbers in the whole graph: [components]."""
    variables: Integers
    """The numbers of the variables in the whole graph."""
    prices: Messages

    @classmethod
    def whole(cls, incumbent: Incumbent) -> Search:
        """All components, with prices of zero."""
        w = incumbent.wiring
        return cls(w, incumbent, np.arange(w.components), np.arange(len(w.sizes)), w.zeros())

    def look(self, prices: Messages) -> tuple[Integers, list[Integers], Floats]:
        """What structures and couplings find best under prices: values, and the bound of each component.

        The bound and the candidate are told to the incumbent.
        """
        w = self.wiring
        answers, values, score = w.best(w.total(prices))
        bound, chosen = w.by_component(score), []
        for own, coupling, price in zip(w.of_coupling, w.couplings, prices, strict=True):
            joint, best = coupling.factor.best([-p for p in price])
            chosen.append(joint)
            bound += np.bincount(own, best, w.components)
        every = np.full(len(self.incumbent.bounds), np.inf)
        every[self.components] = bound
        self.incumbent.bound(every)
        self._offer(values, answers)
        return values, chosen, bound

    def repair(self) -> None:
        """Where no candidate is possible yet, try what couplings find best; structures follow as far as they can."""
        w = self.wiring
        if (self.incumbent.scores[self.components] > -np.inf).all():
            return
        values, chosen, _ = self.look(self.prices)
        for coupling, joint in zip(w.couplings, chosen, strict=True):
            for argument, own in zip(coupling.arguments, joint.T, strict=True):
                values[argument] = own
        answers = w.with_values(values)
        spoken = w.values_of(answers)
        for group in w.groups:
            if group.node >= 0:
                mine = slice(group.first, group.first + group.count)
                values[mine] = spoken[mine]
        self._offer(values, answers)

    def _offer(self, values: Integers, answers: list[Any]) -> None:
        whole, worst = self.incumbent.values.copy(), np.full(len(self.incumbent.scores), -np.inf)
        whole[self.variables] = values
        worst[self.components] = self.wiring.scores(values, answers)
        self.incumbent.offer(whole, worst)

    def narrowed(self) -> tuple[Search, Integers]:
        """Only what is still open, with its prices, and the numbers that its components have here."""
        w, still = self.wiring, self.incumbent.open[self.components]
        wiring, left = w.within(still)
        prices = []
        for own, price in zip(w.of_coupling, self.prices, strict=True):
            kept = still[own]
            if kept.any():
                prices.append([p[kept] for p in price])
        before = np.zeros(wiring.components, np.int64)
        before[wiring.component] = w.component[still[w.component]]  # blocks keep their order
        return Search(wiring, self.incumbent, self.components[before], self.variables[left], prices), before


def subgradients(search: Search, iterations: int) -> tuple[Search, int]:
    """Lower the bound step by step; the search for what is left, and how many steps were taken."""
    last, rises = np.full(search.wiring.components, np.inf), np.zeros(search.wiring.components)
    for t in range(iterations):
        values, chosen, bound = search.look(search.prices)
        still = search.incumbent.open[search.components]
        if not still.any():
            return search, t + 1
        rises += bound > last
        last = bound
        _step(search, values, chosen, bound, rises, still)
        if still.mean() <= COMPACT:
            search, before = search.narrowed()
            last, rises = last[before], rises[before]
    search.repair()
    return search, iterations


def _step(
    search: Search, values: Integers, chosen: list[Integers], bound: Floats, rises: Floats, still: Booleans
) -> None:
    """Change the prices where structures and couplings differ: Polyak's step, over the number of rises and one."""
    w, best = search.wiring, search.incumbent.scores[search.components]
    wrong = [
        np.stack([values[argument] for argument in c.arguments], axis=1) != joint
        for c, joint in zip(w.couplings, chosen, strict=True)
    ]
    norm = np.zeros(w.components)
    for own, differs in zip(w.of_coupling, wrong, strict=True):
        norm += np.bincount(own, 2.0 * differs.sum(axis=1), w.components)
    gap = np.where(np.isfinite(best), bound - best, 1.0 + 0.01 * np.abs(bound))
    step = np.where(still, gap / np.maximum(norm, 1.0) / (1.0 + rises), 0.0)
    for i, (coupling, joint, differs) in enumerate(zip(w.couplings, chosen, wrong, strict=True)):
        for a, argument in enumerate(coupling.arguments):
            rows = np.flatnonzero(differs[:, a])
            move = step[w.of_coupling[i][rows]]
            search.prices[i][a][rows, joint[rows, a]] += move
            search.prices[i][a][rows, values[argument[rows]]] -= move


def _smooth(search: Search, evaluations: int, temperatures: Any) -> int:
    """Lower the smoothed bound by L-BFGS at each temperature; how often it was evaluated."""
    w = search.wiring
    search.look(search.prices)
    if not search.incumbent.open[search.components].any():
        return 1
    shapes = [[p.shape for p in price] for price in search.prices]
    flat = np.concatenate([p.ravel() for price in search.prices for p in price])
    count = 0

    def unpacked(vector: Floats) -> Messages:
        out: Messages = []
        place = 0
        for own in shapes:
            out.append([])
            for shape in own:
                size = shape[0] * shape[1]
                out[-1].append(vector[place : place + size].reshape(shape))
                place += size
        return out

    def value(vector: Floats, temperature: float) -> tuple[float, Floats]:
        nonlocal count
        count += 1
        prices = unpacked(vector)
        probability, logs, _ = w.sums(w.total(prices), temperature)
        total, slope = float(logs.sum()), []
        for coupling, places, price in zip(w.couplings, w.places, prices, strict=True):
            incoming = [-p for p in price]
            total += float(coupling.factor.log_partition(incoming, temperature).sum())
            sent = coupling.factor.messages(incoming, temperature)
            for place, message, own in zip(places, sent, incoming, strict=True):
                joint = (message + own) / temperature
                weight = np.exp(joint - joint.max(axis=1, keepdims=True))
                slope.append((probability[place] - weight / weight.sum(axis=1, keepdims=True)).ravel())
        return total, np.concatenate(slope)

    from scipy.optimize import minimize  # slow to load, and the other engines do without

    for temperature in temperatures:
        limits = {"maxiter": evaluations, "maxfun": evaluations}
        found = minimize(value, flat, (temperature,), jac=True, method="L-BFGS-B", options=limits)
        flat = found.x
        search.look(unpacked(flat))
        if not search.incumbent.open[search.components].any():
            break
    return count
