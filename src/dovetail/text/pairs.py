"""Pairs of texts: does the second follow from the first? Read from XML of the RTE challenges, JSON lines and TSV."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from os import fspath
from pathlib import Path
from typing import Any
from xml.parsers import expat

from dovetail.errors import DovetailError, InputError
from dovetail.text.files import Source, Target, TextReader, open_target, open_text
from dovetail.text.jsonl import json_objects
from dovetail.text.report import reporting

LABELS = ("no", "yes")
"""Whether the hypothesis follows from the text."""
SPELLINGS = {
    "yes": ("yes", "true", "entailment", "entailed", "1"),
    "no": ("no", "false", "not_entailment", "unknown", "contradiction", "neutral", "0"),
}
"""How files spell the labels, in lower case; in JSON also true and false, or 1 and 0."""
_LABEL = {spelling: label for label, known in SPELLINGS.items() for spelling in known}
FIELDS = ("text", "hypothesis", "label", "id", "task")
_OUTER, _INNER = "pair", {"t": "text", "h": "hypothesis"}


@dataclass(frozen=True, slots=True)
class Pair:
    """A text and a hypothesis, which may follow from it.

    ``label`` is ``yes`` or ``no``, or None where nobody has said; ``task`` tells where the pair comes from. A model
    that has judged the pair writes its label, and the ``probability`` that the hypothesis follows.

    >>> Pair("Ada wrote notes.", "Ada wrote.", "yes")
    Pair(text='Ada wrote notes.', hypothesis='Ada wrote.', label='yes', id=None, task=None, probability=None)
    """

    text: str
    hypothesis: str
    label: str | None = None
    id: str | None = None
    task: str | None = None
    probability: float | None = None

    def __post_init__(self) -> None:
        for name, value in (("text", self.text), ("hypothesis", self.hypothesis)):
            if not isinstance(value, str) or not value.strip():
                raise DovetailError(f"the {name} of a pair is {value!r:.40}; give a string that is not empty")
        if self.label is not None and self.label not in LABELS:
            raise DovetailError(f"label={self.label!r:.40}: choose yes or no, or None where it is not known")

    def __len__(self) -> int:
        """About how many words there are in it."""
        return self.text.count(" ") + self.hypothesis.count(" ") + 2


def read_pairs(path: Source, format: str | None = None, encoding: str = "utf-8") -> Iterator[Pair]:
    r"""The pairs of a file, streamed: ``xml``, ``jsonl`` or ``tsv``, by its ending unless ``format`` says it.

    XML is that of the RTE challenges: elements ``pair`` with ``t`` and ``h``, and attributes ``value`` or
    ``entailment``. JSON objects and the columns of TSV, named in its first line, are those of `Pair`.

    >>> import io
    >>> list(read_pairs(io.StringIO("text\thypothesis\tlabel\nAda wrote notes.\tAda wrote.\tTRUE\n"), "tsv"))[0].label
    'yes'
    """
    name = format or _format_of(path)
    if name not in READERS:
        raise DovetailError(f"{format!r} is no format of pairs; choose one of {', '.join(READERS)}")
    with open_text(path, encoding) as reader:
        yield from READERS[name](reader)


def write_pairs(pairs: Iterable[Pair], target: Target) -> None:
    """Write pairs as JSON lines, without the fields that are not known."""
    with open_target(target) as file:
        for pair in pairs:
            file.write(json.dumps(pair_fields(pair), ensure_ascii=False) + "\n")


def pair_fields(pair: Pair) -> dict[str, Any]:
    """A pair as a JSON object.

    >>> pair_fields(Pair("It rains.", "It is wet.", probability=0.75))
    {'text': 'It rains.', 'hypothesis': 'It is wet.', 'probability': 0.75}
    """
    chance = None if pair.probability is None else round(pair.probability, 6)
    every = {name: getattr(pair, name) for name in ("id", "task", "text", "hypothesis", "label")}
    return {name: value for name, value in (every | {"probability": chance}).items() if value is not None}


def _format_of(path: Source) -> str:
    name = str(getattr(path, "name", "")) if hasattr(path, "read") else fspath(path)
    suffix = Path(name.removesuffix(".gz")).suffix.lower()
    known = {".xml": "xml", ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".tsv": "tsv"}
    if suffix not in known:
        raise DovetailError(f"{name}: pairs are read from files that end in {', '.join(known)} (and .gz)")
    return known[suffix]


def _pair(fields: Mapping[str, Any], path: str, line: int) -> Pair:
    """A pair from what a file says of it."""
    for name in ("text", "hypothesis"):
        if not isinstance(fields.get(name), str) or not fields[name].strip():
            raise InputError(f"a pair without a {name}; give it as a string", path, line)
    identity, task = (None if fields.get(name) is None else str(fields[name]) for name in ("id", "task"))
    told, chance = fields.get("label"), fields.get("probability")
    label = _LABEL.get(str(told).strip().lower())
    if label is None and told is not None:
        raise InputError(f"label {told!r:.40}, expected yes or no (or {', '.join(list(_LABEL)[1:8])}...)", path, line)
    if chance is not None and not (isinstance(chance, float | int) and 0 <= chance <= 1):
        raise InputError(f"probability {chance!r:.40}, expected a number from 0 to 1", path, line)
    text, hypothesis = (" ".join(fields[name].split()) for name in ("text", "hypothesis"))
    return Pair(text, hypothesis, label, identity, task, None if chance is None else float(chance))


def _read_jsonl(reader: TextReader) -> Iterator[Pair]:
    with reporting(None) as report:
        for item in json_objects(iter(reader), reader.name, report):
            yield _pair(item.fields, reader.name, item.line)


def _read_tsv(reader: TextReader) -> Iterator[Pair]:
    columns: list[str] = []
    for number, line in enumerate(reader, 1):
        cells = [cell.strip() for cell in line.split("\t")]
        if not columns:
            columns = [cell.lower() for cell in cells]
            if not {"text", "hypothesis"} <= set(columns):
                expected = f"expected the names of columns: {', '.join(FIELDS)} (the first two at least)"
                raise InputError(f"the first line is {line!r:.60}, {expected}", reader.name, number)
        elif line.strip():
            if len(cells) != len(columns):
                raise InputError(f"{len(cells)} columns, expected {len(columns)}", reader.name, number)
            fields = {name: cell for name, cell in zip(columns, cells, strict=True) if name in FIELDS and cell}
            yield _pair(fields, reader.name, number)


def _read_xml(reader: TextReader) -> Iterator[Pair]:
    """Pairs as soon as they are closed; entities that a file declares itself are refused, for they may be endless."""
    parser = expat.ParserCreate()
    found: list[Pair] = []
    fields: dict[str, Any] = {}
    begun, inside, pieces = 0, "", list[str]()

    def start(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal begun, inside
        if name == _OUTER:
            begun = parser.CurrentLineNumber
            fields.clear()
            fields.update({key: attributes[key] for key in ("id", "task") if key in attributes})
            fields["label"] = attributes.get("entailment", attributes.get("value"))
        elif name in _INNER:
            inside = name
            pieces.clear()

    def end(name: str) -> None:
        nonlocal inside
        if name == inside:
            fields[_INNER[name]] = "".join(pieces)
            inside = ""
        elif name == _OUTER:
            found.append(_pair(fields, reader.name, begun))

    def refuse(name: str, *_: Any) -> None:
        message = f"the file declares the entity {name!r}; write out what it stands for"
        raise InputError(message, reader.name, parser.CurrentLineNumber)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = lambda text: pieces.append(text) if inside else None
    parser.EntityDeclHandler = refuse
    try:
        for block in reader.blocks():
            parser.Parse(block, False)
            yield from found
            found.clear()
        parser.Parse("", True)
    except expat.ExpatError as error:
        raise InputError(f"not XML: {expat.ErrorString(error.code)}", reader.name, error.lineno) from None
    yield from found


READERS: dict[str, Callable[[TextReader], Iterator[Pair]]] = {"xml": _read_xml, "jsonl": _read_jsonl, "tsv": _read_tsv}
"""The formats of pairs by name."""
