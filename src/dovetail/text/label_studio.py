"""Label Studio: an array of tasks, each a text with the labels of its annotations."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from dovetail.text.files import Source, Target, open_target
from dovetail.text.json_object import JsonObject
from dovetail.text.jsonl import compact_json, read_tasks
from dovetail.text.report import ReadReport
from dovetail.text.segment import Lines
from dovetail.text.sentence import Document, Sentence
from dovetail.text.spans import CharacterSpan, character_spans
from dovetail.text.tasks import is_annotated, tasks

As = Literal["annotations", "predictions"]
"""What entities become: annotations, which are done, or predictions, which annotators are shown to correct."""


_NUMBER = re.compile("0|[1-9][0-9]{0,14}")


def read_label_studio(
    path: Source,
    lines: Lines = "auto",
    encoding: str = "utf-8",
    texts: Literal["annotated", "all"] = "annotated",
    report: ReadReport | None = None,
) -> Iterator[Document]:
    """The texts of a JSON export of Label Studio with the labels of the first annotation of each task, streamed.

    Skipped tasks are left out, and counted; ``texts="all"`` reads them as well.

    >>> import io
    >>> document, = read_label_studio(io.StringIO('[{"id": 7, "data": {"text": "Ada slept."}}]'))
    >>> document.id, document.text
    ('7', 'Ada slept.')
    """
    return read_tasks(path, _checked, lines, encoding, texts, report)


def _checked(item: JsonObject) -> JsonObject:
    if not isinstance(item.fields.get("data"), dict) and "text" not in item.fields:
        raise item.wrong('no "data" with a "text", which every task of Label Studio has; name another format')
    return item


def write_label_studio(
    items: Iterable[Document | Sentence],
    target: Target,
    entities: As = "annotations",
    from_name: str = "label",
    to_name: str = "text",
) -> None:
    """Write an array of tasks, as Label Studio imports them.

    ``entities`` says what entities become; ``from_name`` and ``to_name`` are the names of the Labels and of the Text in
    the set-up of the project. A probability becomes a ``score``.

    >>> import io, json
    >>> out = io.StringIO()
    >>> write_label_studio([Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")})], out)
    >>> json.loads(out.getvalue())[0]["annotations"][0]["result"][0]["value"]
    {'start': 0, 'end': 3, 'text': 'Ada', 'labels': ['PER']}
    """
    with open_target(target) as file:
        file.write("[")
        for number, document in enumerate(tasks(items)):
            task: dict[str, Any] = {"data": {"text": document.text}}
            if document.id is not None:
                is_number = _NUMBER.fullmatch(document.id)
                task = {"id": int(document.id), **task} if is_number else {"data": {"id": document.id, **task["data"]}}
            if is_annotated(document):
                spans = enumerate(character_spans(document), 1)
                result = [_result(span, f"s{n}", document, from_name, to_name) for n, span in spans]
                task[entities] = [{"result": result}]
            file.write(("," if number else "") + "\n" + compact_json(task))
        file.write("\n]\n")


def _result(span: CharacterSpan, identity: str, document: Document, from_name: str, to_name: str) -> dict[str, Any]:
    mention = document.slice(span.start, span.end)
    fields = {
        "id": identity, "from_name": from_name, "to_name": to_name, "type": "labels",
        "value": {"start": span.start, "end": span.end, "text": mention, "labels": [span.label]},
    }  # fmt: skip
    return fields if span.probability is None else {**fields, "score": span.probability}
