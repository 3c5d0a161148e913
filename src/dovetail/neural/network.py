"""A network as a part of a model: a module that reads sentences, and what makes it again from a model file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Protocol

from numpy.typing import NDArray

from dovetail.arrays import offsets_of
from dovetail.neural import flat
from dovetail.neural.scorer import scores_of
from dovetail.scorers.contract import Floats, Items
from dovetail.scorers.parts import Form, Scores

PREFIX = "network."

MAKERS: dict[str, str] = {"encoded": "dovetail.neural.heads:make"}
"""What makes a module from its description and the form of its model, ``package.module:function``, by kind."""


class Reader(Protocol):
    """What a module is asked besides to score (``forward``): all of it, for files have no other way to it."""

    kind: str
    """Its name among ``MAKERS``."""

    def described(self) -> dict[str, Any]:
        """All that makes the same module, but for its weights, as JSON holds it: sizes, vocabularies, settings."""

    def inputs(self, sentences: Sequence[Any]) -> Callable[[Items], Any]:
        """Sentences made ready: from the numbers of some to what ``forward`` takes."""


@dataclass(frozen=True, eq=False)
class Network:
    """A module that is a ``Reader``, and what its scores are multiplied by: see ``LinearModel.scaled``."""

    module: Any
    factor: float = 1.0

    def inputs(self, sentences: Sequence[Any]) -> Callable[[Items], Any]:
        """Sentences made ready for the module."""
        found: Callable[[Items], Any] = self.module.inputs(sentences)
        return found

    def scores(self, sentences: Sequence[Any]) -> Scores:
        """The scores of all parts of some sentences, [places, outputs] each."""
        found = scores_of(self.module, self.inputs(sentences), offsets_of(sentences))
        return {part: scores * self.factor for part, scores in found.items()}

    def scaled(self, factor: float) -> Network:
        """The network whose scores are so many times as large."""
        return replace(self, factor=self.factor * factor)

    def weights(self) -> Floats:
        """The parameters that are trained, in one vector."""
        return flat.read(self.module)

    def with_weights(self, weight: Floats) -> Network:
        """A copy with other parameters."""
        copy = deepcopy(self.module)
        flat.write(copy, weight)
        return replace(self, module=copy)

    def is_like(self, other: Network | None) -> bool:
        """Whether another network has the same parts, so that weights of one fit the other."""
        return other is not None and self.header() | {"factor": 1.0} == other.header() | {"factor": 1.0}

    # files

    def header(self) -> dict[str, Any]:
        """What makes it again, for the header of a model file."""
        return {"kind": self.module.kind, "factor": self.factor, "made": self.module.described()}

    def arrays(self, half: bool = False) -> dict[str, NDArray[Any]]:
        """Its weights as named arrays for a model file."""
        return flat.packed(self.module, PREFIX, half)

    @classmethod
    def from_file(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], form: Form | None) -> Network:
        """From what ``header`` and ``arrays`` gave."""
        kind = str(header["kind"])
        if kind not in MAKERS:
            raise ValueError(f"no network {kind!r} is known")
        where, _, name = MAKERS[kind].partition(":")
        module = getattr(import_module(where), name)(header["made"], form)
        flat.unpack(module, arrays, PREFIX)
        return cls(module, float(header["factor"]))


def add_scores(network: Network, sentences: Sequence[Any], scores: Scores) -> None:
    """Add to the scores of parts what a network has to say of them."""
    for part, own in network.scores(sentences).items():
        scores[part] = scores[part] + own if part in scores else own
