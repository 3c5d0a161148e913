"""Accessor variety: how many different neighbours a run of characters has in raw text. Words have many, scraps few."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Flags, Floats, Int32s, Int64s
from dovetail.columns import BOUNDARY, Column, Columns
from dovetail.features.compile import hashing
from dovetail.features.compile.hashing import Keys
from dovetail.features.compile.index import FeatureIndex
from dovetail.features.resources.resource import Resource
from dovetail.kernel import kernel

MOST = 20  # a variety of two to this power fills the last bin
BINS = [BOUNDARY, *map(str, range(MOST + 1))]


@kernel
def run_keys(ids: Int32s, offsets: Int64s, type_key: Keys, plain: Flags, length: int, out: Keys) -> None:
    """The key of the ``length`` tokens from each token on; 0 if one is not plain or past the end. out: [tokens]."""
    for i in range(len(offsets) - 1):
        for t in range(offsets[i], offsets[i + 1]):
            out[t] = 0
            if t + length > offsets[i + 1]:
                continue
            whole = True
            h = np.uint64(length)
            for s in range(t, t + length):
                whole &= plain[ids[s]]
                h = (h ^ type_key[ids[s]]) * hashing.PRIME
            if whole:
                out[t] = hashing.mix(h)


def _keys(words: Column, offsets: Int64s, length: int) -> Keys:
    """The key of the run of ``length`` plain tokens from each token on, else 0. Shape [tokens]."""
    plain = np.array([False, *map(is_plain, words.types[1:])])
    out = np.zeros(len(words.ids), dtype=np.uint64)
    run_keys(words.ids, offsets, hashing.string_keys(words.types), plain, length, out)
    return out


def is_plain(token: str) -> bool:
    """Whether a token is part of ordinary text: letters, but none that are written with spaces between words.

    >>> is_plain("中"), is_plain("，"), is_plain("a")
    (True, False, False)
    """
    return token.isalpha() and not token.isascii()


@dataclass(frozen=True, eq=False)
class Variety(Resource):
    """For runs of two to ``longest`` characters, how many different characters stand before and after them (Feng 2004).

    A neighbour that is no plain character (punctuation, a digit, the edge of a sentence) counts anew each time: it
    says that a word may end there. ``keys`` [runs] sorted; ``before``, ``after`` [runs]: the binary logarithm of the
    count plus one, rounded down, plus one, so that 0 is left for runs that are not in the table.

    >>> table = Variety.count(["天地人", "地人和", "爱地人"], longest=2, least=2)
    >>> table.before.tolist(), table.after.tolist()
    ([3], [3])
    """

    kind: ClassVar[str] = "variety"
    SETTINGS: ClassVar = ("longest",)

    keys: Keys
    before: NDArray[np.uint8]
    after: NDArray[np.uint8]
    longest: int

    @classmethod
    def count(cls, texts: Iterable[Sequence[str]], longest: int = 4, least: int = 3) -> Self:
        """Count raw texts, each a string (or tokens); runs seen fewer than ``least`` times are left out."""
        lines = [tuple(text) for text in texts]
        columns = Columns.encode({"word": lines}, list(map(len, lines)))
        words, offsets = columns.columns["word"], columns.offsets
        found = [cls._of_length(words, offsets, length, least) for length in range(2, longest + 1)]
        keys, before, after = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.argsort(keys)
        return cls(keys[order], before[order], after[order], longest)

    @staticmethod
    def _of_length(
        words: Column, offsets: Int64s, length: int, least: int
    ) -> tuple[Keys, NDArray[np.uint8], NDArray[np.uint8]]:
        keys = _keys(words, offsets, length)
        at = np.flatnonzero(keys)
        runs, run, seen = np.unique(keys[at], return_inverse=True, return_counts=True)
        kept = seen >= least
        ids = np.concatenate([[0], words.ids, [0]])
        first, last = np.zeros(len(ids) + 1, bool), np.zeros(len(ids) + 1, bool)
        first[offsets[:-1]], last[offsets[1:]] = True, True
        previous = np.where(first[at], 0, ids[at])
        following = np.where(last[at + length], 0, ids[at + length + 1])
        plain = np.array([False, *map(is_plain, words.types[1:])])
        before, after = (_binned(_neighbours(run, side, plain, len(runs))[kept]) for side in (previous, following))
        return runs[kept], before, after

    @cached_property
    def _index(self) -> FeatureIndex:
        return FeatureIndex(self.keys)

    def bins(self, words: Column, offsets: Int64s, length: int, side: str) -> NDArray[np.uint8]:
        """The bin of the run of ``length`` tokens from each token on, 0 for none. Shape [tokens]."""
        number = self._index.number(_keys(words, offsets, length))
        table = np.append(self.before if side == "before" else self.after, np.uint8(0))
        return table[number]

    def usual(self, name: str) -> list[str]:
        """The variety of every run that touches a character, before and after it."""
        lengths = range(2, self.longest + 1)
        before = [f"variety_before({name}, {n})[{at}]" for n in lengths for at in (1, 0, 1 - n, -n)]
        return before + [f"variety_after({name}, {n})[{at}]" for n in lengths for at in (0, 1 - n, -n)]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Keys and bins."""
        return {"keys": self.keys, "before": self.before, "after": self.after}

    @classmethod
    def restore(cls, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """From what ``settings`` and ``arrays`` gave; the parts must fit together."""
        keys, before, after = arrays["keys"], arrays["before"], arrays["after"]
        if not len(keys) == len(before) == len(after) or np.any(keys[1:] <= keys[:-1]):
            raise ValueError("the arrays of the accessor varieties do not fit together")
        if max(before.max(initial=0), after.max(initial=0)) > MOST:
            raise ValueError("the accessor varieties are out of range")
        return cls(keys, before, after, int(settings["longest"]))


def _neighbours(run: Int64s, neighbour: NDArray[np.integer], plain: Flags, runs: int) -> Floats:
    """How many different neighbours each run has, those that are not plain counted each time. Shape [runs]."""
    pairs, times = np.unique(run * len(plain) + neighbour, return_counts=True)
    owner, who = pairs // len(plain), pairs % len(plain)
    return np.bincount(owner, np.where(plain[who], 1.0, times), minlength=runs).astype(np.float64)


def _binned(count: Floats) -> NDArray[np.uint8]:
    return np.minimum(np.log2(count + 1).astype(np.int64) + 1, MOST).astype(np.uint8)


@dataclass(frozen=True)
class VarietyColumn:
    """Makes the column of bins of one length and side."""

    variety: Variety
    length: int
    side: str

    def column(self, words: Column, offsets: Int64s) -> Column:
        """The bin of every token, by name."""
        return Column(BINS, self.variety.bins(words, offsets, self.length, self.side).astype(np.int32) + np.int32(1))
