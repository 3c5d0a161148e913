"""Parts of a model that have a hidden layer: compiled from a training corpus, and as models store them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.templates import Bias, Template
from dovetail.features.compile.design import Compiler
from dovetail.features.compile.index import FeatureIndex
from dovetail.scorers.compiled import CompiledPart, PartSettings
from dovetail.scorers.contract import Floats
from dovetail.scorers.hidden import ACTIVATIONS, HiddenScorer, raised
from dovetail.scorers.weights import Weights

LAYERED = frozenset(("node", "start", "end", "inside", "word", "tag"))
"""The parts that may have a hidden layer: those with a few outputs at each token."""
VECTORS = "vectors"
RANGE = 0.1  # weights start within it, either side of zero (Wang 2014, section 4.5)
SUFFIX = "-hidden"
"""What is added to the name of a part, for the names of arrays of its hidden layer."""


@dataclass(frozen=True)
class Hidden:
    """A hidden layer: how many units, their activation, which features they see, and the seed of their weights.

    ``inputs``: ``all`` features, ``vectors`` of words alone, or all others, ``discrete``; those that the layer does not
    see are scored without it.
    """

    size: int
    activation: str = "tanh"
    inputs: str = "all"
    seed: int = 1

    def split(self, templates: Sequence[Template]) -> tuple[list[Template], list[Template]]:
        """The templates that are scored straight, and those of the layer, a bias among them."""
        seen = [t for t in templates if self.inputs == "all" or (self.inputs == VECTORS) == of_vectors(t)]
        straight = [t for t in templates if t not in seen]
        own = Bias(part=templates[0].part) if templates else Bias()
        return straight, (seen if any(isinstance(t, Bias) for t in seen) else [own, *seen]) if seen else []


def of_vectors(template: Template) -> bool:
    """Whether a template reads vectors of words."""
    return any(resource.kind == VECTORS for resource in template.resources.values())


@dataclass
class HiddenPart:
    """The features of a training corpus in a part with a hidden layer: what ``CompiledPart`` is to one without."""

    hidden: Hidden
    linear: CompiledPart | None
    inner: CompiledPart
    scorer: HiddenScorer

    @classmethod
    def compile(
        cls, compiler: Compiler, templates: list[Template], outputs: NDArray[np.int32] | None, size: int,
        settings: PartSettings, hidden: Hidden,
    ) -> HiddenPart:  # fmt: skip
        """Compile templates and lay out parameters: all of those of the hidden layer."""
        straight, seen = hidden.split(templates)
        linear = CompiledPart.compile(compiler, straight, outputs, size, settings) if straight else None
        inner = CompiledPart.compile(compiler, seen, None, hidden.size, settings)
        scorer = HiddenScorer(linear.scorer if linear else None, inner.scorer, size, hidden.activation)
        return cls(hidden, linear, inner, scorer)

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The keys of all features."""
        own = self.inner.keys
        return own if self.linear is None else np.concatenate([self.linear.keys, own])

    def reader(self, compiler: Compiler, learns: bool = False) -> HiddenScorer:
        """A scorer of other sentences by the weights of this corpus; ``learns``: also asked for gradients."""
        linear = self.linear.reader(compiler, learns) if self.linear else None
        inner = self.inner.reader(compiler, learns)
        return HiddenScorer(linear, inner, self.scorer.outputs, self.hidden.activation)

    def _cut(self, weight: Floats) -> tuple[Floats, Floats, Floats]:
        """The weights of linear features, of the layer, and of its units [H + 1, outputs]."""
        first, second, _ = self.scorer.cuts
        return weight[:first], weight[first:second], weight[second:].reshape(-1, self.scorer.outputs)

    def export(self, weight: Floats) -> HiddenWeights:
        """The weights as a model stores them."""
        first, second, out = self._cut(weight)
        linear = None if self.linear is None else self.linear.export(first)
        return HiddenWeights(self.hidden, linear, self.inner.export(second), out.astype(np.float32))

    def matters(self, weight: Floats) -> NDArray[np.bool_]:
        """Which weights [parameters] are stored."""
        first, second, out = self._cut(weight)
        straight = np.empty(0, np.bool_) if self.linear is None else self.linear.matters(first)
        return np.concatenate([straight, self.inner.matters(second), np.ones(out.size, np.bool_)])

    def start(self) -> Floats:
        """Where training starts, [parameters]: at random in the layer, to tell its units apart, and else at zero."""
        weight = np.zeros(self.scorer.parameters)
        begin = self.scorer.cuts[0]
        weight[begin:] = np.random.default_rng(self.hidden.seed).uniform(-RANGE, RANGE, len(weight) - begin)
        return weight

    def initial(self, weights: Weights | HiddenWeights, output_map: NDArray[np.int64]) -> Floats:
        """Start values from another model's weights; a layer is taken over by one that is as wide and as curved."""
        weight = self.start()
        first, second, out = self._cut(weight)
        theirs = weights if isinstance(weights, Weights) else weights.linear
        if self.linear is not None and theirs is not None:
            first[:] = self.linear.initial(theirs, output_map)
        if isinstance(weights, HiddenWeights) and replace(weights.hidden, seed=0) == replace(self.hidden, seed=0):
            second[:] = self.inner.initial(weights.inner, np.arange(self.hidden.size))
            known = output_map >= 0
            out[:, known] = weights.out[:, output_map[known]]
        return weight


@dataclass(frozen=True)
class HiddenWeights:
    """The weights of a part with a hidden layer: ``inner`` to its units, ``out`` [H + 1, outputs] float32 from them."""

    hidden: Hidden
    linear: Weights | None
    inner: Weights
    out: NDArray[np.float32]

    @property
    def index(self) -> FeatureIndex:
        """The features of the layer."""
        return self.inner.index

    @property
    def weight(self) -> NDArray[np.float32]:
        """All weights, end to end."""
        straight = [] if self.linear is None else [self.linear.weight]
        return np.concatenate([*straight, self.inner.weight, self.out.ravel()])

    def score(self, compiler: Compiler, templates: Sequence[Template], threads: int) -> Floats:
        """Potentials [tokens, outputs] of a compiled corpus."""
        straight, seen = self.hidden.split(templates)
        hidden = self.inner.score(compiler, seen, threads)
        if self.linear is None:
            scores = np.zeros((len(hidden), self.out.shape[1]))
        else:
            scores = self.linear.score(compiler, straight, threads)
        raised(hidden, self.out.astype(np.float64), scores, self.hidden.activation, threads)
        return scores

    def scaled(self, factor: float) -> HiddenWeights:
        """Weights under which all scores are so many times as large."""
        linear = None if self.linear is None else self.linear.scaled(factor)
        return replace(self, linear=linear, out=self.out * np.float32(factor))

    def pruned(self, smallest: float) -> HiddenWeights:
        """Without weights that are smaller, of linear features: those of a layer may all be small."""
        return replace(self, linear=None if self.linear is None else self.linear.pruned(smallest))

    def with_short_keys(self) -> HiddenWeights:
        """The same features known by fewer bits."""
        linear = None if self.linear is None else self.linear.with_short_keys()
        return replace(self, linear=linear, inner=self.inner.with_short_keys())

    def within(self, outputs: NDArray[np.int64]) -> HiddenWeights:
        """The weights of some outputs, numbered anew in their order."""
        linear = None if self.linear is None else self.linear.within(outputs)
        return replace(self, linear=linear, out=self.out[:, outputs])

    # files

    def arrays(self, prefix: str, half: bool = False, compact: bool = False) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        straight = {} if self.linear is None else self.linear.arrays(prefix, half, compact)
        return straight | self.inner.arrays(f"{prefix}{SUFFIX}", half, compact) | {f"{prefix}{SUFFIX}.out": self.out}

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return {name: getattr(self.hidden, name) for name in ("size", "activation", "inputs")}

    @classmethod
    def from_arrays(
        cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], prefix: str, outputs: int, bits: int | None
    ) -> HiddenWeights:
        """From what ``header`` and ``arrays`` gave; they must fit together."""
        hidden = Hidden(int(header["size"]), str(header["activation"]), str(header["inputs"]))
        out = arrays[f"{prefix}{SUFFIX}.out"]
        if out.shape != (hidden.size + 1, outputs) or hidden.activation not in ACTIVATIONS:
            raise ValueError(f"the hidden layer of the {prefix} features does not fit together")
        linear = any(name.startswith(f"{prefix}.") for name in arrays)
        return cls(
            hidden,
            Weights.from_arrays(arrays, prefix, outputs, bits) if linear else None,
            Weights.from_arrays(arrays, f"{prefix}{SUFFIX}", hidden.size, bits),
            out,
        )
