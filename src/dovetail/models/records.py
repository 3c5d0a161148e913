"""Explanations spelled out for programs: what ``dovetail explain --json`` prints, and the server answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dovetail.models.parser.explain import ConstituentExplanation
    from dovetail.models.roles.explain import ArgumentExplanation
    from dovetail.models.tagger.explain import Explanation
    from dovetail.text.sentence import Sentence


def token_record(why: Explanation, top: int) -> dict[str, Any]:
    """The tag of a word, the others with their probabilities, and the features for and against it."""

    def listed(evidence: Sequence[Any]) -> list[dict[str, Any]]:
        return [{"feature": e.feature, "tag": e.weight, "rival": e.against} for e in evidence[:top]]

    return {
        "word": why.word,
        "tag": why.tag,
        "rival": why.rival,
        "alternatives": [{"tag": tag, "probability": p} for tag, p in why.alternatives],
        "for": listed(why.for_tag),
        "against": listed(why.against_tag),
    }


def constituent_record(sentence: Sentence, why: ConstituentExplanation, top: int) -> dict[str, Any]:
    """A constituent or an entity, the best answer without it, and the features on which they differ."""
    return {
        "start": why.start,
        "end": why.end,
        "label": why.label,
        "words": list(sentence.words[why.start : why.end]),
        "probability": why.probability,
        "rival": None if why.rival is None else rival_text(sentence, why),
        "margin": None if why.rival is None else why.margin,
        **_evidence(why, top),
    }


def argument_record(sentence: Sentence, why: ArgumentExplanation, top: int) -> dict[str, Any]:
    """An argument of a predicate, its other labels, and the features for and against it."""
    return {
        "predicate": why.predicate,
        "start": why.start,
        "end": why.end,
        "words": list(sentence.words[why.start : why.end]),
        "label": why.label,
        "probability": why.probability,
        "rival": why.rival,
        "alternatives": [{"label": label, "probability": p} for label, p in why.alternatives[:10]],
        **_evidence(why, top),
    }


def rival_text(sentence: Sentence, why: ConstituentExplanation) -> str:
    """The best answer without a constituent: a tree, or entities."""
    if why.what == "tree":
        return str(why.rival)
    spans: Any = why.rival
    return ", ".join(f"{s.label} {' '.join(sentence.words[s.start : s.end])}" for s in spans) or "none"


def _evidence(why: Any, top: int) -> dict[str, Any]:
    def listed(evidence: Sequence[Any]) -> list[dict[str, Any]]:
        return [{"feature": e.feature, "margin": e.margin} for e in evidence[:top]]

    return {"for": listed(why.for_it), "against": listed(why.against_it)}
