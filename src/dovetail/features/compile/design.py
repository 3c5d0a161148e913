"""Compiling templates over a corpus into a factored design: which features fire at which token.

Every template over one column at one position is a function of the word *type*. Such templates are kept factored: a
token points to a **row** (a type seen at a position), and the row lists its features. Conjunctions across positions
live at the token level: a token points straight to one feature.

    score[t, y] = sum over slots k of row_score[row(t, k), y] + sum over slots k of weight[feature_index[t, k], y]
    row_score[r, y] = sum over entries e of row r of value[e] * weight[feature[e], y]

The same column is read at several positions, so its numbers are kept once, and a slot says how far to look from the
token: see :class:`~dovetail.features.compile.links.Links`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Floats, Int32s, Int64s, pointers
from dovetail.columns import Columns
from dovetail.errors import DovetailError
from dovetail.features.algebra.attributes import Attribute
from dovetail.features.algebra.templates import At, Bag, Bias, Call, Elsewhere, Number, Template, Vector, weighted
from dovetail.features.compile import hashing
from dovetail.features.compile.hashing import KeyRows, Keys
from dovetail.features.compile.index import Collector, FeatureIndex, narrow
from dovetail.features.compile.links import Links
from dovetail.features.compile.repeats import elsewhere_index, repeats
from dovetail.kernel import kernel


@kernel
def shifted(ids: Int32s, offsets: Int64s, shift: int, out: Int32s) -> None:
    """``out[t] = ids[t + shift]`` within the sentence of t, else 0, the boundary. Shapes: [tokens]."""
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            s = t + shift
            out[t] = ids[s] if offsets[i] <= s < offsets[i + 1] else 0


@kernel
def window_rows(ids: Int32s, offsets: Int64s, first: int, last: int, out: Int32s) -> None:
    """The distinct types at positions first..last around each token; -1 fills up. out: [tokens, last - first + 1]."""
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            n = 0
            for s in range(max(offsets[i], t + first), min(offsets[i + 1], t + last + 1)):
                n = hashing.put(ids[s], out[t], n)
            for k in range(n, last - first + 1):
                out[t, k] = -1


@dataclass
class Rows:
    """Rows under construction: tokens point to rows, rows hold keys with values.

    Token t points to the rows ``index[t + shift]``, to row 0 where that lies outside its sentence. ``index`` [tokens,
    slots] (-1 for none), ``indptr`` [rows + 1], ``keys`` [entries], ``values`` [entries] or None. Where the keys come
    ``again`` and again, row by row, they are given once: there are as many entries as keys times ``again``.
    """

    index: Int32s
    indptr: Int64s
    keys: Keys
    values: Floats | None = None
    shift: int = 0
    again: int = 1


@dataclass
class Design:
    """A compiled corpus.

    ``links``: the rows of each token; ``row_ptr`` [rows + 1], ``row_feature`` [entries] int32, ``row_value``
    [entries] float64 or None (all ones); ``feature_index`` [tokens, slots] int32, -1 for none.
    """

    offsets: Int64s
    links: Links
    row_ptr: NDArray[np.integer]
    row_feature: Int32s
    row_value: Floats | None
    feature_index: Int32s
    features: int

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return int(self.offsets[-1])

    @property
    def row_index(self) -> Int32s:
        """The rows of every token, written out: [tokens, slots], -1 for none."""
        return self.links.rows_of(np.arange(self.tokens), self.offsets)


@dataclass
class Compiler:
    """Turns templates over columns into rows of keys and columns of keys."""

    columns: Columns
    sentences: Sequence[Any] = ()
    _keys: dict[Attribute, KeyRows] = field(default_factory=dict)
    _shifts: dict[tuple[str, int], Int32s] = field(default_factory=dict)
    _vector_values: dict[Attribute, Floats] = field(default_factory=dict)

    def attribute_keys(self, attribute: Attribute) -> KeyRows:
        """Keys of an attribute for every type of its column, made once."""
        if attribute not in self._keys:
            self._keys[attribute] = attribute.keys(self.columns.columns[attribute.column].types)
        return self._keys[attribute]

    def ids_at(self, column: str, shift: int) -> Int32s:
        """The type at a position relative to each token. Shape [tokens]."""
        ids = self.columns.columns[column].ids
        if not shift:
            return ids
        if (column, shift) not in self._shifts:
            out = np.empty_like(ids)
            shifted(ids, self.columns.offsets, shift, out)
            self._shifts[column, shift] = out
        return self._shifts[column, shift]

    def rows(self, templates: Iterable[Template]) -> list[Rows]:
        """Everything that is a function of a type at a position, one block for each column and position."""
        at: dict[tuple[str, int], list[KeyRows]] = {}
        elsewhere: dict[tuple[str, int], list[KeyRows]] = {}
        blocks: list[Rows] = []
        for template in templates:
            match template:
                case At() if template.parts and len({(a.column, o) for a, o in template.parts}) == 1:
                    attribute, offset = template.parts[0]
                    keys = _product(salt(template), [self.attribute_keys(a) for a in template.reads])
                    at.setdefault((attribute.column, offset), []).append(keys)
                case At() if not all(a.single for a, _ in template.parts):
                    blocks.append(self._cross_product(template))
                case Elsewhere(attribute=attribute, offset=offset):
                    keys = _product(salt(template), [self.attribute_keys(attribute)])
                    elsewhere.setdefault((attribute.column, offset), []).append(keys)
                case Bag():
                    blocks.append(self._bag(template))
                case Number():
                    blocks.append(self._number(template))
                case Vector():
                    blocks.append(self._vectors(template))
                case Bias():
                    index = np.zeros((self.columns.tokens, 1), dtype=np.int32)
                    blocks.append(Rows(index, np.array([0, 1]), np.array([salt(template)])))
                case Call():
                    blocks.append(self._call(template))
        together = []
        for (column, offset), parts in at.items():
            ids = self.columns.columns[column].ids[:, None]
            together.append(Rows(ids, *_side_by_side(parts), shift=offset))
        if elsewhere:
            found = repeats(self.columns)
            for (column, offset), parts in elsewhere.items():
                index = elsewhere_index(self.columns, found, column, offset)
                together.append(Rows(index, *_side_by_side(parts)))
        return together + blocks

    def direct(self, templates: Iterable[Template]) -> list[Keys]:
        """Conjunctions across positions of attributes with one value each: one key a token. Shapes: [tokens]."""
        return [self.conjunction(t, salt(t)) for t in templates if _is_direct(t)]

    def conjunction(self, template: At, first: np.uint64) -> Keys:
        """The key of a conjunction at every token, begun with ``first``. Shape [tokens]."""
        parts = [self.attribute_keys(a).keys[self.ids_at(a.column, offset)] for a, offset in template.parts]
        return hashing.conjoined(first, parts)

    def _cross_product(self, template: At) -> Rows:
        """A conjunction across positions where a part may have several values: rows are distinct combinations."""
        ids = np.stack([self.ids_at(a.column, o) for a, o in template.parts], axis=1)
        combinations, inverse = np.unique(ids, axis=0, return_inverse=True)
        parts = [self.attribute_keys(a).take(combinations[:, k]) for k, (a, _) in enumerate(template.parts)]
        return Rows(inverse.astype(np.int32).reshape(-1, 1), *_product(salt(template), parts))

    def _bag(self, template: Bag) -> Rows:
        ids = self.columns.columns[template.attribute.column].ids
        rows = self.attribute_keys(template.attribute)
        if template.attribute.single:  # a set of values: words of one shape are one
            values, value = np.unique(rows.keys, return_inverse=True)
            rows, ids = KeyRows(np.arange(len(values) + 1), values), value.astype(np.int32)[ids]
        longest = int(np.diff(self.columns.offsets).max(initial=0))
        first, last = max(template.first, -longest), min(template.last, longest)
        index = np.empty((self.columns.tokens, max(last - first + 1, 0)), dtype=np.int32)
        window_rows(ids, self.columns.offsets, first, last, index)
        return Rows(index, *_product(salt(template), [rows]))

    def _number(self, template: Number) -> Rows:
        column = self.columns.columns[template.attribute.column]
        values = column.numbers
        if values is None:
            values = np.zeros(len(column.types))
            for i, text in enumerate(column.types[1:], 1):
                values[i] = self._to_number(text, i, template)
        rows = len(column.types)
        keys = np.full(rows, salt(template), dtype=np.uint64)
        return Rows(column.ids[:, None], np.arange(rows + 1), keys, values, template.offset)

    def _vectors(self, template: Vector) -> Rows:
        """A row for every type, with the numbers of its vector; the boundary has none."""
        column = self.columns.columns[template.attribute.column]
        attribute = template.attribute
        if attribute not in self._vector_values:
            self._vector_values[attribute] = template.table.of_words(column.types[1:])
        values = self._vector_values[attribute]
        words, dimensions = values.shape
        indptr = np.concatenate([[0], np.arange(words + 1) * dimensions])
        return Rows(column.ids[:, None], indptr, template.keys(), values.ravel(), template.offset, again=words)

    def _to_number(self, text: str, number: int, template: Number) -> float:
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not np.isfinite(value):
            token = int(np.flatnonzero(self.columns.columns[template.attribute.column].ids == number)[0])
            sentence = int(np.searchsorted(self.columns.offsets, token, side="right")) - 1
            word = token - int(self.columns.offsets[sentence]) + 1
            raise DovetailError(f"{template}: sentence {sentence + 1}, word {word}: {text!r} is not a finite number")
        return value

    def _call(self, template: Call) -> Rows:
        names: list[str] = []
        values: list[float] = []
        counts: list[int] = []
        for number, sentence in enumerate(self.sentences):
            extracted = template.function(sentence)
            count = len(extracted) if isinstance(extracted, Sized) else extracted
            if count != len(sentence.words):
                raise DovetailError(
                    f"{template}: sentence {number + 1} has {len(sentence.words)} words, "
                    f"the function gave features for {count!r:.60}"
                )
            for position, features in enumerate(map(weighted, extracted), 1):
                for name, value in features.items():
                    if not np.isfinite(value):
                        where = f"{template}: sentence {number + 1}, word {position}"
                        raise DovetailError(f"{where}: feature {name!r} is {value}")
                names.extend(features)
                values.extend(map(float, features.values()))
                counts.append(len(features))
        keys = hashing.conjoined(salt(template), [hashing.string_keys(names)])
        index = np.arange(len(counts), dtype=np.int32)[:, None]
        return Rows(index, pointers(counts), keys, np.array(values, dtype=np.float64))


def _is_direct(template: Template) -> TypeGuard[At]:
    several = isinstance(template, At) and len({(a.column, o) for a, o in template.parts}) > 1
    return several and all(a.single for a in template.reads)


def salt(template: Template) -> np.uint64:
    """What makes the keys of one template differ from those of any other."""
    return hashing.string_key(template.text())


def _product(first: np.uint64, parts: Sequence[KeyRows]) -> KeyRows:
    """Keys of every combination of one key from each part, row by row."""
    rows = len(parts[0].indptr) - 1
    result = KeyRows(parts[0].indptr, hashing.conjoined(first, [parts[0].keys]))
    for part in parts[1:]:
        counts, more = np.diff(result.indptr), np.diff(part.indptr)
        entry_row = np.repeat(np.arange(rows), counts)
        right = part.take(entry_row).keys
        out = np.empty(len(right), dtype=np.uint64)
        if len(out):
            hashing.combine(np.repeat(result.keys, more[entry_row]), right, out)
        result = KeyRows(pointers(counts * more), out)
    return result


def _side_by_side(parts: Sequence[KeyRows]) -> KeyRows:
    """One row with the keys of all parts, for every row."""
    if len(parts) == 1:
        return parts[0]
    counts = np.stack([np.diff(p.indptr) for p in parts])
    indptr = pointers(counts.sum(axis=0))
    keys = np.empty(indptr[-1], dtype=np.uint64)
    begin = indptr[:-1].copy()
    for part, count in zip(parts, counts, strict=True):
        where = np.repeat(begin - part.indptr[:-1], count) + np.arange(len(part.keys))
        keys[where] = part.keys
        begin += count
    return KeyRows(indptr, keys)


def assemble(compiler: Compiler, templates: Sequence[Template], index: Collector | FeatureIndex) -> Design:
    """Make the design of a corpus, its features numbered by ``index`` (a FeatureIndex drops those it does not know)."""
    blocks = compiler.rows(templates)
    slots = [index.number(keys) for template in templates for keys in compiler.direct([template])]  # few keys at a time
    links = _linked(blocks, compiler.columns.tokens)
    row_ptr, row_feature, row_value = _numbered(blocks, index)
    feature_index = np.empty((compiler.columns.tokens, len(slots)), dtype=np.int32)
    for k, numbers in enumerate(slots):
        feature_index[:, k] = numbers
    return drop_unknown(
        Design(compiler.columns.offsets, links, row_ptr, row_feature, row_value, feature_index, index.size)
    )


def _linked(blocks: Sequence[Rows], tokens: int) -> Links:
    """The links to the rows of all blocks, laid end to end; a column read at several positions is stored once."""
    sources: dict[tuple[int, int], int] = {}  # where an index lies in memory, and its slots: its first source
    ids: list[Int32s] = []
    slots: list[tuple[int, int, int, int]] = []
    base = 0
    for block in blocks:
        first = sources.setdefault((block.index.ctypes.data, block.index.shape[1]), len(ids))
        if first == len(ids):
            ids.extend(block.index.T)
        end = base + len(block.indptr) - 1
        slots.extend((first + k, block.shift, base, end) for k in range(block.index.shape[1]))
        base = end
    together = np.stack(ids) if ids else np.empty((0, tokens), dtype=np.int32)
    return Links(together, *np.array(slots, dtype=np.int64).reshape(-1, 4).T.copy())


def _numbered(blocks: list[Rows], index: Collector | FeatureIndex) -> tuple[NDArray[np.integer], Int32s, Floats | None]:
    """Pointers, features and values of the rows of all blocks, which are used up: their keys take much memory."""
    with_values = any(block.values is not None for block in blocks)
    ptr, feature, value = [np.zeros(1, dtype=np.int64)], [np.empty(0, dtype=np.int32)], [np.empty(0)]
    entries = 0
    while blocks:
        block = blocks.pop(0)
        ptr.append(block.indptr[1:] + entries)
        entries += len(block.keys) * block.again
        feature.append(np.tile(index.number(block.keys), block.again))
        if with_values:
            value.append(np.ones(len(block.keys)) if block.values is None else block.values)
    return narrow(np.concatenate(ptr)), np.concatenate(feature), np.concatenate(value) if with_values else None


def drop_unknown(design: Design) -> Design:
    """Take the entries without a feature out of the rows."""
    known = design.row_feature >= 0
    if known.all():
        return design
    before = pointers(known)
    return replace(
        design,
        row_ptr=narrow(before[design.row_ptr]),
        row_feature=design.row_feature[known],
        row_value=None if design.row_value is None else design.row_value[known],
    )
