"""Logarithmic opinion pools: the potentials of several scorers of the same sentences, weighed and added up.

A product of experts, each raised to its mixing weight, has for its log-potentials the weighted sum of theirs:

    P(y | x)  is proportional to  product over i of P_i(y | x) ** mixing[i]

So a pool is a scorer like any other, whatever the structure and whatever the experts are, and trains, decodes and is
scored as one. (Where all experts are linear in features, so is the pool: ``models/pools.py`` makes one model of them.)
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from dovetail.scorers.contract import Floats, Items, Scorer
from dovetail.sparse import SparseGradient
from dovetail.structures.contract import mapped, tables


@dataclass
class PooledScorer(Scorer[Any]):
    """Experts over the same sentences, whose structures have potentials of the same shapes.

    Its parameters are those of the experts, one after another, unless ``fixed`` gives the weights of each; and then,
    if ``mixes``, the mixing weights [experts]; else these are ``mixing``, all equal and one in sum by default. What one
    expert forbids the pool forbids, whatever its mixing weight is.

    Experts must be objects of their own, since each remembers what it scored last.
    """

    experts: Sequence[Scorer[Any]]
    mixing: Floats | None = None
    fixed: Sequence[Floats] | None = None
    mixes: bool = False
    _latest: Any = field(default_factory=threading.local, init=False, repr=False)
    _scored: list[Any] = field(default_factory=list, init=False, repr=False)

    def __post_init__(self) -> None:
        sizes = {expert.items for expert in self.experts}
        if len(sizes) != 1:
            raise ValueError("a pool needs experts, and all of them over the same sentences")
        if len({id(expert) for expert in self.experts}) < len(self.experts):
            raise ValueError("the experts of a pool are different objects: each remembers what it scored last")
        self.items, self.threads = sizes.pop(), self.experts[0].threads
        self.one_by_one = any(expert.one_by_one for expert in self.experts)
        if self.mixing is None:
            self.mixing = np.full(len(self.experts), 1.0 / len(self.experts))
        counts = [0 if self.fixed is not None else expert.parameters for expert in self.experts]
        self._begin = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.parameters = int(self._begin[-1]) + (len(self.experts) if self.mixes else 0)

    def weights_of(self, number: int, weight: Floats) -> Floats:
        """The weights of one expert, out of those of the pool."""
        if self.fixed is not None:
            return self.fixed[number]
        return weight[self._begin[number] : self._begin[number + 1]]

    def mixing_of(self, weight: Floats) -> Floats:
        """The mixing weights, [experts]."""
        assert self.mixing is not None
        return weight[self._begin[-1] :] if self.mixes else self.mixing

    def start(self, weights: Sequence[Floats] | None = None) -> Floats:
        """The parameters of the pool for these weights of its experts, if they are not fixed: zeros by default."""
        assert self.mixing is not None
        own = np.zeros(self._begin[-1]) if weights is None or self.fixed is not None else np.concatenate(weights)
        return np.concatenate([own, self.mixing]) if self.mixes else own

    def batch(self, weight: Floats, which: Items | None = None) -> Any:
        """The structures of all sentences, or of some, with their potentials under ``weight`` [parameters]."""
        first, found = self._potentials(weight, which)
        mixing = self.mixing_of(weight)
        self._latest.mixing, self._latest.found = mixing.copy(), found if self.mixes else None
        return first.with_potentials(mapped(lambda *each: pooled(each, mixing), *found))

    def _potentials(self, weight: Floats, which: Items | None) -> tuple[Any, list[Any]]:
        """The structures as the first expert sees them, and the potentials that each expert gives them.

        Those of fixed experts for all sentences are made once.
        """
        if which is None and self._scored:
            return self._scored[0], self._scored[1]
        batches = [expert.batch(self.weights_of(i, weight), which) for i, expert in enumerate(self.experts)]
        found = [each.potentials for each in batches]
        if self.fixed is not None and which is None:
            self._scored = [batches[0], [mapped(np.array, each) for each in found]]
        return batches[0], found

    def backward(self, slope: Any, out: Floats, which: Items | None = None) -> None:
        """Add to ``out`` [parameters] the gradient, from the slope of the potentials that ``batch`` gave last."""
        mixing: Floats = self._latest.mixing
        if self.mixes:
            out[self._begin[-1] :] += [product(slope, found) for found in self._latest.found]
        if self.fixed is None:
            for i, expert in enumerate(self.experts):
                expert.backward(mapped(partial(np.multiply, mixing[i]), slope), self.weights_of(i, out), which)

    def touch(self, which: Items, sink: SparseGradient) -> None:
        """List the parameters that some sentences use; mixing weights are always among them."""
        if self.fixed is not None:
            sink.list_all()
            return
        for i, expert in enumerate(self.experts):
            own = SparseGradient.of_size(expert.parameters)
            expert.touch(which, own)
            listed = np.arange(expert.parameters) if own.is_whole else own.items[: own.count]
            sink.items[sink.count : sink.count + len(listed)] = listed + self._begin[i]
            sink.count += len(listed)
        rest = self.parameters - int(self._begin[-1])
        sink.items[sink.count : sink.count + rest] = np.arange(self._begin[-1], self.parameters)
        sink.count += rest

    def work(self, item: int) -> int:
        """That of all experts."""
        return sum(expert.work(item) for expert in self.experts)


def pooled(each: Sequence[Floats], mixing: Floats) -> Floats:
    """One table of potentials: what some expert forbids is forbidden, and the rest is a weighted sum.

    >>> pooled([np.array([1.0, -np.inf]), np.array([3.0, 0.0])], np.array([0.5, 0.5]))
    array([  2., -inf])
    """
    total = np.zeros_like(each[0], dtype=np.float64)
    for part, share in zip(each, mixing.tolist(), strict=True):
        with np.errstate(invalid="ignore"):
            total += part * share if share else 0.0
    for part in each:
        forbidden = part == -np.inf
        if forbidden.any():
            total[forbidden] = -np.inf
    return total


def product(slope: Any, found: Any) -> float:
    """The sum of all products of slopes and potentials; what is forbidden has no slope."""
    pairs = zip(tables(slope), tables(found), strict=True)
    return float(sum(np.sum(np.where(part == -np.inf, 0.0, part) * down) for down, part in pairs))
