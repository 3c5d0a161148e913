"""How well classes of words predict a text: the perplexity of a class-bigram model, also on words it has not seen.

The model says P(w' | w) = P(c' | c) P(w' | c') for the classes c, c' of the words. Both factors are estimated on a
training text by absolute discounting, so that nothing is impossible:

    P(c' | c) = max(n(c, c') - D, 0) / n(c, .)  +  D |{c': n(c, c') > 0}| / n(c, .) * n(c') / n
    P(w | c)  = (n(w) - E) / n(c)
    P(unseen | c) = E |words of c| / n(c)

with D and E from the numbers of cells or words seen once (n1) and twice (n2): (n1 + 1/2) / (n1 + 2 n2 + 1). All words
that the clustering or the training text lacks are one word, *unseen*: the model foretells that one comes, not which.
An unseen word has no class, nor has the start of the text: what follows them is predicted by n(c') / n alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from dovetail.arrays import Floats, Int64s
from dovetail.clusters.clustering import Clustering
from dovetail.clusters.counts import BigramCounts
from dovetail.clusters.information import class_pairs
from dovetail.errors import DovetailError
from dovetail.text.files import Source, open_text


class Perplexity(NamedTuple):
    """``perplexity`` of all words of a text; ``of_seen`` of those alone that the model knows."""

    perplexity: float
    of_seen: float
    words: int
    unseen: int


class ClassBigramModel:
    """A class-bigram model of a training text.

    >>> from dovetail.clusters.counts import count_bigrams_of
    >>> counts = count_bigrams_of(["a cat sat a dog sat a cat".split()])
    >>> classes = np.array([0, 1, 2, 1], dtype=np.int32)  # of a, cat, sat, dog
    >>> model = ClassBigramModel(Clustering(counts.words, classes, ["00", "01", "1"], counts.count), counts)
    >>> model.perplexity_of(["a dog sat".split()]).perplexity < model.perplexity_of(["a a a".split()]).perplexity
    True
    """

    def __init__(self, clustering: Clustering, training: BigramCounts) -> None:
        classes = clustering.classes_of(training.words)
        known = classes >= 0
        if not known.any():
            raise DovetailError("no word of the clustering is in the training text")
        number = len(clustering.paths)
        times = training.count[known].astype(np.float64)
        size = np.bincount(classes[known], times, number)
        self._number = {word: i for i, word in enumerate(np.array(training.words, object)[known])}
        self._class = classes[known]
        self._classes_next = _log(_next_classes(class_pairs(training, classes, number), size / size.sum()))
        discount = _discount(times)
        self._word = np.log((times - discount) / size[self._class])
        unseen = discount * np.bincount(self._class, minlength=number) / np.maximum(size, 1.0)
        self._unseen_next = np.log(np.exp(self._classes_next) @ unseen)

    def perplexity(self, paths: Source | Iterable[Source], encoding: str = "utf-8") -> Perplexity:
        """Of one or several files, read as one running text, words separated by white space."""
        single = isinstance(paths, str) or hasattr(paths, "read") or not isinstance(paths, Iterable)
        sources: Iterable[Source] = [paths] if single else paths  # type: ignore[list-item, assignment]
        return self.perplexity_of(words for source in sources for words in _lines(source, encoding))

    def perplexity_of(self, sentences: Iterable[list[str]]) -> Perplexity:
        """Of sentences, read as one running text."""
        history = len(self._unseen_next) - 1  # the row of no class
        seen_total, unseen_total, words, unseen = 0.0, 0.0, 0, 0
        for sentence in sentences:
            if not sentence:
                continue
            numbers = np.array([self._number.get(word, -1) for word in sentence])
            is_seen = numbers >= 0
            classes = np.where(is_seen, self._class[numbers], len(self._unseen_next) - 1)
            before = np.concatenate([[history], classes[:-1]])
            known = numbers[is_seen]
            seen_total += float(self._classes_next[before[is_seen], self._class[known]].sum() + self._word[known].sum())
            unseen_total += float(self._unseen_next[before[~is_seen]].sum())
            words, unseen = words + len(numbers), unseen + int(np.count_nonzero(~is_seen))
            history = int(classes[-1])
        if not words:
            raise DovetailError("the text has no words; give one with words separated by white space")
        of_seen = float(np.exp(-seen_total / (words - unseen))) if words > unseen else float("nan")
        return Perplexity(float(np.exp(-(seen_total + unseen_total) / words)), of_seen, words, unseen)


def _next_classes(pairs: Int64s, share: Floats) -> Floats:
    """P(c' | c) at [c, c']; the last row is for no class. [classes + 1, classes]"""
    firsts = pairs.sum(axis=1, keepdims=True)
    discount = _discount(pairs[pairs > 0])
    held_back = np.where(firsts > 0, discount * (pairs > 0).sum(axis=1, keepdims=True) / np.maximum(firsts, 1), 1.0)
    smoothed = np.maximum(pairs - discount, 0.0) / np.maximum(firsts, 1) + held_back * share
    return np.concatenate([smoothed, share[None]])


def _discount(times: Floats | Int64s) -> float:
    """Estimated by leaving one out, and never quite 0 or 1."""
    once, twice = np.count_nonzero(times == 1), np.count_nonzero(times == 2)
    return (once + 0.5) / (once + 2 * twice + 1)


def _log(probabilities: Floats) -> Floats:
    with np.errstate(divide="ignore"):  # a class without words is never met
        return np.log(probabilities)


def _lines(source: Source, encoding: str) -> Iterable[list[str]]:
    with open_text(source, encoding) as lines:
        for line in lines:
            yield line.split()
