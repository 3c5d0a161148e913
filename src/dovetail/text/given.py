"""One sentence from whatever a user gives, or an error that says what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dovetail.errors import DovetailError
from dovetail.text.sentence import Sentence

_STRINGS = frozenset({str})

SENTENCES = "give a list of sentences, each a list of words or a Sentence"
SINGLE = f"{SENTENCES}; this looks like a single one"
RUNNING = f"{SENTENCES}; this looks like running text: use model(text), or first dovetail.segment(text)"


def as_sentence(given: Any, number: int = 1) -> Sentence:
    """One sentence, from words or from itself; every word is a string that is not empty."""
    if isinstance(given, Sentence):
        words: tuple[Any, ...] = given.words
    elif isinstance(given, str):
        raise DovetailError(RUNNING if " " in given.strip() else SINGLE)
    elif isinstance(given, bytes | Mapping) or not isinstance(given, Iterable):
        raise DovetailError(f"sentence {number} is {kind_of(given)}; {SENTENCES}")
    else:
        words = tuple(given)
    if not (_STRINGS.issuperset(map(type, words)) and all(words)) and not all(map(is_word, words)):
        place, wrong = next((i, word) for i, word in enumerate(words, 1) if not is_word(word))
        what = "an empty string" if isinstance(wrong, str) else kind_of(wrong)
        raise DovetailError(f"sentence {number}, word {place} is {what}; {SENTENCES}, and each word a string")
    return given if isinstance(given, Sentence) else Sentence(words)


def is_word(value: object) -> bool:
    """A string that is not empty."""
    return isinstance(value, str) and value != ""


def kind_of(value: object) -> str:
    """What a value is, in few words.

    >>> kind_of(None), kind_of(3), kind_of({"a": 1})
    ('None', '3 (int)', "{'a': 1} (dict)")
    """
    if value is None:
        return "None"
    shown = repr(value)
    return f"{shown if len(shown) < 40 else shown[:37] + '...'} ({type(value).__name__})"
