"""What a stage says of a sentence: a value for each layer that it writes, without probabilities, so they compare.

A layer is one of ``layers`` of a sentence by its name; ``spans``, ``tree``, ``frames`` and ``words`` are what they are
called in a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dovetail.models.answer import Answer
from dovetail.text.sentence import Sentence, Span
from dovetail.text.tags import is_chunk_tagset, tags_to_spans
from dovetail.text.tree import Tree
from dovetail.text.words import recut

SPANS, TREE, FRAMES, WORDS, HEAD, RELATION = "spans", "tree", "frames", "words", "head", "deprel"
SPECIAL = frozenset((SPANS, TREE, FRAMES, WORDS))


class TreeKey(NamedTuple):
    """What tells trees apart."""

    root: str
    tags: tuple[str, ...]
    constituents: tuple[tuple[Any, ...], ...]
    """Those below the root, parents first, as parts: the same label over the same words again has a number."""

    @classmethod
    def of(cls, tree: Tree) -> TreeKey:
        """Walk through a tree once."""
        tags, found, start = [], [], 0
        for node in tree.nodes():
            if node.word is None:
                found.append((TREE, start, start + len(node), node.label))
            else:
                tags.append(node.label)
                start += 1
        del found[0]
        if len(set(found)) < len(found):
            seen: Counter[Any] = Counter()
            for number, place in enumerate(found):
                if seen[place]:
                    found[number] = (*place, seen[place])  # type: ignore[assignment]
                seen[place] += 1
        return cls(tree.label, tuple(tags), tuple(found))


class Value:
    """One entry for each layer that a stage writes, in that order; it is hashed once."""

    __slots__ = ("_hash", "keys", "layers", "writes")

    def __init__(self, writes: Sequence[str], layers: Sequence[Any]) -> None:
        self.writes, self.layers = tuple(writes), tuple(layers)
        self.keys: tuple[Any, ...] = tuple(
            TreeKey.of(own) if name == TREE else own for name, own in self.named().items()
        )
        self._hash = hash(self.keys)

    def named(self) -> dict[str, Any]:
        """The entries by the names of their layers."""
        return dict(zip(self.writes, self.layers, strict=True))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Value) and (self is other or self.keys == other.keys)

    def __repr__(self) -> str:
        return f"Value({self.named()})"


class MissingLayer(Exception):
    """An answer lacks a layer that its stage writes."""


def tags_of_spans(writes: Sequence[str]) -> str | None:
    """The layer whose chunk tags spell the spans that the same stage writes: it stands right before them."""
    before = writes[writes.index(SPANS) - 1] if SPANS in writes[1:] else SPANS
    return None if before in SPECIAL else before


def value_of(found: Answer | Sentence, writes: Sequence[str]) -> Value:
    """What an answer, or a sentence with an answer in it, says of the layers that a stage writes."""
    return Value(writes, [_of_layer(found, name, writes) for name in writes])


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


def written(sentence: Sentence, layers: Mapping[str, Any]) -> Sentence:
    """The sentence with these layers."""
    named = dict(layers)
    if WORDS in named:
        sentence = recut(sentence, named.pop(WORDS))
    special = {name: named.pop(name) for name in list(named) if name in SPECIAL}
    return replace(sentence, layers={**sentence.layers, **named}, **special)


def without(sentence: Sentence, layers: Iterable[str]) -> Sentence:
    """The sentence without these layers, if it has them; predicates that are given stay, without their arguments."""
    gone = set(layers)
    empty: dict[str, Any] = {SPANS: (), TREE: None}
    special = {name: none for name, none in empty.items() if name in gone and getattr(sentence, name)}
    if FRAMES in gone and sentence.frames is not None:
        special[FRAMES] = tuple(frame.with_arguments(()) for frame in sentence.frames)
    kept = {name: values for name, values in sentence.layers.items() if name not in gone}
    return replace(sentence, layers=kept, **special) if special or len(kept) < len(sentence.layers) else sentence


def as_answer(value: Value, probability: float | None = None) -> Answer:
    """A value as an answer of a model."""
    named = value.named()
    special = {name: named.pop(name) for name in list(named) if name in SPECIAL}
    return Answer(named, probability=probability, **special)
