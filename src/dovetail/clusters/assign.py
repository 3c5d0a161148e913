"""Classes for new words: the tree stays as it is, and each word joins the class that its neighbours suit best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dovetail.arrays import Floats, Int32s, Int64s
from dovetail.clusters.clustering import Clustering
from dovetail.clusters.counts import BigramCounts, Bigrams, Neighbours
from dovetail.clusters.information import class_pairs
from dovetail.errors import DovetailError
from dovetail.kernel import inner, kernel


class Assignment(NamedTuple):
    """A clustering with the new words in it, and how many words of the text are new, placed, and not placed."""

    clustering: Clustering
    placed: int
    unplaced: int


def assign(clustering: Clustering, counts: BigramCounts) -> Assignment:
    """Give the words of a text that have no class the one under which the text is most likely.

    What classes are followed by what classes is counted in the same text, over the words that have one; a new word
    joins the class where a class-bigram model of text and word loses least, each new word for itself. Words that
    nowhere stand beside a word with a class stay without.

    >>> from dovetail.clusters.counts import count_bigrams_of
    >>> known = Clustering(["the", "a", "cat"], np.array([0, 0, 1], dtype=np.int32), ["0", "1"], np.array([9, 9, 9]))
    >>> text = "the cat the cat a cat the dog a cat a dog the".split()
    >>> assign(known, count_bigrams_of([text])).clustering.path_of("dog")
    '1'
    """
    classes = clustering.classes_of(counts.words)
    if not (classes >= 0).any():
        raise DovetailError("no word of the text has a class; are text and clusters of the same language?")
    k = len(clustering.paths)
    pairs = class_pairs(counts, classes, k)
    sizes = np.bincount(classes[classes >= 0], counts.count[classes >= 0], k).astype(np.float64)
    links = (pairs.sum(0) + pairs.sum(1)).astype(np.float64)
    new = np.flatnonzero(classes < 0)
    tables = classes, pairs, np.ascontiguousarray(pairs.T), sizes, links
    found = _best_classes(new, counts.count, counts.both_ways(), *tables)
    placed = new[found >= 0]
    whole = Clustering(
        clustering.words + [counts.words[word] for word in placed.tolist()],
        np.concatenate([clustering.classes, found[found >= 0]]),
        clustering.paths,
        np.concatenate([clustering.counts, counts.count[placed]]),
    )
    return Assignment(whole, len(placed), len(new) - len(placed))


@inner
def _add_gains(word: int, near: Neighbours, classes: Int32s, lines: Int64s, gains: Floats) -> float:
    """``gains[c] += g(times, lines[d, c])`` for each neighbour's class d; returns how often there is one.

    g(x, y) = f(x + y) - f(x) - f(y) with f(x) = x log x; see `brown_kernels`.
    """
    beside = np.zeros(len(gains))
    for i in range(near.start[word], near.start[word + 1]):
        if classes[near.other[i]] >= 0:
            beside[classes[near.other[i]]] += near.times[i]
    for d in np.flatnonzero(beside):
        x = beside[d]
        for c in range(len(gains)):
            y = float(lines[d, c])
            if y > 0:
                gains[c] += (x + y) * np.log(x + y) - x * np.log(x) - y * np.log(y)
    return float(beside.sum())


@kernel
def _best_classes(
    new: Int64s, count: Int64s, bigrams: Bigrams, classes: Int32s, pairs: Int64s, pairs_t: Int64s, sizes: Floats,
    links: Floats,
) -> Int32s:  # fmt: skip
    """The class that each new word [new] loses least in, -1 where nothing is known of its neighbours."""
    found = np.full(len(new), -1, np.int32)
    gains = np.zeros(len(sizes))
    for i in range(len(new)):
        word = new[i]
        gains[:] = 0
        own = _add_gains(word, bigrams.after, classes, pairs_t, gains)
        own += _add_gains(word, bigrams.before, classes, pairs, gains)
        least = np.inf
        for c in range(len(sizes)):
            if own > 0 and sizes[c] > 0:
                together = np.log(sizes[c] + count[word])
                loss = (links[c] + own) * together - links[c] * np.log(sizes[c]) - gains[c]
                if loss < least:
                    least = loss
                    found[i] = c
    return found
