"""Templates from text: ``"word[-1] & shape[0]"``. The text is parsed, never run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from dovetail.errors import DovetailError
from dovetail.features.algebra import attributes, templates
from dovetail.features.algebra.templates import At, Number, Source, Template
from dovetail.features.resources import templates as resources
from dovetail.features.resources.resource import Resource, Resources

_NAMES = ("prefix", "suffix", "ngrams", "bag", "edge", "elsewhere", "number", "column")
FUNCTIONS: dict[str, Callable[..., Any]] = {name: getattr(templates, name) for name in _NAMES}
PLAIN = {*attributes.SIMPLE, *attributes.FLAGS, *attributes.SEVERAL}


class TemplateError(DovetailError):
    """A template that cannot be read."""


@dataclass(frozen=True)
class _Known:
    """What a template may name besides columns: Python functions, and resources."""

    calls: Mapping[str, templates.Call] = field(default_factory=dict)
    resources: Resources = field(default_factory=dict)


def parse(text: str, functions: Iterable[templates.Call] = (), known: Resources | None = None) -> list[Template]:
    """Read one line of the algebra; ranges and bags make several templates. ``known``: resources by name.

    >>> parse("word[-1:1]")
    [word[-1], word[0]]
    >>> parse("shape[-1] & pos[0]")
    [shape[-1] & pos[0]]
    """
    names = _Known({call.name: call for call in functions}, known or {})
    with reading(text) as tree:
        return templates.flatten([_build(tree, names)])


@contextmanager
def reading(text: str) -> Iterator[ast.expr]:
    """A line of the algebra as Python reads it; what is wrong with it, there or in the block, names the line."""
    try:
        yield ast.parse(text.strip(), mode="eval").body
    except (TemplateError, SyntaxError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise TemplateError(f"template {text!r}: {error}") from None


def _build(node: ast.expr, known: _Known) -> Any:
    match node:
        case ast.Name(name):
            return _source(name)
        case ast.BinOp(left, ast.BitAnd(), right):
            a, b = _build(left, known), _build(right, known)
            if not (isinstance(a, At) and isinstance(b, At)):
                raise TemplateError("each side of & must be at one position, like word[-1]")
            return a & b
        case ast.Subscript(value, where):
            source = _build(value, known)
            if not isinstance(source, Source | Number):
                raise TemplateError(f"{ast.unparse(value)} has no positions")
            if isinstance(where, ast.Slice):
                if not isinstance(source, Source):
                    raise TemplateError("give a number one position at a time")
                return source[_integer(where.lower) : _integer(where.upper)]
            return source[_integer(where)]
        case ast.Call(ast.Name("call"), [ast.Name(name)], []):
            if name not in known.calls:
                raise TemplateError(
                    f"it needs the Python function {name!r}: pass it, as in Tagger.load(path, functions=[{name}])"
                )
            return known.calls[name]
        case ast.Call(ast.Name(function), [ast.Name(name) | ast.Constant(str() as name), *rest], []) if (
            function in resources.FUNCTIONS
        ):
            return resources.FUNCTIONS[function][1](name, _resource(function, name, known), *map(_integer, rest))
        case ast.Call(ast.Name(name), arguments, keywords) if name in FUNCTIONS:
            values = [_argument(name, a, known) for a in arguments]
            return FUNCTIONS[name](*values, **{str(k.arg): _argument("column", k.value, known) for k in keywords})
        case ast.Call(ast.Name(name), [], [ast.keyword("of", of)]) if name in PLAIN:
            return templates.simple(name, _argument("column", of, known))
        case ast.Call(ast.Name(name), _, _):
            there = ", ".join(sorted([*FUNCTIONS, *resources.FUNCTIONS]))
            raise TemplateError(f"no function {name!r}; there are {there}")
    raise TemplateError(f"cannot read {ast.unparse(node)!r}")


def _resource(function: str, name: str, known: _Known) -> Resource:
    kind, _ = resources.FUNCTIONS[function]
    found = known.resources.get(name)
    if found is None or found.kind != kind:
        has = ", ".join(f"{n} ({r.kind})" for n, r in known.resources.items()) or "none"
        raise TemplateError(f"{function} needs a resource of the kind {kind} with the name {name!r}; at hand: {has}")
    return found


def _source(name: str) -> Any:
    if name == "bias":
        return templates.bias
    if name in PLAIN:
        return templates.simple(name)
    return templates.column(name)


def _argument(function: str, node: ast.expr, known: _Known) -> Any:
    match node:
        case ast.Name(name) if function in ("column", "number"):
            return name
        case ast.Constant(str() as name):
            return name
        case ast.Constant(int()) | ast.UnaryOp():
            return _integer(node)
    return _build(node, known)


def _integer(node: ast.expr | None) -> int:
    match node:
        case ast.Constant(int() as value):
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(int() as value)):
            return -value
    raise TemplateError("positions and lengths are whole numbers, and ranges give both ends: word[-2:3]")
