"""What engines answer, and how far it can be trusted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dovetail.errors import InputError
from dovetail.joint.graph import Graph, Node, Variables
from dovetail.joint.wiring import HARD, Wiring
from dovetail.structures.contract import Booleans, Floats, Integers

CLOSE = 1e-6, 1e-9
"""A gap of so much is rounding, or of so much of the score."""

NAMED = 8
"""So many variables of a factor are named in messages."""


@dataclass(frozen=True, eq=False)
class Result:
    """The best answers that an engine found. Arrays [components] tell of each independent problem of the graph.

    scores: of the answers, potentials and couplings together. bounds: what no answer can exceed, infinity where the
    engine knows none. converged: whether the engine stopped by itself.
    """

    engine: str
    answers: list[Any]
    all_values: Integers
    scores: Floats
    bounds: Floats
    converged: Booleans
    iterations: int
    interrupted: bool = False
    largest_change: float = field(default=0.0)
    """Of a message, in the last round, where messages are sent."""
    conflicts: dict[int, str] = field(default_factory=dict)
    """For components that are proved to have no answer, which couplings contradict each other, in words."""
    unmet: dict[int, str] = field(default_factory=dict)
    """For components to which no answer was found, though there may be one, which couplings forbid that given."""
    graph: Graph | None = field(default=None, repr=False)

    @property
    def score(self) -> float:
        """The score of all answers together."""
        return float(self.scores.sum())

    @property
    def bound(self) -> float:
        """What no answer can exceed."""
        return float(self.bounds.sum())

    @property
    def gaps(self) -> Floats:
        """By how much the answer to each problem may be off at most: [components]."""
        return gaps(self.scores, self.bounds)

    @property
    def certain(self) -> Booleans:
        """Whether the answer to each problem is proved to be the best: [components]."""
        found: Booleans = self.gaps == 0.0
        return found

    @property
    def exact(self) -> bool:
        """Whether all answers are proved to be the best."""
        return bool(self.certain.all())

    @property
    def possible(self) -> Booleans:
        """Whether an answer was found that no coupling forbids: [components]."""
        found: Booleans = self.scores > -np.inf
        return found

    def __getitem__(self, node: Node) -> Any:
        """The answer of a structure."""
        _check_owner(self.graph, node.graph, node.number, len(self.answers))
        return self.answers[node.number]

    def values(self, variables: Variables) -> Integers:
        """The values of variables: [k]."""
        _check_owner(self.graph, variables.graph, variables.index.max(initial=-1), len(self.all_values))
        return self.all_values[variables.index]

    def __str__(self) -> str:
        return f"{self.engine}: score {self.score:.4f}, {self.trust()}"

    def trust(self) -> str:
        """In words: exact, converged, off by at most so much, or why there is no answer."""
        if self.conflicts:
            component, said = next(iter(self.conflicts.items()))
            return f"problem {component} has no answer: {said}"
        if self.unmet:
            component, said = next(iter(self.unmet.items()))
            return f"no answer was found to problem {component}: {said}"
        if self.exact:
            return "exact"
        exact, n = int(self.certain.sum()), len(self.scores)
        worst = float(self.gaps.max())
        known = f"off by at most {worst:.4f}" if np.isfinite(worst) else "without a bound"
        ended = "converged" if self.converged.all() else "not converged"
        return f"{ended}, {known}" + (f" ({exact} of {n} problems exact)" if n > 1 else "")


@dataclass(frozen=True, eq=False)
class Beliefs:
    """The probabilities of the values of variables, as far as an engine can tell.

    probability: [states]. counts: for each structure the expected counts of its parts. log_z: of each component, NaN
    where the engine has none. exact: whether a component has no loops, so that its probabilities are right.
    """

    engine: str
    wiring: Wiring = field(repr=False)
    probability: Floats = field(repr=False)
    counts: list[Any] = field(repr=False)
    log_z: Floats
    exact: Booleans
    converged: Booleans
    iterations: int
    largest_change: float = 0.0
    evidence: Floats | None = field(default=None, repr=False)
    """What the couplings say of each state, [states]: added to the potentials, it gives the probabilities."""
    factors: list[Any] = field(default_factory=list, repr=False)
    """For each coupling the expected use of its parameters, where it has some."""
    interrupted: bool = False
    graph: Graph | None = field(default=None, repr=False)

    def of(self, variables: Variables) -> Floats:
        """The probability of each value of variables: [k, values]."""
        _check_owner(self.graph, variables.graph, variables.index.max(initial=-1), len(self.wiring.sizes))
        places = self.wiring.ptr[variables.index][:, None] + np.arange(variables.values)
        found: Floats = self.probability[places]
        return found

    def __getitem__(self, node: Node) -> Any:
        """The expected counts of the parts of a structure, shaped like its potentials."""
        _check_owner(self.graph, node.graph, node.number, len(self.wiring.structures))
        if not self.counts:
            raise InputError(f"the engine {self.engine!r} counts no parts, only the values of variables")
        return self.counts[node.number]


@dataclass
class Incumbent:
    """The best values found so far, component by component, and the lowest bound."""

    wiring: Wiring
    values: Integers = field(init=False)
    scores: Floats = field(init=False)
    bounds: Floats = field(init=False)

    def __post_init__(self) -> None:
        w = self.wiring
        self.values = np.zeros(len(w.sizes), np.int64)
        self.scores, self.bounds = np.full(w.components, -np.inf), np.full(w.components, np.inf)
        self._seen = np.zeros(w.components, bool)
        self._component = w.component[w.block_of] if len(w.block_of) else np.zeros(0, np.int64)

    def offer(self, values: Integers, score: Floats) -> None:
        """Values of all variables, with the scores of components: kept where they are better."""
        better = (score > self.scores) | ~self._seen
        self._seen[:] = True
        self.scores[better] = score[better]
        mine = better[self._component]
        self.values[mine] = values[mine]

    def bound(self, bounds: Floats) -> None:
        """Another bound for each component: the lowest counts."""
        np.minimum(self.bounds, bounds, out=self.bounds)

    @property
    def open(self) -> Booleans:
        """Where the bound is above the score: [components]."""
        found: Booleans = gaps(self.scores, self.bounds) > 0.0
        return found

    def result(self, engine: str, converged: Booleans, iterations: int, interrupted: bool, **more: Any) -> Result:
        """The answers in which the variables have the best values."""
        answers = self.wiring.with_values(self.values)
        scores = self.wiring.scores(self.values, answers)
        bounds = np.maximum(self.bounds, scores)  # rounding
        lost = (scores == -np.inf) & (bounds > -np.inf)
        more["unmet"] = unmet(self.wiring, self.values, lost)
        found = converged & ~lost
        return Result(engine, answers, self.values, scores, bounds, found, iterations, interrupted, **more)


def gaps(scores: Floats, bounds: Floats) -> Floats:
    """By how much scores are below their bounds, zero where that is rounding; infinity where nothing was found."""
    with np.errstate(invalid="ignore"):
        gap = np.where(bounds == scores, 0.0, bounds - scores)
    return np.where(gap <= rounding(scores), 0.0, gap)


def rounding(scores: Floats) -> Floats:
    """Differences of scores that mean nothing."""
    return CLOSE[0] + CLOSE[1] * np.where(np.isfinite(scores), np.abs(scores), 0.0)


def named(wiring: Wiring, coupling: int, factor: int, numbers: Integers | None = None) -> str:
    """What messages call a factor; numbers: what its variables are called, if not by their own."""
    own = wiring.couplings[coupling]
    variables = [int(argument[factor]) for argument in own.arguments]
    shown = [str(v) for v in (variables if numbers is None else numbers[variables].tolist())]
    if len(shown) > NAMED:
        shown = [*shown[: NAMED - 1], f"... {shown[-1]}"]
    return f"{own.factor.name} over variables {', '.join(shown)}"


def contradicting(names: list[str]) -> str:
    """What is said of couplings that cannot all be met."""
    return f"these couplings contradict each other or the structures: {'; '.join(names)}"


def unmet(wiring: Wiring, values: Integers, components: Booleans) -> dict[int, str]:
    """Which couplings forbid the values of some components, in words: the first, and how many there are."""
    found: dict[int, list[str]] = {int(c): [] for c in np.flatnonzero(components)}
    if found:
        for i, (own, coupling) in enumerate(zip(wiring.of_coupling, wiring.couplings, strict=True)):
            joint = np.stack([values[argument] for argument in coupling.arguments], axis=1)
            for f in np.flatnonzero(components[own] & (coupling.factor.scores(joint) == -np.inf)).tolist():
                found[int(own[f])].append(named(wiring, i, f))
    said = {c: f" and {len(names) - 1} more" if len(names) > 1 else "" for c, names in found.items()}
    return {
        c: f"the best that was found breaks {names[0]}{said[c]}; its couplings may contradict each other"
        if names
        else "its structures forbid the best that was found"
        for c, names in found.items()
    }


def alone(graph: Graph, engine: str) -> Result:
    """The best answers of structures that know nothing of each other, where an engine had no time for more."""
    wiring = check(graph)
    incumbent = Incumbent(wiring)
    answers, values, _ = wiring.best(np.zeros(wiring.states))
    incumbent.offer(values, wiring.scores(values, answers))
    return replace(incumbent.result(engine, np.zeros(wiring.components, bool), 0, True), graph=graph)


def _check_owner(own: Graph | None, other: Graph, largest: int, count: int) -> None:
    if own is not None and own is not other:
        raise InputError("this is of another graph than the one that was answered")
    if largest >= count:
        raise InputError("this came to the graph after it was answered: answer it again")


def check(graph: Graph) -> Wiring:
    """The wiring of a graph that has something in it."""
    if not graph.structures and not graph.groups:
        raise InputError("the graph is empty: add a structure, or variables")
    wiring = graph.wiring
    for i, structure in enumerate(wiring.structures):
        lost = np.flatnonzero(~structure.possible())
        if lost.size:
            raise InputError(f"node {i}, sentence {int(lost[0])}: its potentials forbid every answer")
    for group in wiring.groups:
        if group.potentials is not None and (group.potentials.max(axis=1) == -np.inf).any():
            raise InputError("the potentials of a free variable forbid all its values")
    return wiring


def improved(wiring: Wiring, incumbent: Incumbent, rounds: int = 3) -> None:
    """Climb: every structure answers to what the others have said last, kept where a component gains by it."""
    for _ in range(rounds):
        before = incumbent.scores.copy()
        answers, values, _ = wiring.best(np.maximum(wiring.given(incumbent.values), -HARD))
        incumbent.offer(values, wiring.scores(values, answers))
        if not (incumbent.scores > before).any():
            return
