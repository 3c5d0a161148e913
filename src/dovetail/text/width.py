"""How much room a text takes on a screen, by the tables of rich, which prints on it."""

from __future__ import annotations

from rich.cells import get_character_cell_size


def display_width(text: str) -> int:
    """Columns of a terminal that the text takes, the sum of those of its characters: Chinese ones two, marks none.

    >>> display_width("Ada"), display_width("人物"), display_width("e" + chr(0x301))
    (3, 4, 1)
    """
    return sum(map(get_character_cell_size, text))


def printable(text: str) -> str:
    """The text with U+FFFD for characters that would disturb a screen, such as line ends.

    >>> printable("a\\tb") == "a" + chr(0xFFFD) + "b"
    True
    """
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
