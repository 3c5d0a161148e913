"""doccano: JSON lines with a text and its labels by characters, as they are imported and exported there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from dovetail.text.files import Source, Target, open_target
from dovetail.text.json_object import JsonObject, kind_of
from dovetail.text.jsonl import compact_json, read_tasks
from dovetail.text.report import ReadReport
from dovetail.text.segment import Lines
from dovetail.text.sentence import Document, Sentence
from dovetail.text.spans import character_spans
from dovetail.text.tasks import is_annotated, tasks

_LABELS = ("label", "labels", "entities", "spans")


def read_doccano(
    path: Source,
    lines: Lines = "auto",
    encoding: str = "utf-8",
    texts: Literal["annotated", "all"] = "annotated",
    report: ReadReport | None = None,
) -> Iterator[Document]:
    """The texts of an export of doccano with their spans, streamed; relations are counted, not read.

    >>> import io
    >>> document, = read_doccano(io.StringIO('{"id": 4, "text": "Ada slept.", "label": [[0, 3, "PER"]]}'))
    >>> document.id, document.entities()[0].text
    ('4', 'Ada')
    """
    return read_tasks(path, _checked, lines, encoding, texts, report)


def _checked(item: JsonObject) -> JsonObject:
    if "text" not in item.fields:
        raise item.wrong('no "text", which every line of doccano has; name another format')
    for name in _LABELS[:2]:
        given = item.fields.get(name)
        if given is not None and not isinstance(given, list):
            raise item.wrong(f'"{name}" is {kind_of(given)}, expected an array of [start, end, label]')
    relations = item.fields.get("relations")
    if relations:
        item.note("relation (doccano), not read", len(relations) if isinstance(relations, list) else 1)
    return item


def write_doccano(items: Iterable[Document | Sentence], target: Target) -> None:
    r"""Write a text a line with ``label``, a list of [start, end, label], as doccano imports it.

    >>> import io
    >>> out = io.StringIO()
    >>> write_doccano([Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")})], out)
    >>> out.getvalue()
    '{"text":"Ada slept","label":[[0,3,"PER"]]}\n'
    """
    with open_target(target) as file:
        for document in tasks(items):
            fields: dict[str, Any] = {} if document.id is None else {"id": document.id}
            fields["text"] = document.text
            if is_annotated(document):
                fields["label"] = [[span.start, span.end, span.label] for span in character_spans(document)]
            file.write(compact_json(fields) + "\n")
