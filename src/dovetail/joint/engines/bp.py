"""Belief propagation: structures and couplings tell each other what they think of the variables between them.

A structure is one factor over all its variables. With m(v, x) the sum of what couplings say of value x of variable v,
it is asked for its probabilities p under m as evidence, and says ``n = log p - m`` in return: its own view of v, what v
told it taken off again (Smith and Eisner 2008). Couplings send to a variable what the structure and the other couplings
make them expect of it. Without loops all probabilities are exact as soon as nothing changes any more; with loops they
are those of a stationary point of Bethe's free energy.

The best answers come from the same sums at falling temperatures, where sums come near to maxima. How far they may be
off is told by a few steps of dual decomposition.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dovetail.errors import InputError
from dovetail.joint.engines import dual
from dovetail.joint.graph import Graph
from dovetail.joint.result import Beliefs, Incumbent, Result, check, improved
from dovetail.joint.wiring import HARD, Messages, Wiring
from dovetail.structures.contract import Booleans, Floats

LOWEST = -700.0  # logs of probabilities below that are not to be had
COLD = (1.0, 0.3, 0.1)  # temperatures on the way to the best answers
PROOFS = 20  # steps of dual decomposition for a bound
SCHEDULES = ("flood", "residual")


def marginals(
    graph: Graph, *, damping: float = 0.0, schedule: str = "flood", tolerance: float = 1e-9, iterations: int = 200
) -> Beliefs:
    """Probabilities by sums of products.

    damping: how much of the old message a new one keeps, from 0 to below 1. schedule: ``flood`` sends all messages in
    every round, ``residual`` only those that change at least half as much as the one that changes most in their
    component. It stops when no message changes by more than ``tolerance``, or after so many iterations.
    """
    wiring = check(graph)
    _check(damping, schedule, tolerance, iterations)
    run, interrupted = _Propagation(wiring, damping, schedule), False
    try:
        run.until(tolerance, iterations)
    except KeyboardInterrupt:
        interrupted = True
        run.settle()
    calm = run.calm(tolerance) & (not interrupted)
    return Beliefs(
        "bp",
        wiring,
        run.probability,
        run.counts,
        run.log_z(),
        ~wiring.loops & calm,
        calm,
        run.rounds,
        float(run.change.max(initial=0.0)),
        run.evidence,
        [c.factor.expected(run.incoming(i)) for i, c in enumerate(wiring.couplings)],
        interrupted,
    )


def solve(
    graph: Graph,
    *,
    damping: float = 0.3,
    schedule: str = "flood",
    tolerance: float = 1e-4,
    iterations: int = 10,
    temperatures: tuple[float, ...] = COLD,
) -> Result:
    """The best answers by maxima of sums: at each temperature, coldest last, so many iterations at most."""
    wiring = check(graph)
    _check(damping, schedule, tolerance, iterations)
    dual.check_temperatures(temperatures)
    run, incumbent, interrupted = _Propagation(wiring, damping, schedule), Incumbent(wiring), False
    try:
        for temperature in temperatures:
            run.temperature = temperature
            run.until(tolerance, iterations)
            answers, values, _ = wiring.best(run.evidence)
            incumbent.offer(values, wiring.scores(values, answers))
        improved(wiring, incumbent)
        dual.bounded(incumbent, PROOFS)
    except KeyboardInterrupt:
        interrupted = True
    change = float(run.change.max(initial=0.0))
    return incumbent.result("bp", run.calm(tolerance), run.rounds, interrupted, largest_change=change)


def _check(damping: float, schedule: str, tolerance: float, iterations: int) -> None:
    if not 0.0 <= damping < 1.0:
        raise InputError(f"damping must be at least 0 and below 1, not {damping}")
    if schedule not in SCHEDULES:
        raise InputError(f"no schedule {schedule!r}; there are {', '.join(SCHEDULES)}")
    if not tolerance >= 0.0 or iterations < 1:
        raise InputError("the tolerance must be 0 or more, and iterations at least 1")


@dataclass
class _Propagation:
    """Messages between structures and couplings, round by round."""

    wiring: Wiring
    damping: float
    schedule: str
    temperature: float = 1.0
    messages: Messages = field(init=False)
    rounds: int = 0

    def __post_init__(self) -> None:
        self.messages = self.wiring.zeros()
        self.change = np.full(self.wiring.components, np.inf)
        self.done = np.zeros(self.wiring.components, bool)
        self.own = np.full(self.wiring.states, LOWEST)  # of what structures forbid, nothing else will be known
        self.evidence = np.zeros(self.wiring.states)

    def until(self, tolerance: float, most: int) -> None:
        """Send messages until none changes by more than the tolerance, but not for more rounds than ``most``."""
        self.done = np.zeros(self.wiring.components, bool)
        self.settle()
        for _ in range(most):
            self.send()
            self.settle()
            self.rounds += 1
            self.done |= self.calm(tolerance)
            if self.done.all():
                return

    def calm(self, tolerance: float) -> Booleans:
        """Where no message of a component has changed by more than the tolerance: [components]."""
        found: Booleans = self.change <= tolerance
        return found

    def settle(self) -> None:
        """Let the structures answer to the messages of the couplings."""
        w = self.wiring
        # Forbidden values stay finite, so that what structures think of them is known.
        self.evidence = np.maximum(w.total(self.messages), -HARD)
        self.probability, self.logs, self.counts = w.sums(self.evidence, self.temperature)
        with np.errstate(divide="ignore"):
            log_p = self.temperature * np.log(self.probability)
        known = log_p > self.temperature * LOWEST
        # Of others it is known that they are no more probable than that, and what was said before.
        most = np.minimum(self.temperature * LOWEST - self.evidence, np.minimum(self.own, 0.0))
        self.own = np.where(known, log_p - self.evidence, most)

    def incoming(self, i: int) -> list[Floats]:
        """What the variables say to the factors of a coupling: everything but what these said to them."""
        belief = self.own + self.evidence
        return [
            belief[place] - np.maximum(sent, -HARD)
            for place, sent in zip(self.wiring.places[i], self.messages[i], strict=True)
        ]

    def send(self) -> None:
        """Let the couplings answer to the structures."""
        w = self.wiring
        fresh, residuals = [], []
        for i, coupling in enumerate(w.couplings):
            sent = coupling.factor.messages(self.incoming(i), self.temperature)
            fresh.append([np.maximum(s - np.maximum(s.max(axis=1, keepdims=True), -HARD), -HARD) for s in sent])
            change = np.zeros(len(coupling))
            for new, old in zip(fresh[-1], self.messages[i], strict=True):
                np.maximum(change, np.abs(new - old).max(axis=1), out=change)
            residuals.append(change)
        self.change = np.zeros(w.components)
        for own, change in zip(w.of_coupling, residuals, strict=True):
            np.maximum.at(self.change, own, change)
        for i, (new, change) in enumerate(zip(fresh, residuals, strict=True)):
            # What is settled stays, so that a problem has the same answer whatever else is in the graph.
            moved = ~self.done[w.of_coupling[i]]
            if self.schedule == "residual":
                moved &= change >= 0.5 * self.change[w.of_coupling[i]]
            for old, own in zip(self.messages[i], new, strict=True):
                old[moved] += (1.0 - self.damping) * (own[moved] - old[moved])

    def log_z(self) -> Floats:
        """Bethe's log Z of each component, which is exact where there are no loops: [components].

        The sum of log Z of the structures with their evidence, and of those of the couplings with what variables tell
        them: the other terms are zero, since beliefs add up to one.
        """
        w = self.wiring
        total = w.by_component(self.logs)
        for i, (own, coupling) in enumerate(zip(w.of_coupling, w.couplings, strict=True)):
            total += np.bincount(own, coupling.factor.log_partition(self.incoming(i), self.temperature), w.components)
        return total
