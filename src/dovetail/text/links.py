"""Links between the words of a sentence and those of its translation, as lines of ``0-1 2-3`` (Pharaoh's format)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from dovetail.errors import InputError
from dovetail.text.files import Source, Target, open_target, open_text

_LINK = re.compile(r"([0-9]{1,9})([-?p])([0-9]{1,9})(?::([0-9.eE+-]+))?")
EXPECTED = "expected links such as 0-1 (sure), 0?1 or 0p1 (possible) or 0-1:0.93 (with a probability)"


class Link(NamedTuple):
    """The word ``source`` of one sentence translates the word ``target`` of the other, both counted from 0."""

    source: int
    target: int
    probability: float = 1.0
    sure: bool = True
    """False for a link that an annotator called possible."""


def read_links(path: Source, *, first: int = 0, encoding: str = "utf-8") -> Iterator[list[Link]]:
    r"""The links of every line, in the order of the line; a line with none gives an empty list.

    ``0-1`` is a sure link, ``0?1`` and ``0p1`` are possible ones; ``:0.93`` behind a link is its probability. A link
    that is there twice is given once, sure if it is sure anywhere. ``first`` is the number of the first word in
    the file.

    >>> import io
    >>> list(read_links(io.StringIO("0-1:0.5 2?3\n\n")))
    [[Link(source=0, target=1, probability=0.5, sure=True), Link(source=2, target=3, probability=1.0, sure=False)], []]
    """
    with open_text(path, encoding) as lines:
        for number, line in enumerate(lines, 1):
            try:
                yield parse_links(line, first)
            except ValueError as error:
                raise InputError(str(error), lines.name, number) from None


def parse_links(line: str, first: int = 0) -> list[Link]:
    """The links of one line.

    >>> parse_links("1-1 2p1", first=1)
    [Link(source=0, target=0, probability=1.0, sure=True), Link(source=1, target=0, probability=1.0, sure=False)]
    """
    found: dict[tuple[int, int], Link] = {}
    for text in line.split():
        link = _parsed(text, first)
        before = found.get(link[:2])
        found[link[:2]] = link if before is None or (link.sure and not before.sure) else before
    return list(found.values())


def _parsed(text: str, first: int) -> Link:
    match = _LINK.fullmatch(text)
    shown = repr(text[:40])
    if match is None:
        raise ValueError(f"{shown} is no link; {EXPECTED}")
    source, target = int(match[1]) - first, int(match[3]) - first
    if source < 0 or target < 0:
        raise ValueError(f"{shown} has a word before the first, which is {first} here")
    try:
        probability = 1.0 if match[4] is None else float(match[4])
    except ValueError:
        raise ValueError(f"{shown} is no link; {EXPECTED}") from None
    if not 0.0 <= probability <= 1.0:
        raise ValueError(f"{shown} has a probability that is not between 0 and 1")
    return Link(source, target, probability, match[2] == "-")


def write_links(path: Target, links: Iterable[Iterable[Link]], *, probabilities: bool = False) -> None:
    r"""Write a line for each list of links, counted from 0; an empty line where nothing is linked.

    >>> import io
    >>> out = io.StringIO()
    >>> write_links(out, [[Link(0, 1, 0.93), Link(2, 3, 0.5, sure=False)], []], probabilities=True)
    >>> out.getvalue()
    '0-1:0.93 2?3:0.5\n\n'
    """
    with open_target(path) as file:
        for some in links:
            file.write(links_line(some, probabilities) + "\n")


def links_line(links: Iterable[Link], probabilities: bool = False) -> str:
    """One line of Pharaoh's format, without its end; probabilities have four significant digits."""
    return " ".join(_spelled(link, probabilities) for link in links)


def _spelled(link: Link, probability: bool) -> str:
    text = f"{link.source}{'-' if link.sure else '?'}{link.target}"
    return f"{text}:{link.probability:.4g}" if probability else text


def check_within(
    links: Sequence[Link], source: int, target: int, path: object, line: int | None, first: int = 0
) -> None:
    """Raise `InputError` where a link names a word that sentences of so many words do not have.

    ``first`` is the number that the first word has in the file.
    """
    advice = "were links counted from 1, or made from another text?" if first == 0 else "were they made from this text?"
    for link in links:
        for word, words, side in ((link.source, source, "source"), (link.target, target, "target")):
            if word >= words:
                shown = f"{link.source + first}-{link.target + first}"
                raise InputError(
                    f"the link {shown} names word {word + first} of the {side}, which has {words} (the first is "
                    f"{first}); {advice}",
                    path,
                    line,
                )
