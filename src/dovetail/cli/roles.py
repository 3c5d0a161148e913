"""Semantic roles in commands: shown predicate by predicate, spelled out in JSON, scored as in CoNLL-2005, explained."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dovetail.cli.nested import SEEN
from dovetail.cli.scores import f1_interval, interval_line
from dovetail.cli.trees import evidence_lines
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.models.answer import Answer
    from dovetail.models.roles.estimator import RoleLabeller
    from dovetail.models.roles.explain import ArgumentExplanation
    from dovetail.text.frames import Frame
    from dovetail.text.sentence import Sentence


def show(sentence: Sentence) -> str:
    """The words, and below them each predicate with its sense and its arguments.

    >>> from dovetail.text.frames import Frame
    >>> from dovetail.text.sentence import Sentence, Span
    >>> frame = Frame(1, "sell.01", arguments=(Span(0, 1, "ARG0", 0.98), Span(2, 3, "ARG1", 0.9)))
    >>> print(show(Sentence(("Ada", "sold", "boats"), frames=(frame,))), end="")
    Ada sold boats
      sold  sell.01
        ARG0  0.980  Ada
        ARG1  0.900  boats
    <BLANKLINE>
    """
    lines = [" ".join(sentence.words)]
    for frame in sentence.frames or ():
        lines.append(f"  {sentence.words[frame.predicate]}  {frame.sense or ''}".rstrip())
        width = max((len(span.label) for span in frame.arguments), default=0)
        for span in frame.arguments:
            chance = "" if span.probability is None else f"{span.probability:.3f}  "
            lines.append(f"    {span.label:{width}}  {chance}{' '.join(sentence.words[span.start : span.end])}")
    return "\n".join(lines) + "\n\n"


def answer(found: Answer) -> dict[str, Any]:
    """Frames."""
    return {"frames": [_record(frame) for frame in found.frames or ()]}


def marginals(labeller: RoleLabeller, sentences: Sequence[Sentence]) -> list[Any]:
    """Every argument that has a chance, by predicate."""
    return [[_record(frame) for frame in frames] for frames in labeller.predict_marginals(sentences, SEEN)]


def _record(frame: Frame) -> dict[str, Any]:
    arguments = [
        [span.start, span.end, span.label, *([] if span.probability is None else [round(span.probability, 6)])]
        for span in frame.arguments
    ]
    return {"predicate": frame.predicate, "sense": frame.sense, "arguments": arguments}


def questions(sentences: Sequence[Sentence], gold_trees: bool, find_predicates: bool) -> list[Sentence]:
    """Sentences with right answers, less what a labeller is to find."""
    found = list(sentences) if gold_trees else [replace(sentence, tree=None) for sentence in sentences]
    return [replace(sentence, frames=None) for sentence in found] if find_predicates else found


def role_record(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> dict[str, Any]:
    """Scores of arguments, of the core ones alone, of predicates and of senses."""
    from dovetail.evaluate.roles import role_counts, role_scores

    return role_scores(gold, predicted).as_dict() | f1_interval(role_counts(gold, predicted))


def role_report(record: dict[str, Any]) -> str:
    """The scores as a table: a row for each label, for all arguments, for the core ones and for predicates."""
    from dovetail.evaluate.report import COUNTS, label_table

    rows = list(record["per_label"].items())
    for name, begin in (("all", ""), ("core", "core_"), ("predicates", "predicate_")):
        rows.append((name, {what: record[f"{begin}{what}"] for what in COUNTS}))
    senses = f"senses {record['sense_accuracy']:.2f}% right of the predicates found"
    return "\n".join([label_table(rows), "", interval_line(record["f1"], *record["f1_interval"]), senses])


# explain


def explained(
    labeller: RoleLabeller, sentences: Sequence[Sentence], predicates: Sequence[str], spans: Sequence[str]
) -> Iterator[tuple[Sentence, ArgumentExplanation]]:
    """Arguments of the predicates that are named, or of all; the spans that are asked for, or those that were found.

    Predicates are words or their numbers, spans are ``START-END``; words are counted from 1.
    """
    for sentence in labeller.annotate(list(sentences)):
        chosen = [
            frame
            for frame in sentence.frames or ()
            if not predicates or {str(frame.predicate + 1), sentence.words[frame.predicate]} & set(predicates)
        ]
        if predicates and not chosen and len(sentences) == 1:
            known = ", ".join(sentence.words[frame.predicate] for frame in sentence.frames or ())
            raise DovetailError(f"--token: no such predicate; there are {known or 'none'}")
        for frame in chosen:
            places = [_place(span, len(sentence)) for span in spans] or [(a.start, a.end) for a in frame.arguments]
            for start, end in places:
                yield sentence, labeller.explain(sentence, frame.predicate, start, end)


def _place(text: str, length: int) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)-(\d+)", text)
    if not match or not 1 <= int(match[1]) <= int(match[2]) <= length:
        raise DovetailError(f"--span {text}: give it as START-END, of words 1 to {length}")
    return int(match[1]) - 1, int(match[2])


def paragraph(sentence: Sentence, why: ArgumentExplanation, top: int) -> str:
    """An explanation for people to read."""
    words, predicate = " ".join(sentence.words[why.start : why.end]), sentence.words[why.predicate]
    others = ", ".join(f"{label} {p:.3f}" for label, p in why.alternatives[1:4])
    lines = [
        f"{predicate}: {why.start + 1}-{why.end}  {why.label} {why.probability:.3f}  {words}",
        f"   or       {others}",
    ]
    return "\n".join([*lines, *evidence_lines(why.for_it[:top], why.against_it[:top])])
