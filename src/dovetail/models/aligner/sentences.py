"""Sentence alignment: which sentences of a document translate which of another, where they are not line by line yet.

First by length (Gale and Church 1993): long sentences have long translations, and most sentences one. The pairs found
so teach IBM model 1 which words are translations, and the documents are paired again by length and by words that are
not too frequent. Long documents are paired window by window (``windows.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dovetail.arrays import Int32s, Int64s, pointers
from dovetail.models.aligner.aligner import Aligner
from dovetail.models.aligner.candidates import candidates_of
from dovetail.models.aligner.corpus import Bitext, Vocabulary, frequencies, numbered
from dovetail.models.aligner.lexicon_kernels import Singles
from dovetail.models.aligner.sentence_kernels import bead_scores, beads, shared_of_pairs, shared_words
from dovetail.models.aligner.windows import Bead, Window, anchors, in_windows
from dovetail.structures.contract import Booleans
from dovetail.text.bitext import Pair

Words = tuple[str, ...]
PRIOR = np.log([0.89, 0.005, 0.005, 0.0445, 0.0445, 0.011])
SHAPES = ((1, 1), (1, 0), (0, 1), (2, 1), (1, 2), (2, 2))
SURE = 0.5
"""Words are translations where IBM model 1 expects more links between them; and beads that teach are likelier."""
FREQUENT = 0.05
"""Words in more than this share of the sentences do not count."""
ALIKE = 0.5
"""The share of words with translations in translations, as long as it is not known."""
ENOUGH = 10
"""So many sentences that belong together tell how long translations are; else whole documents do."""


def align_sentences(
    source: Sequence[Words], target: Sequence[Words], *, passes: int = 2, aligner: Aligner | None = None
) -> list[Bead]:
    """The beads of two documents, in order; each sentence is in one of them.

    ``passes`` is how often words are learnt and used, after a first pass by length alone, or by length and what an
    ``aligner`` has learnt before, which is worth most for short documents.

    >>> german = ["Das ist ein altes Haus .", "Ja .", "Wir wohnen darin seit Mai ."]
    >>> english = ["This is an old house .", "Yes .", "We have lived there since May ."]
    >>> sides = ([tuple(line.split()) for line in lines] for lines in (german, english))
    >>> [(bead.source, bead.target) for bead in align_sentences(*sides)]
    [((0, 1), (0, 1)), ((1, 2), (1, 2)), ((2, 3), (2, 3))]
    """
    if not source or not target:
        whole = [Bead((i, i + 1), (0, 0), 1.0) for i in range(len(source))]
        return whole + [Bead((0, 0), (j, j + 1), 1.0) for j in range(len(target))]
    known = _Known.of(aligner)
    text = Bitext(known.numbered([Pair(s, ()) for s in source]).source,
                  known.numbered([Pair((), t) for t in target]).target, [])  # fmt: skip
    lengths = [np.array([sum(map(len, s)) for s in side], np.int64) for side in (source, target)]
    found = _Pass(text, lengths, _Words.learnt([], known)).beads([])
    for _ in range(passes):
        pairs = [bead.pair(source, target) for bead in found if bead.confidence > SURE]
        found = _Pass(text, lengths, _Words.learnt(pairs, known)).beads(found)
    return found


class _Known(NamedTuple):
    """The vocabularies, and the pairs of words that are known to be translations: [pairs] each."""

    words: tuple[Vocabulary, Vocabulary]
    lowercase: bool
    source: Int32s
    target: Int32s

    @classmethod
    def of(cls, aligner: Aligner | None) -> _Known:
        """What an aligner knows; without one, nothing."""
        if aligner is None:
            return cls((Vocabulary(), Vocabulary()), True, np.zeros(0, np.int32), np.zeros(0, np.int32))
        model = aligner.learnt
        return cls((model.source.copy(), model.target.copy()), aligner.lowercase, *model.translations(SURE))

    def numbered(self, pairs: Sequence[Pair]) -> Bitext:
        """Sentences as numbers."""
        return numbered(pairs, *self.words, self.lowercase)


class _Words(NamedTuple):
    """What is known of words: translations, by source word, and words that are the same on both sides."""

    sizes: tuple[int, int]
    source: Int32s
    target: Int32s
    same: tuple[Int32s, Int32s]

    @classmethod
    def learnt(cls, pairs: Sequence[Pair], known: _Known) -> _Words:
        """From pairs, beside what is known."""
        a, b = known.source, known.target
        sizes = len(known.words[0]), len(known.words[1])
        learnt = known.numbered(pairs)
        if len(learnt.source.word) and len(learnt.target.word):
            cells = candidates_of(learnt, *sizes)
            sure = cells.count > SURE
            a, b = np.concatenate([a, cells.source[sure]]), np.concatenate([b, cells.target[sure]])
        others = known.words[1].number
        both = [(number, others[word]) for word, number in known.words[0].number.items() if word in others]
        same = np.array(both, np.int32).reshape(-1, 2)
        return cls(sizes, a, b, (same[:, 0], same[:, 1]))

    def translations(self, counted: Booleans) -> tuple[Int64s, Int32s]:
        """Those among target words that count [words]: where those of each source word begin, and they themselves."""
        kept = counted[self.target]
        a, b = self.source[kept], self.target[kept]
        return pointers(np.bincount(a, minlength=self.sizes[0])), b[np.argsort(a, kind="stable")]


class _Pass:
    """One pass over two documents: beads by lengths, and by words where any translations are known."""

    def __init__(self, text: Bitext, lengths: Sequence[Int64s], words: _Words) -> None:
        self.text, self.lengths, self.words = text, lengths, words
        rare = frequencies(text.target, words.sizes[1]) <= max(FREQUENT * len(lengths[1]), 2)
        self.first, self.translation = words.translations(rare)
        counted = np.concatenate([[0], np.cumsum(rare[text.target.word])])
        self.size = np.diff(counted[text.target.begin])

    def shared(self, source: tuple[int, int], target: tuple[int, int]) -> Singles:
        """How many words of each target sentence have translations in each source sentence; frequent ones do not count.

        Of sentences ``[begin, end)``: [n, m], [0, 0] where no translations are known.
        """
        if not len(self.translation):
            return np.zeros((0, 0), np.float32)
        found = np.zeros((source[1] - source[0], target[1] - target[0]), np.float32)
        one, two = self.text.source, self.text.target
        begin, others = one.begin[source[0] : source[1] + 1], two.begin[target[0] : target[1] + 1]
        shared_words(begin, one.word, self.first, self.translation, others, two.word, self.words.sizes[1], found)
        return found

    def beads(self, found: Sequence[Bead]) -> list[Bead]:
        """The best beads, with what those found before tell of lengths and of how many words have translations."""
        known = self.words.source, self.words.target
        sure = anchors(self.text, *map(np.concatenate, zip(known, self.words.same, strict=True)))
        ones = [(b.source[0], b.target[0]) for b in found if b.confidence > SURE and _shape(b) == (1, 1)]
        place = np.array(ones, np.int64).reshape(-1, 2)
        told = self._alike(place), self._ratio(place if found else sure)
        return list(in_windows((len(self.lengths[0]), len(self.lengths[1])), sure, lambda w: self._paired(w, *told)))

    def _alike(self, place: Int64s) -> float:
        """The share of words with translations in sentences that are paired one to one: [pairs, 2]."""
        if not len(place):
            return ALIKE
        if not len(self.translation):
            return 0.0
        one, two = self.text.source, self.text.target
        words = shared_of_pairs(
            place, one.begin, one.word, self.first, self.translation, two.begin, two.word, self.words.sizes[1]
        )
        return float(words) / max(int(self.size[place[:, 1]].sum()), 1)

    def _ratio(self, place: Int64s) -> float:
        """The characters of the target for each of the source: of such sentences, or of all where they are few."""
        lengths = [own[at] for own, at in zip(self.lengths, place.T, strict=True)]
        source, target = (own.sum() for own in (lengths if len(place) >= ENOUGH else self.lengths))
        return float(max(target, 1) / max(source, 1))

    def _paired(self, window: Window, alike: float, ratio: float) -> list[Bead]:
        (a, b), (c, d), free = window
        lengths = self.lengths[0][a:b], self.lengths[1][c:d]
        return _found(lengths, self.size[c:d], self.shared((a, b), (c, d)), (alike, ratio), free)


def _shape(bead: Bead) -> tuple[int, int]:
    return bead.source[1] - bead.source[0], bead.target[1] - bead.target[0]


def _found(
    lengths: Sequence[Int64s], size: Int64s, shared: Singles, told: tuple[float, float], free: bool
) -> list[Bead]:
    """The best beads, and how likely each is; where the end is ``free``, they end with either side.

    told: the share of words with translations in translations, and how long these are for each character.
    """
    chance = float(np.clip(shared.sum() / max(size.sum() * max(len(shared), 1), 1), 0.001, 0.4))
    alike, ratio = float(np.clip(told[0], 1.5 * chance, 0.9)), told[1]
    rates = np.array([[alike, chance], [max(alike, 1.5 * (2 - chance) * chance), 1.0 - (1.0 - chance) ** 2]])
    given = lengths[0], lengths[1], size, shared, rates, ratio, PRIOR
    kinds, total, after, (i, j) = beads(*given, free)
    places = []
    while i or j:
        kind = int(kinds[i, j])
        i, j = i - SHAPES[kind][0], j - SHAPES[kind][1]
        places.append((kind, i, j))
    places.reverse()
    scores = bead_scores(np.array(places, np.int64), *given)
    found = []
    for (kind, i, j), score in zip(places, scores.tolist(), strict=True):
        a, b = i + SHAPES[kind][0], j + SHAPES[kind][1]
        sure = float(np.exp(min(total[i, j] + score + after[a, b] - after[0, 0], 0.0)))
        found.append(Bead((i, a), (j, b), sure))
    return found
