"""Templates for nested segments: of single words, and of segments at their start, at their end, inside and as a whole.

A line that names no anchor is of single words that lie in no segment. Parts of speech have lines of their own:
``tag(word[0])``, and ``joint(word[0])`` for the tag together with the innermost segment that its word lies in.

>>> features = nested_features(["word[0]", "word[start - 1]", "phrase"])
>>> sorted(features.parts)
['phrase', 'start', 'word']
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from dovetail.errors import DovetailError
from dovetail.features.algebra.attributes import identity, written
from dovetail.features.algebra.ends import parse_ends
from dovetail.features.algebra.parse import PLAIN, parse
from dovetail.features.algebra.spans import ANCHORS, PHRASE, Anchored, Phrase, parse_span
from dovetail.features.algebra.templates import Call, Template, flatten
from dovetail.features.resources.resource import Resource

WORD = "word"
PARTS = (WORD, "start", "end", "inside", PHRASE, "tag", "joint")

TAG_LINES = (
    *(f"tag({line})" for line in ("bias", "word[-1:2]", "lower[0]", "prefix(1, 4)[0]", "suffix(1, 6)[0]", "shape[-1:2]",
                                  "suffix(1, 3)[-1]", "suffix(1, 3)[1]")),
    *(f"joint({line})" for line in ("bias", "word[0]", "suffix(1, 4)[0]", "shape[0]")),
)  # fmt: skip
"""Of parts of speech: by themselves, and together with the innermost entity that the word lies in."""

NESTED_SETS: dict[str, tuple[str, tuple[str, ...]]] = {
    "nested": (
        "our own set for nested entities",
        (
            "bias",
            "word[-1:2]",
            "lower[0]",
            "prefix(1, 6)[0]",
            "suffix(1, 6)[0]",
            "shape[-1:2]",
            "pos[-1:2]",
            "word[-1] & word[0]",
            "word[0] & word[1]",
            "pos[-1] & pos[0]",
            "pos[0] & pos[1]",
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
            "pos[start - 1] & pos[start]",
            "pos[end] & pos[end + 1]",
            "phrase",
            "lower(phrase)",
            "shape(phrase)",
            "pos(phrase)",
            "length",
            "word[start] & word[end]",
            "pos[start] & pos[end]",
            "word[start - 1] & word[end + 1]",
            "pos[start - 1] & pos[end + 1]",
            "pos[start - 1] & pos[start] & pos[end] & pos[end + 1]",
        ),
    ),
}

_BITS = "4, 6, 8, 10, 12, 16, 0"
USUAL: dict[str, tuple[str, ...]] = {
    "clusters": (
        f"cluster({{name}}, {_BITS})[-1:2]",
        *(f"cluster({{name}}, {_BITS})[{where}]" for where in ("inside", "start - 1:start + 1", "end:end + 2")),
    ),
    "lexicon": ("lexicon({name})[0]", "lexicon({name}, phrase)", "lexicon({name})[start]", "lexicon({name})[end]"),
    "association": ("association({name})[start]", "association({name})[start + 1]", "association({name}, phrase)"),
}
"""The templates that a resource of each kind adds to a named set."""


@dataclass(frozen=True)
class NestedFeatures:
    """Templates of nested segments under a name, sorted by what they look at."""

    name: str
    parts: Mapping[str, tuple[Template, ...]]
    written_as: tuple[str, ...]
    optional: frozenset[str] = field(default=frozenset(), compare=False)
    """Columns that the set does without where the data has none."""

    @classmethod
    def from_lines(
        cls,
        name: str,
        lines: Iterable[str],
        functions: Iterable[Call] = (),
        resources: Mapping[str, Resource] | None = None,
    ) -> NestedFeatures:
        """A set from lines of the algebra, with the Python functions and the resources that they name."""
        written_as = tuple(dict.fromkeys(line.strip() for line in lines))
        found: dict[str, list[Template]] = {}
        for line in written_as:
            anchor, templates = _parse(line, tuple(functions), resources)
            if any(template.edge for template in templates):
                raise DovetailError(f"template {line!r}: a segment is not scored with the label before it")
            found.setdefault(anchor, []).extend(templates)
        return cls(name, {part: tuple(flatten(found[part])) for part in PARTS if part in found}, written_as)

    def lines(self) -> list[str]:
        """The set as lines of the algebra."""
        return list(self.written_as)

    @property
    def templates(self) -> tuple[Template, ...]:
        """All templates, of all parts."""
        return tuple(template for part in self.parts.values() for template in part)

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column of the text that some template reads."""
        return tuple(dict.fromkeys(c for t in self.templates for c in t.columns))

    @property
    def resources(self) -> dict[str, Resource]:
        """Every resource that some template reads, by name."""
        return {name: resource for t in self.templates for name, resource in t.resources.items()}

    def without_columns(self, missing: Iterable[str]) -> NestedFeatures:
        """The set less the templates that read any of these columns."""
        gone = set(missing)
        if not gone & set(self.columns):
            return self
        kept = [
            line
            for line in self.written_as
            if not gone & {c for t in _parse(line, (), self.resources).templates for c in t.columns}
        ]
        return replace(NestedFeatures.from_lines(self.name, kept, (), self.resources), optional=self.optional)


def _parse(line: str, functions: Iterable[Call] = (), known: Mapping[str, Resource] | None = None) -> Anchored:
    """One line: of parts of speech, of segments if it names an anchor, else of single words."""
    if match := re.fullmatch(r"(tag|joint)\((.+)\)", line.strip()):
        return Anchored(match[1], parse(match[2], functions, known))
    try:
        names = {node.id for node in ast.walk(ast.parse(line, mode="eval")) if isinstance(node, ast.Name)}
    except (SyntaxError, ValueError):
        names = set()
    if {"start", "end"} <= names:
        return Anchored(PHRASE, [parse_ends(line, functions, known)])
    match = re.fullmatch(r"(\w+)\(phrase\)", line.strip())
    if match and match[1] not in PLAIN:  # a column of the text, such as pos(phrase)
        return Anchored(PHRASE, [Phrase(identity(match[1]))])
    if names & {*ANCHORS, PHRASE, "length"}:
        return parse_span(line, functions, known)
    return Anchored(WORD, parse(line, functions, known))


def nested_features(
    features: Any,
    resources: Mapping[str, Resource] | None = None,
    functions: Iterable[Any] = (),
    more: Iterable[str] = (),
) -> NestedFeatures:
    """A set from whatever a user gives: a set, a name, or lines of the algebra.

    Resources join a named set with their usual templates, and ``more`` lines any that is not made yet.
    """
    resources = dict(resources or {})
    if isinstance(features, NestedFeatures):
        return features
    if isinstance(features, str):
        if features not in NESTED_SETS:
            raise DovetailError(f"no feature set {features!r} of nested segments; there is {', '.join(NESTED_SETS)}")
        usual = [
            line.format(name=written(name))
            for name, resource in resources.items()
            for line in USUAL.get(resource.kind, ())
        ]
        found = NestedFeatures.from_lines(features, [*NESTED_SETS[features][1], *usual, *more], functions, resources)
        return replace(found, optional=frozenset(found.columns) - {"word"})
    try:
        return NestedFeatures.from_lines("custom", [*features, *more], functions, resources)
    except TypeError as error:
        raise DovetailError(
            f"features={features!r:.60}: give the name of a set, or a list of templates ({error})"
        ) from None
