"""Integer programs: every component is solved exactly by HiGHS, or as far as the time goes.

A few steps of dual decomposition come first. They settle what is easy, above all components without couplings; and
their answers and prices leave most parts out of the programs of the others, since they are too bad to be in a better
answer (see ``dovetail.joint.program``). What HiGHS proves of a program bounds the score of its component.
"""

from __future__ import annotations

import threading
from time import monotonic

import numpy as np

from dovetail.errors import InputError
from dovetail.joint.engines import dual
from dovetail.joint.graph import Graph
from dovetail.joint.program import Components, Outcome, Program
from dovetail.joint.result import Incumbent, Result, check, contradicting, improved, named, rounding
from dovetail.joint.wiring import HARD, Wiring
from dovetail.structures.contract import Floats, Integers

MOST_COLUMNS = 400_000
"""Columns of the program of a component at most: HiGHS takes minutes, and gigabytes, for so many."""
STEPS = 30, 300
"""Steps of dual decomposition before programs are made; and further ones, where more than ``MANY`` states are left."""
MANY = 2000
SMALL = 32, 20_000
"""Contradictions are narrowed down among so many factors, in programs of so many columns."""


def solve(graph: Graph, *, time_limit: float = 60.0, gap: float = 0.0, most_columns: int = MOST_COLUMNS) -> Result:
    """The best answers, each proved to be; with a gap where the time did not suffice.

    time_limit: seconds, for all components together, small ones first; HiGHS may end a little later. gap: an
    answer is good enough if it is off by at most so much of its score, 0 for exact ones. most_columns: larger programs
    are refused by an ``InputError`` that says so.

    A component whose couplings contradict each other has a score and a bound of minus infinity, as ``brute`` says it;
    ``Result.conflicts`` names couplings that suffice for it. Ctrl-C returns the best answers so far.
    """
    if not time_limit > 0.0:
        raise InputError("time_limit must be more than 0 seconds")
    if not gap >= 0.0:
        raise InputError("gap must not be negative")
    wiring, until = check(graph), monotonic() + time_limit
    search = _Search(wiring)
    interrupted = False
    try:
        for component in search.looked(most_columns):
            if monotonic() >= until:
                break
            search.solve(component, until, gap)
    except KeyboardInterrupt:
        interrupted = True
    return search.result(interrupted)


class _Search:
    """The components that are still open, and what is known of all."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring, self.incumbent = wiring, Incumbent(wiring)
        self.evidence, self.nodes = np.zeros(wiring.states), 0
        self.solved = np.zeros(wiring.components, bool)
        self.conflicts: dict[int, str] = {}

    def looked(self, most_columns: int) -> list[int]:
        """What structures and couplings say under prices; then the components that are still open, small ones first."""
        w, incumbent = self.wiring, self.incumbent
        self.duals, _ = dual.subgradients(dual.Search.whole(incumbent), STEPS[0])
        if incumbent.open.any():
            self.duals, _ = self.duals.narrowed()
            if self.duals.wiring.states > MANY:
                self.duals, _ = dual.subgradients(self.duals, STEPS[1])
            improved(w, incumbent)
        if not incumbent.open.any():
            return []
        self.duals, _ = self.duals.narrowed()
        self.base = self.duals.look(self.duals.prices)[2]
        narrow = self.duals.wiring
        self.components = Components(narrow, most_columns, self.duals.prices)
        sizes = np.bincount(narrow.component[narrow.block_of], minlength=narrow.components)
        return [int(c) for c in np.argsort(sizes, kind="stable")]

    def solve(self, component: int, until: float, gap: float) -> None:
        """Solve the program of a component, by its number among the open ones; note its values and its bound."""
        number = int(self.duals.components[component])
        score, base = self.incumbent.scores[number], self.base[component]
        slack, part = np.inf, 0.0
        if score > -np.inf:
            loss, enough = base - score, gap * abs(score)
            if loss <= enough:
                self.solved[number] = True
                return
            # Programs count what is lost against the base, and HiGHS takes its gap to be relative to that.
            slack, part = loss + float(rounding(score)), enough / loss
        outcome = _interruptible(self.components.program(component, slack), until - monotonic(), part)
        self.nodes += max(outcome.nodes, 1)
        self.solved[number] = outcome.proved
        bounds = np.full(self.wiring.components, np.inf)
        bounds[number] = base + outcome.bound
        if not outcome.possible:  # not even what was known already, were it not for rounding
            bounds[number] = score
            if score == -np.inf:
                self.conflicts[number] = conflict(self.components, component, until, self.duals.variables)
        self.incumbent.bound(bounds)
        if outcome.columns is not None:
            w = self.wiring
            variables, values = self.components.values(component, outcome.columns)
            for v, value in zip(self.duals.variables[variables].tolist(), values.tolist(), strict=True):
                self.evidence[w.ptr[v] : w.ptr[v + 1]] = -HARD
                self.evidence[w.ptr[v] + value] = 0.0

    def result(self, interrupted: bool) -> Result:
        """The best answers in which coupled variables have the values found."""
        answers, values, _ = self.wiring.best(self.evidence)
        self.incumbent.offer(values, self.wiring.scores(values, answers))
        done, nodes = self.solved | ~self.incumbent.open, max(self.nodes, 1)
        return self.incumbent.result("ilp", done, nodes, interrupted, conflicts=self.conflicts)


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


def conflict(components: Components, component: int, until: float, numbers: Integers) -> str:
    """Couplings of a component that contradict each other, in words: as few as can be told cheaply.

    numbers: what its variables are called. Each coupling is left out in turn; what still contradicts itself without it
    does not need it. Where there are many, they are only counted.
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
        return contradicting([named(components.wiring, i, f, numbers) for i, f in hard])
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
