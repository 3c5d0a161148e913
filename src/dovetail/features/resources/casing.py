"""How a word is usually written in raw text: in lower case, capitalised, or in capitals.

A capital at the head of a sentence or in a headline says nothing of the word itself; how the word is written elsewhere
does. Few labels cannot teach that for every word, and raw text tells it for free.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dovetail.arrays import Floats
from dovetail.features.resources.clusters import Clusters

STYLES = "LCUM"  # lower case, Capitalised, UPPER CASE, MiXed
CLEAR = 0.9  # the share at which a style is the word's own


def casing(words: Sequence[str], counts: NDArray[np.integer]) -> Clusters:
    """A table from lower-cased words to a profile: its commonest style, and how often the word was seen.

    The style stands alone (``L``, ``C``, ``U``, ``M``) where nine in ten are written so, else in small letters; the
    digit after it grows with the logarithm of the count. A word without letters has no profile.

    >>> table = casing(["bush", "Bush", "BUSH", "the", "The"], np.array([2, 95, 3, 900, 80]))
    >>> [table.paths[c] for c in table.classes_of(["Bush", "THE"])]
    ['C3', 'L4']
    """
    seen: dict[str, Floats] = {}
    for word, count in zip(words, counts.tolist(), strict=True):
        style = _style(word)
        if style >= 0:
            seen.setdefault(word.lower(), np.zeros(len(STYLES)))[style] += count
    return Clusters.of_paths({word: _profile(times) for word, times in seen.items()}, levels=(1, 0))


def _style(word: str) -> int:
    if word.islower():
        return 0
    if word[:1].isupper() and (len(word) == 1 or word[1:].islower()):
        return 1
    if word.isupper():
        return 2
    return 3 if word.upper() != word.lower() else -1


def _profile(times: Floats) -> str:
    total = times.sum()
    style = int(times.argmax())
    letter = STYLES[style] if times[style] >= CLEAR * total else STYLES[style].lower()
    return f"{letter}{min(int(1.5 * np.log10(total + 1)), 6)}"
