"""What every scorer is made of: gold and predicted sentences in pairs, and how many things are in each and in both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from dovetail.errors import InputError

S = TypeVar("S", bound=Sized)


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

    def _repr_html_(self) -> str:
        from dovetail.evaluate.html import scores_html

        return scores_html(self)

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
        sums = (sum(getattr(label, score) for label in labels) for score in Average._fields)
        return Average(*(total / max(1, len(labels)) for total in sums))


def percentage(part: int, whole: int) -> float:
    """``100 * part / whole``, or 0 of nothing."""
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


def paired_sentences(gold: Sequence[S], predicted: Sequence[S]) -> Iterator[tuple[int, S, S]]:
    """Each sentence's number, counted from 1, with its gold and its predicted side."""
    if len(gold) != len(predicted):
        raise InputError(f"{len(gold)} gold sentences but {len(predicted)} predicted; both must be the same text")
    for number, (gold_sentence, predicted_sentence) in enumerate(zip(gold, predicted, strict=True), 1):
        if isinstance(gold_sentence, str) or isinstance(predicted_sentence, str):
            raise InputError(f"sentence {number} is a string: give a list of sentences, each a list of tags")
        yield number, gold_sentence, predicted_sentence


def paired_tags(gold: Sequence[S], predicted: Sequence[S]) -> Iterator[tuple[S, S]]:
    """The gold and the predicted tags of each sentence, one each for every token.

    >>> list(paired_tags([["O"]], [["B-PER", "I-PER"]]))
    Traceback (most recent call last):
    dovetail.errors.InputError: sentence 1: 1 gold tags but 2 predicted; each token needs one on both sides
    """
    for number, gold_tags, predicted_tags in paired_sentences(gold, predicted):
        if len(gold_tags) != len(predicted_tags):
            differ = f"{len(gold_tags)} gold tags but {len(predicted_tags)} predicted"
            raise InputError(f"sentence {number}: {differ}; each token needs one on both sides")
        yield gold_tags, predicted_tags
