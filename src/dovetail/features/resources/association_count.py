"""Counting adjacent units of raw text, a stretch at a time: memory grows with what is distinct, not with the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Int32s
from dovetail.features.compile.hashing import PRIME, Keys, mix, string_keys
from dovetail.kernel import kernel
from dovetail.text.files import Source, open_text
from dovetail.text.tokenise import tokenise
from dovetail.text.words import FIRST_FULL, LAST_FULL, WIDTH_SHIFT, half_width

Unit = Literal["char", "word"]
Progress = Callable[[int], None]
"""Called with the number of units counted so far."""

STRETCH_CHARACTERS = 1 << 20
BREAK = -1
"""What stands between two lines in a stretch of unit numbers; no pair goes across."""
NEW, SPACE = -2, -3  # of a character: not met yet; to be dropped
NEWLINE = 10
CODES = 0x110000
FULLEST = 0.6  # of a hash table, before it doubles


@dataclass
class GramTable:
    """Sequences of one length and how often each was seen: a hash table with open addressing.

    ``keys`` [slots], 0 where free; ``counts`` [slots]; ``units`` [slots, length], the numbers of the units.
    """

    length: int
    size: int = 0
    keys: Keys = field(init=False)
    counts: NDArray[np.uint32] = field(init=False)
    units: Int32s = field(init=False)

    def __post_init__(self) -> None:
        self._make_room(1 << 12)

    def _make_room(self, slots: int) -> None:
        self.keys, self.counts = np.zeros(slots, dtype=np.uint64), np.zeros(slots, dtype=np.uint32)
        self.units = np.zeros((slots, self.length), dtype=np.int32)

    def add(self, stretch: Int32s, unit_keys: Keys) -> None:
        """Count every sequence of this length in a stretch of unit numbers that `BREAK` parts into lines."""
        begin = 0
        while True:
            begin, self.size = _count(
                stretch, begin, unit_keys, self.length, self.size, self.keys, self.counts, self.units
            )
            if begin == len(stretch):
                return
            old = self.keys, self.counts, self.units
            self._make_room(2 * len(self.keys))
            _move(*old, self.keys, self.counts, self.units)


@kernel
def _slot(keys: Keys, key: np.uint64) -> int:
    """The slot of a key, or the free one where it belongs."""
    last = np.uint64(len(keys) - 1)
    slot = key & last
    while keys[slot] != np.uint64(0) and keys[slot] != key:
        slot = (slot + np.uint64(1)) & last
    return int(slot)


@kernel
def _count(
    stretch: Int32s, begin: int, unit_keys: Keys, length: int, size: int, keys: Keys, counts: NDArray[np.uint32],
    units: Int32s,
) -> tuple[int, int]:  # fmt: skip
    """Count from ``begin`` on; where it stopped (before the end if the table is full) and the new size."""
    most = int(FULLEST * len(keys))
    for i in range(begin, len(stretch)):
        if size >= most:
            return i, size
        if i + length > len(stretch):
            break
        key = np.uint64(0)
        whole = True
        for j in range(length):
            unit = stretch[i + j]
            if unit < 0:
                whole = False
                break
            key = unit_keys[unit] if j == 0 else mix(key * PRIME + unit_keys[unit])
        if not whole:
            continue
        slot = _slot(keys, key)
        if counts[slot] == 0:
            keys[slot] = key
            for j in range(length):
                units[slot, j] = stretch[i + j]
            size += 1
        counts[slot] += np.uint32(1)
    return len(stretch), size


@kernel
def _move(
    old_keys: Keys, old_counts: NDArray[np.uint32], old_units: Int32s, keys: Keys, counts: NDArray[np.uint32],
    units: Int32s,
) -> None:  # fmt: skip
    for i in range(len(old_keys)):
        if old_counts[i]:
            slot = _slot(keys, old_keys[i])
            keys[slot] = old_keys[i]
            counts[slot] = old_counts[i]
            units[slot] = old_units[i]


class Characters:
    """Numbers characters; white space is dropped, because raw text may or may not have it between words."""

    def __init__(self, normalise_width: bool) -> None:
        self.normalise_width = normalise_width
        self._number = np.full(CODES, NEW, dtype=np.int32)
        self._number[NEWLINE] = BREAK
        self.size = 0
        self._keys = [np.empty(0, dtype=np.uint64)]

    def numbers(self, lines: Sequence[str]) -> Int32s:
        """The units of lines as numbers, with `BREAK` after each line."""
        codes = np.frombuffer(("\n".join(lines) + "\n").encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        if self.normalise_width:
            codes = np.where((codes >= FIRST_FULL) & (codes <= LAST_FULL), codes - np.uint32(WIDTH_SHIFT), codes)
        numbers = self._number[codes]
        new = np.unique(codes[numbers == NEW])
        if len(new):
            spaces = np.array([chr(code).isspace() for code in new.tolist()])
            self._number[new[spaces]] = SPACE
            letters = new[~spaces]
            self._number[letters] = np.arange(self.size, self.size + len(letters), dtype=np.int32)
            self.size += len(letters)
            self._keys.append(string_keys([chr(code) for code in letters.tolist()]))
            numbers = self._number[codes]
        kept: Int32s = numbers[numbers != SPACE]
        return kept

    @property
    def keys(self) -> Keys:
        """The key of every unit, by its number."""
        self._keys = [np.concatenate(self._keys)]
        return self._keys[0]


class Words:
    """Numbers words: separated by white space, or found by dovetail's tokeniser."""

    def __init__(self, normalise_width: bool, tokenised: bool) -> None:
        self.normalise_width = normalise_width
        self.tokenised = tokenised
        self._number: dict[str, int] = {}
        self._keys = np.empty(0, dtype=np.uint64)

    def numbers(self, lines: Sequence[str]) -> Int32s:
        """The units of lines as numbers, with `BREAK` after each line."""
        number = self._number
        found: list[int] = []
        for line in lines:
            text = half_width(line) if self.normalise_width else line
            words = text.split() if self.tokenised else tokenise(text).words
            found += [number.setdefault(word, len(number)) for word in words]
            found.append(BREAK)
        return np.array(found, dtype=np.int32)

    @property
    def keys(self) -> Keys:
        """The key of every unit, by its number."""
        if len(self._keys) < len(self._number):
            new = list(self._number)[len(self._keys) :]
            self._keys = np.concatenate([self._keys, string_keys(new)])
        return self._keys


def stretches(paths: Iterable[Source], encoding: str = "utf-8") -> Iterator[list[str]]:
    """The lines of files, about a million characters at a time."""
    held: list[str] = []
    size = 0
    for path in paths:
        with open_text(path, encoding) as lines:
            for line in lines:
                held.append(line)
                size += len(line) + 1
                if size >= STRETCH_CHARACTERS:
                    yield held
                    held, size = [], 0
    if held:
        yield held
