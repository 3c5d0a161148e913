"""The template algebra for segments: what is seen at their start, at their end, inside them, and of them as a whole.

>>> parse_span("word[start - 1] & word[start]")
[word[start - 1] & word[start]]
>>> parse_span("shape[end:end + 2]")
[shape[end], shape[end + 1]]
>>> parse_span("lower[inside]")                # of every token of the segment
[lower[inside]]
>>> parse_span("shape(phrase)")                # the shapes of all its tokens, in a row
[shape(phrase)]
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dovetail.features.algebra.attributes import Attribute, identity, simple, written
from dovetail.features.algebra.syntax import PLAIN, TemplateError, parse, reading
from dovetail.features.algebra.templates import At, Call, OfOne, Template
from dovetail.features.resources.resource import Resources

ANCHORS = ("start", "end", "inside")
PHRASE = "phrase"


@dataclass(frozen=True, repr=False)
class Phrase(OfOne):
    """The values of an attribute at all tokens of a segment, in a row."""

    def written(self, place: Callable[[int], str]) -> str:
        """``phrase``, or the attribute of it."""
        return PHRASE if self.attribute.name == "word" else f"{self.attribute}(phrase)"

    def __str__(self) -> str:
        if self.attribute.resource is not None:
            return f"{self.attribute.name.removesuffix(')')}, phrase)"
        return f"{self.attribute.column}(phrase)" if self.attribute.name.startswith("column(") else self.text()


@dataclass(frozen=True, repr=False)
class Length(Template):
    """How many tokens a segment has."""

    FORM: ClassVar = "length"


@dataclass(frozen=True, repr=False)
class LookedUp(OfOne):
    """What a resource says of a whole segment: the labels it has in a lexicon, or its association, a number."""

    FORM: ClassVar = "{attribute}"


@dataclass(frozen=True, repr=False)
class Ends(Template):
    """What is seen from the first token and from the last token of a segment, together."""

    start: At
    end: At

    @property
    def reads(self) -> tuple[Attribute, ...]:
        """The attributes at either end."""
        return self.start.reads + self.end.reads

    def written(self, place: Callable[[int], str]) -> str:
        """Both ends, joined."""
        return f"{self.start.text()} to {self.end.text()}"

    def __str__(self) -> str:
        return f"{self.start} & {self.end}"


def parse_span(text: str, functions: Iterable[Call] = (), known: Resources | None = None) -> list[Template]:
    """Read one line of the algebra of segments. ``known``: resources by name."""
    with reading(text) as tree:
        if (whole := _whole(tree, known or {})) is not None:
            return of_part(PHRASE, [whole], text)
        moving = _Moving()
        moved = ast.unparse(moving.visit(tree))
        if len(moving.anchors) != 1:
            raise TemplateError("say where, and once: word[start - 1], word[end], word[inside], or phrase")
    return of_part(moving.anchors.pop(), parse(moved, functions, known), text)


def of_part(part: str, templates: Sequence[Template], line: str) -> list[Template]:
    """The templates of a line as those of a part of segments."""
    if any(template.edge for template in templates):
        raise TemplateError(f"template {line!r}: a segment is not scored with the label before it")
    return [replace(template, part=part) for template in templates]


def parse_ends(line: str, functions: Iterable[Call] = (), known: Resources | None = None) -> Ends:
    """Read a line that names both ends.

    >>> parse_ends("word[start - 1] & shape[end + 1]").text()
    'word[-1] to shape[1]'
    """
    ends: dict[str, tuple[tuple[Attribute, int], ...]] = {"start": (), "end": ()}
    for part in _conjuncts(ast.parse(line.strip(), mode="eval").body):
        [template, *more] = parse_span(ast.unparse(part), functions, known)
        if not more and isinstance(template, At) and all(attribute.single for attribute in template.reads):
            ends[template.part] = ends.get(template.part, ()) + template.parts
        else:
            ends[PHRASE] = ()
    if len(ends) > 2 or not all(ends.values()):
        raise TemplateError(f"template {line!r}: of both ends, each part has one value at one position")
    return Ends(*(At(parts, part=anchor) for anchor, parts in ends.items()), part=PHRASE)


def _conjuncts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
        return [*_conjuncts(node.left), *_conjuncts(node.right)]
    return [node]


class _Moving(ast.NodeTransformer):
    """Takes the anchors out of positions: ``word[start - 1]`` becomes ``word[-1]``."""

    def __init__(self) -> None:
        self.anchors: set[str] = set()

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """One position, or a range of them; a bias and a bag have no position but their anchor."""
        where = node.slice
        match node.value:
            case ast.Name("bias") | ast.Call(ast.Name("bag")):
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


def _whole(node: ast.expr, known: Resources) -> Template | None:
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
        case ast.Call(ast.Name("lexicon" | "association" as function), [given, ast.Name("phrase")], []):
            called = str(given.id if isinstance(given, ast.Name) else ast.literal_eval(given))
            found = known.get(called)
            if found is None or found.kind != function:
                raise TemplateError(f"{function} needs a resource of that kind with the name {called!r}")
            name = f"{function}({written(called)}, phrase)"
            return LookedUp(Attribute(name, "word", str.split, resource=(called, found)))
        case ast.Call(ast.Name("cluster"), [*arguments, ast.Name("phrase")], []):
            at = parse(f"cluster({', '.join(map(ast.unparse, arguments))})[0]", (), known)[0]
            if not isinstance(at, At) or not at.parts[0][0].single:
                raise TemplateError("cluster(name, bits, phrase) takes one number of bits")
            return Phrase(at.parts[0][0])
    return None
