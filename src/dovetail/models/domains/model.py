"""A trained tagger of several domains: shared weights, and what each domain adds to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.modelfile import Arrays
from dovetail.models.choices import Tuning
from dovetail.models.tagger.labels import LabelSet
from dovetail.models.tagger.model import ChainModel
from dovetail.scorers.chain import TRANSITION
from dovetail.scorers.weights import Weights


@dataclass(frozen=True)
class Deviation:
    """What a domain adds to the shared weights; only what is not zero is stored. ``labels`` are those it uses."""

    labels: LabelSet
    parts: Mapping[str, Weights]
    transition: NDArray[np.float32]
    tuning: Tuning = field(default_factory=Tuning)

    def with_short_keys(self) -> Deviation:
        """The deviation as compact files hold it."""
        return replace(self, parts={part: weights.with_short_keys() for part, weights in self.parts.items()})

    def arrays(self, prefix: str, half: bool, compact: bool) -> Arrays:
        """As named arrays for a model file."""
        found: Arrays = {f"{prefix}.transition": self.transition}
        for part, weights in self.parts.items():
            found |= weights.arrays(f"{prefix}.{part}", half, compact)
        return found

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        return {"labels": list(self.labels.names), "tuning": vars(self.tuning)}

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Arrays, prefix: str, shared: ChainModel) -> Deviation:
        """From the header and arrays of a model file, whose parts must fit together: kernels do not check bounds."""
        names = tuple(header["labels"])
        if not names or [n for n in shared.labels.names if n in names] != list(names):
            raise ValueError("the labels of a domain are not among those of the model")
        bits = shared.node.index.bits
        transition: NDArray[np.float32] = arrays[f"{prefix}.transition"]
        if transition.shape != shared.transition.shape:
            raise ValueError("the table of transitions does not fit the labels")
        parts = {
            part: Weights.from_arrays(arrays, f"{prefix}.{part}", shared.form.outputs(part), bits)
            for part in shared.parts
        }
        tuning = Tuning(**{name: float(value) for name, value in header["tuning"].items()})
        return cls(LabelSet(names, shared.labels.scheme), parts, transition, tuning)


@dataclass(frozen=True)
class DomainModel:
    """Shared weights, the tuning of the model that has only them, and the deviations by the names of domains."""

    shared: ChainModel
    tuning: Tuning
    domains: Mapping[str, Deviation]

    def model_of(self, domain: str | None) -> ChainModel:
        """The model of a domain, or of none."""
        if domain is None:
            return self.tuning.applied(self.shared)
        return self.domains[domain].tuning.applied(self.untuned(domain))

    def untuned(self, domain: str) -> ChainModel:
        """The model of a domain before dev data has had its say."""
        shared, added = self.shared, self.domains[domain]
        straight = {part: weights for part, weights in shared.parts.items() if isinstance(weights, Weights)}
        parts = {part: weights.plus(added.parts[part]) for part, weights in straight.items()}
        tables = {TRANSITION: shared.transition + added.transition}
        return replace(shared, parts=parts, tables=tables).within(added.labels)

    def with_short_keys(self) -> DomainModel:
        """The model as compact files hold it."""
        domains = {name: deviation.with_short_keys() for name, deviation in self.domains.items()}
        return replace(self, shared=self.shared.with_short_keys(), domains=domains)

    def arrays(self, half: bool = False, compact: bool = False) -> Arrays:
        """As named arrays for a model file."""
        own = [d.arrays(f"domain{i}", half, compact) for i, d in enumerate(self.domains.values())]
        return self.shared.arrays(half, compact) | {name: array for arrays in own for name, array in arrays.items()}

    def header(self) -> dict[str, Any]:
        """The rest, for the header of a model file."""
        domains = {name: deviation.header() for name, deviation in self.domains.items()}
        return self.shared.header() | {"tuning": vars(self.tuning), "domains": domains}

    @classmethod
    def from_file(cls, header: dict[str, Any], arrays: Arrays, functions: Any) -> DomainModel:
        """From the header and arrays of a model file."""
        shared = ChainModel.from_file(header, arrays, functions)
        domains = {
            str(name): Deviation.from_file(own, arrays, f"domain{i}", shared)
            for i, (name, own) in enumerate(header["domains"].items())
        }
        tuning = Tuning(**{name: float(value) for name, value in header["tuning"].items()})
        return cls(shared, tuning, domains)
