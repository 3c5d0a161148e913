"""Trees with their entities in commands: drawn together, scored apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dovetail.cli import trees
from dovetail.cli.details import span_list

if TYPE_CHECKING:
    from dovetail.models.answer import Answer
    from dovetail.text.sentence import Sentence


def show(sentence: Sentence) -> str:
    """The tree, drawn for the width of the terminal, and its entities below."""
    from dovetail.text.draw_tree import draw_tree

    if sentence.tree is None:
        return ""
    lines = [draw_tree(sentence.tree)]
    for span in sentence.spans:
        chance = "" if span.probability is None else f" {span.probability:.3f}"
        lines.append(f"{span.label}{chance}  {' '.join(sentence.words[span.start : span.end])}")
    return "\n".join(lines) + "\n\n"


def answer(parse: Answer) -> dict[str, Any]:
    """A tree in brackets, and its entities."""
    return trees.answer(parse) | {"entities": span_list(parse.spans or ())}


def joint_record(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> dict[str, Any]:
    """Bracket scores, the scores of entities as ``entity_f1`` and so on, and how many entities cross a constituent."""
    from dovetail.evaluate.nested import nested_scores
    from dovetail.grammars.entities import crosses
    from dovetail.text.spans import all_spans, outermost

    right = [outermost(all_spans(sentence)) for sentence in gold]
    entities = nested_scores(right, [sentence.spans for sentence in predicted]).all
    crossing = sum(
        any(crosses(span, constituent) for constituent in sentence.tree.spans())
        for sentence in predicted
        if sentence.tree is not None
        for span in sentence.spans
    )
    return trees.bracket_record(gold, predicted) | {
        "entity_precision": entities.precision,
        "entity_recall": entities.recall,
        "entity_f1": entities.f1,
        "entities": entities.gold,
        "crossing_entities": crossing,
    }


def joint_report(record: dict[str, Any]) -> str:
    """The scores on a few lines."""
    of_entities = (
        f"{record['entities']:,} entities: F1 {record['entity_f1']:.2f}, precision {record['entity_precision']:.2f}, "
        f"recall {record['entity_recall']:.2f}; {record['crossing_entities']} cross a constituent"
    )
    return trees.bracket_report(record) + "\n" + of_entities
