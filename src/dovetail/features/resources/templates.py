"""Templates that read a resource, and the kinds of resources there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from numpy.typing import NDArray

from dovetail.features.algebra.attributes import Attribute, written
from dovetail.features.algebra.templates import Number, Source
from dovetail.features.resources.clusters import Clusters
from dovetail.features.resources.clusters import cluster as _cluster
from dovetail.features.resources.resource import Derivable, Resource
from dovetail.features.resources.variety import variety_after, variety_before

CLASSES = {
    "clusters": "dovetail.features.resources.clusters:Clusters",
    "lexicon": "dovetail.features.resources.lexicon:Lexicon",
    "association": "dovetail.features.resources.association:Association",
    "variety": "dovetail.features.resources.variety:Variety",
}
FROM_FILES = ("clusters", "lexicon", "association")
"""The kinds that are read from files of their own."""

OUTSIDE = "O"  # what a lexicon says of a token in none of its phrases


@dataclass(frozen=True)
class Matched(Attribute):
    """Where a token stands in the phrases of a lexicon: one string for each label it has there."""

    source: tuple[str, Any] = ("", None)

    @property
    def resource(self) -> tuple[str, Resource]:
        """The lexicon and its name."""
        return self.source

    @property
    def maker(self) -> Derivable:
        """The lexicon, which makes the column."""
        made: Derivable = self.source[1]
        return made


def cluster(name: str, clusters: Clusters, *lengths: int) -> Source:
    """The first bits of a word's path in some clusters: ``cluster("news", Clusters.read("news.paths"), 4, 8)[0]``."""
    return Source(_cluster(name, clusters, *lengths))


def lexicon(name: str, table: Any) -> Source:
    """Where a token stands in the phrases of a lexicon: ``lexicon("places", Lexicon.read("places.txt"))[0]``."""
    column = f"lexicon({written(name)})"
    return Source(Matched(column, column, _labels, False, (name, table)))


def _labels(value: str) -> list[str]:
    return [label for label in value.split("|") if label not in ("", OUTSIDE)]


def association(name: str, table: Any) -> Number:
    """How strongly a token is tied to the one before it, as a number: ``association("raw", table)[0]``."""
    return Number(f"association({written(name)})", source=(name, table))


FUNCTIONS: dict[str, tuple[str, Callable[..., Any]]] = {
    "cluster": ("clusters", cluster),
    "lexicon": ("lexicon", lexicon),
    "association": ("association", association),
    "variety_before": ("variety", variety_before),
    "variety_after": ("variety", variety_after),
}
"""The functions of the algebra that read a resource: the kind of resource, and what makes the template."""


def class_of(kind: str) -> Any:
    """The class of a kind of resource."""
    module, name = CLASSES[kind].split(":")
    return getattr(import_module(module), name)


def packed(resources: Mapping[str, Resource]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Resources as the header and the arrays of a model file hold them."""
    header = {name: {"kind": r.kind, "settings": r.settings()} for name, r in resources.items()}
    arrays = {f"resource.{name}.{part}": a for name, r in resources.items() for part, a in r.arrays().items()}
    return header, arrays


def unpacked(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Resource]:
    """Resources out of a model file."""
    found: dict[str, Resource] = {}
    for name, described in header.items():
        prefix = f"resource.{name}."
        mine = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
        found[name] = class_of(described["kind"]).restore(described["settings"], mine)
    return found
