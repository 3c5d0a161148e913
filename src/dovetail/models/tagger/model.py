"""A trained chain model: what is stored, and potentials for new sentences from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import DovetailError
from dovetail.features.algebra.derived import columns_for
from dovetail.features.algebra.repeats import repeats
from dovetail.features.algebra.sets import FeatureSet
from dovetail.features.algebra.templates import Template
from dovetail.features.compile.design import Compiler, assemble
from dovetail.features.compile.hashing import Keys
from dovetail.features.compile.index import FeatureIndex, entries_of
from dovetail.features.resources.templates import packed, unpacked
from dovetail.models.compact import (
    KEY_BITS,
    packed_keys,
    packed_outputs,
    packed_weights,
    unpacked_keys,
    unpacked_outputs,
    unpacked_weights,
)
from dovetail.models.tagger.agreement import agreed
from dovetail.models.tagger.labels import Labels
from dovetail.models.tagger.objective import Forbidden
from dovetail.scorers.linear import Layout, output_type, score
from dovetail.scorers.restricted import renumbering
from dovetail.scorers.transitions import state_count, states_within
from dovetail.structures.chain import ChainBatch, ChainPotentials
from dovetail.text.sentence import Sentence

Floats = NDArray[np.float64]

MASKED = 64  # so many outputs are told by a bit each in compact files


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array as arrays of a mapped file are: contiguous and read-only, so that kernels are compiled once."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


@dataclass(frozen=True)
class Weights:
    """The weights of features that have any: sorted keys, and for each key the outputs it speaks for.

    ``layout.ptr`` [features + 1], ``layout.label`` [parameters], ``weight`` [parameters] float32.
    """

    index: FeatureIndex
    layout: Layout
    weight: NDArray[np.float32]

    @classmethod
    def of(
        cls,
        keys: Keys,
        count: NDArray[Any],
        label: NDArray[Any],
        weight: NDArray[Any],
        outputs: int,
        bits: int | None,
    ) -> Weights:
        """From arrays: ``count`` [features] outputs for each key, in order."""
        ptr = np.zeros(len(keys) + 1, dtype=np.int64)
        np.cumsum(count, out=ptr[1:])
        layout = Layout(frozen(ptr), frozen(label.astype(output_type(outputs), copy=False)), outputs)
        return cls(FeatureIndex(frozen(keys), bits), layout, frozen(weight.astype(np.float32, copy=False)))

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], prefix: str, outputs: int, bits: int | None) -> Weights:
        """From what ``arrays`` gave; the parts must fit together, for kernels do not check bounds."""
        parts = {name.removeprefix(f"{prefix}."): a for name, a in arrays.items() if name.startswith(f"{prefix}.")}
        keys = unpacked_keys(parts["begins"], parts["rest"]) if "rest" in parts else parts["keys"]
        weight = unpacked_weights(parts["code"], parts["value"]) if "code" in parts else parts["weight"]
        count, label = unpacked_outputs(parts["mask"], outputs) if "mask" in parts else (parts["count"], parts["label"])
        fits = len(keys) == len(count) and int(count.sum(dtype=np.int64)) == len(label) == len(weight)
        fits &= not len(label) or int(label.max()) < outputs
        fits &= not np.any(keys[1:] <= keys[:-1]) and (not len(keys) or int(keys[-1]) >> (bits or 64) == 0)
        if not fits:
            raise ValueError(f"the arrays of the {prefix} features do not fit together")
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
            parts |= packed_keys(stored.index.keys, stored.index.bits or 64)
            parts |= packed_weights(stored.weight)
        else:
            parts |= {"keys": stored.index.keys, "weight": stored.weight.astype(np.float16) if half else stored.weight}
        if compact and outputs <= MASKED:
            parts |= {"mask": packed_outputs(ptr, label, outputs)}
        else:
            count = np.diff(ptr).astype(np.uint8 if outputs < 256 else np.uint32)
            parts |= {"count": count, "label": label.astype(narrow)}
        return {f"{prefix}.{name}": part for name, part in parts.items()}

    def with_short_keys(self) -> Weights:
        """The same features known by fewer bits, as compact files hold them; of two that become equal, one stays."""
        bits = min(self.index.bits or 64, KEY_BITS)
        keys, order = np.unique(self.index.keys & np.uint64((1 << bits) - 1), return_index=True)
        where, count = entries_of(self.layout.ptr, order)
        return Weights.of(keys, count, self.layout.label[where], self.weight[where], self.layout.outputs, bits)

    def scaled(self, factor: float) -> Weights:
        """All weights times a factor."""
        return replace(self, weight=frozen(self.weight * np.float32(factor)))

    def without_zeros(self, keep: NDArray[np.bool_]) -> Weights:
        """Only the parameters to keep [parameters], and the features that still have some."""
        before = np.concatenate([[0], np.cumsum(keep)])
        count = np.diff(before[self.layout.ptr])
        some = count > 0
        return Weights.of(
            self.index.keys[some],
            count[some],
            self.layout.label[keep],
            self.weight[keep],
            self.layout.outputs,
            self.index.bits,
        )

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


@dataclass(frozen=True)
class ChainModel:
    """Everything that tagging needs."""

    features: FeatureSet
    labels: Labels
    order: int
    constrain: bool
    node: Weights
    edge: Weights | None
    transition: NDArray[np.float32]
    outside: float = 0.0
    """Added to the score of the label O when the best tagging is sought, and only then: see ``Tagger.balance``."""
    agreement: float = 0.0
    """How strongly the places of a name in one document lean towards one type: see ``models.agreement``."""

    def best(self, chains: ChainBatch) -> NDArray[np.int32]:
        """The tagging to answer with, [tokens]."""
        return best_with_bias(chains, self.labels, self.outside)

    def scaled(self, factor: float) -> ChainModel:
        """The model with all weights times a factor: the same ranking of taggings, with other probabilities."""
        edge = self.edge.scaled(factor) if self.edge else None
        return replace(self, node=self.node.scaled(factor), edge=edge, transition=self.transition * np.float32(factor))

    def within(self, labels: Labels) -> ChainModel:
        """The model that knows only some of its labels."""
        size = len(self.labels.names)
        kept = np.flatnonzero(np.isin(self.labels.names, labels.names))
        pairs = (kept[:, None] * size + kept).ravel()
        return replace(
            self,
            labels=labels,
            node=self.node.within(kept),
            edge=self.edge.within(pairs) if self.edge else None,
            transition=self.transition[np.ix_(states_within(kept, size, self.order), kept)],
        )

    def forbidden(self) -> Forbidden:
        """What the tagging scheme rules out."""
        if not self.constrain:
            return Forbidden.nothing(len(self.labels.names), self.order)
        return Forbidden.pairs(*self.labels.forbidden(), self.order)

    def chains(self, sentences: Sequence[Sentence], threads: int) -> ChainBatch:
        """The chains of new sentences."""
        compiler = Compiler(columns_for(sentences, self.features), sentences)
        unary = self.node.score(compiler, node_templates(self.features), threads)
        labels = len(self.labels.names)
        edge = np.empty((0, labels, labels))
        if self.edge is not None:
            edge = self.edge.score(compiler, edge_templates(self.features), threads).reshape(-1, labels, labels)
        forbidden = self.forbidden()
        potentials = ChainPotentials(
            unary, self.transition + forbidden.transition, forbidden.start, forbidden.end, edge
        )
        batch = ChainBatch(potentials, compiler.columns.offsets, order=max(self.order, 1), threads=threads)
        if not self.agreement:
            return batch
        return agreed(batch, repeats(compiler.columns), self.labels, [self.agreement])[0]

    def with_short_keys(self) -> ChainModel:
        """The model as compact files hold it."""
        edge = self.edge.with_short_keys() if self.edge else None
        return replace(self, node=self.node.with_short_keys(), edge=edge)

    def pruned(self, smallest: float) -> ChainModel:
        """The model without weights that are smaller, and without the features that have no other."""
        edge = self.edge.pruned(smallest) if self.edge else None
        return replace(self, node=self.node.pruned(smallest), edge=edge)

    def arrays(self, half: bool = False, compact: bool = False) -> dict[str, NDArray[Any]]:
        """As named arrays for a model file."""
        edge = self.edge.arrays("edge", half, compact) if self.edge else {}
        _, resources = packed(self.features.resources)
        return {**self.node.arrays("node", half, compact), **edge, "transition": self.transition, **resources}

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return {
            "features": {"name": self.features.name, "templates": self.features.lines()},
            "labels": list(self.labels.names),
            "scheme": self.labels.scheme,
            "order": self.order,
            "constrain": self.constrain,
            "hash_bits": self.node.index.bits,
            "outside": self.outside,
            "agreement": self.agreement,
            "resources": packed(self.features.resources)[0],
        }

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: dict[str, NDArray[Any]], functions: Sequence[Any]) -> ChainModel:
        """From the header and arrays of a model file, whose parts must fit together: kernels do not check bounds."""
        labels = Labels(tuple(header["labels"]), header["scheme"])
        size = len(labels.names)

        def weights(prefix: str, outputs: int) -> Weights:
            return Weights.from_arrays(arrays, prefix, outputs, header["hash_bits"])

        if arrays["transition"].shape != (state_count(size, int(header["order"])), size):
            raise ValueError("the table of transitions does not fit the labels")
        features, resources = header["features"], unpacked(header.get("resources", {}), arrays)
        return cls(
            FeatureSet.from_lines(features["name"], features["templates"], functions, resources),
            labels,
            int(header["order"]),
            bool(header["constrain"]),
            weights("node", size),
            weights("edge", size * size) if "edge.keys" in arrays or "edge.rest" in arrays else None,
            cast("NDArray[np.float32]", arrays["transition"]),
            float(header.get("outside", 0.0)),
            float(header.get("agreement", 0.0)),
        )


def best_with_bias(chains: ChainBatch, labels: Labels, bias: float) -> NDArray[np.int32]:
    """The best tagging when ``bias`` is added to every score of the label O, [tokens]."""
    if not bias:
        return chains.best()
    unary = chains.potentials.unary.copy()
    unary[:, labels.names.index("O")] += bias
    return replace(chains, potentials=chains.potentials._replace(unary=unary)).best()


def node_templates(features: FeatureSet) -> list[Template]:
    """The templates that look at one label."""
    return [t for t in features.templates if not t.edge]


def edge_templates(features: FeatureSet) -> list[Template]:
    """The templates that look at a pair of labels."""
    return [t for t in features.templates if t.edge]
