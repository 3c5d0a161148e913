"""JSON lines: one object a line, or one array of objects; a sentence or a document each.

A sentence has ``words`` and perhaps ``entities``, ``doc``, ``offsets``, ``text``, ``tree``, ``frames``, ``heads`` and
``deprels``; other lists with a value a word are layers. A document has ``text``, and perhaps ``id`` and ``spans`` in
characters. Objects of Prodigy, Label Studio and Hugging Face are read too (`annotation_tools`). All other fields are
kept as comments ``# key = value`` of the sentence, or of the document's first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any, Literal

from dovetail.errors import InputError
from dovetail.text.annotation_tools import own_fields
from dovetail.text.documents import Member, group, ungroup
from dovetail.text.files import Source, Target, open_target, open_text
from dovetail.text.frames import Frame
from dovetail.text.json_object import Entities, JsonObject, kind_of
from dovetail.text.report import ReadReport, reporting
from dovetail.text.segment import Lines
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import all_spans, character_spans, whole_documents
from dovetail.text.tags import Scheme
from dovetail.text.unify import Placed, unify_tags

_SURROGATE = re.compile("[\ud800-\udfff]")
_SEPARATOR = re.compile(r"[ \t\r\n]*(,?)[ \t\r\n]*")
_COMMENT = re.compile(r"# (\S+) = (.*)")
_MAX_GAP = 10_000


def read_jsonl(
    path: Source,
    entities: Entities = "all",
    scheme: Scheme | Literal["auto"] | None = "auto",
    lines: Lines = "auto",
    encoding: str = "utf-8",
    texts: Literal["annotated", "all"] = "annotated",
    report: ReadReport | None = None,
) -> Iterator[Document]:
    r"""The documents of a JSON lines file, streamed.

    What annotators refused or have not seen is left out, and reported; ``texts="all"`` reads it as well.

    All entities of a sentence are in its ``spans``; the outermost ones also in the layer ``ner``, unless
    the file gives that layer itself. Documents are cut into sentences and words (see `segment.annotate`;
    ``lines`` as there).

    >>> import io
    >>> document, = read_jsonl(io.StringIO('{"words": ["Ada", "wrote"], "entities": [[0, 1, "PER"]]}'))
    >>> document.sentences[0].layers, document.sentences[0].spans[0].label
    ({'ner': ('B-PER', 'O')}, 'PER')
    """
    with open_text(path, encoding) as reader, reporting(report) as notes:
        objects = json_objects(iter(reader), reader.name, notes)
        yield from documents_of(objects, reader.name, lines, texts, notes, entities, scheme)


def documents_of(
    given: Iterable[JsonObject],
    name: str,
    lines: Lines,
    texts: Literal["annotated", "all"],
    report: ReadReport,
    entities: Entities = "all",
    scheme: Scheme | Literal["auto"] | None = "auto",
) -> Iterator[Document]:
    """The documents that objects are, of sentences or of texts, as `read_jsonl` has them; ``name`` is for messages."""
    objects = filter(None, (own_fields(item, texts == "all") for item in given))
    first = next(objects, None)
    if first is None:
        return
    stream = chain([first], objects)
    if first.is_sentence():
        placed = unify_tags(_sentences(stream, entities), scheme, name, report, word_per_line=False)
        yield from group(_members(placed))
    else:
        for item in stream:
            yield item.document(lines)


def read_tasks(
    path: Source,
    fields: Callable[[JsonObject], JsonObject],
    lines: Lines,
    encoding: str,
    texts: Literal["annotated", "all"],
    report: ReadReport | None,
) -> Iterator[Document]:
    """The texts of a file of an annotation tool, streamed; ``fields`` checks that an object is what the tool writes."""
    with open_text(path, encoding) as reader, reporting(report) as notes:
        for item in json_objects(iter(reader), reader.name, notes):
            own = own_fields(fields(item), texts == "all")
            if own is not None:
                yield own.document(lines)


def json_objects(lines: Iterator[str], path: str, report: ReadReport) -> Iterator[JsonObject]:
    """The objects of JSON lines, or of one array, each with the line in which it begins."""
    is_first = True
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if is_first and line.lstrip().startswith("["):
            yield from _array("\n".join(chain([line], lines)), path, number, report)
            return
        is_first = False
        with _json_errors(path, number):
            value = json.loads(line)
        yield _object(value, line, path, number, report)


def _array(text: str, path: str, line: int, report: ReadReport) -> Iterator[JsonObject]:
    """The objects of an array that begins in this line, each with the line in which it begins."""
    decode = json.JSONDecoder().raw_decode
    begin = end = text.index("[") + 1
    while True:
        separator = _SEPARATOR.match(text, end)
        assert separator is not None  # it may be empty
        line += separator[0].count("\n")
        start = separator.end()
        if text[start : start + 1] == "]" and not separator[1]:
            break
        if bool(separator[1]) is (end == begin):
            raise InputError("not JSON: expected objects with commas between them, and ] at the end", path, line)
        with _json_errors(path, line - text.count("\n", 0, start)):
            value, end = decode(text, start)
        yield _object(value, text[start:end], path, line, report)
        line += text.count("\n", start, end)
    if text[start + 1 :].strip():
        raise InputError("more text after the array; expected one array, or one object a line", path, line)


@contextmanager
def _json_errors(path: str, line: int) -> Iterator[None]:
    """Errors of decoding a text that begins in this line."""
    try:
        yield
    except json.JSONDecodeError as error:
        message = f"not JSON: {error.msg} at column {error.colno}; expected one object a line, or one array of objects"
        raise InputError(message, path, line + error.lineno - 1) from None
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"JSON that cannot be read: {error}", path, line) from None
    except RecursionError:
        raise InputError("JSON nested too deeply", path, line) from None


def _object(value: Any, source: str, path: str, line: int, report: ReadReport) -> JsonObject:
    if not isinstance(value, dict):
        raise InputError(f"{kind_of(value)}, expected an object", path, line)
    found = JsonObject(value, path, line, report)
    if "\\ud" in source.lower():
        found.fields = _without_surrogates(value, found.note)
    return found


def _without_surrogates(value: Any, note: Callable[[str, int], None]) -> Any:
    """The same value with U+FFFD for halves of characters, which no file can hold."""
    if isinstance(value, str):
        clean, count = _SURROGATE.subn("\ufffd", value)
        note("half of a surrogate pair, read as U+FFFD", count)
        return clean
    if isinstance(value, list):
        return [_without_surrogates(item, note) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key, note): _without_surrogates(item, note) for key, item in value.items()}
    return value


def _sentences(stream: Iterable[JsonObject], entities: Entities) -> Iterator[Placed]:
    for item in stream:
        sentence = item.sentence(entities)
        if sentence.words:
            text = item.text() if sentence.offsets else None
            yield Placed(sentence, item.line, item.identity("doc"), text)
        else:
            item.note("sentence without words, left out")


def _members(placed: Iterable[Placed]) -> Iterator[Member]:
    """Sentences with the text up to their ends: what lies between two of them was white space."""
    previous, end = None, 0
    for number, (sentence, _, document, text) in enumerate(placed):
        starts = number == 0 or document != previous
        previous = document
        end = 0 if starts else end
        if sentence.offsets and text is not None:
            gap = sentence.offsets[0][0] - end
            fits = 0 <= gap <= _MAX_GAP and len(text) == sentence.offsets[-1][1] - sentence.offsets[0][0]
            text = " " * gap + text if fits else None
            end = sentence.offsets[-1][1]
        yield Member(sentence, starts, document, text)


def write_jsonl(
    items: Iterable[Document | Sentence], target: Target, unit: Literal["sentences", "documents"] = "sentences"
) -> None:
    r"""Write an object a line: a sentence, or (``unit="documents"``) a document with spans in characters.

    >>> import io
    >>> out = io.StringIO()
    >>> write_jsonl([Sentence(("Bern",), spans=(Span(0, 1, "LOC", 0.9),))], out)
    >>> out.getvalue()
    '{"words":["Bern"],"entities":[{"start":0,"end":1,"label":"LOC","probability":0.9,"text":"Bern"}]}\n'
    """
    with open_target(target) as file:
        objects = _document_objects(items) if unit == "documents" else _sentence_objects(items)
        file.writelines(f"{compact_json(fields)}\n" for fields in objects)


def compact_json(value: Any) -> str:
    """A value as JSON without spaces, on one line.

    >>> compact_json({"text": "naïve"})
    '{"text":"naïve"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _sentence_objects(items: Iterable[Document | Sentence]) -> Iterator[dict[str, Any]]:
    return (sentence_object(sentence, document) for sentence, document, _ in ungroup(items))


def sentence_object(sentence: Sentence, document: Document | None) -> dict[str, Any]:
    """All that is known of a sentence of a document, as the object of its line.

    >>> sentence_object(Sentence(("Ada",), {"pos": ("NNP",)}), None)
    {'words': ('Ada',), 'pos': ('NNP',)}
    """
    named = {"doc": None if document is None else document.id, "id": sentence.id}
    fields: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    fields |= {"words": sentence.words, **_layer_fields(sentence)}
    if sentence.tree is not None:
        fields["tree"] = str(sentence.tree)
        if sure := [span for span in sentence.tree.spans() if span.probability is not None]:
            fields["constituents"] = [[s.start, s.end, s.label, round(s.probability or 0.0, 6)] for s in sure]
    if sentence.frames is not None:
        fields["frames"] = [_frame_object(frame) for frame in sentence.frames]
    if sentence.spans or "ner" in sentence.layers:
        fields["entities"] = [
            _span_object(span.start, span.end, span.label, span.probability, _surface(sentence, document, span))
            for span in all_spans(sentence)
        ]
    if sentence.offsets:
        fields["offsets"] = sentence.offsets
        if document is not None and document.text is not None:
            fields["text"] = document.slice(sentence.offsets[0][0], sentence.offsets[-1][1])
    fields.update(_comment_fields(sentence, fields))
    return fields


def _layer_fields(sentence: Sentence) -> dict[str, Any]:
    """The layers as they are, but dependencies as ``heads`` (counted from 0, -1 for the root) and ``deprels``."""
    fields: dict[str, Any] = {}
    for name, values in sentence.layers.items():
        if name == "head" and all(_is_head(value, len(sentence)) for value in values):
            fields["heads"] = [int(value) - 1 for value in values]
        elif name == "deprel" and all(values):
            fields["deprels"] = values
        else:
            fields[name] = values
    return fields


def _is_head(value: str, length: int) -> bool:
    return value.isdecimal() and len(value) < 10 and int(value) <= length


def _surface(sentence: Sentence, document: Document | None, span: Span) -> str:
    if sentence.offsets and document is not None and document.text is not None:
        return document.slice(sentence.offsets[span.start][0], sentence.offsets[span.end - 1][1])
    return " ".join(sentence.words[span.start : span.end])


def _span_object(start: int, end: int, label: str, probability: float | None, text: str) -> dict[str, Any]:
    fields: dict[str, Any] = {"start": start, "end": end, "label": label}
    if probability is not None:
        fields["probability"] = probability
    return {**fields, "text": text}


def _frame_object(frame: Frame) -> dict[str, Any]:
    known = {"predicate": frame.predicate, "sense": frame.sense, "lemma": frame.lemma, "probability": frame.probability}
    fields: dict[str, Any] = {name: value for name, value in known.items() if value is not None}
    fields["arguments"] = [
        [span.start, span.end, span.label, *([] if span.probability is None else [span.probability])]
        for span in frame.arguments
    ]
    return fields


def _comment_fields(sentence: Sentence, taken: dict[str, Any]) -> dict[str, Any]:
    """Comments ``# key = value`` as fields, others as a list; what a field already says is left out."""
    fields: dict[str, Any] = {}
    others = []
    for comment in sentence.comments:
        match = _COMMENT.fullmatch(comment)
        if match is None or match[1] in fields:
            others.append(comment)
        elif match[1] not in taken and match[1] != "sent_id":
            fields[match[1]] = match[2]
    return {**fields, "comments": others} if others else fields


def _document_objects(items: Iterable[Document | Sentence]) -> Iterator[dict[str, Any]]:
    for document in whole_documents(items):
        fields: dict[str, Any] = {} if document.id is None else {"id": document.id}
        fields["text"] = document.text
        spans = character_spans(document)
        fields["spans"] = [_span_object(*span, document.slice(span.start, span.end)) for span in spans]
        yield fields
