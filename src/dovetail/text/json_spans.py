"""Spans as JSON has them: lists, objects under several names, with offsets of characters or of tokens."""

from __future__ import annotations

import re
from typing import Any, Literal

from dovetail.text.json_values import letters
from dovetail.text.spans import CharacterSpan, trimmed
from dovetail.text.tokenise import Tokens

Unit = Literal["words", "characters"]
Place = tuple[int, int]
"""The first character of a token, and the one after its last."""

_SHAPE = re.compile(r"iis[ifn]?")  # of [start, end, label] and perhaps a probability
_EDGES = (("start", "start_offset"), ("end", "end_offset"))  # the second is doccano's


def span_values(item: object, unit: Unit, places: list[Place] | None) -> list[list[Any]]:
    """[start, end, label, probability] of an item, once for each of several labels; values that are wrong as they are.

    Prodigy's ``token_start`` and ``token_end`` count tokens, the last of which is inside; ``places`` tells where they
    are.

    >>> span_values({"token_start": 0, "token_end": 1, "label": "PER"}, "characters", [(0, 3), (4, 9)])
    [[0, 9, 'PER', None]]
    """
    if not isinstance(item, dict):
        return [item if isinstance(item, list) else [item]]
    start, end = (next((item[name] for name in names if name in item), None) for names in _EDGES)
    first, last = item.get("token_start"), item.get("token_end")
    if type(first) is int and type(last) is int:
        if unit == "words":
            start, end = first, last + 1
        elif start is None and end is None and places and 0 <= first <= last < len(places):
            start, end = places[first][0], places[last][1]
    several = item.get("labels")
    labels = several if isinstance(several, list) and "label" not in item else [item.get("label")]
    return [[start, end, label, item.get("probability")] for label in labels]


def span_problem(values: list[Any], length: int, unit: Unit) -> str | None:
    """What is wrong with the values of a span in a sentence or text of this length; None where nothing is.

    >>> span_problem([1, 4, "PER"], 3, "words")
    'is empty or outside 3 words'
    """
    if not _SHAPE.fullmatch(letters(values)):
        return "is not [start, end, label]: two whole numbers and a string"
    if not 0 <= values[0] < values[1] <= length:
        return f"is empty or outside {length} {unit}"
    if not values[2]:
        return "has an empty label"
    probability = values[3] if len(values) > 3 else None
    return None if probability is None or 0 <= probability <= 1 else "has a probability that is not from 0 to 1"


def tokens_at(places: list[Place], text: str) -> Tokens:
    """The tokens at these places that are not white space, less the white space around them.

    >>> tokens_at([(0, 2), (2, 4)], "a  b").words
    ['a', 'b']
    """
    spans = [trimmed(CharacterSpan(start, end, ""), text) for start, end in places]
    kept = [(span.start, span.end) for span in spans if span is not None]
    return Tokens([text[start:end] for start, end in kept], kept)
