"""What a stage says of a sentence: a value for each layer that it writes, without probabilities, so they compare.

A layer is one of ``layers`` of a sentence by its name; ``spans``, ``tree``, ``frames`` and ``words`` are what they are
called in a sentence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from dovetail.models.answer import Answer
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tags import is_chunk_tagset, tags_to_spans
from dovetail.text.words import recut

Value = tuple[Any, ...]
"""One entry for each layer that a stage writes, in that order."""

SPANS, TREE, FRAMES, WORDS, HEAD, RELATION = "spans", "tree", "frames", "words", "head", "deprel"
SPECIAL = frozenset((SPANS, TREE, FRAMES, WORDS))


class MissingLayer(Exception):
    """An answer lacks a layer that its stage writes."""


def tags_of_spans(writes: Sequence[str]) -> str | None:
    """The layer whose chunk tags spell the spans that the same stage writes: it stands right before them."""
    before = writes[writes.index(SPANS) - 1] if SPANS in writes[1:] else SPANS
    return None if before in SPECIAL else before


def value_of(found: Answer | Sentence, writes: Sequence[str]) -> Value:
    """What an answer, or a sentence with an answer in it, says of the layers that a stage writes."""
    return tuple(_of_layer(found, name, writes) for name in writes)


def _of_layer(found: Answer | Sentence, name: str, writes: Sequence[str]) -> Any:
    if name not in SPECIAL:
        if name not in found.layers:
            raise MissingLayer(f"the answer has no layer {name!r}")
        return found.layers[name]
    if name == SPANS:
        spelled = found.layers.get(tags_of_spans(writes) or "")
        if not found.spans and spelled is not None and is_chunk_tagset(set(spelled)):
            return tuple(Span(*one) for one in tags_to_spans(spelled))
        return plain(found.spans or ())
    value = getattr(found, name, None)
    if value is None:
        raise MissingLayer(f"the answer has no {name}")
    if name == FRAMES:
        return tuple(replace(frame, arguments=plain(frame.arguments), probability=None) for frame in value)
    return value


def plain(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans without probabilities."""
    return tuple(Span(span.start, span.end, span.label) for span in spans)


def written(sentence: Sentence, writes: Sequence[str], value: Value) -> Sentence:
    """The sentence with the layers that a stage writes."""
    named = dict(zip(writes, value, strict=True))
    if WORDS in named:
        sentence = recut(sentence, named.pop(WORDS))
    special = {name: named.pop(name) for name in list(named) if name in SPECIAL}
    return replace(sentence, layers={**sentence.layers, **named}, **special)


def without(sentence: Sentence, layers: Iterable[str]) -> Sentence:
    """The sentence without these layers, if it has them."""
    gone = set(layers)
    empty: dict[str, Any] = {SPANS: (), TREE: None, FRAMES: ()}
    special = {name: none for name, none in empty.items() if name in gone and getattr(sentence, name, none)}
    kept = {name: values for name, values in sentence.layers.items() if name not in gone}
    return replace(sentence, layers=kept, **special) if special or len(kept) < len(sentence.layers) else sentence


def as_answer(writes: Sequence[str], value: Value, probability: float | None = None) -> Answer:
    """A value as an answer of a model."""
    named = dict(zip(writes, value, strict=True))
    special = {name: named.pop(name) for name in list(named) if name in SPECIAL}
    return Answer(named, probability=probability, **special)
