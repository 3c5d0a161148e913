"""Translation memories as documents: the sentences of one language, with their translations as comments.

A translation is the comment ``# text_en = The house.``, as in Universal Dependencies; ``# lang = de`` names the
language of the sentence itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dovetail.errors import DovetailError
from dovetail.text.documents import Member, group, ungroup
from dovetail.text.files import Source, Target, TextReader, open_text
from dovetail.text.report import ReadReport, reporting
from dovetail.text.sentence import Document, Sentence
from dovetail.text.tmx import chosen, read_units, write_units
from dovetail.text.tokenise import tokenise

_TRANSLATION = re.compile(r"# text_(\w+(?:-\w+)*) = (.*)")
_LANGUAGE = re.compile(r"# lang = (\S+)")
UNKNOWN = "und"
"""The language of a sentence that does not say it."""


def read_tmx_texts(
    path: Source, language: str | None = None, encoding: str = "utf-8", report: ReadReport | None = None
) -> Iterator[Document]:
    """The segments of one language as sentences, those of the others as comments; streamed.

    ``language`` is the one that is named, else the first of the first unit. A unit that lacks it is left out, and
    counted.
    """
    with open_text(path, encoding) as reader, reporting(report) as notes:
        yield from group(_members(reader, language, notes))


def _members(reader: TextReader, language: str | None, report: ReadReport) -> Iterator[Member]:
    start = 0
    for line, unit in read_units(reader):
        language = language or next(iter(unit), None)
        own = None if language is None else chosen(unit, language)
        if own is None or not unit[own].strip():
            report.note(f"unit without {language or 'a language'}, left out", reader.name, line)
            continue
        text = unit[own]
        words, places = tokenise(text)
        offsets = tuple((first + start, last + start) for first, last in places)
        others = tuple(f"# text_{name.replace('-', '_')} = {said}" for name, said in unit.items() if name != own)
        comments = (f"# lang = {own}", *others)
        yield Member(Sentence(tuple(words), offsets=offsets, comments=comments), text=f"{text}\n")
        start += len(text) + 1


def write_tmx_texts(items: Iterable[Document | Sentence], target: Target, language: str | None = None) -> None:
    """Write a unit a sentence, with the translations that its comments ``# text_en = ...`` give.

    ``language`` is that of sentences which have no comment ``# lang = de``.

    >>> import io
    >>> out = io.StringIO()
    >>> write_tmx_texts([Sentence(("das", "Haus"), comments=("# lang = de", "# text_en = the house"))], out)
    >>> print(out.getvalue().split("\\n")[4])
    <tu><tuv xml:lang="de"><seg>das Haus</seg></tuv><tuv xml:lang="en"><seg>the house</seg></tuv></tu>
    """
    write_units(target, (_unit(s, language or UNKNOWN) for s, _, _ in ungroup(items) if s.words), language)


def _unit(sentence: Sentence, language: str) -> dict[str, str]:
    own = next((match[1] for c in sentence.comments if (match := _LANGUAGE.fullmatch(c))), language)
    unit = {own: " ".join(sentence.text.split())}
    for comment in sentence.comments:
        match = _TRANSLATION.fullmatch(comment)
        name = match[1].replace("_", "-") if match else own
        if match and name in unit:
            raise DovetailError(f"a sentence of language {own!r} has two texts of language {name!r}")
        if match:
            unit[name] = match[2]
    return unit
