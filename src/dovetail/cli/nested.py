"""Nested entities in commands: shown in brackets, spelled out in JSON, scored at all depths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.models.nested.estimator import NestedTagger
    from dovetail.text.sentence import Document, Sentence, Span

SEEN = 0.005  # entities less probable are not listed among the marginals


def show(documents: Iterable[Document], file: IO[str]) -> None:
    """A sentence a line, its entities in brackets: ``[the [IL-2 protein 0.93] gene DNA 0.88] is``."""
    for document in documents:
        for sentence in document:
            file.write(bracketed(sentence) + "\n")


def bracketed(sentence: Sentence) -> str:
    """The words with every entity in brackets, its label and its probability at its end.

    >>> from dovetail.text.sentence import Sentence, Span
    >>> bracketed(Sentence(("IL-2", "gene", "is"), spans=(Span(0, 2, "DNA", 0.88), Span(0, 1, "protein", 0.934))))
    '[[IL-2 protein 0.93] gene DNA 0.88] is'
    """
    before, after = [""] * len(sentence), [""] * len(sentence)
    for span in sorted(sentence.spans, key=lambda span: (span.start, -span.end)):
        before[span.start] += "["
        after[span.end - 1] = f" {_mark(span)}]" + after[span.end - 1]
    return " ".join(map("".join, zip(before, sentence.words, after, strict=True)))


def _mark(span: Span) -> str:
    return span.label if span.probability is None else f"{span.label} {span.probability:.2f}"


def details(tagger: NestedTagger, sentences: Sequence[Sentence], k: int, marginals: bool) -> list[dict[str, Any]]:
    """``k_best``: ``{"probability", "entities"}``, best first; ``marginals``: every entity that has a chance."""
    found: list[dict[str, Any]] = [{} for _ in sentences]
    if k:
        for fields, trees in zip(found, tagger.kbest(sentences, k), strict=True):
            fields["k_best"] = [
                {"probability": tree.probability, "entities": [[s.start, s.end, s.label] for s in tree.spans]}
                for tree in trees
            ]
    if marginals:
        for fields, spans in zip(found, tagger.predict_marginals(sentences, SEEN), strict=True):
            fields["marginals"] = [
                {"start": s.start, "end": s.end, "label": s.label, "probability": s.probability} for s in spans
            ]
    return found


def nested_record(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> dict[str, Any]:
    """Scores of all entities, of the outermost and of the inner ones, and how well probabilities keep their promise."""
    from dovetail.cli.scores import calibration
    from dovetail.evaluate import bootstrap_interval, entity_counts
    from dovetail.evaluate.nested import nested_scores
    from dovetail.text.spans import all_spans

    right, found = [all_spans(s) for s in gold], [all_spans(s) for s in predicted]
    interval = bootstrap_interval(entity_counts(right, found))
    record = nested_scores(right, found).as_dict() | {"f1_interval": [interval.low, interval.high]}
    if (promise := calibration(gold, predicted, "ner")) is not None:
        record["expected_calibration_error"] = promise.expected_calibration_error
    return record


def nested_report(record: dict[str, Any]) -> str:
    """The scores as a table: a row for each label, for all, for the outermost and for the inner entities."""
    from dovetail.evaluate.table import align_columns

    counts = ("precision", "recall", "f1", "gold", "predicted", "correct")
    rows = [(label, scores) for label, scores in record["per_label"].items()]
    for name, end in (("all", ""), ("outermost", "_outermost"), ("inner", "_inner")):
        rows.append((name, {what: record[f"{what}{end}"] for what in counts}))
    table = align_columns([["label", "precision", "recall", "F1", *counts[3:]], *(_row(*row) for row in rows)])
    low, high = record["f1_interval"]
    lines = [table, "", f"F1 {record['f1']:.2f}, 95% interval {low:.2f} to {high:.2f}"]
    if "expected_calibration_error" in record:
        error = record["expected_calibration_error"]
        lines.append(f"calibration: expected error {error:.4f} over {record['predicted']:,} predicted entities")
    return "\n".join(lines)


def _row(name: str, scores: dict[str, Any]) -> list[str]:
    exact = [str(scores[what]) for what in ("gold", "predicted", "correct")]
    return [name, *(f"{scores[what]:.2f}" for what in ("precision", "recall", "f1")), *exact]
