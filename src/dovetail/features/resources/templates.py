"""Templates that read a resource, and the kinds of resources there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.attributes import Attribute, written
from dovetail.features.algebra.templates import Number, Source, VectorSource
from dovetail.features.compile.hashing import KeyRows
from dovetail.features.resources.clusters import EMPTY, Clusters, prefixes
from dovetail.features.resources.resource import Resource, Resources
from dovetail.features.resources.variety import VarietyColumn

CLASSES = {
    "clusters": "dovetail.features.resources.clusters:Clusters",
    "lexicon": "dovetail.features.resources.lexicon:Lexicon",
    "association": "dovetail.features.resources.association:Association",
    "variety": "dovetail.features.resources.variety:Variety",
    "vectors": "dovetail.features.resources.vectors:Vectors",
    "hints": "dovetail.models.hints:Hints",
}
FROM_FILES = ("clusters", "lexicon", "association", "vectors", "hints")
"""The kinds that are read from files of their own."""

NONE = "-"
"""The value of a word without a cluster, where there must be one value for every word."""


@dataclass(frozen=True)
class ClusterPrefixes(Attribute):
    """The first bits of a word's path, for each of some lengths; a path that is shorter is given whole, and once."""

    clusters: Clusters = field(default=EMPTY, compare=False)
    lengths: tuple[int, ...] = ()

    def keys(self, types: Sequence[str]) -> KeyRows:
        """Keys for a list of types whose first is the boundary: prefixes are made once a class, then gathered."""
        classes = self.clusters.classes_of(types[1:])
        return self._of_classes.take(np.concatenate([[0], classes + 2]))

    @cached_property
    def _of_classes(self) -> KeyRows:
        """The keys of the boundary, of no class, of class 0, class 1, ...: the same for every text."""
        values = [prefixes(path, self.lengths) for path in self.clusters.paths]
        return self.rows([[NONE] if self.single else [], *values])


def cluster(name: str, clusters: Clusters, *lengths: int) -> Source:
    """The first bits of a word's path in some clusters: ``cluster("news", Clusters.read("news.paths"), 4, 8)[0]``.

    No length, or 0, is for the whole path.
    """
    if any(n < 0 for n in lengths):
        raise ValueError(f"cluster({name}, {', '.join(map(str, lengths))}): lengths are 0 (the whole path) or more")
    lengths = lengths or (0,)
    single = len(lengths) == 1

    def make(value: str) -> list[str]:
        number = int(clusters.classes_of([value])[0])
        return prefixes(clusters.paths[number], lengths) if number >= 0 else [NONE] if single else []

    text = f"cluster({', '.join([written(name), *map(str, lengths)])})"
    return Source(ClusterPrefixes(text, "word", make, single, clusters, lengths, resource=(name, clusters)))


def lexicon(name: str, table: Any) -> Source:
    """Where a token stands in the phrases of a lexicon: ``lexicon("places", Lexicon.read("places.txt"))[0]``."""
    column = f"lexicon({written(name)})"
    return Source(Attribute(column, column, labels_in, False, resource=(name, table), maker=table))


def labels_in(value: str) -> list[str]:
    """The labels of a token or of a segment that a lexicon has joined to one value; ``O`` is for none."""
    return [label for label in value.split("|") if label not in ("", "O")]


def association(name: str, table: Any) -> Number:
    """How strongly a token is tied to the one before it, as a number: ``association("raw", table)[0]``."""
    column = f"association({written(name)})"
    return Number(Attribute(column, column, lambda value: [value], resource=(name, table), maker=table))


def hint(name: str, table: Any) -> Source:
    """The tag that another tagger gives a token: ``hint("english", Hints.read("english"))[0]``."""
    column = f"hint({written(name)})"
    return Source(Attribute(column, column, lambda value: [value], resource=(name, table), maker=table))


def _variety(side: str, name: str, table: Any, length: int) -> Source:
    """How varied the neighbours on one side of the ``length`` characters from here on are."""
    column = f"variety_{side}({written(name)}, {length})"
    maker = VarietyColumn(table, length, side)
    return Source(Attribute(column, column, lambda value: [value], resource=(name, table), maker=maker))


def vector(name: str, table: Any) -> VectorSource:
    """The vector of a word, a feature for each dimension: ``vector("news", Vectors.read("news.vec"))[0]``."""
    text = f"vector({written(name)})"
    return VectorSource(Attribute(text, "word", lambda value: [value], resource=(name, table)))


FUNCTIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "cluster": ("clusters", cluster),
    "lexicon": ("lexicon", lexicon),
    "association": ("association", association),
    "variety_before": ("variety", partial(_variety, "before")),
    "variety_after": ("variety", partial(_variety, "after")),
    "vector": ("vectors", vector),
    "hint": ("hints", hint),
}
"""The functions of the algebra that read a resource: the kind of resource, and what makes the template."""


def class_of(kind: str) -> Any:
    """The class of a kind of resource."""
    module, name = CLASSES[kind].split(":")
    return getattr(import_module(module), name)


def packed(resources: Resources, compact: bool = False) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Resources as the header and the arrays of a model file hold them, or of a ``compact`` one."""
    header = {name: {"kind": r.kind, "settings": r.settings()} for name, r in resources.items()}
    parts = {name: r.compact() if compact else r.arrays() for name, r in resources.items()}
    return header, {f"resource.{name}.{part}": a for name, arrays in parts.items() for part, a in arrays.items()}


def unpacked(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Resource]:
    """Resources out of a model file."""
    found: dict[str, Resource] = {}
    for name, described in header.items():
        prefix = f"resource.{name}."
        mine = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
        found[name] = class_of(described["kind"]).restore(described["settings"], mine)
    return found
