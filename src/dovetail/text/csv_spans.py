"""Tables (CSV, TSV) with a text and its spans in a row: what spreadsheets and pandas write."""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, Literal

from dovetail.errors import DovetailError, InputError
from dovetail.text.files import Source, Target, TextReader, open_target, open_text
from dovetail.text.json_object import JsonObject
from dovetail.text.jsonl import compact_json
from dovetail.text.report import ReadReport, reporting
from dovetail.text.segment import Lines
from dovetail.text.sentence import Document, Sentence
from dovetail.text.spans import character_spans
from dovetail.text.tasks import is_annotated, tasks

SPANS = ("spans", "entities", "labels", "label")
"""Names of the column of spans, the first of them that is there."""
LONGEST = 1 << 27
"""Characters of a cell; csv's own limit is that of a page."""
_SEPARATORS = "\t;,"


def read_csv(
    path: Source,
    lines: Lines = "auto",
    encoding: str = "utf-8",
    texts: Literal["annotated", "all"] = "annotated",
    separator: str | None = None,
    text: str = "text",
    spans: str | None = None,
    report: ReadReport | None = None,
) -> Iterator[Document]:
    r"""The rows of a table as documents, streamed: a column ``text``, perhaps ``id``, and ``spans`` by characters.

    Spans are JSON, or lists as Python prints them: ``[[0, 3, "PER"]]``, a probability perhaps after the label, or
    objects with ``start``, ``end`` and ``label``. An empty cell is a text that nobody has looked at; it is left out,
    and counted, unless ``texts="all"``. Other columns become comments. ``separator`` is taken from the first line.

    >>> import io
    >>> table = 'id;text;spans\n1;"Ada; she slept.";"[[0, 3, ""PER""]]"\n'
    >>> document, = read_csv(io.StringIO(table))
    >>> document.text, document.entities()[0].text
    ('Ada; she slept.', 'Ada')
    """
    with open_text(path, encoding) as reader, reporting(report) as notes:
        rows = _rows(reader, separator)
        _, header = next(rows, (0, []))
        column = _columns(header, text, spans, reader.name)
        for line, row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise InputError(f"{len(row)} cells, and the first line has {len(header)}", reader.name, line)
            item = JsonObject(dict(zip(header, row, strict=True)), reader.name, line, notes)
            yield from _document(item, column, text, lines, texts)


def _rows(reader: TextReader, separator: str | None) -> Iterator[tuple[int, list[str]]]:
    """The rows, each with the line in which it begins; a cell in quotes may have many lines."""
    numbered = (f"{line}\n" for line in reader)
    first = next(numbered, "")
    if separator is None:
        separator = max(_SEPARATORS, key=first.count)
    before = csv.field_size_limit(LONGEST)
    try:
        table = csv.reader(_again(first, numbered), delimiter=separator, strict=True)
        while True:
            line = table.line_num + 1
            try:
                row = next(table, None)
            except csv.Error as error:
                told = (
                    "a quote is open or in the wrong place"
                    if "quote" in str(error) or "end of data" in str(error)
                    else str(error)
                )
                raise InputError(
                    f"not a table: {told}; cells with quotes in them are quoted, and quotes doubled", reader.name, line
                ) from None
            if row is None:
                return
            yield line, row
    finally:
        csv.field_size_limit(before)


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    if first:
        yield first
    yield from rest


def _columns(header: list[str], text: str, spans: str | None, path: str) -> str | None:
    """The name of the column of spans; None where there is none."""
    told = ", ".join(map(repr, header)) or "nothing"
    if text not in header:
        raise InputError(f"no column {text!r} in the first line ({told}); name the columns there", path, 1)
    if len(set(header)) < len(header):
        raise InputError(f"two columns have one name ({told})", path, 1)
    if spans is not None and spans not in header:
        raise InputError(f"no column {spans!r} in the first line ({told})", path, 1)
    return spans or next((name for name in SPANS if name in header), None)


def _document(
    item: JsonObject, column: str | None, text: str, lines: Lines, texts: Literal["annotated", "all"]
) -> Iterator[Document]:
    fields = dict(item.fields)
    fields["text"] = fields.pop(text)
    if not fields.get("id", "x"):
        del fields["id"]
    given = fields.pop(column) if column is not None else ""
    if column is not None and not given.strip():
        if texts != "all":
            item.note("row without spans (not even []), left out")
            return
    elif column is not None:
        fields["spans"] = _spans(item, column, given)
    item.fields = {name: value for name, value in fields.items() if name in ("text", "spans", "id") or value}
    yield item.document(lines)


def _spans(item: JsonObject, column: str, given: str) -> list[Any]:
    """The spans of a cell: JSON, or a list as Python prints it."""
    found: Any = None
    try:
        found = json.loads(given)
    except (ValueError, RecursionError):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            found = ast.literal_eval(given)
    if not isinstance(found, list | tuple):
        raise item.wrong(f'{given[:40]!r} in column {column!r} is no list of spans, such as [[0, 3, "PER"]]')
    return [list(one) if isinstance(one, tuple) else one for one in found]


def write_csv(items: Iterable[Document | Sentence], target: Target, separator: str | None = None) -> None:
    r"""Write a text a row: ``id``, ``text`` and ``spans`` as JSON; with tabs where the name ends in ``.tsv``.

    >>> import io
    >>> out = io.StringIO()
    >>> write_csv([Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")})], out)
    >>> out.getvalue()
    'id,text,spans\n,Ada slept,"[[0,3,""PER""]]"\n'
    """
    name = str(target).removesuffix(".gz").lower()
    separator = separator or ("\t" if name.endswith(".tsv") else ",")
    if separator not in _SEPARATORS:
        raise DovetailError(f"separator={separator!r}: choose a comma, a semicolon or a tab")
    with open_target(target) as file:
        table = csv.writer(file, delimiter=separator, lineterminator="\n")
        table.writerow(["id", "text", "spans"])
        for document in tasks(items):
            spans = [list(one if one.probability is not None else one[:3]) for one in character_spans(document)]
            table.writerow([document.id or "", document.text, compact_json(spans) if is_annotated(document) else ""])
