"""Named sets of templates for words as tags of characters, and what resources add to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dovetail.features.algebra.attributes import written
from dovetail.features.algebra.sets import SETS, FeatureSet
from dovetail.features.resources.resource import Resource

WORD_SETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "words": (
        "our own set for words as tags of characters",
        (
            "bias",
            "word[-2:3]",
            "word[-2] & word[-1]",
            "word[-1] & word[0]",
            "word[0] & word[1]",
            "word[1] & word[2]",
            "word[-1] & word[1]",
            "kind[-2:3]",
            "kind[-1] & kind[0]",
            "kind[0] & kind[1]",
            "kind[-1] & kind[0] & kind[1]",
            "kind[-2] & kind[-1] & kind[0] & kind[1] & kind[2]",
            "again[0]",
            "again[1]",
        ),
    ),
}

USUAL: dict[str, tuple[str, ...]] = {
    "association": tuple(f"association({{name}})[{where}]" for where in (-1, 0, 1, 2)),
    "clusters": ("cluster({name}, 4, 6, 8, 10, 12, 16, 0)[-1:2]",),
}
"""What a resource of these kinds adds to sets over characters, instead of its usual templates."""


def _usual(name: str, resource: Resource) -> list[str]:
    lines = USUAL.get(resource.kind)
    return resource.usual(name) if lines is None else [line.format(name=name) for line in lines]


def chain_features(
    features: Any, resources: Mapping[str, Resource] | None = None, functions: Iterable[Any] = ()
) -> FeatureSet:
    """A set for chains of characters or words from whatever a user gives; resources join a named set.

    >>> chain_features("words").name
    'words'
    """
    resources = dict(resources or {})
    if not isinstance(features, Iterable | FeatureSet):
        return FeatureSet.of(features)
    if isinstance(features, str) and (features in WORD_SETS or features in SETS):
        lines = (WORD_SETS | SETS)[features][1]
        usual = [line for name, resource in resources.items() for line in _usual(written(name), resource)]
        found = FeatureSet.from_lines(features, [*lines, *usual], functions, resources)
        return FeatureSet(found.name, found.templates, frozenset(found.columns) - {"word"})
    if isinstance(features, FeatureSet | str):
        return FeatureSet.of(features)
    if all(isinstance(line, str) for line in features):
        return FeatureSet.from_lines("custom", features, functions, resources)
    return FeatureSet.of(features)
