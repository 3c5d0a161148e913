"""Translation memories: TMX, the XML in which translators pass on sentences and their translations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from dovetail.errors import InputError
from dovetail.text.files import Source, Target, TextReader, open_target, open_text
from dovetail.text.report import ReadReport, reporting

NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
MARKUP = frozenset("bpt ept it ph ut".split())
"""Elements inside a segment whose text is markup of the document, not language."""


def read_tmx(
    path: Source,
    languages: tuple[str, str] | None = None,
    encoding: str = "utf-8",
    report: ReadReport | None = None,
) -> Iterator[tuple[str, str]]:
    """The texts of every unit in two languages: those named, or the first two of the first unit.

    ``en`` is also ``en-GB``. A unit that lacks one of them is left out, and reported.
    """
    with open_text(path, encoding) as reader, reporting(report) as notes:
        for line, unit in read_units(reader):
            if languages is None and len(unit) >= 2:
                first, second, *_ = unit
                languages = first, second
            found = [_in(unit, language) for language in languages or ()]
            if len(found) == 2 and found[0] is not None and found[1] is not None:
                yield found[0], found[1]
            else:
                wanted = f"{languages[0]} or {languages[1]}" if languages else "two languages"
                notes.note(f"unit without {wanted}, left out", reader.name, line)


def _in(unit: Mapping[str, str], language: str) -> str | None:
    """The text of a unit in a language, whatever its country."""
    name = chosen(unit, language)
    return None if name is None else unit[name]


def chosen(unit: Mapping[str, str], language: str) -> str | None:
    """The name under which a unit has a language, whatever its country.

    >>> chosen({"de": "Haus", "en-GB": "house"}, "en")
    'en-GB'
    """
    for name in unit:
        if name.lower() == language.lower() or name.lower().split("-")[0] == language.lower():
            return name
    return None


def read_units(reader: TextReader) -> Iterator[tuple[int, dict[str, str]]]:
    """The line of every unit, and its texts by language; entities that a file declares itself are refused."""
    units = _Units(reader)
    try:
        for block in reader.blocks():
            units.parser.Parse(block, False)
            yield from units.found
            units.found.clear()
        units.parser.Parse("", True)
    except expat.ExpatError as error:
        raise InputError(f"not XML: {expat.ErrorString(error.code)}", reader.name, error.lineno) from None
    yield from units.found


class _Units:
    """The units of a file while it is parsed."""

    def __init__(self, reader: TextReader) -> None:
        self.name = reader.name
        self.parser = expat.ParserCreate()
        self.found: list[tuple[int, dict[str, str]]] = []
        self.unit: dict[str, str] = {}
        self.line, self.language, self.inside, self.markup = 0, "", False, 0
        self.pieces: list[str] = []
        self.parser.StartElementHandler, self.parser.EndElementHandler = self.start, self.end
        self.parser.CharacterDataHandler = self.text
        self.parser.EntityDeclHandler = self.refuse

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "tu":
            self.line, self.unit = self.parser.CurrentLineNumber, {}
        elif name == "tuv":
            self.language = attributes.get("xml:lang") or attributes.get("lang") or ""
            if not self.language:
                raise InputError("a tuv without its language (xml:lang)", self.name, self.parser.CurrentLineNumber)
        elif name == "seg":
            self.inside, self.pieces = True, []
        self.markup += name in MARKUP

    def end(self, name: str) -> None:
        self.markup -= name in MARKUP
        if name == "seg":
            self.inside = False
            self.unit.setdefault(self.language, " ".join("".join(self.pieces).split()))
        elif name == "tu":
            self.found.append((self.line, self.unit))

    def text(self, text: str) -> None:
        if self.inside and not self.markup:
            self.pieces.append(text)

    def refuse(self, name: str, *_: Any) -> None:
        message = f"the file declares the entity {name!r}; write out what it stands for"
        raise InputError(message, self.name, self.parser.CurrentLineNumber)


def write_tmx(target: Target, pairs: Iterable[tuple[str, str]], languages: tuple[str, str]) -> None:
    """Write texts and their translations as a translation memory (TMX 1.4).

    Characters that XML cannot hold are left out.
    """
    write_units(target, (dict(zip(languages, texts, strict=True)) for texts in pairs), languages[0])


def write_units(target: Target, units: Iterable[Mapping[str, str]], source: str | None = None) -> None:
    """Write texts by their languages as a translation memory; ``source`` is the language that was translated."""
    with open_target(target) as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n')
        file.write(
            f'<header creationtool="dovetail" creationtoolversion="1" segtype="sentence" o-tmf="text" adminlang="en" '
            f'srclang={quoteattr(source or "*all*")} datatype="plaintext"/>\n<body>\n'
        )
        for unit in units:
            inner = "".join(
                f"<tuv xml:lang={quoteattr(n)}><seg>{_escaped(text)}</seg></tuv>" for n, text in unit.items()
            )
            file.write(f"<tu>{inner}</tu>\n")
        file.write("</body>\n</tmx>\n")


def _escaped(text: str) -> str:
    return escape(NOT_XML.sub("", text))
