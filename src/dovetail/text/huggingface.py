"""Data sets of Hugging Face on disk: parquet and arrow files, and the folders of ``save_to_disk``; through pyarrow.

A row is a sentence (or a text with spans) in the fields of JSON lines. Tags may be whole numbers whose names stand in
the features of the file (``ClassLabel``); ``ner_tags``, ``pos_tags`` and ``chunk_tags`` are the layers ``ner``, ``pos``
and ``chunk``.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from dovetail.errors import DovetailError, InputError
from dovetail.extras import extra
from dovetail.text.brat import made_folder
from dovetail.text.documents import ungroup
from dovetail.text.files import Source, atomic_writer, open_text
from dovetail.text.json_object import JsonObject
from dovetail.text.jsonl import compact_json, documents_of, sentence_object
from dovetail.text.report import ReadReport, reporting
from dovetail.text.segment import Lines
from dovetail.text.sentence import Document, Sentence

WHAT = "the format huggingface"
TAGS = {"ner_tags": "ner", "pos_tags": "pos", "chunk_tags": "chunk"}
_AS_JSON = ("frames", "constituents")
"""Fields of lists of mixed types, which columns are not: they are JSON in strings."""
ROWS = 1000
"""So many are in memory at once."""
MARKS = ("dataset_info.json", "dataset_dict.json", "state.json")
"""One of these is in a folder of ``save_to_disk``."""


def read_huggingface(
    path: Source,
    split: str | None = None,
    names: Mapping[str, Sequence[str]] | None = None,
    lines: Lines = "auto",
    texts: Literal["annotated", "all"] = "annotated",
    report: ReadReport | None = None,
) -> Iterator[Document]:
    """The rows of a ``.parquet`` or ``.arrow`` file, or of a folder that ``save_to_disk`` wrote, streamed.

    Of a folder with several splits one must be named. ``names`` gives the names of tags that are numbers, by the name
    of their column, where the file does not.
    """
    with reporting(report) as notes:
        for file in _files(path, split):
            objects = _objects(file, names or {}, notes)
            yield from documents_of(objects, str(getattr(file, "name", file)), lines, texts, notes)


def _files(path: Source, split: str | None) -> Iterator[Source]:
    if hasattr(path, "read") or fspath(path) == "-" or not Path(fspath(path)).is_dir():
        yield path
        return
    folder = Path(fspath(path))
    if (folder / "dataset_dict.json").exists():
        there = sorted(one.name for one in folder.iterdir() if (one / "state.json").exists())
        if split is None and len(there) == 1:
            split = there[0]
        if split not in there:
            told = f"no split {split!r} here" if split else "several splits here"
            raise InputError(
                f"{told}: name one of {', '.join(there)}, such as {folder.name}/{there[0] if there else 'train'}",
                folder,
            )
        folder = folder / split
    state = folder / "state.json"
    try:
        listed = json.loads(state.read_text(encoding="utf-8"))["_data_files"]
        found = [folder / Path(one["filename"]).name for one in listed]
    except FileNotFoundError:
        found = sorted([*folder.glob("*.arrow"), *folder.glob("*.parquet")])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"this is not what save_to_disk writes ({type(error).__name__}: {error})", state) from None
    if not found:
        raise InputError("no .arrow or .parquet file in this folder", folder)
    yield from found


def _objects(file: Source, names: Mapping[str, Sequence[str]], report: ReadReport) -> Iterator[JsonObject]:
    """The rows of one file as JSON objects, with their numbers for lines."""
    arrow = extra("pyarrow", WHAT)
    source: Any = file
    with open_text(file) as reader:
        path = reader.name
        if not isinstance(file, str | PathLike) or fspath(file) == "-" or fspath(file).endswith(".gz"):
            source = io.BytesIO(reader.data())
    number = 0
    try:
        schema, batches = _open(arrow, source)
        known = {**_label_names(schema, path), **{name: list(some) for name, some in names.items()}}
        _check_columns(schema.names, path)
        for batch in batches:
            batch.validate(full=True)  # else damaged offsets would reach beyond the file
            for row in batch.to_pylist():
                number += 1
                item = JsonObject(row, path, number, report)
                yield _named(item, known)
    except (arrow.ArrowException, OSError, UnicodeDecodeError, OverflowError) as error:
        told = str(error).split("\n")[0][:120]
        raise InputError(f"no parquet or arrow file that can be read, after {number} rows ({told})", path) from None


def _open(arrow: Any, source: Any) -> tuple[Any, Iterator[Any]]:
    """The schema of a file and its batches of rows, whichever of three kinds it is."""
    file = arrow.PythonFile(source) if isinstance(source, io.BytesIO) else arrow.OSFile(fspath(source))
    magic = file.read(6)
    file.seek(0)
    if magic[:4] == b"PAR1":
        opened = extra("pyarrow.parquet", WHAT).ParquetFile(file)
        return opened.schema_arrow, opened.iter_batches(ROWS)
    if magic == b"ARROW1":
        read = arrow.ipc.open_file(file)
        return read.schema, (read.get_batch(i) for i in range(read.num_record_batches))
    stream = arrow.ipc.open_stream(file)
    return stream.schema, iter(stream)


def _label_names(schema: Any, path: str) -> dict[str, list[str]]:
    """The names of the numbers in each column whose features give them."""
    try:
        features = json.loads((schema.metadata or {}).get(b"huggingface", b"{}"))["info"]["features"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    found: dict[str, list[str]] = {}
    for column, feature in features.items() if isinstance(features, dict) else ():
        while isinstance(feature, dict) and "feature" in feature:  # Sequence, List
            feature = feature["feature"]
        if isinstance(feature, list) and len(feature) == 1:
            feature = feature[0]
        given = feature.get("names") if isinstance(feature, dict) else None
        if isinstance(given, dict):  # as the card of a data set has them: {"0": "O", ...}
            given = [given[key] for key in sorted(given, key=str)]
        if isinstance(given, list) and all(isinstance(one, str) for one in given):
            found[column] = given
    return found


def _check_columns(columns: Sequence[str], path: str) -> None:
    if not {"words", "tokens", "text"} & set(columns):
        told = ", ".join(columns) or "none"
        raise InputError(f"none of the columns is called tokens, words or text (there are: {told}); rename one", path)


def _named(item: JsonObject, names: Mapping[str, Sequence[str]]) -> JsonObject:
    """A row with names for numbers, and the layers under our names; what is null is not there."""
    fields: dict[str, Any] = {}
    for column, value in item.fields.items():
        if value is None:
            continue
        known = names.get(column)
        if known is not None and isinstance(value, list) and any(type(one) is int for one in value):
            strange = next((one for one in value if type(one) is not int or not 0 <= one < len(known)), None)
            if strange is not None:
                raise item.wrong(
                    f'"{column}" has the tag {strange}, and there are {len(known)} names: {", ".join(known)[:60]}'
                )
            value = [known[one] for one in value]
        elif column in TAGS and isinstance(value, list) and any(type(one) is int for one in value):
            raise item.wrong(
                f'"{column}" are numbers, and the file does not name them; give names={{"{column}": [...]}}'
            )
        layer = TAGS.get(column, column)
        fields[column if layer in item.fields and layer != column else layer] = value
    item.fields = {name: _plain(value) for name, value in fields.items()}
    for name in _AS_JSON:
        if isinstance(given := item.fields.get(name), str):
            try:
                item.fields[name] = json.loads(given)
            except (ValueError, RecursionError):
                raise item.wrong(f'"{name}" is no JSON') from None
    return item


def _plain(value: Any) -> Any:
    """Structs without the fields that are null in them."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return value if isinstance(value, str | int | float) else str(value)  # times, bytes, ...


def write_huggingface(items: Iterable[Document | Sentence], path: str | PathLike[str]) -> None:
    """Write a row a sentence to a ``.parquet`` or ``.arrow`` file, or else to a folder as ``save_to_disk`` does.

    ``ner``, ``pos`` and ``chunk`` become numbers with their names in the features. Which names there are is known at
    the end alone: until then the rows wait in a temporary file.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_huggingface([Sentence(("Ada", "slept"), {"ner": ("B-PER", "O")})], folder + "/a.parquet")
    ...     [document] = read_huggingface(folder + "/a.parquet")
    >>> document.sentences[0].layers["ner"]
    ('B-PER', 'O')
    """
    arrow = extra("pyarrow", WHAT)
    target = Path(path)
    kind = Path(fspath(path).removesuffix(".gz")).suffix.lower()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as held:
        shape = _Shape()
        for sentence, document, _ in ungroup(items):
            if sentence.words:
                fields = _fields(sentence, document)
                shape.see(fields)
                held.write(compact_json(fields) + "\n")
        held.seek(0)
        schema = shape.schema(arrow)
        batches = (shape.batch(arrow, schema, rows) for rows in _blocks(held))
        if kind == ".parquet":
            with (
                atomic_writer(path, binary=True) as file,
                extra("pyarrow.parquet", WHAT).ParquetWriter(file, schema) as out,
            ):
                for batch in batches:
                    out.write_batch(batch)
            return
        if kind == ".arrow" or fspath(path) == "-":
            with atomic_writer(path, binary=True) as file, arrow.ipc.new_stream(file, schema) as out:
                for batch in batches:
                    out.write_batch(batch)
            return
        _write_folder(arrow, target, schema, batches, shape)


def _write_folder(arrow: Any, folder: Path, schema: Any, batches: Iterator[Any], shape: _Shape) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DovetailError(f"{folder}: is there already; name a new folder, or a file that ends in .parquet or .arrow")
    made_folder(folder)
    name = "data-00000-of-00001.arrow"
    with atomic_writer(folder / name, binary=True) as file, arrow.ipc.new_stream(file, schema) as out:
        for batch in batches:
            out.write_batch(batch)
    state: dict[str, Any] = {"_data_files": [{"filename": name}], "_fingerprint": "dovetail", "_format_columns": None,
             "_format_kwargs": {}, "_format_type": None, "_output_all_columns": False, "_split": None}  # fmt: skip
    info = {"citation": "", "description": "", "features": shape.features(), "homepage": "", "license": ""}
    for named, value in (("state.json", state), ("dataset_info.json", info)):
        with atomic_writer(folder / named) as text:
            text.write(json.dumps(value, indent=2) + "\n")


def _blocks(held: Iterable[str]) -> Iterator[list[dict[str, Any]]]:
    block: list[dict[str, Any]] = []
    for line in held:
        block.append(json.loads(line))
        if len(block) == ROWS:
            yield block
            block = []
    if block:
        yield block


def _fields(sentence: Sentence, document: Document | None) -> dict[str, Any]:
    """The object of a sentence with values that arrow can hold: of one type in a column."""
    fields = sentence_object(sentence, document)
    fields["tokens"] = fields.pop("words")
    for tags, layer in TAGS.items():
        if layer in fields and tags not in fields:
            fields[tags] = fields.pop(layer)
    return fields | {name: compact_json(fields[name]) for name in _AS_JSON if name in fields}


_ENTITY = ("start", "end", "label", "probability", "text")


class _Shape:
    """What columns there are, of which types, and with which tags."""

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}
        self.tags: dict[str, Counter[str]] = {}

    def see(self, fields: Mapping[str, Any]) -> None:
        for name, value in fields.items():
            kind = "entities" if name == "entities" else "offsets" if name == "offsets" else _kind(value)
            before = self.kinds.setdefault(name, kind)
            if before != kind:
                raise DovetailError(
                    f"the field {name!r} is {before} in one sentence and {kind} in another, which a column cannot be"
                )
            if name in TAGS:
                self.tags.setdefault(name, Counter()).update(value)

    def names(self, column: str) -> list[str]:
        """The tags of a column: O first, then by their names."""
        return sorted(self.tags[column], key=lambda tag: (tag != "O", tag[2:] if tag[1:2] == "-" else tag, tag))

    def features(self) -> dict[str, Any]:
        """The columns as Hugging Face describes them."""

        def value(dtype: str) -> dict[str, Any]:
            return {"dtype": dtype, "_type": "Value"}

        known = {
            "strings": {"feature": value("string"), "_type": "Sequence"},
            "integers": {"feature": value("int64"), "_type": "Sequence"},
            "string": value("string"),
            "offsets": {"feature": {"feature": value("int64"), "_type": "Sequence"}, "_type": "Sequence"},
            "entities": [{
                "start": value("int64"), "end": value("int64"), "label": value("string"),
                "probability": value("float64"), "text": value("string"),
            }],
        }  # fmt: skip
        return {
            name: {"feature": {"names": self.names(name), "_type": "ClassLabel"}, "_type": "Sequence"}
            if name in TAGS
            else known[kind]
            for name, kind in self.kinds.items()
        }

    def schema(self, arrow: Any) -> Any:
        entity = arrow.struct([("start", arrow.int64()), ("end", arrow.int64()), ("label", arrow.string()),
                               ("probability", arrow.float64()), ("text", arrow.string())])  # fmt: skip
        types = {
            "strings": arrow.list_(arrow.string()), "integers": arrow.list_(arrow.int64()), "string": arrow.string(),
            "offsets": arrow.list_(arrow.list_(arrow.int64())), "entities": arrow.list_(entity),
        }  # fmt: skip
        kinds = {name: "integers" if name in TAGS else kind for name, kind in self.kinds.items()} or {
            "tokens": "strings"
        }
        told = json.dumps({"info": {"features": self.features()}})
        return arrow.schema([(name, types[kind]) for name, kind in kinds.items()], metadata={"huggingface": told})

    def batch(self, arrow: Any, schema: Any, rows: list[dict[str, Any]]) -> Any:
        numbers = {name: {tag: i for i, tag in enumerate(self.names(name))} for name in self.tags}
        for row in rows:
            for name, number in numbers.items():
                if name in row:
                    row[name] = [number[tag] for tag in row[name]]
        return arrow.RecordBatch.from_pylist([{name: row.get(name) for name in schema.names} for row in rows], schema)


def _kind(value: Any) -> str:
    if isinstance(value, list | tuple):
        return "integers" if value and all(type(one) is int for one in value) else "strings"
    return "string"
