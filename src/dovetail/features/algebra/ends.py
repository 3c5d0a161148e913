"""Templates of a segment's two ends at once: ``word[start - 1] & word[end + 1]``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dovetail.features.algebra.parse import TemplateError
from dovetail.features.algebra.spans import parse_span
from dovetail.features.algebra.templates import At, Call, Template
from dovetail.features.compile import hashing
from dovetail.features.compile.design import Compiler, salt
from dovetail.features.compile.hashing import Keys
from dovetail.features.compile.span_design import SpanCompiler
from dovetail.features.resources.resource import Derivable, Resource
from dovetail.kernel import kernel


@dataclass(frozen=True, repr=False)
class Ends(Template):
    """What is seen from the first token and from the last token of a segment, together."""

    start: At
    end: At

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that either end reads."""
        return tuple(dict.fromkeys((*self.start.columns, *self.end.columns)))

    @property
    def resources(self) -> dict[str, Resource]:
        """The resources of either end."""
        return {**self.start.resources, **self.end.resources}

    @property
    def derived(self) -> dict[str, Derivable]:
        """The derived columns of either end."""
        return {**self.start.derived, **self.end.derived}

    def text(self) -> str:
        """Both ends, joined."""
        return f"{self.start.text()} to {self.end.text()}"


def parse_ends(line: str, functions: Iterable[Call] = (), known: Mapping[str, Resource] | None = None) -> Ends:
    """Read a line that names both ends.

    >>> parse_ends("word[start - 1] & shape[end + 1]").text()
    'word[-1] to shape[1]'
    """
    ends: dict[str, list[At]] = {"start": [], "end": []}
    for part in _parts(ast.parse(line.strip(), mode="eval").body):
        anchor, templates = parse_span(ast.unparse(part), functions, known)
        [template, *more] = templates
        if anchor not in ends or more or not isinstance(template, At) or not all(a.single for a, _ in template.parts):
            raise TemplateError(f"template {line!r}: of both ends, each part has one value at one position")
        ends[anchor].append(template)
    return Ends(*(At(tuple(part for template in found for part in template.parts)) for found in ends.values()))


def _parts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
        return [*_parts(node.left), *_parts(node.right)]
    return [node]


@kernel
def pair_keys(start: Keys, end: Keys, offsets: NDArray[np.int64], longest: int, out: Keys) -> None:
    """The key of the two ends of every candidate, 0 where there is none. start, end: [tokens]; out: [candidates]."""
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            for d in range(longest):
                inside = t + d < offsets[i + 1]
                out[t * longest + d] = hashing.mix(start[t] ^ (end[t + d] * hashing.PRIME)) if inside else 0


@dataclass
class EndsCompiler(SpanCompiler):
    """Compiles templates of whole segments, those of both ends among them."""

    def direct(self, templates: Iterable[Template]) -> list[Keys]:
        """One key a candidate. Shapes: [candidates]."""
        listed = list(templates)
        return super().direct(listed) + [self._ends(t) for t in listed if isinstance(t, Ends)]

    def _ends(self, template: Ends) -> Keys:
        start, end = (self._token_keys(at, salt(template)) for at in (template.start, template.end))
        out = np.empty(self.columns.tokens, dtype=np.uint64)
        pair_keys(start, end, self.text.offsets, self.longest, out)
        return out

    def _token_keys(self, template: At, first: np.uint64) -> Keys:
        """The key of a conjunction at every token. Shape [tokens]."""
        tokens = Compiler(self.text)
        key = np.array([first])
        for attribute, offset in template.parts:
            part = self.attribute_keys(attribute).keys[tokens.ids_at(attribute.column, offset)]
            out = np.empty(len(part), dtype=np.uint64)
            hashing.combine(key, part, out)
            key = out
        return key
