"""A hidden layer between features and scores (Wang 2014, chapter 4; Collobert et al. 2011):

    hidden[t, j] = activation(sum over features f of token t of value * inner[f, j])
    score[t, y]  = sum over j of hidden[t, j] * out[j, y] + out[H, y] + what features score without it

Features of the hidden layer are those of any scorer, so they stay factored: a type is looked at once in a pass.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from dovetail.features.compile.design import Design
from dovetail.scorers.contract import Floats, Items
from dovetail.scorers.linear import LinearScorer
from dovetail.sparse import SparseGradient
from dovetail.threads import run_shards

BLOCK = 4096  # tokens at a time: few enough for the cache, and the same for any number of threads


class Activation(NamedTuple):
    """A function of sums, in place, and its derivative from what it gave."""

    apply: Callable[[Floats], object]
    slope: Callable[[Floats], Floats | float]


ACTIVATIONS = {
    "tanh": Activation(lambda x: np.tanh(x, out=x), lambda h: 1.0 - h * h),
    "relu": Activation(lambda x: np.maximum(x, 0.0, out=x), lambda h: (h > 0.0).astype(np.float64)),
    "linear": Activation(lambda x: x, lambda h: 1.0),
}


def blocks(tokens: int) -> list[slice]:
    """Tokens in pieces."""
    return [slice(low, min(low + BLOCK, tokens)) for low in range(0, tokens, BLOCK)]


def raised(hidden: Floats, out: Floats, scores: Floats, activation: str, threads: int = 1) -> None:
    """From sums [tokens, H], which become values, what they add to scores [tokens, L]. out: [H + 1, L]."""
    apply = ACTIVATIONS[activation].apply

    def work(some: slice) -> None:
        apply(hidden[some])
        scores[some] += hidden[some] @ out[:-1]
        scores[some] += out[-1]

    run_shards(work, blocks(len(hidden)), threads)


def lowered(hidden: Floats, out: Floats, gradient: Floats, activation: str, threads: int = 1) -> Floats:
    """From the gradient of scores [tokens, L] that of ``out`` [H + 1, L]; values [tokens, H] become that of sums."""
    slope = ACTIVATIONS[activation].slope

    def work(some: slice) -> Floats:
        own = np.empty_like(out)
        np.matmul(hidden[some].T, gradient[some], out=own[:-1])
        own[-1] = gradient[some].sum(axis=0)
        along = slope(hidden[some])
        np.matmul(gradient[some], out[:-1].T, out=hidden[some])
        hidden[some] *= along
        return own

    total = np.zeros_like(out)
    for own in run_shards(work, blocks(len(hidden)), threads):
        total += own
    return total


@dataclass
class HiddenScorer:
    """The scores of one part by way of a hidden layer, and straight from features where there is a ``linear`` scorer.

    Parameters: those of ``linear``, of ``inner`` (the hidden layer, whose outputs are its H units), then ``out`` [H +
    1, L], whose last row is for a unit that is always one.
    """

    linear: LinearScorer | None
    inner: LinearScorer
    outputs: int
    activation: str
    _scores: Floats | None = field(default=None, init=False, repr=False)
    _latest: tuple[Floats, Floats] = field(init=False, repr=False)

    @property
    def design(self) -> Design:
        """The features that the layer sees."""
        return self.inner.design

    @property
    def size(self) -> int:
        """The number of hidden units."""
        return self.inner.layout.outputs

    @property
    def cuts(self) -> tuple[int, int, int]:
        """Where the parameters of ``linear``, of ``inner`` and of ``out`` end."""
        first = 0 if self.linear is None else self.linear.parameters
        second = first + self.inner.parameters
        return first, second, second + (self.size + 1) * self.outputs

    @property
    def parameters(self) -> int:
        """The number of parameters."""
        return self.cuts[2]

    @property
    def scale(self) -> Floats:
        """The value of each parameter's feature, beyond what the design says, [parameters]."""
        first = np.empty(0) if self.linear is None else self.linear.scale
        return np.concatenate([first, self.inner.scale, np.ones((self.size + 1) * self.outputs)])

    def firing(self) -> Floats:
        """At how many tokens the feature of each parameter fires, [parameters]; hidden units do everywhere."""
        first = np.empty(0) if self.linear is None else self.linear.firing()
        everywhere = np.full((self.size + 1) * self.outputs, float(self.inner.design.tokens))
        return np.concatenate([first, self.inner.firing(), everywhere])

    def forward(self, weight: Floats) -> Floats:
        """Potentials [tokens, outputs] under ``weight`` [parameters]; the array is used again by the next call."""
        first, second, _ = self.cuts
        if self.linear is not None:
            scores = self.linear.forward(weight[:first])
        else:
            if self._scores is None:
                self._scores = np.empty((self.inner.design.tokens, self.outputs))
            scores = self._scores
            scores[:] = 0.0
        hidden = self.inner.forward(weight[first:second])
        self._raise(hidden, weight[second:], scores, self.inner.threads)
        return scores

    def backward(self, gradient: Floats, out: Floats) -> None:
        """Write to ``out`` [parameters] the gradient from that of the potentials, [tokens, outputs]."""
        first, second, _ = self.cuts
        if self.linear is not None:
            self.linear.backward(gradient, out[:first])
        hidden, table = self._latest
        out[second:] = lowered(hidden, table, gradient, self.activation, self.inner.threads).ravel()
        self.inner.backward(hidden, out[first:second])

    def _raise(self, hidden: Floats, out: Floats, scores: Floats, threads: int = 1) -> None:
        table = out.reshape(self.size + 1, self.outputs).copy()
        raised(hidden, table, scores, self.activation, threads)
        self._latest = hidden, table

    # Online training, as of a linear scorer.

    def touch(self, tokens: Items, base: int, sink: SparseGradient) -> None:
        """List the parameters of some tokens."""
        first, second, last = self.cuts
        if self.linear is not None:
            self.linear.touch(tokens, base, sink)
        self.inner.touch(tokens, base + first, sink)
        sink.items[sink.count : sink.count + last - second] = np.arange(base + second, base + last)
        sink.count += last - second

    def forward_some(self, tokens: Items, base: int, weight: Floats) -> Floats:
        """Potentials of some tokens, [len(tokens), outputs]."""
        first, second, last = self.cuts
        if self.linear is not None:
            scores = self.linear.forward_some(tokens, base, weight)
        else:
            scores = np.zeros((len(tokens), self.outputs))
        hidden = self.inner.forward_some(tokens, base + first, weight)
        self._raise(hidden, weight[base + second : base + last], scores)
        return scores

    def backward_some(self, tokens: Items, base: int, gradient: Floats, out: Floats) -> None:
        """Add the gradient of the potentials that ``forward_some`` gave last to that of all parameters, out."""
        first, second, last = self.cuts
        if self.linear is not None:
            self.linear.backward_some(tokens, base, gradient, out)
        hidden, table = self._latest
        out[base + second : base + last] += lowered(hidden, table, gradient, self.activation).ravel()
        self.inner.backward_some(tokens, base + first, hidden, out)
