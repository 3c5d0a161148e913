"""Training a pool of linear experts, and making one model of several.

A product of log-linear models of one structure is log-linear, with the weighted sum of their weights: a pool of linear
experts, once trained, is one ordinary model, as fast as any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dovetail.errors import DovetailError
from dovetail.features.algebra.templates import Template
from dovetail.features.compile.design import Compiler
from dovetail.features.compile.experts import at_random, everyone, in_order, template_of, with_bias
from dovetail.features.compile.index import Collector
from dovetail.learning.losses import LOSSES
from dovetail.learning.monitor import Monitor
from dovetail.learning.objective import Objective, Share
from dovetail.learning.optimisers.lbfgs import LBFGS
from dovetail.learning.optimisers.online import SGD
from dovetail.learning.pools import Copies
from dovetail.learning.priors import Elitist, Prior
from dovetail.models.plans import PoolPlan
from dovetail.scorers.compiled import Apart
from dovetail.scorers.contract import Items, Scorer
from dovetail.scorers.pooled import PooledScorer
from dovetail.structures.contract import Floats, Integers, mapped

DONE = "pool.weights"  # of the experts that are trained, in checkpoints
NEAR = 0.1  # elitist experts start at random, no further from zero than this, so that they differ
LEAN = 5.0  # how strongly learnt mixing weights lean to uniform ones: a standard deviation of 0.3
ASIDE = 5  # one sentence of so many is held out to learn mixing weights on, where there is no dev data


def membership(plan: PoolPlan, seed: int) -> Apart | None:
    """The experts that have each feature, a bit each; elitist experts have all."""
    if plan.kind == "elitist":
        return None
    n = plan.experts

    def members(compiler: Compiler, templates: Sequence[Template], collector: Collector) -> Any:
        if plan.groups is None:
            keys = collector.keys
            own = at_random(keys, n, seed) if plan.kind == "random" else in_order(len(keys), n)
            return with_bias(own, templates, collector, n)
        bits = [sum(1 << g for g in experts) for experts in plan.of_templates(templates)]
        table = np.array([*bits, int(everyone(n))], dtype=np.uint64)  # the last entry serves -1
        return table[template_of(compiler, templates, collector)]

    return members


@dataclass
class Pooling:
    """A pool in training: ``mixing`` [experts] are its weights, if they are known before."""

    plan: PoolPlan
    estimator: Any
    training: Any
    monitor: Monitor
    doing: Callable[[str], None]
    mixing: Floats | None = None

    def minimise(self, start: Floats, saved: Any) -> Floats:
        """The weights of the pool as one model, [parameters]; ``saved`` is a checkpoint, if one is kept."""
        if type(self.training.prior) is not Prior:
            raise DovetailError(f"pool: experts take L2 and L1, not a {type(self.training.prior).__name__}")
        state = saved.load() if saved is not None else None
        if self.plan.kind == "elitist":
            return self._rivals(start, saved, state)
        done = [] if state is None else list(state[DONE])
        if state is not None:
            del state[DONE]
        while len(done) < self.plan.experts:
            number = len(done)
            self.doing(f"training expert {number + 1} of {self.plan.experts}")
            done.append(self._expert(number, start, saved, state, done))
            state = None
            if self.monitor.reason == "interrupted":
                break
        return self._mixed(np.array(done))

    def _expert(self, number: int, start: Floats, saved: Any, state: Any, done: list[Floats]) -> Floats:
        """The weights of one expert trained by itself, zero where it has none."""
        training, estimator, score = self.training, self.estimator, self.monitor.dev_score
        share = training.share_of(number)
        whole = np.zeros(training.objective.parameters)

        def spread(own: Floats) -> Floats:
            whole[share] = own
            return whole

        monitor = replace(self.monitor, dev_score=None if score is None else lambda own: score(spread(own)))
        if saved is not None:
            shape = (len(done), len(whole))
            monitor.save = lambda found: saved.save(found | {DONE: np.array(done).reshape(shape)})
        if state is not None:
            monitor.restore(state)
        optimiser = estimator._optimiser(training)
        hints = {"curvature": training.curvature()[share]} if isinstance(optimiser, LBFGS) else {}
        own = Share(training.objective, share)
        found = optimiser.minimise(own, training.prior.of_some(share), start[share], monitor, state, **hints)
        self.monitor.reason = monitor.reason
        return spread(found).copy()

    def _rivals(self, start: Floats, saved: Any, state: Any) -> Floats:
        """Experts trained together, each with all features, under a penalty that lets one of them have each."""
        training, estimator, n = self.training, self.estimator, self.plan.experts
        copies = Copies(training.objective, np.full(n, 1.0 / n))
        plain, rng = training.prior, np.random.default_rng(estimator.seed)
        # Where experts agree in sign, so many small weights have the penalties of their sum.
        scale, exempt = (None if one is None else np.tile(one, n) for one in (plain.scale, plain.exempt))
        prior = Elitist(0.0, plain.l1 / n, scale, exempt, plain.l2 / n**2, n, self.plan.exact)
        first = np.tile(start, n) + rng.uniform(-NEAR, NEAR, copies.parameters)
        monitor, score = self.monitor, self.monitor.dev_score
        if score is not None:
            monitor.dev_score = lambda every: score(copies.pool(every))
        if saved is not None:
            monitor.save = saved.save
        if state is not None:
            monitor.restore(state)
        optimiser = estimator._optimiser(training)
        if isinstance(optimiser, LBFGS):
            settings = {name: getattr(estimator, name) for name in ("batch", "gain", "seed")}
            given = {name: value for name, value in settings.items() if value is not None}
            optimiser = SGD(limit=estimator.iterations or SGD.limit, **given)
            monitor.dev_every = 1
        if type(optimiser) is SGD:  # a copy has a share of the slope, and all of them together as much of the step
            optimiser = replace(optimiser, gain=optimiser.gain * n)
        self.doing(f"training {n} experts together")
        return copies.pool(optimiser.minimise(copies, prior, first, monitor, state))

    def _mixed(self, weights: Floats) -> Floats:
        """The weighted sum of the weights of experts, [experts, parameters]."""
        count, estimator = len(weights), self.estimator
        mixing = np.full(count, 1.0 / count)
        if estimator.pool_weights == "learnt" and count == self.plan.experts:
            held_out = self.training.aside
            if held_out:
                mixing = learnt_mixing(estimator, self.training, weights, held_out)
            elif self.mixing is not None:
                mixing = self.mixing
        names = self.plan.names()[:count]
        estimator.card_["pool"] = {name: round(float(share), 4) for name, share in zip(names, mixing, strict=True)}
        found: Floats = mixing @ weights
        return found


def learnt_mixing(estimator: Any, training: Any, weights: Floats, held_out: list[Any]) -> Floats:
    """The mixing weights [experts] under which the answers to held-out sentences are most likely.

    ``weights`` [experts, parameters]. Sentences whose answers the model cannot give are left out.
    """
    seen = (training.dev(own) for own in weights)  # one by one: the next has the space of the last
    return most_likely_mixing(training.model, seen, *estimator._answered(held_out))


class Given(Scorer[Any]):
    """Structures with their potentials, as a scorer without parameters."""

    def __init__(self, structures: Any) -> None:
        self.structures, self.items, self.parameters = structures, len(structures), 0

    def batch(self, weight: Floats, which: Items | None = None) -> Any:
        """All of them."""
        return self.structures

    def backward(self, slope: Any, out: Floats, which: Items | None = None) -> None:
        """Nothing is learnt."""


def most_likely_mixing(model: Any, seen: Iterable[Any], sentences: Sequence[Any], answers: Sequence[Any]) -> Floats:
    """The mixing weights [experts] of fixed experts under which these answers are most likely; none is negative.

    ``seen`` has the structures of the sentences as each expert sees them. Experts that say nearly the same can be
    weighed in many ways that are as likely: a penalty leans to uniform ones.
    """
    from scipy.optimize import minimize

    known = [model.known(each.with_potentials(mapped(np.array, each.potentials)), sentences, answers) for each in seen]
    if not all(known):
        return np.full(len(known), 1.0 / len(known))
    experts, right = [Given(structures) for [(structures, _)] in known], known[0][0][1]
    pool = PooledScorer(experts, None, [np.zeros(0)] * len(experts), mixes=True)
    objective = Objective(pool, lambda which: (right, None), LOSSES["likelihood"])
    uniform = pool.start()

    def loss(mixing: Floats) -> tuple[float, Floats]:
        value, slope = objective(mixing)
        off = mixing - uniform
        return value + LEAN * float(off @ off), slope + 2.0 * LEAN * off

    found = minimize(loss, uniform, jac=True, bounds=[(0.0, None)] * len(uniform), method="L-BFGS-B")
    mixing: Floats = found.x
    return mixing


def bits_of(numbers: Any, expert: int) -> Integers:
    """Where the bit of an expert is set."""
    return np.flatnonzero(numbers & np.uint64(1 << expert))
