"""Integer programs: every component is solved exactly by HiGHS, or as far as the time goes.

Structures are asked for their best answers first, which is all there is to do for components without couplings; and it
leaves most parts out of the programs of the others, since they are too bad to be in a better answer (see
``dovetail.joint.program``). What HiGHS proves of a program bounds the score of its component.
"""

from __future__ import annotations

import threading
from time import monotonic

import numpy as np

from dovetail.errors import InputError
from dovetail.joint.graph import Graph
from dovetail.joint.program import Components, Outcome, Program
from dovetail.joint.result import CLOSE, Incumbent, Result, check, improved
from dovetail.joint.wiring import HARD, Wiring
from dovetail.structures.contract import Floats, Integers

MOST_COLUMNS = 400_000
"""Columns of the program of a component at most: HiGHS takes minutes, and gigabytes, for so many."""
SMALL = 32, 20_000
"""Contradictions are narrowed down among so many factors, in programs of so many columns."""


def solve(graph: Graph, *, time_limit: float = 60.0, gap: float = 0.0, most_columns: int = MOST_COLUMNS) -> Result:
    """The best answers, each proved to be; with a gap where the time did not suffice.

    time_limit: seconds, for all components together, the smaller ones first. gap: an answer is good enough if it is off
    by at most so much of its score (HiGHS's relative gap), 0 for exact ones. most_columns: larger programs are refused
    by an ``InputError`` that says so.

    A component whose couplings contradict each other has a score and a bound of minus infinity, as ``brute`` says it;
    ``Result.conflicts`` names couplings that suffice for it. Ctrl-C returns the best answers so far.
    """
    if not time_limit > 0.0:
        raise InputError("time_limit must be more than 0 seconds")
    if not gap >= 0.0:
        raise InputError("gap must not be negative")
    wiring, until = check(graph), monotonic() + time_limit
    search = _Search(wiring, most_columns)
    interrupted = False
    try:
        search.look()
        for component in search.open():
            if monotonic() >= until:
                break
            search.solve(component, until, gap)
    except KeyboardInterrupt:
        interrupted = True
    return search.result(interrupted)


class _Search:
    """The components that are still open, and what is known of them."""

    def __init__(self, wiring: Wiring, most_columns: int) -> None:
        self.wiring, self.components = wiring, Components(wiring, most_columns)
        self.incumbent = Incumbent(wiring)
        self.base = np.full(wiring.components, np.inf)
        self.evidence = np.zeros(wiring.states)
        self.done = np.zeros(wiring.components, bool)
        self.nodes = 0
        self.conflicts: dict[int, str] = {}

    def look(self) -> None:
        """The best answers of structures by themselves, the bound that they give, and a climb from there."""
        w = self.wiring
        answers, values, score = w.best(self.evidence)
        self.base = w.by_component(score)
        for own, coupling, zeros in zip(w.of_coupling, w.couplings, w.zeros(), strict=True):
            self.base += np.bincount(own, coupling.factor.best(zeros)[1], w.components)
        self.incumbent.bound(self.base)
        self.incumbent.offer(values, w.scores(values, answers))
        if self.incumbent.open.any():
            improved(w, self.incumbent)
        self.done |= ~self.incumbent.open

    def open(self) -> list[int]:
        """The components that are not yet solved, those of few variables first."""
        found = np.flatnonzero(~self.done)
        sizes = np.bincount(self.wiring.component[self.wiring.block_of], minlength=self.wiring.components)
        return [int(c) for c in found[np.argsort(sizes[found], kind="stable")]]

    def solve(self, component: int, until: float, gap: float) -> None:
        """Solve the program of a component, and note its values and its bound."""
        score, base = self.incumbent.scores[component], self.base[component]
        slack = base - score + CLOSE * (1.0 + abs(score)) if score > -np.inf else np.inf
        program = self.components.program(component, slack)
        outcome = _interruptible(program, until - monotonic(), gap)
        self.nodes += max(outcome.nodes, 1)
        self.done[component] = outcome.proved
        bounds = np.full(self.wiring.components, np.inf)
        bounds[component] = base + outcome.bound
        if not outcome.possible:  # not even what was known already, were it not for rounding
            bounds[component] = score
            if score == -np.inf:
                self.conflicts[component] = conflict(self.components, component, until)
        self.incumbent.bound(bounds)
        if outcome.columns is not None:
            w = self.wiring
            variables, values = self.components.values(component, outcome.columns)
            for v, value in zip(variables.tolist(), values.tolist(), strict=True):
                self.evidence[w.ptr[v] : w.ptr[v + 1]] = -HARD
                self.evidence[w.ptr[v] + value] = 0.0

    def result(self, interrupted: bool) -> Result:
        """The best answers in which coupled variables have the values found."""
        answers, values, _ = self.wiring.best(self.evidence)
        self.incumbent.offer(values, self.wiring.scores(values, answers))
        nodes = max(self.nodes, 1)
        return self.incumbent.result("ilp", self.done, nodes, interrupted, conflicts=self.conflicts)


def _interruptible(program: Program, time_limit: float, gap: float) -> Outcome:
    """Solve a program beside this thread, so that Ctrl-C need not wait for it; HiGHS then ends by its time limit."""
    found: list[Outcome | BaseException] = []

    def run() -> None:
        try:
            found.append(program.solve(time_limit, gap))
        except BaseException as error:  # raised again below
            found.append(error)

    worker = threading.Thread(target=run, daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.05)
    if isinstance(found[0], BaseException):
        raise found[0]
    return found[0]


def conflict(components: Components, component: int, until: float) -> str:
    """Couplings of a component that contradict each other, in words: as few as can be told cheaply.

    Each is left out in turn; what still contradicts itself without it does not need it. Where there are many, they are
    only counted.
    """
    factors = components.factors(component)
    hard = [(i, int(f)) for i, which in enumerate(factors) for f in which if _forbids(components.wiring, i, int(f))]

    def possible(kept: list[tuple[int, int]]) -> bool:
        chosen = [np.array([f for j, f in kept if j == i], np.int64) for i in range(len(factors))]
        return components.program(component, factors=chosen).solve(max(until - monotonic(), 1.0), 1.0).possible

    most, columns = SMALL
    if len(hard) <= most and components.program(component).columns <= columns:
        for each in list(hard):
            fewer = [other for other in hard if other != each]
            if monotonic() < until and not possible(fewer):
                hard = fewer
        named = [_named(components.wiring, i, f) for i, f in hard]
        return f"these couplings contradict each other or the structures: {'; '.join(named)}"
    kinds: dict[str, int] = {}
    for i, _ in hard:
        name = components.wiring.couplings[i].factor.name
        kinds[name] = kinds.get(name, 0) + 1
    return f"the couplings contradict each other: {', '.join(f'{count} of {name!r}' for name, count in kinds.items())}"


def _forbids(wiring: Wiring, coupling: int, factor: int) -> bool:
    """Whether a factor forbids anything."""
    kind = wiring.couplings[coupling].factor.some(np.array([factor]))
    sizes = [int(wiring.sizes[argument[factor]]) for argument in wiring.couplings[coupling].arguments]
    if kind.sizes() is None:
        return True
    every: Integers = np.stack(np.unravel_index(np.arange(int(np.prod(sizes))), sizes), axis=1)
    scores: Floats = np.concatenate([kind.scores(each[None]) for each in every])
    return bool((scores == -np.inf).any())


def _named(wiring: Wiring, coupling: int, factor: int) -> str:
    own = wiring.couplings[coupling]
    return f"{own.factor.name} over variables {', '.join(str(int(argument[factor])) for argument in own.arguments)}"
