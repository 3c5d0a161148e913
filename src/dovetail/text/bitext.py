"""A text and its translation, sentence by sentence, in the forms in which people have them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from dovetail.errors import DovetailError, InputError
from dovetail.text.files import Source, Target, open_target, open_text
from dovetail.text.links import Link, check_within, read_links, write_links
from dovetail.text.report import ReadReport, reporting
from dovetail.text.tmx import read_tmx

__all__ = ["Link", "Pair", "linked", "read_bitext", "read_links", "write_bitext", "write_links"]

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
    tokenised: bool = True,
    encoding: str = "utf-8",
    report: ReadReport | None = None,
) -> Iterator[Pair]:
    r"""The pairs of a bitext, streamed: words are separated by white space, and a line is a sentence.

    - two files: line i of one translates line i of the other, and both have as many;
    - one file with ``languages``: a Moses pair, ``PREFIX.de`` and ``PREFIX.en`` for the prefix and ``("de", "en")``,
      each possibly with ``.gz``; or, where its name ends in ``.tmx``, a translation memory;
    - one file: ``source words ||| target words`` in every line.

    A pair with an empty side is kept, so that lines stay in step, and reported. Unless the text is ``tokenised``, words
    are found by `dovetail.text.tokenise`.

    >>> import io
    >>> list(read_bitext(io.StringIO("das Haus ||| the house\n")))
    [Pair(source=('das', 'Haus'), target=('the', 'house'))]
    """
    with reporting(report) as notes:
        reader = _Reader(str.split if tokenised else _tokenised, encoding, notes)
        if target is None and languages is not None and not _is_tmx(source):
            source, target = (_moses(source, language) for language in languages)
        if target is not None:
            yield from reader.two_files(source, target)
        elif _is_tmx(source):
            yield from reader.memory(source, languages)
        else:
            yield from reader.barred(source)


def _is_tmx(source: Source) -> bool:
    return isinstance(source, str | os.PathLike) and os.fspath(source).removesuffix(".gz").endswith(".tmx")


def _moses(prefix: Source, language: str) -> str:
    """The file of one language of a Moses pair."""
    if not isinstance(prefix, str | os.PathLike):
        raise DovetailError("two languages need the beginning of the names of two files, not an open one")
    name = f"{os.fspath(prefix)}.{language}"
    return name if Path(name).exists() or not Path(f"{name}.gz").exists() else f"{name}.gz"


def _tokenised(text: str) -> list[str]:
    from dovetail.text.tokenise import tokenise

    return list(tokenise(text).words)


class _Reader:
    """How the pairs of a bitext are read."""

    def __init__(self, words: Callable[[str], list[str]], encoding: str, report: ReadReport) -> None:
        self.words, self.encoding, self.report = words, encoding, report

    def two_files(self, source: Source, target: Source) -> Iterator[Pair]:
        with open_text(source, self.encoding) as left, open_text(target, self.encoding) as right:
            for number, (a, b) in enumerate(zip_longest(left, right), 1):
                if a is None or b is None:
                    short, long = (left, right) if a is None else (right, left)
                    raise InputError(
                        f"{short.name} ends after line {number - 1}, so this line has no partner; both files must have "
                        "a line for each pair",
                        long.name,
                        number,
                    )
                yield self.pair(a, b, left.name, number)

    def memory(self, source: Source, languages: tuple[str, str] | None) -> Iterator[Pair]:
        for number, (a, b) in enumerate(read_tmx(source, languages, self.encoding, self.report), 1):
            yield self.pair(a, b, f"{source}, unit {number}", None)

    def barred(self, source: Source) -> Iterator[Pair]:
        with open_text(source, self.encoding) as lines:
            for number, line in enumerate(lines, 1):
                sides = f" {line} ".split(f" {BAR} ")
                if len(sides) != 2:
                    raise InputError(
                        f"{len(sides) - 1} times ' {BAR} ' in this line, expected 'source words {BAR} target words'; "
                        "or give the other file (--target)",
                        lines.name,
                        number,
                    )
                yield self.pair(sides[0], sides[1], lines.name, number)

    def pair(self, source: str, target: str, name: str, line: int | None) -> Pair:
        """A pair of sentences; it is reported if one of them is empty."""
        pair = Pair(tuple(self.words(source)), tuple(self.words(target)))
        if bool(pair.source) != bool(pair.target):
            self.report.note(ONE_SIDE_EMPTY, name, line)
        return pair


def linked(
    pairs: Iterable[Pair], links: Source, *, first: int = 0, encoding: str = "utf-8"
) -> Iterator[tuple[Pair, list[Link]]]:
    r"""Each pair with its line of a file of links, streamed; both must be of the same text.

    `InputError` where a link names a word that its pair does not have, and where one ends before the other. ``first``
    is as in `read_links`.

    >>> import io
    >>> list(linked([Pair(("das", "Haus"), ("the", "house"))], io.StringIO("0-0\n")))[0][1]
    [Link(source=0, target=0, probability=1.0, sure=True)]
    """
    name = links if isinstance(links, str | os.PathLike) else getattr(links, "name", None)
    lines = read_links(links, first=first, encoding=encoding)
    for number, (pair, some) in enumerate(zip_longest(pairs, lines), 1):
        if some is None:
            message = f"the links end after line {number - 1}, and the text goes on: there must be a line for each pair"
            raise InputError(message, name, number)
        if pair is None:
            raise InputError(f"the text ends after pair {number - 1}, so this line of links has none", name, number)
        check_within(some, len(pair.source), len(pair.target), name, number, first)
        yield pair, some


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
