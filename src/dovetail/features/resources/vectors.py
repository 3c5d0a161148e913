"""Word vectors as features: each dimension of the vector of a word is a real-valued feature of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Floats, Int32s
from dovetail.features.algebra.strings import normalise_digits
from dovetail.features.compile import hashing
from dovetail.features.compile.index import FeatureIndex
from dovetail.features.resources.resource import Resource
from dovetail.features.resources.subwords import Subwords
from dovetail.text.report import ReadReport
from dovetail.text.words import composed
from dovetail.vectors.table import VectorTable

SIGMA = 0.1
"""The standard deviation of all numbers of a table: features have a size that suits the prior of discrete ones."""


AT_ONCE = 1 << 14
LARGEST = float(np.finfo(np.float16).max)
TINY = 1e-60


def hash_digits(word: str) -> str:
    """A word with # for its digits, as some tables have them.

    >>> hash_digits("1996-97")
    '####-##'
    """
    return re.sub(r"\d", "#", word)


FALLBACKS: tuple[Callable[[str], str], ...] = (str.lower, str.capitalize, normalise_digits, hash_digits)
"""How a word is looked for that is not there as written."""


def _deviation(matrix: NDArray[np.float32]) -> float:
    """The standard deviation of all numbers, 1 if there is none; a block at a time, for tables may be large."""
    blocks = [matrix[begin : begin + AT_ONCE] for begin in range(0, len(matrix), AT_ONCE)]
    mean = sum(float(block.sum(dtype=np.float64)) for block in blocks) / max(matrix.size, 1)
    variance = sum(float(np.square(block.astype(np.float64) - mean).sum()) for block in blocks) / max(matrix.size, 1)
    return float(np.sqrt(variance)) if variance > TINY else 1.0


@dataclass(frozen=True, eq=False)
class Vectors(Resource):
    """A table of word vectors, scaled so that its numbers have the standard deviation ``SIGMA``.

    ``words`` [words] and ``matrix`` [words, dimensions]. A word that is not there is looked for in lower case,
    capitalised, and with its digits made 0 and #; else, with ``subwords``, words that are spelled alike say what its
    vector may be.

    >>> vectors = Vectors.of(VectorTable(["rose", "1900"], np.array([[1, 0], [0, 1]], np.float32)), subwords=False)
    >>> vectors.of_words(["Rose", "lily"]).round(2).tolist()
    [[0.2, 0.0], [0.0, 0.0]]
    """

    kind: ClassVar[str] = "vectors"
    SETTINGS: ClassVar = ("subwords",)

    words: tuple[str, ...] = field(repr=False)
    matrix: NDArray[np.float16] = field(repr=False)
    subwords: bool = True

    @classmethod
    def of(cls, table: VectorTable, *, sigma: float = SIGMA, subwords: bool = True) -> Self:
        """From a table, whose numbers are scaled to the standard deviation ``sigma``."""
        scaled = np.empty(table.matrix.shape, dtype=np.float16)
        deviation = _deviation(table.matrix)
        for begin in range(0, len(scaled), AT_ONCE):
            some = table.matrix[begin : begin + AT_ONCE] / np.float64(deviation) * sigma
            scaled[begin : begin + AT_ONCE] = np.clip(some, -LARGEST, LARGEST)
        words = tuple(composed(table.words))
        return cls(words, scaled, subwords)

    @classmethod
    def read(
        cls, path: str | Path, *, wanted: Container[str] | None = None, sigma: float = SIGMA, subwords: bool = True,
        report: ReadReport | None = None,
    ) -> Self:  # fmt: skip
        """From a file of word2vec (text or binary), GloVe or fastText, plain or compressed; ``wanted`` words alone."""
        return cls.of(VectorTable.read(path, wanted=wanted, report=report), sigma=sigma, subwords=subwords)

    @property
    def dimensions(self) -> int:
        """The length of a vector."""
        return int(self.matrix.shape[1])

    def of_words(self, words: Sequence[str]) -> Floats:
        """The vectors of words, [words, dimensions]; zeros for a word of which nothing is known."""
        found = self._places(words)
        vectors = np.where(found[:, None] >= 0, self.matrix[found], np.float16(0)).astype(np.float64)
        lost = np.flatnonzero(found < 0)
        if self.subwords and len(lost):
            vectors[lost] = self._subwords.of_words([words[i] for i in lost.tolist()])
        return vectors

    def _places(self, words: Sequence[str]) -> Int32s:
        """The row of each word, -1 for none."""
        index, order = self._index
        order = np.append(order, np.int32(-1))  # the last entry serves index -1
        found = order[index.number(hashing.string_keys(words))]
        for change in FALLBACKS:
            lost = np.flatnonzero(found < 0).tolist()
            if lost:
                found[lost] = order[index.number(hashing.string_keys([change(words[i]) for i in lost]))]
        return found

    @cached_property
    def _index(self) -> tuple[FeatureIndex, Int32s]:
        """The keys of the words in order, and the row of each."""
        keys, first = np.unique(hashing.string_keys(self.words), return_index=True)
        return FeatureIndex(keys), first.astype(np.int32)

    @cached_property
    def _subwords(self) -> Subwords:
        return Subwords.of(self.words, self.matrix)

    def usual(self, name: str) -> list[str]:
        """The vectors of a word and its neighbours."""
        return [f"vector({name})[-2:3]"]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The words, one after another, and the matrix."""
        return {"words": np.frombuffer("\n".join(self.words).encode("utf-8"), dtype=np.uint8), "matrix": self.matrix}

    def compact(self) -> dict[str, NDArray[Any]]:
        """The same with a byte for every number, in steps of a ``scale`` for each dimension from -127 to 127, + 128."""
        scale = np.abs(self.matrix.astype(np.float32)).max(axis=0) / 127
        steps = np.rint(self.matrix / np.where(scale > 0, scale, np.float32(1)))
        return {**self.arrays(), "matrix": (steps + 128).astype(np.uint8), "scale": scale}

    @classmethod
    def restore(cls, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """From what ``settings`` and ``arrays`` gave; the parts must fit together."""
        words, matrix = tuple(arrays["words"].tobytes().decode("utf-8").split("\n")), arrays["matrix"]
        if "scale" in arrays:
            matrix = ((matrix.astype(np.float32) - 128) * arrays["scale"]).astype(np.float16)
        if matrix.ndim != 2 or len(words) != len(matrix) or not np.isfinite(matrix).all():
            raise ValueError("the arrays of the vectors do not fit together")
        return cls(words, matrix, bool(settings["subwords"]))
