"""Which word of a text each word of a hypothesis goes with."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dovetail.models.entailment.analysis import Side
from dovetail.models.entailment.words import LEAST, STOP, likeness
from dovetail.structures.contract import Floats

BESIDE, ABOVE = 0.15, 0.15
"""What a neighbour, or a head, that is aligned with a neighbour, or a head, adds to the score of a link."""
NONE = -1
LONGEST = 6
"""Letters of an abbreviation."""

Words = tuple[str, ...]


class Alignment(NamedTuple):
    """The word of the text that each word of the hypothesis is aligned with, and how alike they are."""

    place: tuple[int, ...]
    """Positions in the text, -1 for none."""
    alike: tuple[float, ...]
    """From 0 to 1."""


def align(text: Side, hypothesis: Side) -> Alignment:
    """The best word for each: most alike, and among such the one whose neighbours and head are alike, too.

    >>> text, claim = "Bern is in the Alps , and Rome is not", "Rome is"
    >>> align(*(Side(tuple(words.split()), (), (), (), ()) for words in (text, claim)))
    Alignment(place=(7, 8), alike=(1.0, 1.0))
    """
    table = alike_table(text.words, hypothesis.words)
    if not table.size:
        return Alignment((NONE,) * len(hypothesis.words), (0.0,) * len(hypothesis.words))
    score = table.copy()
    score[1:, 1:] += BESIDE * table[:-1, :-1]
    score[:-1, :-1] += BESIDE * table[1:, 1:]
    if text.heads and hypothesis.heads:
        # a last row and column of zeros stand for the head of a root
        wider = np.pad(table, ((0, 1), (0, 1)))
        score += ABOVE * wider[np.ix_(hypothesis.heads, text.heads)]
    score[table < LEAST] = 0.0
    place = score.argmax(axis=1)
    alike = table[np.arange(len(place)), place]
    found = alike >= LEAST
    return Alignment(tuple(np.where(found, place, NONE).tolist()), tuple(np.where(found, alike, 0.0).tolist()))


@lru_cache(maxsize=64)
def alike_table(text: Words, hypothesis: Words) -> Floats:
    """How alike words are, [words of the hypothesis, words of the text]; an abbreviation is like what it stands for.

    The samples of a pair, which come one after another, share it.
    """
    table = np.array([[likeness(word, other) for other in text] for word in hypothesis], dtype=np.float64)
    table = table.reshape(len(hypothesis), len(text))
    long, own = _initials(text), _initials(hypothesis)
    for i, word in enumerate(hypothesis):
        table[i, long.get(word.replace(".", ""), [])] = 1.0
    for j, word in enumerate(text):
        table[own.get(word.replace(".", ""), []), j] = 1.0
    table.flags.writeable = False
    return table


def _initials(words: Words) -> dict[str, list[int]]:
    """The places of the words that an abbreviation by first letters may stand for: names in a row, but for *of*."""
    found: dict[str, list[int]] = {}
    run: list[int] = []
    for i, word in enumerate([*words, ""]):
        if word[:1].isupper():
            run.append(i)
        elif word.lower() not in STOP:
            for low in range(len(run)):
                for high in range(low + 2, min(low + LONGEST, len(run)) + 1):
                    letters = "".join(words[j][0] for j in run[low:high])
                    found.setdefault(letters, []).extend(run[low:high])
            run = []
    return found
