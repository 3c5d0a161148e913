"""A text and its translation, sentence by sentence, in the forms in which people have them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from dovetail.errors import InputError
from dovetail.text.files import Source, Target, open_target, open_text
from dovetail.text.links import Link, read_links, write_links
from dovetail.text.report import ReadReport, reporting

__all__ = ["Link", "Pair", "read_bitext", "read_links", "write_bitext", "write_links"]

BAR = "|||"
ONE_SIDE_EMPTY = "pair with an empty side, kept without links"


class Pair(NamedTuple):
    """The words of a sentence and of its translation; either may be empty."""

    source: tuple[str, ...]
    target: tuple[str, ...]


def read_bitext(
    source: Source,
    target: Source | None = None,
    *,
    languages: tuple[str, str] | None = None,
    encoding: str = "utf-8",
    report: ReadReport | None = None,
) -> Iterator[Pair]:
    r"""The pairs of a bitext, streamed: words are separated by white space, and a line is a sentence.

    - two files: line i of one translates line i of the other, and both have as many;
    - one file with ``languages``: a Moses pair, ``PREFIX.de`` and ``PREFIX.en`` for the prefix and ``("de", "en")``,
      each possibly with ``.gz``; or, where its name ends in ``.tmx``, a translation memory;
    - one file: ``source words ||| target words`` in every line.

    A pair with an empty side is kept, so that lines stay in step, and reported.

    >>> import io
    >>> list(read_bitext(io.StringIO("das Haus ||| the house\n")))
    [Pair(source=('das', 'Haus'), target=('the', 'house'))]
    """
    with reporting(report) as notes:
        if target is not None:
            yield from _two_files(source, target, encoding, notes)
        else:
            yield from _barred(source, encoding, notes)


def _two_files(source: Source, target: Source, encoding: str, report: ReadReport) -> Iterator[Pair]:
    with open_text(source, encoding) as left, open_text(target, encoding) as right:
        for number, (a, b) in enumerate(zip_longest(left, right), 1):
            if a is None or b is None:
                short, long = (left, right) if a is None else (right, left)
                raise InputError(
                    f"{short.name} ends after line {number - 1}, so this line has no partner; both files must have a "
                    "line for each pair",
                    long.name,
                    number,
                )
            yield _noted(Pair(tuple(a.split()), tuple(b.split())), report, left.name, number)


def _barred(source: Source, encoding: str, report: ReadReport) -> Iterator[Pair]:
    with open_text(source, encoding) as lines:
        for number, line in enumerate(lines, 1):
            sides = f" {line} ".split(f" {BAR} ")
            if len(sides) != 2:
                raise InputError(
                    f"{len(sides) - 1} times ' {BAR} ' in this line, expected 'source words {BAR} target words'",
                    lines.name,
                    number,
                )
            yield _noted(Pair(tuple(sides[0].split()), tuple(sides[1].split())), report, lines.name, number)


def _noted(pair: Pair, report: ReadReport, name: str, line: int) -> Pair:
    if bool(pair.source) != bool(pair.target):
        report.note(ONE_SIDE_EMPTY, name, line)
    return pair


def write_bitext(pairs: Iterable[Pair], target: Target) -> None:
    r"""Write ``source words ||| target words``, a line for each pair.

    >>> import io
    >>> out = io.StringIO()
    >>> write_bitext([Pair(("das", "Haus"), ("the", "house"))], out)
    >>> out.getvalue()
    'das Haus ||| the house\n'
    """
    with open_target(target) as file:
        for pair in pairs:
            file.write(f"{' '.join(pair.source)} {BAR} {' '.join(pair.target)}\n")
