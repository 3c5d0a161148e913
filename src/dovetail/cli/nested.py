"""Nested entities in commands: shown in brackets, spelled out in JSON, scored at all depths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dovetail.cli.scores import calibration, calibration_line, f1_interval, interval_line

if TYPE_CHECKING:
    from dovetail.models.answer import Answer
    from dovetail.text.sentence import Sentence

SEEN = 0.005
"""Entities and constituents less probable are not listed among the marginals."""


def show(sentence: Sentence) -> str:
    """A line of words with every entity in brackets, its label and its probability at its end.

    >>> from dovetail.text.sentence import Sentence, Span
    >>> show(Sentence(("IL-2", "gene", "is"), spans=(Span(0, 2, "DNA", 0.88), Span(0, 1, "protein", 0.934)))).strip()
    '[[IL-2 protein 0.93] gene DNA 0.88] is'
    """
    before, after = [""] * len(sentence), [""] * len(sentence)
    for span in sorted(sentence.spans, key=lambda span: (span.start, -span.end)):
        before[span.start] += "["
        chance = "" if span.probability is None else f" {span.probability:.2f}"
        after[span.end - 1] = f" {span.label}{chance}]" + after[span.end - 1]
    return " ".join(map("".join, zip(before, sentence.words, after, strict=True))) + "\n"


def answer(tree: Answer) -> dict[str, Any]:
    """Nested entities."""
    return {"entities": [[span.start, span.end, span.label] for span in tree.spans or ()]}


def span_chances(model: Any, sentences: Any) -> list[Any]:
    """The marginals of a model of spans: every entity or constituent that has a chance."""
    return [
        [{"start": s.start, "end": s.end, "label": s.label, "probability": s.probability} for s in spans]
        for spans in model.predict_marginals(sentences, SEEN)
    ]


def nested_record(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> dict[str, Any]:
    """Scores of all entities, of the outermost and of the inner ones, and how well probabilities keep their promise."""
    from dovetail.evaluate import entity_counts
    from dovetail.evaluate.nested import nested_scores
    from dovetail.text.spans import all_spans

    right, found = [all_spans(s) for s in gold], [all_spans(s) for s in predicted]
    record = nested_scores(right, found).as_dict() | f1_interval(entity_counts(right, found))
    if (promise := calibration(gold, predicted, "ner")) is not None:
        record["expected_calibration_error"] = promise.expected_calibration_error
    return record


def nested_report(record: dict[str, Any]) -> str:
    """The scores as a table: a row for each label, for all, for the outermost and for the inner entities."""
    from dovetail.evaluate.report import COUNTS, label_table

    rows = list(record["per_label"].items())
    for name, end in (("all", ""), ("outermost", "_outermost"), ("inner", "_inner")):
        rows.append((name, {what: record[f"{what}{end}"] for what in COUNTS}))
    lines = [label_table(rows), "", interval_line(record["f1"], *record["f1_interval"])]
    if "expected_calibration_error" in record:
        lines.append(calibration_line(record["expected_calibration_error"], record["predicted"]))
    return "\n".join(lines)
