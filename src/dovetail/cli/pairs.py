"""Pairs of texts: what ``annotate``, ``evaluate`` and ``explain`` do with a model of entailment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.cli.trees import evidence_lines
from dovetail.errors import DovetailError, InputError

if TYPE_CHECKING:
    from dovetail.models.entailment.estimator import Entailment
    from dovetail.models.entailment.explain import Reasons
    from dovetail.text.pairs import Pair

LAYER = "entailment"
"""What ``evaluate --layer`` calls the labels of pairs."""


def annotate_pairs(
    judge: Entailment, source: Any, output: Path | None, output_format: str | None, encoding: str
) -> None:
    """Write the pairs of a file as JSON lines, each with its label and probability."""
    from dovetail.text.pairs import write_pairs

    if output_format not in (None, "jsonl"):
        raise DovetailError(f"pairs are written as jsonl, not as {output_format}")
    write_pairs(judge.annotate(pairs_of(source, encoding)), output or "-")


def pairs_of(source: Any, encoding: str) -> list[Pair]:
    """The pairs that a user gave; through a pipe, or where it is said, as JSON lines."""
    from dovetail.text.pairs import read_pairs

    if source.is_text:
        raise DovetailError("this model judges pairs of texts: give a file of them, .jsonl, .tsv or .xml")
    return list(read_pairs(source.argument, "jsonl" if source.argument == "-" else None, encoding))


def read_labelled(path: Path, encoding: str, format: str | None = None) -> list[Pair]:
    """The pairs of a file; an error where one has no label, or where there are none."""
    from dovetail.text.pairs import read_pairs

    found = list(read_pairs(path, format, encoding))
    if not found:
        raise InputError("no pairs in this file; check it, and how its name ends", path)
    for number, pair in enumerate(found, 1):
        if pair.label is None:
            raise InputError(f"pair {pair.id or number} has no label; give yes or no", path)
    return found


def evaluate_pairs(judge: Entailment | None, truth: Path, predicted: Path | None, encoding: str, as_json: bool) -> None:
    """Print the scores of a model, or of the pairs that somebody judged."""
    gold = read_labelled(truth, encoding)
    if judge is not None:
        found = list(judge.annotate(gold))
    else:
        assert predicted is not None
        found = read_labelled(predicted, encoding)
        if [(p.text, p.hypothesis) for p in gold] != [(p.text, p.hypothesis) for p in found]:
            raise InputError("other pairs than those of the gold file; give the same, in the same order", predicted)
    scores = scores_of(gold, found)
    print(json.dumps(scores.as_dict(), ensure_ascii=False) if as_json else scores)


def scores_of(gold: Sequence[Pair], found: Sequence[Pair]) -> Any:
    """Accuracy and average precision; a label without a probability is taken to be certain."""
    from dovetail.evaluate.judgements import judgement_scores

    sure = {"yes": 1.0, "no": 0.0}
    chances = [sure[str(p.label)] if p.probability is None else p.probability for p in found]
    return judgement_scores([pair.label == "yes" for pair in gold], chances)


def explain_pairs(judge: Entailment, pairs: Sequence[Pair], top: int, as_json: bool) -> None:
    """Print what speaks for and against each hypothesis."""
    found = [(pair, judge.explain(pair)) for pair in pairs]
    if as_json:
        print(json.dumps({"pairs": [_record(pair, why, top) for pair, why in found]}, ensure_ascii=False))
    else:
        print("\n\n".join(_paragraph(pair, why, top) for pair, why in found))


def _paragraph(pair: Pair, why: Reasons, top: int) -> str:
    words = " ".join(f"{word}={other or '?'}" if word != other else word for word, other in why.aligned)
    lines = [f"{pair.hypothesis}  {why.label}, probability of yes {why.probability:.3f}", f"   aligned  {words}"]
    shown = [
        [r._replace(feature=f"{r.feature} = {r.value:.2g}") for r in some[:top]]
        for some in (why.for_yes, why.against_yes)
    ]
    return "\n".join([*lines, *evidence_lines(*shown)])


def _record(pair: Pair, why: Reasons, top: int) -> dict[str, Any]:
    from dovetail.text.pairs import pair_fields

    reasons = {"for": why.for_yes[:top], "against": why.against_yes[:top]}
    judged = pair_fields(pair) | {"label": why.label, "probability": why.probability}
    listed = {name: [reason._asdict() for reason in some] for name, some in reasons.items()}
    return judged | {"aligned": [list(each) for each in why.aligned]} | listed
