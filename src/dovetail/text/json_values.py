"""JSON values in messages and comments."""

from __future__ import annotations

import json
from collections.abc import Iterable


def kind_of(value: object) -> str:
    """What a JSON value is, in words.

    >>> kind_of([]), kind_of(3)
    ('an array', 'a number')
    """
    names = {list: "an array", dict: "an object", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number")


def letters(values: Iterable[object]) -> str:
    """The types of JSON values, a letter each: i, f and s of Python's types, n for null, ? for all others.

    >>> letters([0, 2, "PER", None, True])
    'iisn?'
    """
    known = {int: "i", float: "f", str: "s", type(None): "n"}
    return "".join(known.get(type(value), "?") for value in values)


def shown(value: object) -> str:
    """A JSON value for a message, cut short where it is long."""
    text = json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def one_line(value: object) -> str:
    """A JSON value for a comment: a string as it is, if it has no line end."""
    if isinstance(value, str) and "\n" not in value and "\r" not in value:
        return value
    return json.dumps(value, ensure_ascii=False)
