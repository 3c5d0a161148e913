"""What the user is told beside the results, on the standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable


def say(message: str) -> None:
    """A line for the user, never among the results."""
    print(message, file=sys.stderr, flush=True)


def warn(message: str) -> None:
    """Something that may not be as the user thinks."""
    say(f"dovetail: warning: {message}")


def warn_all(messages: Iterable[str]) -> None:
    """One warning each."""
    for message in messages:
        warn(message)


def some(names: Iterable[str], most: int = 8) -> str:
    """Names in a row, the rest counted.

    >>> some("abcd", most=2)
    'a, b and 2 more'
    """
    listed = list(names)
    rest = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + rest


def count(number: int, noun: str) -> str:
    """A number with its noun.

    >>> count(1, "sentence"), count(2000, "sentence")
    ('1 sentence', '2,000 sentences')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
