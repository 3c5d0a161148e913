"""Resources: tables made from other text than the labelled one, which features read and model files carry along."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, Self, TypeAlias

from numpy.typing import NDArray

from dovetail.arrays import Int64s
from dovetail.columns import Column


class Resource(Protocol):
    """What clusters, association and lexicons have in common: a kind, and a way into a model file and back.

    A template names its resource by a string, ``cluster("news", 4, 8)[0]``; a feature set holds the resources by name.
    """

    kind: ClassVar[str]
    SETTINGS: ClassVar[tuple[str, ...]] = ()
    """The fields that are no arrays."""

    def usual(self, name: str) -> list[str]:
        """The templates that the resource adds to a set if nothing else is said; ``name`` is as templates write it."""

    def settings(self) -> dict[str, Any]:
        """Everything but the arrays, as JSON can hold it."""
        return {name: getattr(self, name) for name in self.SETTINGS}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays, by short names."""

    def compact(self) -> dict[str, NDArray[Any]]:
        """The arrays for the smallest file, where some may be told less exactly."""
        return self.arrays()

    @classmethod
    def restore(cls, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """From what ``settings`` and ``arrays`` gave."""


Resources: TypeAlias = Mapping[str, Resource]
"""Resources by the names that templates give them."""


class Derivable(Protocol):
    """A resource that makes a column of its own from the words, such as where the phrases of a lexicon stand."""

    def column(self, words: Column, offsets: Int64s) -> Column:
        """A value for every token. Sentence i is tokens offsets[i] to offsets[i + 1]."""
