"""Frames: a word that says what happens, and who or what takes part in it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from dovetail.errors import DovetailError
from dovetail.text.sentence import Span, as_spans

CONTINUES = "C-"
"""How the label of an argument begins that continues another of the same frame: C-ARG1 is more of ARG1."""
REFERS = "R-"
"""How the label of an argument begins that refers to another: R-ARG0 may be the word "who"."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A predicate, the position of a word, with its sense and its arguments, in the order of their words.

    ``sense`` and ``lemma`` are None where they are not known: ``sense`` is a roleset such as ``sell.01``, ``lemma``
    the name of its file. ``probability`` is that of the word being a predicate, where a model found it. Arguments
    may be given as plain tuples.

    >>> Frame(1, "sell.01", "sell", [(2, 4, "ARG1"), (0, 1, "ARG0")]).arguments[0]
    Span(start=0, end=1, label='ARG0', probability=None)
    """

    predicate: int
    sense: str | None = None
    lemma: str | None = None
    arguments: tuple[Span, ...] = ()
    probability: float | None = None

    def __post_init__(self) -> None:
        if type(self.predicate) is not int or self.predicate < 0:
            raise DovetailError(f"a predicate at {self.predicate!r}: give the position of its word, from 0")
        ordered = sorted(as_spans(self.arguments), key=lambda span: (span.start, span.end))
        object.__setattr__(self, "arguments", tuple(ordered))

    def with_arguments(self, arguments: Iterable[Span]) -> Frame:
        """A copy with other arguments."""
        return replace(self, arguments=tuple(arguments))

    def problem(self, length: int) -> str | None:
        """What does not fit a sentence of so many words; None where nothing is wrong.

        >>> Frame(3).problem(2)
        'a predicate at 3 is outside 2 words'
        """
        if self.predicate >= length:
            return f"a predicate at {self.predicate} is outside {length} words"
        for span in self.arguments:
            if span.end > length or span.start == span.end:
                place = f"{span.start} to {span.end}"
                return f"the argument from {place} of predicate {self.predicate} is outside {length} words"
        return None

    def overlaps(self) -> bool:
        """Whether any two of its arguments share a word; no model gives such, but data may have them.

        >>> Frame(1, arguments=[(2, 4, "ARG1"), (3, 4, "ARG2")]).overlaps()
        True
        """
        furthest = 0
        for span in self.arguments:
            if span.start < furthest:
                return True
            furthest = max(furthest, span.end)
        return False


def as_frames(given: Iterable[Any], length: int) -> tuple[Frame, ...]:
    """The frames of a sentence of so many words in the order of their predicates, checked: a word has one at most."""
    frames = tuple(given)
    for frame in frames:
        if not isinstance(frame, Frame):
            raise DovetailError(f"give frames as Frame(predicate, sense, lemma, arguments); this is {frame!r:.60}")
        if wrong := frame.problem(length):
            raise ValueError(wrong)
    ordered = tuple(sorted(frames, key=lambda frame: frame.predicate))
    for before, after in pairwise(ordered):
        if before.predicate == after.predicate:
            raise ValueError(f"two frames of the predicate at {after.predicate}; a word has one at most")
    return ordered
