"""A list of translations that somebody has: links that are believed beforehand."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

import numpy as np

from dovetail.errors import InputError
from dovetail.models.aligner.candidates import Candidates
from dovetail.models.aligner.corpus import Vocabulary
from dovetail.models.aligner.sampling_kernels import Prior
from dovetail.text.files import Source, open_text

EXPECTED = "expected a word, a tab and its translation, and possibly another tab and how many links that is worth"


class Lexicon:
    """Translations of words, each with the number of links that it is worth."""

    def __init__(self, entries: Iterable[tuple[str, str, float]]) -> None:
        self.entries = list(entries)

    @classmethod
    def read(cls, path: Source, encoding: str = "utf-8") -> Lexicon:
        r"""From lines of ``word TAB translation``, or ``word TAB translation TAB links``; 1 where that is left out.

        >>> import io
        >>> Lexicon.read(io.StringIO("Haus\thouse\nBuch\tbook\t5\n")).entries
        [('Haus', 'house', 1.0), ('Buch', 'book', 5.0)]
        """
        entries = []
        with open_text(path, encoding) as lines:
            for number, line in enumerate(lines, 1):
                fields = [field.strip() for field in line.split("\t")]
                if not line.strip():
                    continue
                try:
                    links = float(fields[2]) if len(fields) == 3 else 1.0
                except ValueError:
                    links = -1.0
                if not 2 <= len(fields) <= 3 or not all(fields) or not isfinite(links) or links < 0:
                    raise InputError(EXPECTED, lines.name, number)
                entries.append((fields[0], fields[1], links))
        return cls(entries)

    def believe(self, cells: Candidates, words: tuple[Vocabulary, Vocabulary], priors: tuple[Prior, Prior]) -> int:
        """Add the links to the priors of the pairs of words that may be linked; how many entries are among these."""
        size = max(len(words[1]), 1)
        worth: dict[int, float] = {}
        for source, target, links in self.entries:
            for a, b in {(source, target), (source.lower(), target.lower())}:
                s, t = words[0].number.get(a), words[1].number.get(b)
                if s is not None and t is not None:
                    worth[s * size + t] = max(worth.get(s * size + t, 0.0), links)
        if not worth:
            return 0
        known = np.array(sorted(worth), np.int64)
        value = np.array([worth[key] for key in known.tolist()], np.float32)
        keys = cells.source.astype(np.int64) * size + cells.target
        at = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        found = np.flatnonzero(known[at] == keys)
        for prior in priors:
            prior.pair[found] += value[at[found]]
        return len(found)
