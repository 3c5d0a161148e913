"""Which word of a text each word of a hypothesis goes with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.models.entailment.analysis import Side
from dovetail.models.entailment.words import LEAST, STOP, likeness
from dovetail.structures.contract import Floats

BESIDE, ABOVE = 0.15, 0.15
"""What a neighbour, or a head, that is aligned with a neighbour, or a head, adds to the score of a link."""
NONE = -1


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
    table = alike_table(text, hypothesis)
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


def alike_table(text: Side, hypothesis: Side) -> Floats:
    """How alike words are, [words of the hypothesis, words of the text]; an abbreviation is like what it stands for."""
    initials = _initials(text)
    rows = []
    for word in hypothesis.words:
        row = [likeness(word, other) for other in text.words]
        for place in initials.get(word.replace(".", ""), ()):
            row[place] = 1.0
        rows.append(row)
    own = _initials(hypothesis)
    table = np.array(rows, dtype=np.float64).reshape(len(hypothesis.words), len(text.words))
    for j, word in enumerate(text.words):
        for i in own.get(word.replace(".", ""), ()):
            table[i, j] = 1.0
    return table


def _initials(side: Side) -> dict[str, list[int]]:
    """The places of the words that an abbreviation by first letters may stand for."""
    found: dict[str, list[int]] = {}
    capital = [i for i, word in enumerate(side.words) if word[:1].isupper() or word.lower() in STOP]
    run: list[int] = []
    for i in [*capital, -9]:
        if run and i != run[-1] + 1:
            _note(found, [j for j in run if side.words[j][:1].isupper()], side)
            run = []
        run.append(i)
    return found


def _note(found: dict[str, list[int]], run: list[int], side: Side) -> None:
    for low in range(len(run)):
        for high in range(low + 2, min(low + 6, len(run)) + 1):
            letters = "".join(side.words[j][0] for j in run[low:high])
            found.setdefault(letters, []).extend(run[low:high])
