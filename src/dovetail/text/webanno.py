"""WebAnno TSV 3, which INCEpTION and WebAnno export and import: words with characters, and a column a feature.

A file is one document. Read are named entities (or of a project without them the spans of its first layer), parts of
speech, lemmas and dependencies; other layers are counted, not read. Its offsets are of UTF-16, as Java counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from dovetail.errors import DovetailError, InputError
from dovetail.text.brat import file_name, made_folder
from dovetail.text.files import Source, Target, open_target, open_text
from dovetail.text.report import ReadReport, reporting
from dovetail.text.sentence import Document, Sentence, Span
from dovetail.text.spans import all_spans, flat_tags
from dovetail.text.tasks import tasks

_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api."
ENTITY = _DKPRO + "ner.type.NamedEntity"
POS = _DKPRO + "lexmorph.type.pos.POS"
LEMMA = _DKPRO + "segmentation.type.Lemma"
ARC = _DKPRO + "syntax.type.dependency.Dependency"
_FORMAT = re.compile(r"#FORMAT=WebAnno TSV 3(\.\d+)?")
_PLACE = re.compile(r"(\d{1,9})-(\d{1,9})((?:\.\d+)?)")
_EDGES = re.compile(r"(\d{1,15})-(\d{1,15})")
_VALUE = re.compile(r"(.*?)(?:\[(\d{1,9})\])?", re.DOTALL)
_RESERVED = re.compile(r"([\\\[\]|_;*]|->)")
_BARS = re.compile(r"(?<!\\)\|")


class Layer(NamedTuple):
    """A layer of the header: the name of its type, its kind (SP, RL, CH), its features, and its first column."""

    type: str
    kind: str
    features: tuple[str, ...]
    column: int

    @property
    def width(self) -> int:
        """How many columns it has; a relation has one more, for its head, and that is among its features."""
        return max(len(self.features), 1)


class Row(NamedTuple):
    """The line of a word: its number, its characters, what the columns say."""

    line: int
    start: int
    end: int
    word: str
    cells: list[str]


def read_webanno(path: Source, encoding: str = "utf-8", report: ReadReport | None = None) -> Iterator[Document]:
    """The document of a WebAnno TSV 3 file, or those of the files ``.tsv`` of a folder."""
    with reporting(report) as notes:
        if isinstance(path, str | PathLike) and Path(path).is_dir():
            found = sorted(Path(path).rglob("*.tsv"))
            if not found:
                raise InputError("no .tsv file in this folder", str(path))
            for file in found:
                yield _read(file, encoding, file.relative_to(path).with_suffix("").as_posix(), notes)
        else:
            name = Path(path).name.removesuffix(".gz") if isinstance(path, str | PathLike) else ""
            yield _read(path, encoding, name.removesuffix(".tsv").removesuffix(".webanno") or None, notes)


def is_webanno(path: Path) -> bool:
    """Whether a file begins as WebAnno's do, whatever its name."""
    try:
        with open_text(path) as reader:
            return _FORMAT.match(next(iter(reader), "")) is not None
    except InputError:
        return False


def _read(path: Source, encoding: str, identity: str | None, report: ReadReport) -> Document:
    with open_text(path, encoding) as reader:
        lines = enumerate(reader, 1)
        layers = _header(lines, reader.name)
        seen = _Wanted(layers, reader.name, report)
        sentences: list[Sentence] = []
        text = ""
        units = 0  # of UTF-16, up to the end of the text
        rows: list[Row] = []
        own: list[str] = []

        def close() -> None:
            nonlocal text, units
            if rows:
                gap = rows[0].start - units
                if gap < 0 or gap > 10_000_000:
                    raise InputError("words that begin before those above end", reader.name, rows[0].line)
                text += " " * max(gap - 1, 0) + ("\n" if gap and text else " " * min(gap, 1))
                raw, offsets = _placed(rows, "\n".join(own), len(text), reader.name)
                text += raw
                units = rows[-1].end
                sentences.append(seen.sentence(rows, offsets, raw))

        for number, line in lines:
            if line.startswith("#Text="):
                if rows:
                    close()
                    rows, own = [], []
                own.append(_unescaped(line[6:]))
            elif line.startswith("#") and "\t" not in line:
                continue  # other comments, such as #Sentence.id
            elif not line.strip():
                close()
                rows, own = [], []
            else:
                _add(rows, line, number, layers, reader.name, report)
        close()
    return Document(tuple(sentences), text, identity)


def _header(lines: Iterator[tuple[int, str]], path: str) -> list[Layer]:
    number, first = next(lines, (1, ""))
    if not _FORMAT.match(first):
        raise InputError(
            f"{first[:40]!r} is not the first line of WebAnno TSV 3, #FORMAT=WebAnno TSV 3.3", path, number
        )
    layers: list[Layer] = []
    column = 3
    for _, line in lines:
        if not line.strip():
            break
        if line.startswith("#T_"):
            kind, _, rest = line[3:].partition("=")
            name, *features = rest.split("|")
            layers.append(Layer(name, kind, tuple(features), column))
            column += layers[-1].width
    return layers


def _add(rows: list[Row], line: str, number: int, layers: Sequence[Layer], path: str, report: ReadReport) -> None:
    fields = line.rstrip("\t\r").split("\t") if not layers else line.split("\t")
    place, edges = _PLACE.fullmatch(fields[0]), _EDGES.fullmatch(fields[1]) if len(fields) > 1 else None
    if place is None or edges is None or len(fields) < 3:
        raise InputError(f"expected SENTENCE-WORD<tab>START-END<tab>word, not {line[:40]!r}", path, number)
    width = layers[-1].column + layers[-1].width if layers else 3
    fields = fields[: len(fields) - 1] if len(fields) == width + 1 and not fields[-1].strip() else fields
    if len(fields) != width:
        raise InputError(f"{len(fields)} columns, and the header has {width}", path, number)
    if place[3]:
        if any(cell not in ("_", "*") for cell in fields[3:]):
            report.note("annotation of a part of a word, not read", path, number)
        return
    if int(place[2]) != len(rows) + 1:
        raise InputError(f"word number {place[2]}, expected {len(rows) + 1}; is a blank line missing?", path, number)
    start, end = int(edges[1]), int(edges[2])
    if not fields[2] or not start < end or (rows and start < rows[-1].end):
        raise InputError(f"characters {start} to {end} of {fields[2]!r} do not follow those above", path, number)
    rows.append(Row(number, start, end, fields[2], fields[3:]))


def _placed(rows: Sequence[Row], own: str, begin: int, path: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The characters from the first word to the last, and where each word lies in the text."""
    wide = own.encode("utf-16-le", "surrogatepass")
    places: list[tuple[int, int]] = []
    raw = ""
    for row in rows:
        if _units(row.word) != row.end - row.start:
            raise InputError(f"{row.word!r} is not {row.end - row.start} characters (of UTF-16) long", path, row.line)
        gap = row.start - rows[0].start - _units(raw)
        shown = wide[2 * _units(raw) : 2 * (_units(raw) + gap)].decode("utf-16-le", "replace")
        raw += shown if len(shown) == gap and not shown.strip() else " " * gap
        places.append((begin + len(raw), begin + len(raw) + len(row.word)))
        raw += row.word
    return raw, tuple(places)


def _units(text: str) -> int:
    """How many units of UTF-16 a text is long."""
    return len(text) + sum(char > "\uffff" for char in text)


class _Wanted:
    """The layers that are read, and sentences made of them."""

    def __init__(self, layers: Sequence[Layer], path: str, report: ReadReport) -> None:
        self.path, self.report = path, report
        by_type = {layer.type: layer for layer in layers}
        spans = [layer for layer in layers if layer.kind == "SP" and layer.features and layer.type not in (POS, LEMMA)]
        self.entities = by_type.get(ENTITY) or next(iter(spans), None)
        self.pos, self.lemma, self.arcs = by_type.get(POS), by_type.get(LEMMA), by_type.get(ARC)
        read = [self.entities, self.pos, self.lemma, self.arcs]
        for layer in layers:
            if layer not in read:
                report.note(f"layer {layer.type.rpartition('.')[2]} (WebAnno), not read", path)

    def sentence(self, rows: Sequence[Row], offsets: tuple[tuple[int, int], ...], raw: str) -> Sentence:
        layers: dict[str, tuple[str, ...]] = {}
        spans: tuple[Span, ...] = ()
        if self.entities is not None:
            spans = tuple(self._spans(rows, self.entities))
            layers["ner"] = flat_tags(spans, len(rows))
        if self.pos is not None:
            layers["pos"] = tuple(self._one(row, self.pos, "PosValue") for row in rows)
        if self.lemma is not None:
            layers["lemma"] = tuple(self._one(row, self.lemma, "value") for row in rows)
        if self.arcs is not None:
            layers |= self._dependencies(rows, self.arcs)
        return Sentence(tuple(row.word for row in rows), layers, spans, offsets, raw=raw)

    def _cell(self, row: Row, layer: Layer, feature: str) -> str:
        at = layer.features.index(feature) if feature in layer.features else 0
        return row.cells[layer.column - 3 + at]

    def _one(self, row: Row, layer: Layer, feature: str) -> str:
        match = _VALUE.fullmatch(_BARS.split(self._cell(row, layer, feature))[0])
        assert match is not None
        return "_" if match[1] in ("_", "*") else _unescaped(match[1])

    def _spans(self, rows: Sequence[Row], layer: Layer) -> Iterator[Span]:
        open_: dict[str, list[int | str]] = {}
        found: list[tuple[int, int, str]] = []
        for position, row in enumerate(rows):
            cell = self._cell(row, layer, "value")
            for part in _BARS.split(cell) if cell != "_" else ():
                match = _VALUE.fullmatch(part)
                assert match is not None
                label = "*" if match[1] == "*" else _unescaped(match[1])
                if match[1] == "*" or not label:
                    self.report.note("span without a value (WebAnno), its label is *", self.path, row.line)
                    label = "*"
                if match[2] is None:
                    found.append((position, position + 1, label))
                elif match[2] in open_ and open_[match[2]][1] == position:
                    open_[match[2]][1] = position + 1
                else:
                    if match[2] in open_:
                        self.report.note("span in two parts (WebAnno), read as two", self.path, row.line)
                        found.append(_closed(open_.pop(match[2])))
                    open_[match[2]] = [position, position + 1, label]
        found.extend(map(_closed, open_.values()))
        return (Span(*one) for one in sorted(found, key=lambda one: (one[0], -one[1])))

    def _dependencies(self, rows: Sequence[Row], layer: Layer) -> dict[str, tuple[str, ...]]:
        heads, relations = [], []
        for row in rows:
            relation = self._one(row, layer, "DependencyType")
            match = _PLACE.match(row.cells[layer.column - 3 + layer.width - 1])
            at = int(match[2]) if match else 0
            if at > len(rows):
                raise InputError(f"the head is word {at} of {len(rows)}", self.path, row.line)
            is_root = match is not None and row.start == rows[at - 1].start
            heads.append("0" if is_root or not match else str(at))
            relations.append(relation if match or relation != "_" else "_")
        if set(relations) == {"_"}:
            return {}
        return {"head": tuple(heads), "deprel": tuple(relations)}


def _closed(one: list[int | str]) -> tuple[int, int, str]:
    return int(one[0]), int(one[1]), str(one[2])


def _escaped(value: str) -> str:
    return _RESERVED.sub(r"\\\1", value).replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _unescaped(value: str) -> str:
    controls = {"t": "\t", "n": "\n", "r": "\r"}
    return re.sub(r"\\(->|.)", lambda match: controls.get(match[1], match[1]), value, flags=re.DOTALL)


def write_webanno(items: Iterable[Document | Sentence], path: Target) -> None:
    r"""Write a document as a WebAnno TSV 3.3 file, or each as ``id.tsv`` into a folder.

    >>> import io
    >>> out = io.StringIO()
    >>> write_webanno([Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")})], out)
    >>> print(*(line.replace("\t", " ").rstrip() for line in out.getvalue().split("\n")[-4:]), sep="\n")
    #Text=Ada slept
    1-1 0-3 Ada * PER
    1-2 4-9 slept _ _
    <BLANKLINE>
    """
    is_folder = isinstance(path, str | PathLike) and str(path) != "-" and not Path(path).suffix
    number = 0
    for number, document in enumerate(tasks(_whole(items)), 1):
        if is_folder:
            folder = Path(path)  # type: ignore[arg-type]
            file = folder / f"{file_name(document.id or str(number))}.tsv"
            made_folder(file.parent)
            _write(document, file)
        elif number > 1:
            raise DovetailError(f"{path}: one file cannot hold several documents; name a folder")
        else:
            _write(document, path)
    if not number and not is_folder:
        _write(Document(()), path)


def _whole(items: Iterable[Document | Sentence]) -> Iterator[Document]:
    """Documents as they are, and the loose sentences before, between and after them as documents of their own."""
    loose: list[Sentence] = []
    for item in items:
        if isinstance(item, Document) and (item.id is not None or item.text is not None):
            if loose:
                yield Document(tuple(loose), id="sentences")
                loose = []
            yield item
        else:
            loose.extend(item if isinstance(item, Document) else [item])
    if loose:
        yield Document(tuple(loose), id="sentences")


def _write(document: Document, target: Target) -> None:
    known = {name for sentence in document for name in sentence.layers}
    arcs = {"head", "deprel"} <= known
    has = {ENTITY: True, POS: arcs or bool(known & {"pos", "xpos"}), LEMMA: "lemma" in known, ARC: arcs}
    text = document.text or ""
    with open_target(target) as file:
        file.write("#FORMAT=WebAnno TSV 3.3\n")
        heads = {
            POS: f"#T_SP={POS}|coarseValue|PosValue",
            LEMMA: f"#T_SP={LEMMA}|value",
            ENTITY: f"#T_SP={ENTITY}|identifier|value",
            ARC: f"#T_RL={ARC}|DependencyType|flavor|BT_{POS}",
        }
        file.writelines(f"{heads[one]}\n" for one in heads if has[one])
        file.write("\n")
        done = units = 0
        ids = 0
        for number, sentence in enumerate(document, 1):
            offsets = sentence.offsets or ()
            if not offsets:
                continue
            raw = text[offsets[0][0] : offsets[-1][1]]
            file.write("\n#Text=" + _escaped_text(raw) + "\n")
            columns, ids = _columns(sentence, number, has, ids)
            for word, ((start, end), cells) in enumerate(zip(offsets, columns, strict=True), 1):
                units += _units(text[done:start])
                first, done = units, end
                units += _units(text[start:end])
                file.write("\t".join((f"{number}-{word}", f"{first}-{units}", text[start:end], *cells)) + "\t\n")


def _escaped_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _columns(sentence: Sentence, number: int, has: dict[str, bool], ids: int) -> tuple[list[list[str]], int]:
    length = len(sentence)
    cells: list[list[str]] = [[] for _ in range(length)]
    if has[POS]:
        tags = sentence.layers.get("pos", sentence.layers.get("xpos", ("_",) * length))
        for row, tag in zip(cells, tags, strict=True):
            row.extend(["*" if has[ARC] or tag != "_" else "_", _cell(tag, has[ARC])])
    if has[LEMMA]:
        for row, lemma in zip(cells, sentence.layers.get("lemma", ("_",) * length), strict=True):
            row.append(_cell(lemma, False))
    marks: list[list[tuple[str, str]]] = [[] for _ in range(length)]
    spans = all_spans(sentence)
    for span in spans:
        is_plain = span.end == span.start + 1 and sum(o.start < span.end and span.start < o.end for o in spans) == 1
        ids += not is_plain
        mark = "" if is_plain else f"[{ids}]"
        for position in range(span.start, span.end):
            marks[position].append((f"*{mark}", f"{_escaped(span.label)}{mark}"))
    for row, some in zip(cells, marks, strict=True):
        row.extend(["|".join(one[i] for one in some) or "_" for i in (0, 1)])
    if has[ARC]:
        heads = sentence.layers.get("head", ("_",) * length)
        relations = sentence.layers.get("deprel", ("_",) * length)
        for position, (row, head, relation) in enumerate(zip(cells, heads, relations, strict=True), 1):
            known = head.isdecimal() and len(head) < 10 and int(head) <= length
            at = f"{number}-{int(head) or position}" if known else "_"
            row.extend([_cell(relation, known), "basic" if known else "_", at])
    return cells, ids


def _cell(value: str, is_there: bool) -> str:
    if value == "_":
        return "*" if is_there else "_"
    return _escaped(value)
