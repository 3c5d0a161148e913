"""Scores of links between words: alignment error rate, precision and recall (Och and Ney 2003)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dovetail.errors import InputError
from dovetail.evaluate.calibration import CalibrationReport, reliability
from dovetail.text.links import Link


@dataclass(frozen=True, slots=True)
class AlignmentScores:
    """Counts of links, and the scores made of them, in percent; a sure link is possible too."""

    predicted: int
    sure: int
    possible: int
    predicted_sure: int
    """Predicted links that are sure."""
    predicted_possible: int
    """Predicted links that are sure or possible."""

    @property
    def error_rate(self) -> float:
        """``1 - (|A & S| + |A & P|) / (|A| + |S|)``; 0 where there is nothing to find and nothing was found."""
        whole = self.predicted + self.sure
        return 100.0 * (1.0 - (self.predicted_sure + self.predicted_possible) / whole) if whole else 0.0

    @property
    def precision(self) -> float:
        """The share of predicted links that are sure or possible."""
        return 100.0 * self.predicted_possible / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of sure links that were predicted."""
        return 100.0 * self.predicted_sure / self.sure if self.sure else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Scores and counts by name."""
        scores = {name: getattr(self, name) for name in ("error_rate", "precision", "recall")}
        return scores | {name: getattr(self, name) for name in ("predicted", "sure", "possible")}

    def __str__(self) -> str:
        return (
            f"links: {self.sure:,} sure ones, {self.possible - self.sure:,} more possible, {self.predicted:,} found\n"
            f"alignment error rate {self.error_rate:.2f}, precision {self.precision:.2f}, recall {self.recall:.2f}"
        )


def alignment_scores(gold: Sequence[Sequence[Link]], predicted: Sequence[Sequence[Link]]) -> AlignmentScores:
    """Compare links, a list for each pair of sentences.

    >>> alignment_scores([[Link(0, 0), Link(1, 1, sure=False)]], [[Link(0, 0), Link(1, 1)]]).error_rate
    0.0
    """
    _check(gold, predicted)
    counts = [0] * 5
    for right, found in zip(gold, predicted, strict=True):
        possible = {(link.source, link.target) for link in right}
        sure = {(link.source, link.target) for link in right if link.sure}
        links = {(link.source, link.target) for link in found}
        for place, some in enumerate((links, sure, possible, links & sure, links & possible)):
            counts[place] += len(some)
    return AlignmentScores(*counts)


def link_calibration(
    gold: Sequence[Sequence[Link]], predicted: Sequence[Sequence[Link]], bins: int = 10
) -> CalibrationReport | None:
    """Whether the probabilities of links keep their promise; None where no link was predicted with one below 1."""
    _check(gold, predicted)
    right = [{(link.source, link.target) for link in links} for links in gold]
    found = [
        (link.probability, (link.source, link.target) in possible)
        for possible, links in zip(right, predicted, strict=True)
        for link in links
    ]
    if all(probability == 1.0 for probability, _ in found):
        return None
    return reliability([p for p, _ in found], [correct for _, correct in found], bins)


def _check(gold: Sequence[Any], predicted: Sequence[Any]) -> None:
    if len(gold) != len(predicted):
        raise InputError(f"links of {len(predicted)} pairs, but the gold has {len(gold)}: give those of the same text")
