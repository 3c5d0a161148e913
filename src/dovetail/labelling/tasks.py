"""What is labelled: entities, entities within entities, or every word. Each task says what an answer is.

An answer is a list, as it stands in JSON: of ``[start, end, label]`` in words for entities, of a label or None for
every word for ``words``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

from dovetail.errors import DovetailError
from dovetail.text.sentence import Sentence, Span
from dovetail.text.spans import flat_tags

UNKNOWN = "?"
"""The tag of a word that nobody has labelled: training leaves it open."""
LAYER = "ner"
Answer = list[Any]


@dataclass(frozen=True)
class Task:
    """One kind of labelling; ``TASKS`` has them by name."""

    name: str
    check: Callable[[Any, int, Sequence[str]], Answer]
    """An answer as it came, the number of words and the labels: the answer in order, or an error that says what is
    wrong."""
    write: Callable[[Sentence, Answer], Sentence]
    """The sentence with the answer in it, as models learn it and files hold it."""
    read: Callable[[Sentence], Answer]
    """The answer that a sentence of a file has."""
    tags: Callable[[Answer, int], tuple[str, ...]]
    """A label for every word, as agreement counts them."""


def _spans(given: Any, words: int, labels: Sequence[str]) -> list[list[Any]]:
    if not isinstance(given, list):
        raise DovetailError("entities: give a list of [start, end, label]")
    found: dict[tuple[int, int, str], None] = {}
    for one in given:
        if not (isinstance(one, list | tuple) and len(one) == 3 and type(one[0]) is type(one[1]) is int):
            raise DovetailError(f"entities: {one!r:.60} is not [start, end, label]")
        start, end, label = one
        if not 0 <= start < end <= words:
            raise DovetailError(f"entities: {start} to {end} does not lie in a sentence of {words} words")
        if label not in labels:
            raise DovetailError(f"entities: there is no label {label!r:.60}; there are {', '.join(labels)}")
        found[start, end, label] = None
    return [list(one) for one in sorted(found, key=lambda one: (one[0], -one[1]))]


def check_flat(given: Any, words: int, labels: Sequence[str]) -> Answer:
    """Entities that do not overlap, in order.

    >>> check_flat([[2, 3, "LOC"], [0, 1, "PER"]], 4, ["PER", "LOC"])
    [[0, 1, 'PER'], [2, 3, 'LOC']]
    """
    found = _spans(given, words, labels)
    for before, after in pairwise(found):
        if after[0] < before[1]:
            raise DovetailError(f"entities: {before} and {after} overlap; label nested entities with --task nested")
    return found


def check_nested(given: Any, words: int, labels: Sequence[str]) -> Answer:
    """Entities of which none crosses another, each before those within it."""
    found = _spans(given, words, labels)
    for a, b in combinations(found, 2):
        if a[0] < b[0] < a[1] < b[1]:
            raise DovetailError(f"entities: {a} and {b} cross; one must lie within the other")
    return found


def check_words(given: Any, words: int, labels: Sequence[str]) -> Answer:
    """A label for every word, None for one that is left open.

    >>> check_words(["NOUN", None], 2, ["NOUN", "VERB"])
    ['NOUN', None]
    """
    if not isinstance(given, list) or len(given) != words:
        raise DovetailError(f"words: give a label, or null, for each of the {words} words")
    for one in given:
        if one is not None and one not in labels:
            raise DovetailError(f"words: there is no label {one!r:.60}; there are {', '.join(labels)}")
    return list(given)


def _with_spans(sentence: Sentence, answer: Answer) -> Sentence:
    spans = tuple(Span(*one) for one in answer)
    return replace(sentence.with_layer(LAYER, flat_tags(spans, len(sentence))), spans=spans)


def _spans_of(sentence: Sentence) -> Answer:
    spans = sentence.spans or sentence.entities(LAYER)
    return [[span.start, span.end, span.label] for span in spans]


def _with_words(sentence: Sentence, answer: Answer) -> Sentence:
    return replace(sentence.with_layer(LAYER, tuple(one or UNKNOWN for one in answer)), spans=())


def _words_of(sentence: Sentence) -> Answer:
    known = next((sentence.layers[name] for name in (LAYER, "pos") if name in sentence.layers), None)
    return [None if tag == UNKNOWN else tag for tag in known or [None] * len(sentence)]


def _flat(answer: Answer, words: int) -> tuple[str, ...]:
    return flat_tags([Span(*one) for one in answer], words)


def _each(answer: Answer, words: int) -> tuple[str, ...]:
    return tuple(one or UNKNOWN for one in answer)


TASKS = {
    "entities": Task("entities", check_flat, _with_spans, _spans_of, _flat),
    "nested": Task("nested", check_nested, _with_spans, _spans_of, _flat),
    "words": Task("words", check_words, _with_words, _words_of, _each),
}
