"""Scores for people, as a table, and for programs, as a dictionary."""

from __future__ import annotations

from typing import Any

from dovetail.evaluate.counts import Counts, LabelledScores
from dovetail.evaluate.table import align_columns


def scores_dict(scores: LabelledScores) -> dict[str, Any]:
    """The scores as a dictionary for JSON; ``accuracy`` and ``tokens`` are None where spans were scored.

    >>> from dovetail.evaluate import entity_scores
    >>> result = scores_dict(entity_scores([["B-PER", "O"]], [["B-PER", "B-LOC"]]))
    >>> result["precision"], result["per_label"]["PER"]["f1"], result["accuracy"], result["tokens"]
    (50.0, 100.0, 50.0, 2)
    """
    return {
        **_counts_dict(scores),
        "per_label": {label: _counts_dict(counts) for label, counts in scores.per_label.items()},
        "macro_precision": scores.macro.precision,
        "macro_recall": scores.macro.recall,
        "macro_f1": scores.macro.f1,
        "accuracy": scores.accuracy,
        "sentences": scores.sentences,
        "tokens": scores.tokens,
    }


def _counts_dict(counts: Counts) -> dict[str, float]:
    return {
        "precision": counts.precision,
        "recall": counts.recall,
        "f1": counts.f1,
        "gold": counts.gold,
        "predicted": counts.predicted,
        "correct": counts.correct,
    }


def scores_table(scores: LabelledScores) -> str:
    """The scores as a plain text table: a row for each label, then both averages, then the accuracy.

    >>> from dovetail.evaluate import entity_scores
    >>> print(scores_table(entity_scores([["B-PER", "O"]], [["B-PER", "B-LOC"]])))
    label  precision  recall      F1  gold  predicted  correct
    LOC         0.00    0.00    0.00     0          1        0
    PER       100.00  100.00  100.00     1          1        1
    micro      50.00  100.00   66.67     1          2        1
    macro      50.00   50.00   50.00
    <BLANKLINE>
    1 sentence, 2 tokens, accuracy 50.00%
    """
    macro = [f"{value:.2f}" for value in scores.macro]
    rows = [
        ["label", "precision", "recall", "F1", "gold", "predicted", "correct"],
        *(_row(label, counts) for label, counts in scores.per_label.items()),
        _row("micro", scores),
        ["macro", *macro, "", "", ""],
    ]
    size = f"{scores.sentences} sentence" + ("s" if scores.sentences != 1 else "")
    if scores.accuracy is not None:
        size += f", {scores.tokens} tokens, accuracy {scores.accuracy:.2f}%"
    return f"{align_columns(rows)}\n\n{size}"


def _row(name: str, counts: Counts) -> list[str]:
    scores = [f"{value:.2f}" for value in (counts.precision, counts.recall, counts.f1)]
    return [name, *scores, str(counts.gold), str(counts.predicted), str(counts.correct)]
