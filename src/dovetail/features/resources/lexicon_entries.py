"""Lists of phrases as files, and how an entry of a list and a word of a text are made comparable."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Literal, NamedTuple

from dovetail.text.files import Source, open_text
from dovetail.text.report import ReadReport
from dovetail.text.tokenise import tokenise
from dovetail.text.words import composed

Unit = Literal["word", "char"]
Lists = Mapping[str, Source] | Source | Sequence[Source]
"""Files by their labels, or files that lend their names as labels."""

# One apostrophe and one hyphen, however they were typed.
_PUNCTUATION = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'", "‐": "-", "‑": "-", "–": "-", "−": "-"})


class Entry(NamedTuple):
    """A phrase, its label, and where it was read."""

    phrase: str
    label: str
    path: str
    line: int


def read_entries(paths: Lists, report: ReadReport) -> Iterator[Entry]:
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


def labelled(paths: Lists) -> list[tuple[str, Source]]:
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


def normal_form(text: str) -> str:
    """Case, width and compatibility forms, apostrophes and hyphens made one.

    >>> normal_form("Straße"), normal_form("ＡＢＣ"), normal_form("O’Neil")
    ('strasse', 'abc', "o'neil")
    """
    if text.isascii():
        return text.lower().replace("`", "'")
    return unicodedata.normalize("NFKC", text).translate(_PUNCTUATION).casefold()


def spellings(phrase: str, unit: Unit, normalise: bool) -> list[tuple[str, ...]]:
    """The sequences of tokens as which a phrase may turn up in a text, none twice.

    Words are split at white space, and also as `tokenise` splits them: a corpus may follow either.

    >>> spellings("Guinea-Bissau", "word", normalise=False)
    [('Guinea-Bissau',), ('Guinea', '-', 'Bissau')]
    >>> spellings("北京 大学", "char", normalise=True)
    [('北', '京', '大', '学')]
    """
    if unit == "char":
        split = [[character for character in phrase if not character.isspace()]]
    else:
        split = [phrase.split(), tokenise(phrase).words]
    # Split first and normalised afterwards, as the words of a text are: the tokeniser looks at capitals.
    return list(dict.fromkeys(tuple(map(normal_form, words) if normalise else composed(words)) for words in split))
