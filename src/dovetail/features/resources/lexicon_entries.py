"""Lists of phrases as files: a phrase on each line, with or without a label after a tab."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from dovetail.text.files import Source, open_text
from dovetail.text.report import ReadReport


class Entry(NamedTuple):
    """A phrase, its label, and where it was read."""

    phrase: str
    label: str
    path: str
    line: int


def read_entries(paths: Mapping[str, Source] | Source | Sequence[Source], report: ReadReport) -> Iterator[Entry]:
    """The entries of files, in order; empty lines and comments are counted in the report.

    >>> import io
    >>> [entry[:2] for entry in read_entries({"city": io.StringIO("# cities\\nLima\\nLyon\\ttown\\n")}, ReadReport())]
    [('Lima', 'city'), ('Lyon', 'town')]
    """
    for label, path in labelled(paths):
        with open_text(path) as lines:
            for number, line in enumerate(lines, 1):
                phrase, *others = (part.strip() for part in line.split("\t"))
                if len(others) > 1:
                    report.note("columns after the label, not read", lines.name, number)
                own = others[0] if others and others[0] else label
                if not phrase:
                    report.note("empty entry, left out", lines.name, number)
                elif phrase == "#" or phrase.startswith("# "):
                    report.note("line that begins with '# ', taken for a comment", lines.name, number)
                else:
                    yield Entry(phrase, own, lines.name, number)


def labelled(paths: Mapping[str, Source] | Source | Sequence[Source]) -> list[tuple[str, Source]]:
    """The files with their labels, given or taken from their names."""
    if isinstance(paths, Mapping):
        return list(paths.items())
    if isinstance(paths, Sequence) and not isinstance(paths, str):
        return [(_name(path), path) for path in paths]
    return [(_name(paths), paths)]


def _name(source: Source) -> str:
    """The name of a file up to its first dot: ``lists/city.txt.gz`` is ``city``."""
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else str(getattr(source, "name", "lexicon"))
    return PurePath(name).name.partition(".")[0] or "lexicon"
