"""Losses: from potentials and the right answer to a number and the derivative of the potentials.

Each works with any structure. Where answers are only partly known, ``allowed`` says which parts agree with what is
known. Help shows the names in ``LOSSES``, so numpy must not be imported here.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import sub
from typing import Any

Batch = Any  # a Structure
Allowed = Any  # what ``restrict`` takes, or None
Loss = Callable[[Any, Any, Any], tuple[float, Any]]
"""A number and the slope of the potentials, from a batch, the right answers, and what is allowed where they are not
known."""


def likelihood(batch: Batch, gold: Any, allowed: Allowed = None) -> tuple[float, Any]:
    """``log Z - score(gold)``; with partly known labels ``log Z - log Z(allowed)``."""
    if allowed is not None:
        from dovetail.structures.contract import mapped

        known, inside = batch.restrict(allowed).log_partition_and_marginals()
        log_z, marginals = batch.log_partition_and_marginals()
        return float(log_z.sum() - known.sum()), mapped(sub, marginals, batch.narrowed(inside))
    gold_score = batch.score(gold)
    log_z, marginals = batch.log_partition_and_marginals(in_place=True)
    return float(log_z.sum() - gold_score.sum()), batch.subtract(marginals, gold)


def perceptron(batch: Batch, gold: Any, allowed: Allowed = None) -> tuple[float, Any]:
    """``max score - score(gold)``."""
    if allowed is not None:
        gold = batch.restrict(allowed).best()
    best = batch.best()
    value = float(batch.score(best).sum() - batch.score(gold).sum())
    return value, batch.subtract(batch.indicator(best), gold)


def softmax_margin(batch: Batch, gold: Any, allowed: Allowed = None, cost: float = 1.0) -> tuple[float, Any]:
    """``log sum exp(score + cost * wrong labels) - score(gold)`` (Gimpel and Smith): likelihood with a margin."""
    if allowed is not None:
        gold = batch.restrict(allowed).best()
    gold_score, costly = batch.score(gold), batch.with_cost(gold, cost)
    log_z, marginals = costly.log_partition_and_marginals(in_place=True)
    return float(log_z.sum() - gold_score.sum()), costly.subtract(marginals, gold)


LOSSES: dict[str, Loss] = {"likelihood": likelihood, "perceptron": perceptron, "softmax-margin": softmax_margin}
ROUGH = {"perceptron"}
"""Losses with kinks, which L-BFGS cannot follow."""
DISTANCES = ("squared", "relative-entropy")
"""How far probabilities are from what is expected of them: see ``learning.expectations``."""
