"""Agreement within a document: the same name tends to have the same type wherever it comes.

A chain sees one sentence. Where a word written with a capital comes several times in a document, the model's own
probabilities at its other places are evidence too. With m(u, k) the probability of type k (or O) at token u, and G(t)
the other tokens of t's word in the document, each label y of type k(y) gets

    unary[t, y] + strength * log max(floor, mean over u in G(t) of m(u, k(y)))

in a second pass. The answers, and all probabilities, are those of the chain with these potentials.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dovetail.features.compile.repeats import Repeats
from dovetail.models.tagger.labels import LabelSet
from dovetail.structures.chain import ChainBatch

STRENGTHS = (0.0, 0.2, 0.4, 0.6, 0.8)  # of agreement, of which dev chooses
FLOOR = 0.01  # so that one sure mistake does not rule a type out everywhere


def agreed(chains: ChainBatch, found: Repeats, labels: LabelSet, strengths: Sequence[float]) -> list[ChainBatch]:
    """The chains with potentials that lean towards agreement, one batch for each strength."""
    if len(found.ptr) == 1:
        return [chains] * len(strengths)
    type_names = [name if labels.scheme is None or name == "O" else name.partition("-")[2] for name in labels.names]
    types, type_of = np.unique(type_names, return_inverse=True)  # O is a type too
    marginal = chains.marginals().unary[found.tokens]
    by_type = np.stack([marginal[:, type_of == k].sum(axis=1) for k in range(len(types))], axis=1)
    total = np.add.reduceat(by_type, found.ptr[:-1], axis=0)
    size = np.diff(found.ptr)
    group = np.repeat(np.arange(len(size)), size)
    others = (total[group] - by_type) / (size[group] - 1)[:, None]
    evidence = np.log(np.maximum(others, FLOOR))[:, type_of]
    result = []
    for strength in strengths:
        unary = chains.potentials.unary.copy()
        unary[found.tokens] += strength * evidence
        result.append(replace(chains, potentials=chains.potentials._replace(unary=unary)))
    return result
