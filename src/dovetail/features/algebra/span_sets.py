"""Named sets of templates for segments, and what resources add to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dovetail.errors import DovetailError
from dovetail.features.algebra.attributes import written
from dovetail.features.algebra.spans import SpanFeatures
from dovetail.features.resources.resource import Resource

_LIANG_BOUNDARIES = tuple(
    f"{name}[{where}]"
    for where in ("start - 1", "start", "end", "end + 1")
    for name in ("word", "lower", "type", "short_type", "prefix(1, 4)", "suffix(1, 4)")
)

SPAN_SETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "liang-ner-spans": (
        "Liang 2005, figure 5-4, the regular features of the semi-Markov model",
        (
            "bias[start]",
            *_LIANG_BOUNDARIES,
            "word[start - 1] & word[start]",
            "word[end] & word[end + 1]",
            "phrase",
            "lower(phrase)",
            "type(phrase)",
            "short_type(phrase)",
        ),
    ),
    "liang-segmentation-spans": (
        "Liang 2005, figure 5-2, the regular features of the semi-Markov model over characters",
        (
            "bias[start]",
            "word[start - 2:start + 1]",
            "word[end:end + 3]",
            "word[start - 2] & word[start - 1]",
            "word[start - 1] & word[start]",
            "word[end] & word[end + 1]",
            "word[end + 1] & word[end + 2]",
            "phrase",
        ),
    ),
    "words-spans": (
        "our own set for words as segments of characters",
        (
            "bias[start]",
            "word[start - 2:start + 3]",
            "word[end - 2:end + 3]",
            "word[start - 2] & word[start - 1]",
            "word[start - 1] & word[start]",
            "word[start] & word[start + 1]",
            "word[start + 1] & word[start + 2]",
            "word[start - 1] & word[start + 1]",
            "word[end - 1] & word[end]",
            "word[end] & word[end + 1]",
            "word[end - 1] & word[end + 1]",
            "kind[start - 2:start + 3]",
            "kind[start - 1] & kind[start]",
            "kind[start - 1] & kind[start] & kind[start + 1]",
            "kind[end] & kind[end + 1]",
            "kind[end - 1] & kind[end] & kind[end + 1]",
            "again[start]",
            "again[start + 1]",
            "again[end]",
            "phrase",
            "length",
        ),
    ),
    "ner-spans": (
        "our own set for named entities as segments of words",
        (
            "bias[inside]",
            "word[inside]",
            "lower[inside]",
            "ngrams(1, 6)[inside]",
            "shape[inside]",
            "pos[inside]",
            "bias[start]",
            "bias[end]",
            "word[start - 2:start + 2]",
            "word[end - 1:end + 3]",
            "lower[start - 1:start + 2]",
            "lower[end - 1:end + 2]",
            "prefix(1, 4)[start - 1:start + 1]",
            "suffix(1, 4)[start - 1:start + 1]",
            "prefix(1, 4)[end:end + 2]",
            "suffix(1, 4)[end:end + 2]",
            "shape[start - 2:start + 2]",
            "shape[end - 1:end + 3]",
            "pos[start - 2:start + 2]",
            "pos[end - 1:end + 3]",
            "word[start - 1] & word[start]",
            "word[end] & word[end + 1]",
            "word[start - 1] & shape[start]",
            "shape[end] & word[end + 1]",
            "shape[start - 1] & shape[start]",
            "shape[end] & shape[end + 1]",
            "shape[start - 2] & shape[start - 1] & shape[start]",
            "shape[end] & shape[end + 1] & shape[end + 2]",
            "pos[start - 1] & pos[start]",
            "pos[end] & pos[end + 1]",
            "phrase",
            "lower(phrase)",
            "shape(phrase)",
        ),
    ),
}

_BITS = "4, 6, 8, 10, 12, 16, 0"
USUAL: dict[str, tuple[str, ...]] = {
    "clusters": (
        *(f"cluster({{name}}, {_BITS})[{where}]" for where in ("start - 1:start + 1", "end:end + 2")),
        *(f"cluster({{name}}, {bits}, phrase)" for bits in (4, 8, 12, 0)),
    ),
    "lexicon": ("lexicon({name}, phrase)", "lexicon({name})[start]", "lexicon({name})[end]"),
    "association": ("association({name})[start]", "association({name})[start + 1]", "association({name}, phrase)"),
    "variety": (
        *(f"variety_before({{name}}, {n})[start]" for n in (2, 3, 4)),
        *(f"variety_after({{name}}, {n})[start]" for n in (2, 3, 4)),
        *(f"variety_{side}({{name}}, {n})[end - {n - 1}]" for n in (2, 3, 4) for side in ("before", "after")),
    ),
}
"""The templates that a resource of each kind adds to a set."""


def span_features(
    features: Any, resources: Mapping[str, Resource] | None = None, functions: Iterable[Any] = ()
) -> SpanFeatures:
    """A set from whatever a user gives: a set, a name, a TOML file with ``templates``, or lines of the algebra.

    A named set is joined by the usual templates of the resources.

    >>> span_features(["phrase", "word[start]"]).name
    'custom'
    """
    resources = dict(resources or {})
    if isinstance(features, SpanFeatures):
        return features
    if isinstance(features, str | Path) and str(features).endswith(".toml"):
        from dovetail.features.algebra.sets import FeatureSet

        raise DovetailError(f"{features}: give templates of segments as lines, not as {FeatureSet.__name__} files")
    if isinstance(features, str):
        if features not in SPAN_SETS:
            raise DovetailError(f"no feature set {features!r} of segments; there are {', '.join(sorted(SPAN_SETS))}")
        usual = [
            line.format(name=written(name)) for name, resource in resources.items() for line in USUAL[resource.kind]
        ]
        found = SpanFeatures.from_lines(features, [*SPAN_SETS[features][1], *usual], functions, resources)
        return replace(found, optional=frozenset(found.columns) - {"word"})
    try:
        return SpanFeatures.from_lines("custom", features, functions, resources)
    except TypeError as error:
        raise DovetailError(
            f"features={features!r:.60}: give the name of a set, or a list of templates ({error})"
        ) from None
