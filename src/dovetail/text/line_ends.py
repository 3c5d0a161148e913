"""Which line ends of running text end a sentence: those where nothing but the writer's will began a new line.

Text is often wrapped: a line is broken where the next word would not have fitted, and the sentence goes on. Such a
line is *full*: with the next word it would be longer than the longest line of its paragraph. A line that is not full
was ended on purpose, as in signatures, headings, verse and tweets.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from dovetail.text.tokenise import is_unspaced

LONGEST_WRAPPED = 200
"""Nobody wraps text at more characters: a longer line is a paragraph of its own."""
NARROWEST_WRAPPED = 30
"""Lines in a paragraph narrower than this are a signature, a list or verse, and no wrapped text."""
USUAL_WIDTH = 50
"""A paragraph of two lines is taken to be wrapped if it is at least so wide."""
MANY_LINES = 500
"""A paragraph of more lines is taken to end after the next that ends a sentence, so that none must be held whole."""
RAGGED = 0.9
"""How full a line must be: programs that wrap text evenly leave some room at its end."""

_LINE = re.compile(r"[^\n]*\n?")
_FIRST_WORD = re.compile(r"\s*(\S+)")
_RULE = re.compile(r"\s*([-=_*~#])\1{4}")
_ENDS_SENTENCE = re.compile(r"[.!?…。！？][\"'”’»)\]]*$")


class Line(NamedTuple):
    """A line that is not blank: where it begins in the text, where the next begins, and its length."""

    start: int
    next: int
    length: int


def purposeful_ends(text: str, column: int = 0) -> Iterator[int]:
    """Where lines begin with which a sentence begins: the first of every paragraph, and those after ends on purpose.

    ``column`` is how many characters of the first line stand before the text.

    >>> list(purposeful_ends("Best wishes\\nAda Lovelace"))
    [0, 12]
    >>> wrapped = "This paragraph was wrapped by a program, at fifty-five\\ncolumns or so, and is but one sentence."
    >>> list(purposeful_ends(wrapped))
    [0]
    """
    for paragraph in paragraphs(text, column):
        yield paragraph[0].start
        yield from _inside(text, paragraph)


def paragraphs(text: str, column: int = 0) -> Iterator[list[Line]]:
    """The lines of a text, cut where there are blank ones; long and ruled lines are alone, none is endless."""
    held: list[Line] = []
    for match in _LINE.finditer(text):
        stripped = match[0].rstrip()
        length = len(stripped) + (column if match.start() == 0 else 0)
        is_alone = length > LONGEST_WRAPPED or _RULE.match(stripped) is not None
        if held and (not stripped or is_alone):
            yield held
            held = []
        if stripped:
            held.append(Line(match.start(), match.end(), length))
        if is_alone or len(held) >= 2 * MANY_LINES or (len(held) >= MANY_LINES and _ENDS_SENTENCE.search(stripped)):
            yield held
            held = []
    if held:
        yield held


def settled(text: str, column: int = 0) -> int:
    """How much of a text, to which more may be added, cannot be judged otherwise then: up to its last paragraph.

    >>> settled("One\\nparagraph\\n\\nAnother")
    15
    """
    last = deque(paragraphs(text, column), maxlen=1)
    if not last or last[0][-1].length > LONGEST_WRAPPED:
        return len(text)
    return last[0][0].start


def _inside(text: str, lines: Sequence[Line]) -> Iterator[int]:
    """The ends inside one paragraph that are ends of sentences, as the beginnings of the lines after them."""
    ranked = sorted(range(len(lines)), key=lambda i: -lines[i].length)
    longest = ranked[: 1 if len(lines) < 4 else 2]  # one line of many may be too long, by a later correction
    width = lines[longest[-1]].length
    full = [_is_full(text, line, after, width) for line, after in pairwise(lines)]
    others = [is_full for i, is_full in enumerate(full) if i not in longest]  # the longest are full in any case
    is_wrapped = _is_wrapped(width, others.count(True), others.count(False))
    may_be = width >= NARROWEST_WRAPPED and others.count(False) <= 2
    for is_full, after in zip(full, lines[1:], strict=True):
        goes_on = is_wrapped or (may_be and _first_word(text, after)[0].islower())
        if not (is_full and goes_on):
            yield after.start


def _is_wrapped(width: int, full: int, short: int) -> bool:
    """Whether a paragraph is wrapped, by the number of its lines that are full and of those that are not.

    Paragraphs may follow each other without a blank line, so many lines may be short: the last ones, and headings.
    """
    if not full and not short:
        return width >= USUAL_WIDTH
    return width >= NARROWEST_WRAPPED and (full >= 2 * short or (full >= 4 and full >= short))


def _is_full(text: str, line: Line, after: Line, width: int) -> bool:
    word = _first_word(text, after)
    needed = 1 if is_unspaced(word[0]) else 1 + len(word)
    return line.length + needed > RAGGED * width


def _first_word(text: str, line: Line) -> str:
    match = _FIRST_WORD.match(text, line.start)
    assert match is not None  # the line is not blank
    return match[1]
