"""A corpus as integer-coded columns: each distinct value once, and for each token the number of its value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np

from dovetail.arrays import Floats, Int32s, Int64s, offsets_of, pointers
from dovetail.errors import DovetailError
from dovetail.text.sentence import Sentence
from dovetail.text.words import composed

BOUNDARY = "\x00" * 8  # the name of type 0; a real word of eight NULs would be taken for the edge of its sentence


@dataclass(frozen=True)
class Column:
    """Values by number. Type 0 is the boundary, which stands outside every sentence.

    ``ids``: [tokens]; the value of token t is ``types[ids[t]]``. A column of numbers has ``numbers`` [types] as well.
    """

    types: list[str]
    ids: Int32s
    numbers: Floats | None = None

    @classmethod
    def encode(cls, values: Iterable[str]) -> Column:
        """Number the values, those that differ only in how accents are encoded as one: features see them composed.

        >>> Column.encode(["a", "b", "a"]).ids
        array([1, 2, 1], dtype=int32)
        >>> Column.encode(["\\xe9", "a", "e\\u0301"]).ids
        array([1, 2, 1], dtype=int32)
        """
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__  # in the order in which values are first asked for
        numbers[BOUNDARY] = 0
        ids = np.fromiter(map(numbers.__getitem__, values), dtype=np.int32)
        types = list(numbers)
        seen = composed(types)
        if seen is types:
            return cls(types, ids)
        merged = cls.encode(seen[1:])
        return cls(merged.types, np.concatenate([np.zeros(1, np.int32), merged.ids])[ids])


@dataclass(frozen=True)
class Columns:
    """The columns of a corpus and the sentences they fall into: sentence i is tokens offsets[i] to offsets[i + 1].

    ``documents`` [sentences] numbers the document of each sentence; a sentence that belongs to none is one by itself.
    """

    offsets: Int64s
    columns: dict[str, Column]
    documents: Int64s | None = None

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return int(self.offsets[-1])

    @classmethod
    def encode(cls, values: dict[str, Sequence[Sequence[str]]], lengths: Sequence[int]) -> Columns:
        """From named columns, each a sequence of sentences."""
        return cls(pointers(lengths), {name: Column.encode(chain.from_iterable(v)) for name, v in values.items()})

    @classmethod
    def of(cls, sentences: Sequence[Sentence], names: Iterable[str]) -> Columns:
        """The words and the named layers of sentences."""
        columns = {"word": Column.encode(chain.from_iterable(s.words for s in sentences))}
        for name in names:
            if name != "word":
                layers = (_layer(s, name, number) for number, s in enumerate(sentences))
                columns[name] = Column.encode(chain.from_iterable(layers))
        documents = _document_numbers([s.document for s in sentences])
        return cls(offsets_of(sentences), columns, documents)


def _document_numbers(told: Sequence[int | None]) -> Int64s:
    """A new number wherever the document changes, and for every sentence without one.

    >>> _document_numbers([0, 0, 1, None, None])
    array([0, 0, 1, 2, 3])
    """
    starts = [True, *(a is None or a != b for a, b in pairwise(told))][: len(told)]
    return np.cumsum(np.array(starts, dtype=np.int64)) - 1


def _layer(sentence: Sentence, name: str, number: int) -> tuple[str, ...]:
    if not sentence.words:
        return ()
    if name not in sentence.layers:
        has = ", ".join(["word", *sentence.layers])
        raise DovetailError(
            f"the features read the layer {name!r}, which sentence {number + 1} lacks (it has {has}); "
            f"give input that has it, or train without it: ignore=[{name!r}], or --ignore {name}"
        )
    return sentence.layers[name]
