"""How much room a text takes on a screen."""

from __future__ import annotations

from unicodedata import combining, east_asian_width


def display_width(text: str) -> int:
    """Columns of a terminal that the text takes: Chinese, Japanese and Korean characters two, combining marks none.

    >>> display_width("Ada"), display_width("人物"), display_width("e" + chr(0x301))
    (3, 4, 1)
    """
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def printable(text: str) -> str:
    """The text with U+FFFD for characters that would disturb a screen, such as line ends.

    >>> printable("a\\tb") == "a" + chr(0xFFFD) + "b"
    True
    """
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
