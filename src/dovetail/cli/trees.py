"""Trees in commands: drawn, spelled out in JSON, scored as evalb does, explained."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dovetail.cli import nested
from dovetail.cli.scores import f1_interval
from dovetail.errors import DovetailError
from dovetail.models.records import rival_text

if TYPE_CHECKING:
    from dovetail.models.answer import Answer
    from dovetail.models.parser.estimator import Parser
    from dovetail.models.parser.explain import ConstituentExplanation
    from dovetail.text.sentence import Sentence


def show(sentence: Sentence) -> str:
    """The tree, drawn for the width of the terminal."""
    from dovetail.text.draw_tree import draw_tree

    return "" if sentence.tree is None else draw_tree(sentence.tree) + "\n\n"


def picture(sentence: Sentence) -> str:
    """The tree as SVG, with the entities of the sentence under it."""
    from dovetail.text.tree_svg import tree_svg

    assert sentence.tree is not None
    return tree_svg(sentence.tree, sentence.spans, title=" ".join(sentence.words))


def answer(parse: Answer) -> dict[str, Any]:
    """A tree in brackets."""
    return {"tree": str(parse.tree)}


def bracket_record(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> dict[str, Any]:
    """Bracket scores as evalb gives them."""
    from dovetail.evaluate.brackets import bracket_counts, bracket_scores
    from dovetail.models.parser.data import gold_trees

    right, found = gold_trees(gold, "gold"), [sentence.tree for sentence in predicted]
    return bracket_scores(right, found).as_dict() | f1_interval(bracket_counts(right, found))


def bracket_report(record: dict[str, Any]) -> str:
    """The scores on a few lines."""
    low, high = record["f1_interval"]
    lines = [
        f"{record['sentences']:,} sentences, {record['gold']:,} constituents; {record['predicted']:,} predicted",
        f"F1 {record['f1']:.2f} (95% interval {low:.2f} to {high:.2f}), precision {record['precision']:.2f}, "
        f"recall {record['recall']:.2f}",
        f"whole trees {record['exact']:.2f}, tags {record['tagging']:.2f}, without labels F1 "
        f"{record['unlabelled_f1']:.2f}",
        f"crossing brackets {record['average_crossing']:.2f} a tree, none in {record['no_crossing']:.2f}",
    ]
    if record["errors"] or record["skipped"]:
        lines.append(
            f"not counted, as in evalb: {record['errors']} with other words, {record['skipped']} without a tree"
        )
    return "\n".join(lines)


# trees with their entities: drawn together, scored apart


def show_both(sentence: Sentence) -> str:
    """The tree, drawn for the width of the terminal, and its entities below."""
    from dovetail.text.draw_tree import draw_tree

    if sentence.tree is None:
        return ""
    lines = [draw_tree(sentence.tree)]
    for span in sentence.spans:
        chance = "" if span.probability is None else f" {span.probability:.3f}"
        lines.append(f"{span.label}{chance}  {' '.join(sentence.words[span.start : span.end])}")
    return "\n".join(lines) + "\n\n"


def answer_both(parse: Answer) -> dict[str, Any]:
    """A tree in brackets, and its entities."""
    return answer(parse) | nested.answer(parse)


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
    record = {f"entity_{name}": getattr(entities, name) for name in ("precision", "recall", "f1")}
    return bracket_record(gold, predicted) | record | {"entities": entities.gold, "crossing_entities": crossing}


def joint_report(record: dict[str, Any]) -> str:
    """The scores on a few lines."""
    of_entities = (
        f"{record['entities']:,} entities: F1 {record['entity_f1']:.2f}, precision {record['entity_precision']:.2f}, "
        f"recall {record['entity_recall']:.2f}; {record['crossing_entities']} cross a constituent"
    )
    return bracket_report(record) + "\n" + of_entities


# explain


def explained(parser: Parser, sentence: Sentence, wanted: Sequence[str]) -> list[ConstituentExplanation]:
    """The constituents of a sentence that are asked for, as ``START-END`` or ``START-END:LABEL``, else the least sure.

    Of trees that are coupled softly with entities, these as well.

    Words are counted from 1, and END is the last one.
    """
    if wanted:
        return [parser.explain(sentence, *_place(one, len(sentence))) for one in wanted]
    [found] = parser.parse([sentence], probabilities=True)
    tree = found.tree
    spans = [span for span in (tree.spans()[1:] if tree else ()) if span.probability is not None]
    if not spans:
        return []
    least = min(spans, key=lambda span: span.probability or 0.0)
    entities = (found.spans or ()) if getattr(parser, "coupling", None) == "soft" else ()
    return [parser.explain(sentence, s.start, s.end, s.label) for s in (least, *entities)]


def _place(text: str, length: int) -> tuple[int, int, str | None]:
    match = re.fullmatch(r"(\d+)-(\d+)(?::(.+))?", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]) <= length:
        raise DovetailError(f"--span {text}: give it as START-END or START-END:LABEL, of words 1 to {length}")
    return int(match[1]) - 1, int(match[2]), match[3]


def paragraph(sentence: Sentence, why: ConstituentExplanation, top: int) -> str:
    """An explanation for people to read."""
    words = " ".join(sentence.words[why.start : why.end])
    lines = [f"{why.start + 1}-{why.end}  {why.label} {why.probability:.3f}  {words}"]
    if why.rival is None:
        return "\n".join([*lines, "   the grammar has no tree without it"])
    lines.append(f"   best {why.what} without it ({why.margin:+.2f}): {rival_text(sentence, why)}")
    return "\n".join([*lines, *evidence_lines(why.for_it[:top], why.against_it[:top])])


def evidence_lines(for_it: Iterable[Any], against_it: Iterable[Any]) -> Iterator[str]:
    """The features for and against an answer, each with its margin."""
    for title, evidence in (("for", for_it), ("against", against_it)):
        for row, item in enumerate(evidence):
            yield f"   {title if row == 0 else '':8} {item.margin:+6.2f}  {item.feature}"
