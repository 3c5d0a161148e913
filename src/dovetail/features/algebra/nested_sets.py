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
from collections.abc import Iterable
from typing import ClassVar

from dovetail.features.algebra.attributes import identity
from dovetail.features.algebra.features import Features, Named
from dovetail.features.algebra.span_sets import BITS, ENTITY_LINES, WHOLE_LINES
from dovetail.features.algebra.span_sets import USUAL as SPAN_USUAL
from dovetail.features.algebra.spans import ANCHORS, PHRASE, Phrase, of_part, parse_ends, parse_span
from dovetail.features.algebra.syntax import PLAIN, parse
from dovetail.features.algebra.templates import Call, Template
from dovetail.features.resources.resource import Resources

WORD = "word"
PARTS = (WORD, *ANCHORS, PHRASE, "tag", "joint")

TAG_LINES = (
    *(f"tag({line})" for line in ("bias", "word[-1:2]", "lower[0]", "prefix(1, 4)[0]", "suffix(1, 6)[0]", "shape[-1:2]",
                                  "suffix(1, 3)[-1]", "suffix(1, 3)[1]")),
    *(f"joint({line})" for line in ("bias", "word[0]", "suffix(1, 4)[0]", "shape[0]")),
)  # fmt: skip
"""Of parts of speech: by themselves, and together with the innermost entity that the word lies in."""

NESTED_SETS: Named = {
    "none": ("next to nothing: for an encoder alone", ("bias", "bias[start]")),
    "nested": ("our own set for nested entities", (
        "bias", "word[-1:2]", "lower[0]", "prefix(1, 6)[0]", "suffix(1, 6)[0]", "shape[-1:2]", "pos[-1:2]",
        "word[-1] & word[0]", "word[0] & word[1]", "pos[-1] & pos[0]", "pos[0] & pos[1]", *ENTITY_LINES,
        *WHOLE_LINES, "pos(phrase)", "length", "word[start] & word[end]", "pos[start] & pos[end]",
        "word[start - 1] & word[end + 1]", "pos[start - 1] & pos[end + 1]",
        "pos[start - 1] & pos[start] & pos[end] & pos[end + 1]",
    )),
}  # fmt: skip

USUAL: dict[str, tuple[str, ...]] = {
    "clusters": (
        f"cluster({{name}}, {BITS})[-1:2]",
        *(f"cluster({{name}}, {BITS})[{where}]" for where in ("inside", "start - 1:start + 1", "end:end + 2")),
    ),
    "lexicon": ("lexicon({name})[0]", *SPAN_USUAL["lexicon"]),
    "vectors": ("vector({name})[-1:2]", *SPAN_USUAL["vectors"]),
    "hints": ("hint({name})[-1:2]", *SPAN_USUAL["hints"]),
    "association": SPAN_USUAL["association"],
    "variety": (),
}
"""The templates that a resource of each kind adds to a named set."""


def parse_nested(text: str, functions: Iterable[Call] = (), known: Resources | None = None) -> list[Template]:
    """One line: of parts of speech, of segments if it names an anchor, else of single words."""
    if match := re.fullmatch(r"(tag|joint)\((.+)\)", text.strip()):
        return of_part(match[1], parse(match[2], functions, known), text)
    try:
        names = {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}
    except (SyntaxError, ValueError):
        names = set()
    if {"start", "end"} <= names:
        return [parse_ends(text, functions, known)]
    match = re.fullmatch(r"(\w+)\(phrase\)", text.strip())
    if match and match[1] not in PLAIN:  # a column of the text, such as pos(phrase)
        return [Phrase(identity(match[1]), part=PHRASE)]
    if names & {*ANCHORS, PHRASE, "length"}:
        return parse_span(text, functions, known)
    return of_part(WORD, parse(text, functions, known), text)


class NestedFeatures(Features):
    """Templates of nested segments under a name: of words in no segment, of segments, and of parts of speech."""

    PARTS: ClassVar = PARTS
    SETS: ClassVar = NESTED_SETS
    USUAL: ClassVar = USUAL
    WHAT: ClassVar = " of nested segments"
    parse = staticmethod(parse_nested)


nested_features = NestedFeatures.of
