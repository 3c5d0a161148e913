"""Features by name: the slow path that spells out what the compiled features of a token are, for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from dovetail.features.algebra.attributes import BOUNDARY, Attribute
from dovetail.features.algebra.templates import At, Bag, Bias, Call, Elsewhere, Number, Template, Vector, weighted
from dovetail.features.compile import hashing
from dovetail.features.compile.design import salt
from dovetail.text.sentence import Sentence
from dovetail.text.words import composed


@dataclass(frozen=True)
class NamedFeature:
    """A feature by name and key, with its value."""

    name: str
    key: np.uint64
    value: float = 1.0


def named_features(template: Template, sentence: Sentence, position: int) -> Iterator[NamedFeature]:
    """The features that a template has at one token, by the slow path that spells them out."""
    first = salt(template)
    match template:
        case At():
            values = [_strings(a, _value(sentence, a.column, position + o)) for a, o in template.parts]
            for combination in product(*values):
                attributes = [a for a, _ in template.parts]
                text = " & ".join(_visible(v) for v in combination)
                yield NamedFeature(f"{template}={text}", _key(first, attributes, combination))
        case Bag():
            window = range(max(position + template.first, 0), min(position + template.last + 1, len(sentence)))
            words = dict.fromkeys(_value(sentence, template.attribute.column, i) for i in window)
            strings = [string for word in words for string in _strings(template.attribute, word)]
            for string in dict.fromkeys(strings) if template.attribute.single else strings:
                yield NamedFeature(f"{template}={_visible(string)}", _key(first, [template.attribute], [string]))
        case Elsewhere():
            return  # one sentence does not tell what the others hold
        case Number():
            number = _value(sentence, template.attribute.column, position + template.offset)
            yield NamedFeature(str(template), first, float(number) if number is not None else 0.0)
        case Vector():
            word = _value(sentence, template.attribute.column, position + template.offset)
            if word is not None:
                numbers = template.table.of_words([word])[0].tolist()
                for d, (key, amount) in enumerate(zip(template.keys(), numbers, strict=True)):
                    yield NamedFeature(f"{template}={d}", key, amount)
        case Bias():
            yield NamedFeature("bias", first)
        case Call():
            for name, amount in weighted(template.function(sentence)[position]).items():
                key = hashing.conjoined(first, [hashing.string_keys([name])])[0]
                yield NamedFeature(f"{template}={name}", key, amount)


def _value(sentence: Sentence, column: str, position: int) -> str | None:
    if not 0 <= position < len(sentence):
        return None
    return composed([(sentence.words if column == "word" else sentence.layers[column])[position]])[0]


def _strings(attribute: Attribute, value: str | None) -> Sequence[str]:
    if value is None:
        return [BOUNDARY] if attribute.single else []
    return attribute.strings(value)


def _visible(text: str) -> str:
    return "(edge)" if text == BOUNDARY else text.replace("\x02", "^").replace("\x03", "$")


def _key(first: np.uint64, attributes: Sequence[Attribute], values: Sequence[str]) -> np.uint64:
    pairs = zip(attributes, values, strict=True)
    key: np.uint64 = hashing.conjoined(first, [hashing.string_keys([v], a.seed) for a, v in pairs])[0]
    return key
