"""Which words of a document have to do with each other: the same phrase, a part of it, the same time, another time.

Words written with a capital are linked to the same words elsewhere in their document, case ignored (Finkel, Grenager and
Manning 2005). Such words side by side make up a phrase: *Geoff Woods*. If the two phrases are the same, and the words
have the same place in them, the link is of the kind ``same``; else it is ``part``, from the longer phrase to the shorter
(*Geoff Woods* and *Woods*). Times of the clock are linked as ``time`` where they say the same (*3:00 pm*, *3pm*) and as
``other time`` where they do not: a form has one beginning, however often it is told.

A word is linked to at most so many of the following ones of its group, so that the number of links grows with that of
the words, not with its square: a name that comes 5,000 times has 20,000 links, and evidence travels along them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dovetail.columns import Columns
from dovetail.features.compile.repeats import may_be_name

KINDS = ("same", "part", "time", "other time")
AHEAD = 4
"""How many of the following words of its group a word is linked to."""

_CLOCK = re.compile(r"(\d{1,2})[:.](\d\d)(?:[ap]\.?m\.?)?|(\d{1,2})[ap]\.?m\.?|(noon)|(midnight)", re.IGNORECASE)

Integers = NDArray[np.int64]


class Links(NamedTuple):
    """Pairs of words, by their numbers in the corpus: [links] each."""

    first: Integers
    second: Integers
    kind: Integers

    def __len__(self) -> int:
        return len(self.first)


def clock_time(word: str) -> int | None:
    """The minute of a twelve-hour day that a word tells, None for words that tell no time.

    >>> [clock_time(word) for word in ("3:30", "3.30pm", "15:30", "noon", "3pm", "1994")]
    [210, 210, 210, 0, 180, None]
    """
    found = _CLOCK.fullmatch(word)
    if found is None:
        return None
    hour, minute, alone, *_ = found.groups()
    if hour is not None and (int(hour) > 24 or int(minute) > 59):
        return None
    if hour is None and alone is None:
        return 0
    return (int(hour or alone) % 12) * 60 + int(minute or 0)


def links_of(columns: Columns, ahead: int = AHEAD) -> Links:
    """All links between the words of each document."""
    words, sizes = columns.columns["word"], np.diff(columns.offsets)
    documents = np.arange(len(sizes)) if columns.documents is None else columns.documents
    document = np.repeat(documents, sizes)
    numbers: dict[str, int] = {}
    folded = np.array([numbers.setdefault(t.lower(), len(numbers)) for t in words.types], np.int64)
    named = np.array([may_be_name(t) for t in words.types])[words.ids]
    told = [clock_time(t) for t in words.types]
    clock = np.array([-1 if t is None else t for t in told], np.int64)[words.ids]
    key = document * len(numbers) + folded[words.ids]
    first, second = _pairs(np.flatnonzero(named & (clock < 0)), key, ahead)
    phrase, place, length = _phrases(named, folded[words.ids], columns.offsets)
    same = (phrase[first] == phrase[second]) & (place[first] == place[second])
    turned = ~same & (length[second] > length[first])  # the longer phrase first
    timed = np.flatnonzero(clock >= 0)
    one, other = _pairs(timed, document, ahead)
    return Links(
        np.concatenate([np.where(turned, second, first), one]),
        np.concatenate([np.where(turned, first, second), other]),
        np.concatenate([np.where(same, 0, 1), np.where(clock[one] == clock[other], 2, 3)]),
    )


def _pairs(tokens: Integers, key: Integers, ahead: int) -> tuple[Integers, Integers]:
    """Each of some tokens with the next few that have the same key, in the order of the text: [pairs] each."""
    order = tokens[np.argsort(key[tokens], kind="stable")]
    left, right = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for step in range(1, ahead + 1):
        a, b = order[:-step], order[step:]
        near = key[a] == key[b]
        left.append(a[near])
        right.append(b[near])
    return np.concatenate(left), np.concatenate(right)


def _phrases(named: NDArray[np.bool_], word: Integers, offsets: Integers) -> tuple[Integers, Integers, Integers]:
    """For each token a number that tells the words of its phrase, its place in it, and the length of it: [N] each."""
    n = len(named)
    if not n:
        empty = np.zeros(0, np.int64)
        return empty, empty, empty
    begins = np.ones(n, bool)
    begins[1:] = ~(named[1:] & named[:-1])
    begins[offsets[:-1][np.diff(offsets) > 0]] = True
    starts = np.flatnonzero(begins)
    run = np.cumsum(begins) - 1
    place = np.arange(n) - starts[run]
    mixed = (word.astype(np.uint64) + np.uint64(1)) * (np.uint64(0x9E3779B97F4A7C15) + np.uint64(2) * place.astype(np.uint64))
    mixed ^= mixed >> np.uint64(29)
    code = np.add.reduceat(mixed * np.uint64(0xBF58476D1CE4E5B9), starts)
    _, number = np.unique(code, return_inverse=True)
    length = np.diff(np.append(starts, n))
    return number[run].astype(np.int64), place.astype(np.int64), length[run].astype(np.int64)
