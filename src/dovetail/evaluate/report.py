"""Scores for people, as a table, and for programs, as a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dovetail.evaluate.counts import Counts, LabelledScores
from dovetail.text.width import display_width

SCORES, NUMBERS = ("precision", "recall", "f1"), ("gold", "predicted", "correct")
COUNTS = SCORES + NUMBERS
"""What there is to say of counts, by name."""


def scores_dict(scores: LabelledScores) -> dict[str, Any]:
    """The scores as a dictionary for JSON; ``accuracy`` and ``tokens`` are None where spans were scored.

    >>> from dovetail.evaluate import entity_scores
    >>> result = scores_dict(entity_scores([["B-PER", "O"]], [["B-PER", "B-LOC"]]))
    >>> result["precision"], result["per_label"]["PER"]["f1"], result["accuracy"], result["tokens"]
    (50.0, 100.0, 50.0, 2)
    """
    return {
        **counts_dict(scores),
        "per_label": {label: counts_dict(counts) for label, counts in scores.per_label.items()},
        **{f"macro_{name}": value for name, value in scores.macro._asdict().items()},
        "accuracy": scores.accuracy,
        "sentences": scores.sentences,
        "tokens": scores.tokens,
    }


def counts_dict(counts: Counts) -> dict[str, Any]:
    """The scores and the counts by name."""
    return {name: getattr(counts, name) for name in COUNTS}


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
    rows = [(label, counts_dict(counts)) for label, counts in scores.per_label.items()]
    table = label_table([*rows, ("micro", counts_dict(scores)), ("macro", scores.macro._asdict())])
    size = f"{scores.sentences} sentence" + ("s" if scores.sentences != 1 else "")
    if scores.accuracy is not None:
        size += f", {scores.tokens} tokens, accuracy {scores.accuracy:.2f}%"
    return f"{table}\n\n{size}"


def label_table(rows: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """A line for each name with its scores, and with its numbers where there are any."""
    lines = [["label", "precision", "recall", "F1", *NUMBERS]]
    for name, row in rows:
        lines.append([name, *(f"{row[what]:.2f}" for what in SCORES), *(str(row.get(what, "")) for what in NUMBERS)])
    return align_columns(lines)


def align_columns(rows: Sequence[Sequence[str]]) -> str:
    """The rows as lines with aligned columns: the first flush left, the others flush right.

    >>> print(align_columns([["label", "F1"], ["LOC", "85.00"], ["人物", "9.50"]]))
    label     F1
    LOC    85.00
    人物    9.50
    """
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        spaces = [" " * (width - display_width(cell)) for cell, width in zip(row, widths, strict=True)]
        right_aligned = [space + cell for space, cell in zip(spaces, row, strict=True)]
        lines.append("  ".join([row[0] + spaces[0], *right_aligned[1:]]).rstrip())
    return "\n".join(lines)
