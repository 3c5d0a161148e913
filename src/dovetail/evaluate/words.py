"""Scores of word segmentation, as the ``score`` script of the SIGHAN bakeoffs defines them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import InputError
from dovetail.evaluate.counts import Counts, percentage

Sentences = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class WordScores(Counts):
    """Counts of words; ``unknown`` are gold words that a vocabulary lacks, None if there was no vocabulary."""

    unknown: int | None = None
    correct_unknown: int | None = None

    @property
    def oov_rate(self) -> float | None:
        """The share of gold words that the vocabulary lacks, in percent."""
        return None if self.unknown is None else percentage(self.unknown, self.gold)

    @property
    def oov_recall(self) -> float | None:
        """The share of gold words out of the vocabulary that were found, in percent."""
        return None if self.unknown is None else percentage(self.correct_unknown or 0, self.unknown)

    @property
    def iv_recall(self) -> float | None:
        """The share of gold words in the vocabulary that were found, in percent."""
        if self.unknown is None:
            return None
        return percentage(self.correct - (self.correct_unknown or 0), self.gold - self.unknown)

    def as_dict(self) -> dict[str, Any]:
        """Counts and scores by name."""
        names = ("gold", "predicted", "correct", "precision", "recall", "f1", "oov_rate", "oov_recall", "iv_recall")
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def __str__(self) -> str:
        lines = [f"words: {self.gold:,} right ones, {self.predicted:,} found, {self.correct:,} of them right"]
        lines.append(f"precision {self.precision:.2f}, recall {self.recall:.2f}, F1 {self.f1:.2f}")
        if self.unknown is not None:
            lines.append(
                f"not in the training data: {self.oov_rate:.2f} % of the words, recall {self.oov_recall:.2f}; "
                f"recall of all others {self.iv_recall:.2f}"
            )
        return "\n".join(lines)


def word_scores(gold: Sentences, predicted: Sentences, vocabulary: Collection[str] | None = None) -> WordScores:
    """Compare two segmentations of the same text; a word is right where its beginning and its end are.

    >>> gold, predicted = [["北京", "人", "爱", "天坛"]], [["北京人", "爱", "天坛"]]
    >>> scores = word_scores(gold, predicted, vocabulary={"北京", "人", "爱"})
    >>> f"{scores.precision:.1f} {scores.recall:.1f} {scores.f1:.1f} {scores.oov_recall:.1f}"
    '66.7 50.0 57.1 100.0'
    """
    total = [sum(column) for column in zip(*_matches(gold, predicted, vocabulary), strict=True)] or [0] * 5
    return WordScores(*total[:3]) if vocabulary is None else WordScores(*total)


def word_counts(gold: Sentences, predicted: Sentences) -> NDArray[np.int64]:
    """Counts of gold, predicted and correct words in each sentence, [sentences, 3], for the bootstrap."""
    rows = [match[:3] for match in _matches(gold, predicted)]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


def _matches(
    gold: Sentences, predicted: Sentences, vocabulary: Collection[str] | None = None
) -> Iterator[tuple[int, ...]]:
    """For each sentence the counts of gold, predicted, correct, unknown and correct unknown words."""
    if len(gold) != len(predicted):
        raise InputError(f"{len(gold)} sentences in the gold, {len(predicted)} predicted: they must be the same text")
    for number, (words, others) in enumerate(zip(gold, predicted, strict=True), 1):
        if "".join(words) != "".join(others):
            advice = "score segmentations of the same text"
            raise InputError(f"sentence {number} has other characters than the gold; {advice}")
        found = set(_edges(others))
        is_right = [edges in found for edges in _edges(words)]
        unknown = [] if vocabulary is None else [r for w, r in zip(words, is_right, strict=True) if w not in vocabulary]
        yield len(words), len(others), sum(is_right), len(unknown), sum(unknown)


def _edges(words: Sequence[str]) -> list[tuple[int, int]]:
    return list(pairwise(accumulate(map(len, words), initial=0)))
