"""Weights of features as models store them: sorted keys, the outputs that each speaks for, and a number for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import frozen, taken
from dovetail.errors import DovetailError
from dovetail.features.algebra.templates import Template
from dovetail.features.compile.design import Compiler, assemble
from dovetail.features.compile.hashing import Keys
from dovetail.features.compile.index import FeatureIndex
from dovetail.scorers import compact as packing
from dovetail.scorers.linear import Layout, check_features, output_type, score
from dovetail.scorers.restricted import renumbering

Floats = NDArray[np.float64]

MASKED = 64  # so many outputs are told by a bit each in compact files


@dataclass(frozen=True)
class Weights:
    """The weights of features that have any: sorted keys, and for each key the outputs it speaks for.

    ``layout.ptr`` [features + 1], ``layout.label`` [parameters], ``weight`` [parameters] float32.
    """

    index: FeatureIndex
    layout: Layout
    weight: NDArray[np.float32]

    def __post_init__(self) -> None:
        check_features(self.index.keys, self.layout, self.weight)

    @classmethod
    def of(
        cls, keys: Keys, count: NDArray[Any], label: NDArray[Any], weight: NDArray[Any], outputs: int, bits: int | None,
    ) -> Weights:  # fmt: skip
        """From arrays: ``count`` [features] outputs for each key, in order."""
        layout = Layout.counted(count, label, outputs)
        return cls(FeatureIndex(frozen(keys), bits), layout, frozen(weight.astype(np.float32, copy=False)))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str, outputs: int, bits: int | None) -> Weights:
        """From what ``arrays`` gave."""
        parts = {name.removeprefix(f"{prefix}."): a for name, a in arrays.items() if name.startswith(f"{prefix}.")}
        keys = packing.unpacked_keys(parts["begins"], parts["rest"]) if "rest" in parts else parts["keys"]
        weight = packing.unpacked_weights(parts["code"], parts["value"]) if "code" in parts else parts["weight"]
        masked = packing.unpacked_outputs(parts["mask"], outputs) if "mask" in parts else None
        count, label = masked or (parts["count"], parts["label"])
        return cls.of(keys, count, label, weight, outputs, bits)

    def arrays(self, prefix: str, half: bool = False, compact: bool = False) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file; ``compact`` is for weights whose keys were cut."""
        narrow = np.uint8 if self.layout.outputs <= 256 else output_type(self.layout.outputs)
        if half and np.abs(self.weight).max(initial=0.0) > np.finfo(np.float16).max:
            raise DovetailError(
                "some weights are too large for half precision (features with tiny values?); save without"
            )
        stored = self.without_zeros(self.weight.astype(np.float16) != 0) if half else self
        ptr, label, outputs = stored.layout
        parts: dict[str, NDArray[Any]] = {}
        if compact:
            parts |= packing.packed_keys(stored.index.keys, stored.index.bits or 64)
            parts |= packing.packed_weights(stored.weight)
        else:
            parts |= {"keys": stored.index.keys, "weight": stored.weight.astype(np.float16) if half else stored.weight}
        if compact and outputs <= MASKED:
            parts |= {"mask": packing.packed_outputs(ptr, label, outputs)}
        else:
            count = np.diff(ptr).astype(np.uint8 if outputs < 256 else np.uint32)
            parts |= {"count": count, "label": label.astype(narrow)}
        return {f"{prefix}.{name}": part for name, part in parts.items()}

    def with_short_keys(self) -> Weights:
        """The same features known by fewer bits, as compact files hold them; of two that become equal, one stays."""
        bits = min(self.index.bits or 64, packing.KEY_BITS)
        keys, order = np.unique(self.index.keys & np.uint64((1 << bits) - 1), return_index=True)
        where, begin = taken(self.layout.ptr, order)
        return Weights.of(keys, np.diff(begin), self.layout.label[where], self.weight[where], self.layout.outputs, bits)

    def scaled(self, factor: float) -> Weights:
        """All weights times a factor."""
        return replace(self, weight=frozen(self.weight * np.float32(factor)))

    def without_zeros(self, keep: NDArray[np.bool_]) -> Weights:
        """Only the parameters to keep [parameters], and the features that still have some."""
        before = np.concatenate([[0], np.cumsum(keep)])
        count = np.diff(before[self.layout.ptr])
        some = count > 0
        keys, label, weight = self.index.keys[some], self.layout.label[keep], self.weight[keep]
        return Weights.of(keys, count[some], label, weight, self.layout.outputs, self.index.bits)

    def pruned(self, smallest: float) -> Weights:
        """Without weights that are smaller."""
        return self.without_zeros(np.abs(self.weight) >= smallest)

    def within(self, outputs: NDArray[np.int64]) -> Weights:
        """The weights of some outputs, numbered anew in their order."""
        number = renumbering(outputs, self.layout.outputs)
        kept = self.without_zeros(number[self.layout.label] >= 0)
        layout = kept.layout
        labels = number[layout.label].astype(output_type(len(outputs)))
        return replace(kept, layout=Layout(layout.ptr, frozen(labels), len(outputs)))

    def plus(self, other: Weights) -> Weights:
        """The sums of weights, of all features that either has."""
        keys = np.concatenate([np.repeat(w.index.keys, np.diff(w.layout.ptr)) for w in (self, other)])
        label = np.concatenate([self.layout.label, other.layout.label])
        order = np.lexsort((label, keys))
        keys, label = keys[order], label[order]
        fresh = np.ones(len(keys), dtype=np.bool_)
        fresh[1:] = (keys[1:] != keys[:-1]) | (label[1:] != label[:-1])
        weight = np.concatenate([self.weight, other.weight])[order]
        summed = np.add.reduceat(weight, np.flatnonzero(fresh)) if len(weight) else weight
        distinct, count = np.unique(keys[fresh], return_counts=True)
        return Weights.of(distinct, count, label[fresh], summed, self.layout.outputs, self.index.bits)

    def score(self, compiler: Compiler, templates: Sequence[Template], threads: int) -> Floats:
        """Potentials [tokens, outputs] of a compiled corpus."""
        return score(assemble(compiler, templates, self.index), self.layout, self.weight, threads)
