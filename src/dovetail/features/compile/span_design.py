"""Compiling templates of whole segments: the "tokens" of this design are the candidate segments.

Candidate ``t * longest + d`` begins at token t and has d + 1 tokens; those that would go past the end of their
sentence are no segments, and share one feature that nothing ever uses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dovetail.arrays import Int32s, Int64s, offsets_of
from dovetail.columns import Columns
from dovetail.features.algebra.attributes import Attribute
from dovetail.features.algebra.spans import Ends, Length, LookedUp, Phrase
from dovetail.features.algebra.templates import Template
from dovetail.features.compile import hashing
from dovetail.features.compile.design import Compiler, Rows, salt
from dovetail.features.compile.hashing import Keys
from dovetail.features.resources.templates import labels_in
from dovetail.kernel import kernel


@kernel
def phrase_keys(ids: Int32s, offsets: Int64s, type_key: Keys, first: np.uint64, longest: int, out: Keys) -> None:
    """The key of the values of every candidate in a row, 0 where there is none. out: [tokens * longest]."""
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            h = first
            for d in range(longest):
                if t + d < offsets[i + 1]:
                    h = (h ^ type_key[ids[t + d]]) * hashing.PRIME
                    out[t * longest + d] = hashing.mix(h)
                else:
                    out[t * longest + d] = 0


@kernel
def pair_keys(start: Keys, end: Keys, offsets: Int64s, longest: int, out: Keys) -> None:
    """The key of the two ends of every candidate, 0 where there is none. start, end: [tokens]; out: [candidates]."""
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            for d in range(longest):
                inside = t + d < offsets[i + 1]
                out[t * longest + d] = hashing.mix(start[t] ^ (end[t + d] * hashing.PRIME)) if inside else 0


@dataclass
class SpanCompiler(Compiler):
    """Turns templates of segments into rows of keys and columns of keys, one for every candidate."""

    tokens: Compiler = field(default_factory=lambda: Compiler(Columns(np.zeros(1, np.int64), {})))
    """What compiles templates of the tokens of the text."""
    longest: int = 1

    @classmethod
    def over(cls, text: Columns, longest: int) -> SpanCompiler:
        """For the candidate segments of a text: they are a corpus of one sentence, without columns."""
        return cls(Columns(np.array([0, text.tokens * longest]), {}), tokens=Compiler(text), longest=longest)

    @property
    def text(self) -> Columns:
        """The text that the candidates are of."""
        return self.tokens.columns

    def rows(self, templates: Iterable[Template]) -> list[Rows]:
        """Lengths, lexicon entries and associations."""
        blocks = []
        for template in templates:
            match template:
                case Length():
                    blocks.append(self._length(template))
                case LookedUp(attribute=Attribute(resource=(_, table))):
                    look_up = self._labels if table.kind == "lexicon" else self._association
                    blocks.append(look_up(template, table))
        return blocks

    def direct(self, templates: Iterable[Template]) -> list[Keys]:
        """Phrases and pairs of ends: one key a candidate. Shapes: [candidates]."""
        return [self._direct(template) for template in templates if isinstance(template, Phrase | Ends)]

    def _direct(self, template: Phrase | Ends) -> Keys:
        first, out = salt(template), np.empty(self.columns.tokens, dtype=np.uint64)
        if isinstance(template, Ends):
            start, end = (self.tokens.conjunction(at, first) for at in (template.start, template.end))
            pair_keys(start, end, self.text.offsets, self.longest, out)
        else:
            values = self.tokens.attribute_keys(template.attribute).keys
            ids = self.text.columns[template.attribute.column].ids
            phrase_keys(ids, self.text.offsets, values, first, self.longest, out)
        return out

    def _length(self, template: Length) -> Rows:
        keys = hashing.string_keys([str(d + 1) for d in range(self.longest)], salt(template))
        index = np.tile(np.arange(self.longest, dtype=np.int32), self.text.tokens)
        return Rows(index[:, None], np.arange(self.longest + 1), keys)

    def lengths(self) -> Int32s:
        """How many tokens each candidate has, 0 for those that are no segments. Shape [candidates]."""
        number, _, length = self._spans()
        out = np.zeros(self.columns.tokens, dtype=np.int32)
        out[number] = length
        return out

    def _spans(self) -> tuple[Int64s, Int64s, Int64s]:
        """The candidates that are segments: their numbers, first tokens and lengths."""
        end = np.repeat(self.text.offsets[1:], np.diff(self.text.offsets))
        start = np.repeat(np.arange(self.text.tokens), self.longest)
        length = np.tile(np.arange(1, self.longest + 1), self.text.tokens)
        number = np.flatnonzero(start + length <= np.repeat(end, self.longest))
        return number, start[number], length[number]

    def _labels(self, template: Template, lexicon: Any) -> Rows:
        number, start, length = self._spans()
        found = lexicon.within(self.text.columns["word"], start, length)
        values = [[] if i == 0 else labels_in(value) for i, value in enumerate(found.types)]
        indptr = offsets_of(values)
        index = np.full(self.columns.tokens, -1, dtype=np.int32)
        index[number] = np.where(np.diff(indptr)[found.ids] > 0, found.ids, -1)
        keys = hashing.string_keys([label for value in values for label in value], salt(template))
        return Rows(index[:, None], indptr, keys)

    def _association(self, template: Template, table: Any) -> Rows:
        number, start, length = self._spans()
        value = table.within(self.text.columns["word"], start, length)
        distinct, inverse = np.unique(value, return_inverse=True)
        index = np.full(self.columns.tokens, -1, dtype=np.int32)
        index[number] = np.where(distinct[inverse] != 0.0, inverse, -1)
        keys = np.full(len(distinct), salt(template), dtype=np.uint64)
        return Rows(index[:, None], np.arange(len(distinct) + 1), keys, distinct)
