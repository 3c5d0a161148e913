"""The template algebra for segments: what is seen at their start, at their end, inside them, and of them as a whole.

>>> parse_span("word[start - 1] & word[start]")
(start) [word[-1] & word[0]]
>>> parse_span("shape[end + 1]")
(end) [shape[1]]
>>> parse_span("lower[inside]")                # of every token of the segment
(inside) [lower[0]]
>>> parse_span("shape(phrase)")                # the shapes of all its tokens, in a row
(phrase) [shape(phrase)]
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from dovetail.errors import DovetailError
from dovetail.features.algebra.attributes import Attribute, identity, simple, written
from dovetail.features.algebra.parse import PLAIN, TemplateError, parse
from dovetail.features.algebra.templates import At, Call, Template, flatten
from dovetail.features.resources.resource import Derivable, Resource

ANCHORS = ("start", "end", "inside")
PHRASE = "phrase"


@dataclass(frozen=True, repr=False)
class Phrase(Template):
    """The values of an attribute at all tokens of a segment, in a row."""

    attribute: Attribute

    @property
    def columns(self) -> tuple[str, ...]:
        """The column that the attribute reads."""
        return At(((self.attribute, 0),)).columns

    @property
    def resources(self) -> dict[str, Resource]:
        """The resource of the attribute."""
        return At(((self.attribute, 0),)).resources

    @property
    def derived(self) -> dict[str, Derivable]:
        """The derived column of the attribute."""
        return At(((self.attribute, 0),)).derived

    def text(self) -> str:
        """``phrase``, or the attribute of it."""
        return PHRASE if self.attribute.name == "word" else f"{self.attribute}(phrase)"


@dataclass(frozen=True, repr=False)
class Length(Template):
    """How many tokens a segment has."""

    def text(self) -> str:
        """Always ``length``."""
        return "length"


@dataclass(frozen=True, repr=False)
class Listed(Template):
    """Whether a segment is a phrase of a lexicon, and under which labels."""

    name: str
    lexicon: Any = field(compare=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The words."""
        return ("word",)

    @property
    def resources(self) -> dict[str, Resource]:
        """The lexicon."""
        return {self.name: self.lexicon}

    def text(self) -> str:
        """The lexicon by name."""
        return f"lexicon({written(self.name)}, phrase)"


@dataclass(frozen=True, repr=False)
class Tied(Template):
    """The weakest association between neighbours inside a segment, as a number."""

    name: str
    table: Any = field(compare=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The words."""
        return ("word",)

    @property
    def resources(self) -> dict[str, Resource]:
        """The association table."""
        return {self.name: self.table}

    def text(self) -> str:
        """The table by name."""
        return f"association({written(self.name)}, phrase)"


class Anchored(NamedTuple):
    """Templates, and what their positions count from: start, end, inside, or the phrase as a whole."""

    anchor: str
    templates: list[Template]

    def __repr__(self) -> str:
        return f"({self.anchor}) {self.templates}"


def parse_span(text: str, functions: Iterable[Call] = (), known: Mapping[str, Resource] | None = None) -> Anchored:
    """Read one line of the algebra of segments. ``known``: resources by name."""
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        if (whole := _whole(tree, known or {})) is not None:
            return Anchored(PHRASE, [whole])
        moving = _Moving()
        moved = ast.unparse(moving.visit(tree))
    except TemplateError as error:
        raise TemplateError(f"template {text!r}: {error}") from None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise TemplateError(f"template {text!r}: {error}") from None
    if len(moving.anchors) != 1:
        raise TemplateError(
            f"template {text!r}: say where, and once: word[start - 1], word[end], word[inside], or phrase"
        )
    return Anchored(moving.anchors.pop(), parse(moved, functions, known))


class _Moving(ast.NodeTransformer):
    """Takes the anchors out of positions: ``word[start - 1]`` becomes ``word[-1]``."""

    def __init__(self) -> None:
        self.anchors: set[str] = set()

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """One position, or a range of them; a bias and a bag have no position but their anchor."""
        where = node.slice
        if (isinstance(node.value, ast.Name) and node.value.id == "bias") or _is_bag(node.value):
            self._moved(where)
            return node.value
        if isinstance(where, ast.Slice):
            moved: ast.expr = ast.Slice(self._moved(where.lower), self._moved(where.upper))
        else:
            moved = self._moved(where)
        return ast.Subscript(node.value, moved, node.ctx)

    def _moved(self, node: ast.expr | None) -> ast.expr:
        match node:
            case ast.Name(anchor) if anchor in ANCHORS:
                offset = 0
            case ast.BinOp(ast.Name(anchor), ast.Add(), ast.Constant(int() as offset)) if anchor in ANCHORS:
                pass
            case ast.BinOp(ast.Name(anchor), ast.Sub(), ast.Constant(int() as back)) if anchor in ANCHORS:
                offset = -back
            case _:
                raise TemplateError("positions count from start, end or inside: word[start - 1]")
        self.anchors.add(anchor)
        return ast.parse(str(offset), mode="eval").body


def _is_bag(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bag"


def _whole(node: ast.expr, known: Mapping[str, Resource]) -> Template | None:
    """A template of the whole segment, or None if it is none."""
    match node:
        case ast.Name("length"):
            return Length()
        case ast.Name("phrase"):
            return Phrase(identity("word"))
        case ast.Call(ast.Name(name), [ast.Name("phrase")], []) if name in PLAIN:
            attribute = simple(name)
            if not attribute.single:
                raise TemplateError(f"{name}(phrase): {name} has not one value for every token")
            return Phrase(attribute)
        case ast.Call(ast.Name("lexicon" | "association" as function), [name, ast.Name("phrase")], []):
            called = str(name.id if isinstance(name, ast.Name) else ast.literal_eval(name))
            found = known.get(called)
            if found is None or found.kind != function:
                raise TemplateError(f"{function} needs a resource of that kind with the name {called!r}")
            return Listed(called, found) if function == "lexicon" else Tied(called, found)
        case ast.Call(ast.Name("cluster"), [*arguments, ast.Name("phrase")], []):
            at = parse(f"cluster({', '.join(map(ast.unparse, arguments))})[0]", (), known)[0]
            if not isinstance(at, At) or not at.parts[0][0].single:
                raise TemplateError("cluster(name, bits, phrase) takes one number of bits")
            return Phrase(at.parts[0][0])
    return None


@dataclass(frozen=True)
class SpanFeatures:
    """Templates of segments under a name, sorted by what they look at.

    >>> SpanFeatures.from_lines("mine", ["word[start - 1]", "word[end + 1]", "phrase", "length"]).lines()
    ['word[start - 1]', 'word[end + 1]', 'phrase', 'length']
    """

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
    ) -> SpanFeatures:
        """A set from lines of the algebra, with the Python functions and the resources that they name."""
        written_as = tuple(dict.fromkeys(line.strip() for line in lines))
        found: dict[str, list[Template]] = {}
        for line in written_as:
            anchor, templates = parse_span(line, tuple(functions), resources)
            if any(template.edge for template in templates):
                raise DovetailError(f"template {line!r}: a segment is not scored with the label before it")
            found.setdefault(anchor, []).extend(templates)
        return cls(name, {anchor: tuple(flatten(found[anchor])) for anchor in found}, written_as)

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

    def without_columns(self, missing: Iterable[str]) -> SpanFeatures:
        """The set less the templates that read any of these columns."""
        gone = set(missing)
        if not gone & set(self.columns):
            return self
        kept = [
            line
            for line in self.written_as
            if not gone & {c for t in parse_span(line, (), self.resources).templates for c in t.columns}
        ]
        return replace(SpanFeatures.from_lines(self.name, kept, (), self.resources), optional=self.optional)
