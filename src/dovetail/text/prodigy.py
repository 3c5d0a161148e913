"""Prodigy: JSON lines with a text, its tokens and its spans, as its recipes read and its database writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from dovetail.text.files import Source, Target, open_target
from dovetail.text.json_object import JsonObject
from dovetail.text.jsonl import compact_json, read_tasks
from dovetail.text.report import ReadReport
from dovetail.text.segment import Lines
from dovetail.text.sentence import Document, Sentence
from dovetail.text.spans import all_spans
from dovetail.text.tasks import is_annotated, tasks


def read_prodigy(
    path: Source,
    lines: Lines = "auto",
    encoding: str = "utf-8",
    texts: Literal["annotated", "all"] = "annotated",
    report: ReadReport | None = None,
) -> Iterator[Document]:
    """The texts of an export of Prodigy with their spans, streamed; its tokens are the words.

    What annotators rejected or ignored is left out, and counted; ``texts="all"`` reads it as well.

    >>> import io
    >>> line = '{"text": "Ada slept.", "spans": [{"start": 0, "end": 3, "label": "PER"}], "answer": "accept"}'
    >>> document, = read_prodigy(io.StringIO(line))
    >>> document.entities()[0].text
    'Ada'
    """
    return read_tasks(path, _checked, lines, encoding, texts, report)


def _checked(item: JsonObject) -> JsonObject:
    if "text" not in item.fields:
        raise item.wrong('no "text", which every example of Prodigy for spans has; name another format')
    relations = item.fields.get("relations")
    if relations:
        item.note("relation (Prodigy), not read", len(relations) if isinstance(relations, list) else 1)
    return item


def write_prodigy(items: Iterable[Document | Sentence], target: Target) -> None:
    """Write an example a line with ``tokens`` and ``spans``; a text that somebody has looked at is accepted.

    >>> import io, json
    >>> out = io.StringIO()
    >>> write_prodigy([Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")})], out)
    >>> json.loads(out.getvalue())["spans"]
    [{'start': 0, 'end': 3, 'token_start': 0, 'token_end': 0, 'label': 'PER'}]
    """
    with open_target(target) as file:
        for document in tasks(items):
            fields: dict[str, Any] = {} if document.id is None else {"id": document.id}
            fields["text"] = document.text
            fields["tokens"] = list(_tokens(document))
            if is_annotated(document):
                fields |= {"spans": list(_spans(document)), "answer": "accept"}
            file.write(compact_json(fields) + "\n")


def _tokens(document: Document) -> Iterator[dict[str, Any]]:
    text, number = document.text or "", 0
    for sentence in document:
        for word, (start, end) in zip(sentence, sentence.offsets or (), strict=True):
            yield {"text": word, "start": start, "end": end, "id": number, "ws": text[end : end + 1] == " "}
            number += 1


def _spans(document: Document) -> Iterator[dict[str, Any]]:
    first = 0
    for sentence in document:
        places = sentence.offsets or ()
        for span in all_spans(sentence):
            fields: dict[str, Any] = {
                "start": places[span.start][0],
                "end": places[span.end - 1][1],
                "token_start": first + span.start,
                "token_end": first + span.end - 1,
                "label": span.label,
            }
            yield fields if span.probability is None else {**fields, "probability": span.probability}
        first += len(sentence)
