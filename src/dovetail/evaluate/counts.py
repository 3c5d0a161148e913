"""What every scorer is made of: how many there are, how many were found, how many of those are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of things in the gold standard, predicted, and correctly predicted, with the scores that follow.

    Scores are percentages, and 0 where they would divide by zero, as in conlleval.

    >>> counts = Counts(gold=4, predicted=3, correct=2)
    >>> f"{counts.precision:.2f} {counts.recall:.2f} {counts.f1:.2f}"
    '66.67 50.00 57.14'
    """

    gold: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        """Percentage of the predicted that are correct."""
        return percentage(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        """Percentage of the gold that were correctly predicted."""
        return percentage(self.correct, self.gold)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall, in percent."""
        precision, recall = self.precision, self.recall
        # Evaluated in conlleval's order, so that the last printed digit is rounded from the same double.
        return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


class Average(NamedTuple):
    """Precision, recall and F1 in percent, averaged over labels."""

    precision: float
    recall: float
    f1: float


@dataclass(frozen=True, slots=True)
class LabelledScores(Counts):
    """Counts over all labels together (the micro average), for each label, and of tokens.

    ``tokens`` and ``correct_tokens`` are None where spans were scored: they say nothing of other tokens.
    """

    per_label: Mapping[str, Counts]
    sentences: int
    tokens: int | None
    correct_tokens: int | None

    @property
    def accuracy(self) -> float | None:
        """Percentage of tokens whose tag is right, or None where spans were scored."""
        if self.tokens is None or self.correct_tokens is None:
            return None
        return percentage(self.correct_tokens, self.tokens)

    @property
    def macro(self) -> Average:
        """Mean over the labels seen in gold or predicted; a label that was only predicted counts, with 0."""
        labels = self.per_label.values()
        count = max(1, len(labels))
        return Average(
            sum(label.precision for label in labels) / count,
            sum(label.recall for label in labels) / count,
            sum(label.f1 for label in labels) / count,
        )


def percentage(part: int, whole: int) -> float:
    """``100 * part / whole``, or 0 of nothing.

    >>> percentage(1, 8), percentage(0, 0)
    (12.5, 0.0)
    """
    return 100 * part / whole if whole else 0.0


def counts_per_label(gold: Counter[str], predicted: Counter[str], correct: Counter[str]) -> dict[str, Counts]:
    """Counts for each label that is in gold or predicted, sorted by it.

    >>> counts_per_label(Counter(PER=1, LOC=2), Counter(PER=1), Counter(PER=1))["LOC"]
    Counts(gold=2, predicted=0, correct=0)
    """
    labels = sorted(gold.keys() | predicted.keys())
    return {label: Counts(gold[label], predicted[label], correct[label]) for label in labels}


def all_counts(gold: Counter[str], predicted: Counter[str], correct: Counter[str]) -> dict[str, Any]:
    """The fields of `LabelledScores` that counts of labels give."""
    whole = {"gold": gold.total(), "predicted": predicted.total(), "correct": correct.total()}
    return {**whole, "per_label": counts_per_label(gold, predicted, correct)}
