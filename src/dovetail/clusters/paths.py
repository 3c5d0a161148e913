"""Paths files: a line a word, ``bits<TAB>word<TAB>count``, as Brown clusters are passed on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from dovetail.errors import InputError
from dovetail.text.files import Source, TextReader, open_text
from dovetail.text.report import ReadReport, reporting

EXPECTED = "a line of a paths file is bits, word and count, separated by tabs"
_BITS = re.compile(r"[01]*")


class PathLine(NamedTuple):
    """A word, the bit string of its class, and how often it was seen (0 if the file does not say)."""

    path: str
    word: str
    times: int


def read_paths(source: Source, report: ReadReport | None = None) -> Iterator[PathLine]:
    r"""The lines of a paths file. A word that comes again is left out, and reported.

    The count may be missing; blank lines are passed over.

    >>> import io
    >>> list(read_paths(io.StringIO("00\tcat\t2\n01\tthe\n")))
    [PathLine(path='00', word='cat', times=2), PathLine(path='01', word='the', times=0)]
    """
    seen: set[str] = set()
    with open_text(source) as reader, reporting(report) as notes:
        for number, line in enumerate(reader, 1):
            if not line.strip():
                continue
            entry = _parse(line, reader, number)
            if entry.word in seen:
                notes.note("word that already has a path, left out", reader.name, number)
                continue
            seen.add(entry.word)
            yield entry


def _parse(line: str, reader: TextReader, number: int) -> PathLine:
    def refused(what: str) -> InputError:
        return InputError(f"{what}; {EXPECTED}", reader.name, number)

    columns = line.split("\t")
    if len(columns) not in (2, 3):
        raise refused(f"{len(columns)} {'column' if len(columns) == 1 else 'columns'}, expected 2 or 3")
    path, word, count = columns if len(columns) == 3 else (*columns, "0")
    if not _BITS.fullmatch(path):
        turned = ", and the word comes second" if _BITS.fullmatch(word) else ""
        raise refused(f"the path {path[:40]!r} is not made of 0 and 1{turned}")
    if not word:
        raise refused("there is no word")
    if not (count.isascii() and count.isdigit() and len(count) <= 18):
        raise refused(f"the count {count[:40]!r} is not a number")
    return PathLine(path, word, int(count))
