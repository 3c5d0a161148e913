"""What every move of exchange clustering raises, counted from the words and their classes alone."""

from __future__ import annotations

from math import lgamma

import numpy as np
from numpy.typing import NDArray

from dovetail.clusters.counts import BigramCounts
from dovetail.clusters.exchange import Exchange
from dovetail.clusters.exchange_kernels import Spelling
from dovetail.clusters.information import class_pairs
from dovetail.clusters.morphology import STRENGTH


def objective(run: Exchange) -> float:
    """The objective of a run as it stands, in nats."""
    bigram = class_bigram_objective(run.text, run.counts.classes, len(run.counts.sizes))
    if run.spelling.weight == 0:
        return bigram
    return bigram + run.spelling.weight * spelling_log_likelihood(run.spelling, run.counts.classes)


def class_bigram_objective(counts: BigramCounts, classes: NDArray[np.int32], number: int) -> float:
    """The bigram part of the objective, in nats: log-likelihood of the text less what no clustering changes."""
    pairs = class_pairs(counts, classes, number).astype(np.float64)

    def f(x: NDArray[np.float64]) -> float:
        return float((x * np.log(np.maximum(x, 1.0))).sum())

    return f(pairs) - f(pairs.sum(axis=0)) - f(pairs.sum(axis=1))


def spelling_log_likelihood(model: Spelling, classes: NDArray[np.int32]) -> float:
    """log P of the classes [words] and the spelling, less what no clustering changes, in nats; unweighted.

    It is counted from the words alone, not from the counts that a run keeps.
    """
    sizes = np.bincount(classes).astype(np.float64)
    total = float((sizes * np.log(np.maximum(sizes, 1.0))).sum())
    events, contexts = model.events, model.contexts
    item, seen = _seen(events.start, events.item, events.times, classes)
    total += sum(lgamma(n + p) - lgamma(p) for n, p in zip(seen.tolist(), events.prior[item].tolist(), strict=True))
    _, seen = _seen(contexts.start, contexts.item, contexts.times, classes)
    return total - sum(lgamma(n + STRENGTH) - lgamma(STRENGTH) for n in seen.tolist())


def _seen(
    start: NDArray[np.int64], item: NDArray[np.int32], times: NDArray[np.int32], classes: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The cells of the table of item by class that are not 0: their items and counts."""
    width = int(classes.max()) + 1
    cells = item.astype(np.int64) * width + np.repeat(classes, np.diff(start))
    distinct, where = np.unique(cells, return_inverse=True)
    return distinct // width, np.bincount(where, times, len(distinct)).astype(np.int64)
