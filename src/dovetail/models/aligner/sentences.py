"""Sentence alignment: which sentences of a document translate which of another, where they are not line by line yet.

First by length (Gale and Church 1993): long sentences have long translations, and most sentences one. The pairs found
so teach IBM model 1 which words are translations, and the documents are paired again by length and by words that are
not too frequent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dovetail.arrays import Int32s, Int64s, pointers
from dovetail.errors import DovetailError
from dovetail.models.aligner.aligner import Aligner
from dovetail.models.aligner.candidates import candidates_of
from dovetail.models.aligner.corpus import Bitext, Vocabulary, frequencies, numbered
from dovetail.models.aligner.lexicon_kernels import Singles
from dovetail.models.aligner.sentence_kernels import bead_scores, beads, shared_words
from dovetail.text.bitext import Pair

Words = tuple[str, ...]
PRIOR = np.log([0.89, 0.005, 0.005, 0.0445, 0.0445, 0.011])
SHAPES = ((1, 1), (1, 0), (0, 1), (2, 1), (1, 2), (2, 2))
MOST = 50_000_000
"""The product of the numbers of sentences of two documents."""
SURE = 0.5
"""Words are translations where IBM model 1 expects more links between them; and beads that teach are likelier."""
FREQUENT = 0.05
"""Words in more than this share of the sentences do not count."""
ALIKE = 0.5
"""The share of words with translations in translations, as long as it is not known."""


class Bead(NamedTuple):
    """Sentences that are translations of each other: none, one or two of each side, as ranges ``[begin, end)``."""

    source: tuple[int, int]
    target: tuple[int, int]
    confidence: float
    """The probability that just these sentences are each other's translation."""

    def pair(self, source: Sequence[Words], target: Sequence[Words]) -> Pair:
        """The words of both sides."""
        return Pair(sum(source[slice(*self.source)], ()), sum(target[slice(*self.target)], ()))


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
    if len(source) * len(target) > MOST:
        raise DovetailError(
            f"documents of {len(source):,} and {len(target):,} sentences are too long to be paired at once; cut both "
            "at places that belong together"
        )
    if not source or not target:
        whole = [Bead((i, i + 1), (0, 0), 1.0) for i in range(len(source))]
        return whole + [Bead((0, 0), (j, j + 1), 1.0) for j in range(len(target))]
    known = _Known.of(aligner)
    text = Bitext(known.numbered([Pair(s, ()) for s in source]).source,
                  known.numbered([Pair((), t) for t in target]).target, [])  # fmt: skip
    lengths = [np.array([sum(map(len, s)) for s in side], np.int64) for side in (source, target)]
    shared, size = np.zeros((0, 0), np.float32), np.diff(text.target.begin)
    if len(known.source):
        shared, size = _shared(text, [], known)
    found = _found(lengths, size, shared, ALIKE)
    for _ in range(passes):
        pairs = [bead.pair(source, target) for bead in found if bead.confidence > SURE]
        shared, size = _shared(text, pairs, known)
        found = _found(lengths, size, shared, _alike(found, shared, size))
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


def _shared(text: Bitext, pairs: Sequence[Pair], known: _Known) -> tuple[Singles, Int64s]:
    """How many words of each target sentence have translations in each source sentence: [n, m].

    Translations are those that are known, and those that pairs teach.

    Frequent words do not count. The second is how many count in each target sentence: [m].
    """
    sizes = len(known.words[0]), len(known.words[1])
    sentences = len(text.target.begin) - 1
    rare = frequencies(text.target, sizes[1]) <= max(FREQUENT * sentences, 2)
    counted = np.concatenate([[0], np.cumsum(rare[text.target.word])])[text.target.begin]
    shared = np.zeros((len(text.source.begin) - 1, sentences), np.float32)
    a, b = known.source, known.target
    learnt = known.numbered(pairs)
    if len(learnt.source.word) and len(learnt.target.word):
        cells = candidates_of(learnt, *sizes)
        sure = cells.count > SURE
        a, b = np.concatenate([a, cells.source[sure]]), np.concatenate([b, cells.target[sure]])
    a, b = a[rare[b]], b[rare[b]]
    first = pointers(np.bincount(a, minlength=sizes[0]))
    translation = b[np.argsort(a, kind="stable")]
    shared_words(
        text.source.begin, text.source.word, first, translation, text.target.begin, text.target.word, sizes[1], shared
    )
    return shared, np.diff(counted)


def _alike(found: Sequence[Bead], shared: Singles, size: Int64s) -> float:
    """The share of words with translations in sentences that are paired one to one."""
    ones = [(b.source[0], b.target[0]) for b in found if b.confidence > SURE and _shape(b) == (1, 1)]
    if not ones:
        return ALIKE
    i, j = np.array(ones).T
    return float(shared[i, j].sum() / max(size[j].sum(), 1))


def _shape(bead: Bead) -> tuple[int, int]:
    return bead.source[1] - bead.source[0], bead.target[1] - bead.target[0]


def _found(lengths: Sequence[Int64s], size: Int64s, shared: Singles, alike: float) -> list[Bead]:
    """The best beads, and how likely each is; ``alike`` is the share of words with translations in translations."""
    chance = float(np.clip(shared.sum() / max(size.sum() * max(len(shared), 1), 1), 0.001, 0.4))
    alike = float(np.clip(alike, 1.5 * chance, 0.9))
    rates = np.array([[alike, chance], [max(alike, 1.5 * (2 - chance) * chance), 1.0 - (1.0 - chance) ** 2]])
    ratio = float(max(lengths[1].sum(), 1) / max(lengths[0].sum(), 1))
    given = lengths[0], lengths[1], size, shared, rates, ratio, PRIOR
    kinds, total, after, _ = beads(*given)
    i, j = kinds.shape[0] - 1, kinds.shape[1] - 1
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
        sure = float(np.exp(min(total[i, j] + score + after[a, b] - total[-1, -1], 0.0)))
        found.append(Bead((i, a), (j, b), sure))
    return found
