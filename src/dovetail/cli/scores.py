"""Scores of annotated sentences against the right ones: entities where a layer spells them, else words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.evaluate import CalibrationReport, EntityScores, TokenScores
    from dovetail.text.sentence import Sentence

Sentences = Sequence["Sentence"]


def score(gold: Sentences, predicted: Sentences, layer: str) -> EntityScores | TokenScores:
    """Entity scores for chunk tags and nested entities, token scores for plain labels.

    >>> from dovetail.text.sentence import Sentence
    >>> gold = [Sentence(("Ada", "slept"), {"ner": ("B-PER", "O"), "pos": ("NNP", "VBD")})]
    >>> score(gold, gold, "ner").gold, score(gold, gold, "pos").gold
    (1, 2)
    """
    from dovetail.evaluate import entity_scores, token_scores

    if spells_entities(gold, layer):
        return entity_scores(*answers(gold, predicted, layer))
    return token_scores(tags(gold, layer), tags(predicted, layer))


def answers(gold: Sentences, predicted: Sentences, layer: str) -> tuple[list[Any], list[Any]]:
    """The tags of both sides, or the spans where some are nested, which tags could not hold."""
    if layer == "ner" and any(len(s.spans) > len(s.entities()) for s in chain(gold, predicted)):
        return [s.spans or s.entities() for s in gold], [s.spans or s.entities() for s in predicted]
    return tags(gold, layer), tags(predicted, layer)


def tags(sentences: Sentences, layer: str) -> list[tuple[str, ...]]:
    """The tags of every sentence."""
    for number, sentence in enumerate(sentences, 1):
        if layer not in sentence.layers and len(sentence):
            has = ", ".join(["word", *sentence.layers])
            lacks = f"sentence {number} has no layer {layer!r} to score (it has {has})"
            raise DovetailError(f"{lacks}; see --layer, --columns")
    return [sentence.layers.get(layer, ()) for sentence in sentences]


def spells_entities(gold: Sentences, layer: str) -> bool:
    """Whether the layer spells entities rather than giving words plain labels; a few slips change nothing."""
    from dovetail.text.tags import is_chunk_tagset

    found = tagset(gold, layer)
    return not found or is_chunk_tagset(found) or bool(odd_tags(found))


def tagset(sentences: Sentences, layer: str) -> set[str]:
    """The tags that occur in a layer, less ``?``, the tag that nobody has decided."""
    return {tag for sentence in sentences for tag in sentence.layers.get(layer, ())} - {"?"}


def label_of(tag: str) -> str:
    """What a tag says: the label of an entity, or the tag itself.

    >>> label_of("B-PER"), label_of("NN")
    ('PER', 'NN')
    """
    from dovetail.text.tags import split_tag

    return split_tag(tag)[1] or tag


def odd_tags(found: set[str]) -> list[str]:
    """Plain tags among tags that spell entities: slips, most likely.

    >>> odd_tags({"O", "B-PER", "BPER"}), odd_tags({"NN", "O"})
    (['BPER'], [])
    """
    from dovetail.text.tags import is_chunk_tagset

    if all(label_of(tag) == tag for tag in found):
        return []
    return sorted(tag for tag in found if not is_chunk_tagset([tag]))


def f1_interval(counts: Any) -> dict[str, Any]:
    """The 95 % interval of F1, from counts [sentences, 3], as a field of a record of scores."""
    from dovetail.evaluate import bootstrap_interval

    interval = bootstrap_interval(counts)
    return {"f1_interval": [interval.low, interval.high]}


def interval_line(f1: float, low: float, high: float) -> str:
    """An F1 with its interval for people to read."""
    return f"F1 {f1:.2f}, 95% interval {low:.2f} to {high:.2f}"


def calibration_line(error: float, entities: int) -> str:
    """The expected calibration error for people to read."""
    return f"calibration: expected error {error:.4f} over {entities:,} predicted entities"


def calibration(gold: Sentences, predicted: Sentences, layer: str) -> CalibrationReport | None:
    """How well the probabilities of predicted entities keep their promise; None where there are none."""
    from dovetail.evaluate import reliability

    probabilities, right = [], []
    for truth, answer in zip(gold, predicted, strict=True):
        spans = (truth.spans if layer == "ner" else ()) or truth.entities(layer)
        known = {(span.start, span.end, span.label) for span in spans}
        for span in answer.spans:
            if span.probability is not None:
                probabilities.append(min(span.probability, 1.0))
                right.append((span.start, span.end, span.label) in known)
    return reliability(probabilities, right) if probabilities else None
