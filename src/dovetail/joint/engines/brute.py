"""All answers to small graphs, written out: what the other engines are compared with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from dovetail.errors import InputError
from dovetail.joint.graph import Graph
from dovetail.joint.result import Beliefs, Result, check, contradicting, named
from dovetail.joint.wiring import Wiring
from dovetail.structures.contract import Floats, Integers

MOST = 200_000
"""Joint answers of a component at most."""


def solve(graph: Graph) -> Result:
    """The best answers of all; after Ctrl-C, those of the structures alone where these had not been compared yet."""
    wiring = check(graph)
    _, values, _ = wiring.best(np.zeros(wiring.states))
    scores, conflicts = wiring.scores(values), {}
    done = np.zeros(wiring.components, bool)
    try:
        for c in range(wiring.components):
            own, joint, score = _enumerated(wiring, c)
            coupled = dict(_coupled(wiring, c, joint, own))
            total = score + sum(coupled.values())
            values[own], scores[c] = joint[total.argmax()], total.max()
            if scores[c] == -np.inf:
                conflicts[c] = _conflict(wiring, score, coupled)
            done[c] = True
    except KeyboardInterrupt:
        pass
    answers, bounds = wiring.with_values(values), np.where(done, scores, np.inf)
    return Result("brute", answers, values, scores, bounds, done, 1, not done.all(), conflicts=conflicts)


def marginals(graph: Graph) -> Beliefs:
    """The exact probabilities."""
    wiring = check(graph)
    probability, log_z = np.zeros(wiring.states), np.zeros(wiring.components)
    for c in range(wiring.components):
        own, joint, score = _enumerated(wiring, c, summed=True)
        score = score + sum(dict(_coupled(wiring, c, joint, own)).values())
        log_z[c] = np.logaddexp.reduce(score)
        weight = np.exp(score - log_z[c]) if log_z[c] > -np.inf else np.zeros(len(score))
        for place, column in zip(wiring.ptr[own], joint.T, strict=True):
            np.add.at(probability, place + column, weight)
    done = np.ones(wiring.components, bool)
    return Beliefs("brute", wiring, probability, [], log_z, done, done, 1)


def _enumerated(wiring: Wiring, component: int, summed: bool = False) -> tuple[Integers, Integers, Floats]:
    """The variables of a component, all their joint values [joint, variables], and what structures give them [joint].

    A sentence whose answers give its variables the same values has them once: the best, or the log of their sum.
    """
    blocks = [_block(wiring, int(b), summed) for b in np.flatnonzero(wiring.component == component)]
    size = np.prod([float(len(scores)) for _, _, scores in blocks])
    if size > MOST:
        raise InputError(f"{size:.0f} joint answers are too many to write out; at most {MOST} are possible")
    own = np.concatenate([variables for variables, _, _ in blocks])
    joint, scores = [], []
    for choice in product(*(range(len(scores)) for _, _, scores in blocks)):
        joint.append(np.concatenate([values[i] for i, (_, values, _) in zip(choice, blocks, strict=True)]))
        scores.append(sum(score[i] for i, (_, _, score) in zip(choice, blocks, strict=True)))
    return own, np.array(joint).reshape(len(joint), len(own)), np.array(scores, np.float64)


def _coupled(
    wiring: Wiring, component: int, joint: Integers, own: Integers
) -> Iterator[tuple[tuple[int, int], Floats]]:
    """Each factor of a component, by coupling and number, with what it says of joint values: [joint]."""
    every = np.zeros((len(joint), len(wiring.sizes)), np.int64)
    every[:, own] = joint
    for i, (places, coupling) in enumerate(zip(wiring.of_coupling, wiring.couplings, strict=True)):
        for f in np.flatnonzero(places == component).tolist():
            values = np.stack([every[:, argument[f]] for argument in coupling.arguments], axis=1)
            yield (i, f), coupling.factor.some(np.full(len(values), f)).scores(values)


def _conflict(wiring: Wiring, score: Floats, coupled: dict[tuple[int, int], Floats]) -> str:
    """Couplings that together forbid everything: each that is not needed for it is left out."""
    hard = {factor: own == -np.inf for factor, own in coupled.items() if (own == -np.inf).any()}
    for factor in list(hard):
        others = [own for other, own in hard.items() if other != factor]
        if np.any([score == -np.inf, *others], axis=0).all():
            del hard[factor]
    return contradicting([named(wiring, i, f) for i, f in hard])


def _block(wiring: Wiring, block: int, summed: bool) -> tuple[Integers, Integers, Floats]:
    """The variables of a block, the values that some answer gives them, and the best score, or the log sum, of each."""
    variables = np.flatnonzero(wiring.block_of == block)
    if block >= wiring.block_ptr[-1]:
        group = next(g for g in wiring.groups if g.first <= variables[0] < g.first + g.count)
        assert group.potentials is not None
        scores = group.potentials[variables[0] - group.first]
        return variables, np.arange(len(scores))[:, None], scores
    node = int(np.searchsorted(wiring.block_ptr, block, "right")) - 1
    sentence = block - int(wiring.block_ptr[node])
    structure = wiring.structures[node]
    k = 64
    while True:
        listed, scores = structure.kbest(k)
        if scores[sentence, -1] == -np.inf or k >= MOST:
            break
        k *= 4
    table: dict[tuple[int, ...], list[float]] = {}
    for rank in range(int((scores[sentence] > -np.inf).sum())):
        values = _values(wiring, node, listed[rank])[variables]
        table.setdefault(tuple(values.tolist()), []).append(float(scores[sentence, rank]))
    joined = [float(np.logaddexp.reduce(each)) if summed else max(each) for each in table.values()]
    return variables, np.array(list(table), np.int64).reshape(len(table), len(variables)), np.array(joined)


def _values(wiring: Wiring, node: int, answer: Any) -> Integers:
    """The values of all variables of one structure in its answer."""
    answers = [answer if i == node else s.best() for i, s in enumerate(wiring.structures)]
    return wiring.values_of(answers)
