"""brat standoff: a text ``x.txt`` and its entities ``x.ann``, by characters.

Entities are the lines ``T1<tab>PER 0 12<tab>Ada Lovelace``. Discontinuous ones (``0 3;8 12``) and lines of
other kinds (relations, events, attributes, ...) are no spans: they are counted in the report, not read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Literal

from dovetail.errors import DovetailError, InputError
from dovetail.text.files import atomic_writer, open_text, read_whole, why_not_written
from dovetail.text.report import ReadReport, reporting
from dovetail.text.segment import CUT_WORD, Lines, annotate, segment
from dovetail.text.sentence import Document, Sentence
from dovetail.text.spans import CharacterSpan, character_spans, trimmed, whole_documents

_ENTITY = re.compile(r"(\S+) ([0-9]{1,18}) ([0-9]{1,18})((?:;[0-9]+ [0-9]+)*)")
_KINDS = {"R": "relation", "E": "event", "A": "attribute", "M": "attribute", "N": "normalisation", "*": "equivalence"}
_PROBABILITY = re.compile(r"probability (\S+)")


def read_brat(
    path: str | PathLike[str],
    lines: Lines = "auto",
    encoding: str = "utf-8",
    texts: Literal["annotated", "all"] = "annotated",
    report: ReadReport | None = None,
) -> Iterator[Document]:
    """The documents of a folder of ``.txt`` and ``.ann`` files, by name, or of one such pair.

    The id of a document is its name without ``.txt``. Words and sentences are found as in
    `segment.annotate`. A text without annotations is left out, and reported; with ``texts="all"`` it is read
    as a text whose entities nobody knows.
    """
    given = Path(path)
    with reporting(report) as notes:
        for text_path in find_texts(given, texts, notes):
            text = read_whole(text_path, encoding)
            name = text_path.relative_to(given) if given.is_dir() else Path(text_path.name)
            identity = name.with_suffix("").as_posix()
            annotations = text_path.with_suffix(".ann")
            if texts == "all" and not annotations.exists():
                sentences = segment(text, lines)
            else:
                sentences = _read_annotated(annotations, text, lines, encoding, notes)
            yield Document(tuple(sentences), text, identity)


def find_texts(path: Path, texts: Literal["annotated", "all"], report: ReadReport) -> list[Path]:
    """The ``.txt`` files of a folder and the folders in it, or of one pair, that are to be read."""
    if not path.is_dir():
        return [path.with_suffix(".txt")]
    found = sorted(path.rglob("*.txt"))
    kept = [text for text in found if texts == "all" or text.with_suffix(".ann").exists()]
    if not kept:
        what = "no .txt file" if texts == "all" else "no pair of files x.txt and x.ann"
        raise InputError(f"{what} in this folder; a folder is read as texts with brat annotations", path)
    for text in found:
        if text not in kept:
            report.note("text without an .ann file, left out", text)
    return kept


def _read_annotated(path: Path, text: str, lines: Lines, encoding: str, report: ReadReport) -> list[Sentence]:
    spans: dict[str, CharacterSpan] = {}
    places: dict[CharacterSpan, int] = {}  # the lines of the spans
    with open_text(path, encoding) as rows:
        for number, line in enumerate(rows, 1):
            if line.startswith("T"):
                name, span = _entity(line, text, path, number, report)
                if span is not None:
                    spans[name] = span
                    places[span] = number
            elif line.startswith("#"):
                _read_note(line, spans)
            elif line[:1] in _KINDS:
                report.note(f"{_KINDS[line[0]]}, not read", path, number)
            elif line.strip():
                raise InputError(f"{line[:20]!r} is not a line of brat annotations", path, number)

    def note_cut(span: CharacterSpan) -> None:
        report.note(CUT_WORD, path, places.get(span._replace(probability=None)))

    return annotate(text, list(spans.values()), lines, on_cut=note_cut)


def _entity(line: str, text: str, path: Path, number: int, report: ReadReport) -> tuple[str, CharacterSpan | None]:
    name, _, rest = line.partition("\t")
    place, _, mention = rest.partition("\t")
    match = _ENTITY.fullmatch(place)
    if match is None:
        raise InputError("expected T1<tab>LABEL START END<tab>text", path, number)
    if match[4]:
        report.note("discontinuous entity, not read", path, number)
        return name, None
    start, end = int(match[2]), int(match[3])
    if not start <= end <= len(text):
        raise InputError(f"characters {start} to {end} are outside the text of {len(text)}", path, number)
    if mention and mention.split() != text[start:end].split():
        report.note("entity whose text differs from the text it points to", path, number)
    span = trimmed(CharacterSpan(start, end, match[1]), text)
    if span is None:
        report.note("entity of nothing but white space, not read", path, number)
    return name, span


def _read_note(line: str, spans: dict[str, CharacterSpan]) -> None:
    """A note as `write_brat` writes it gives the entity its probability; others say nothing about spans."""
    _, kind, note, *_ = [*line.split("\t"), "", ""]
    target = kind.removeprefix("AnnotatorNotes ")
    match = _PROBABILITY.fullmatch(note)
    if match is not None and target in spans:
        try:
            probability = float(match[1])
        except ValueError:
            return
        if 0 <= probability <= 1:
            spans[target] = spans[target]._replace(probability=probability)


def write_brat(items: Iterable[Document | Sentence], path: str | PathLike[str]) -> None:
    """Write each document as ``id.txt`` and ``id.ann`` in a folder, or a single one beside a path ``x.ann``.

    A probability becomes a note of its entity. A text that is there already must be the same: it is not
    changed. Documents are held whole, because brat counts characters from their beginning.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_brat([Sentence(("In", "Bern"), {"ner": ("O", "B-LOC")})], folder)
    ...     Path(folder, "1.ann").read_text()
    'T1\\tLOC 3 7\\tBern\\n'
    """
    target = Path(path)
    for number, document in enumerate(whole_documents(items), 1):
        if target.suffix == ".ann":
            if number > 1:
                raise DovetailError(f"{target}: one file cannot hold several documents; name a folder")
            text_path = target.with_suffix(".txt")
        else:
            text_path = target / f"{file_name(document.id or str(number))}.txt"
            made_folder(text_path.parent)
        _write_one(document, text_path)


def made_folder(folder: Path) -> None:
    """Make a folder, with those above it, unless it is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DovetailError(f"{folder}: cannot be made: {why_not_written(folder, error)}") from None


def file_name(identity: str) -> str:
    """An id as a name inside the folder: no drive, no root, no way up."""
    parts = [part for part in re.split(r"[/\\]+", identity) if part not in ("", ".", "..")]
    return "/".join(re.sub(r"[\x00-\x1f:*?\"<>|]", "_", part) for part in parts) or "_"


def _write_one(document: Document, text_path: Path) -> None:
    text = document.text or ""
    if text_path.exists():
        if read_whole(text_path) != text:
            raise DovetailError(f"{text_path}: exists with another text; choose another folder")
    else:
        with atomic_writer(text_path) as file:
            file.write(text)
    with atomic_writer(text_path.with_suffix(".ann")) as file:
        for number, span in enumerate(character_spans(document), 1):
            if not span.label or len(span.label.split()) != 1:
                raise DovetailError(f"the label {span.label!r} cannot be written: brat's labels are single words")
            mention = re.sub(r"\s", " ", document.slice(span.start, span.end))
            file.write(f"T{number}\t{span.label} {span.start} {span.end}\t{mention}\n")
            if span.probability is not None:
                file.write(f"#{number}\tAnnotatorNotes T{number}\tprobability {span.probability:.6g}\n")
