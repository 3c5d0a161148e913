"""Comparison of two folders of results that ``tools/compare_run.py`` has written, and the list of meant differences.

Nothing of dovetail is imported here: model files are read by a reader of this file's own, after docs/model-file.md.
"""

from __future__ import annotations

import gzip
import json
import math
import re
import tomllib
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

SORTS = ("failed", "weights", "header", "answers", "commands", "files", "json", "routes", "determinism")
"""Sorts of differences, in the order of the report; ``files`` is what commands write."""
MAX_SHOWN_CHARS = 400
"""Longest value that a report shows of each side."""
TIMED_FIELDS = re.compile(r"(?:.*_)?(?:seconds|milliseconds|processor|time|per_second|compiled)")
"""JSON fields that are not compared: times, dates, speeds, and the size of the cache of kernels."""
MASKS = [
    (re.compile(r"^(?!.*\biteration (\d+)/\1,).*, at most \d+ s left\n|^compiling, about .*\n", re.M), ""),
    (re.compile(r"\b\d+ compiled loops\b"), "<number> compiled loops"),
    (re.compile(r"\bdovetail-\d{4,5}(?==)"), "dovetail-<port>"),
    (re.compile(r"\btmp[a-z0-9_]{8}\b"), "<temporary>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|\+\d\d:?\d\d)?"), "<date>"),
    (re.compile(r"(?:127\.0\.0\.1|localhost):\d{4,5}\b"), "<address>"),
    (re.compile(r"\b\d[\d.,]*[ \u00a0]?(?:s|ms|µs|min|h|seconds?|minutes?)\b(?!\.\w)"), "<time>"),
    (re.compile(r"\b\d[\d.,]*k? (\w+(?:/s| per second| a second))\b"), r"<speed> \1"),
    (re.compile(r"^(dovetail_(?:request_seconds_(?:sum|bucket)|batches_total)\b.*) \S+$", re.M), r"\1 <number>"),
]
"""Replacements in texts for what depends on the clock, the cache of kernels and free ports. A command reports progress
every few seconds and at the last pass of training, so all reports but that of the last pass are left out."""
NUMPY_TYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1", "U64": "<u8",
    "U32": "<u4", "U16": "<u2", "U8": "<u1", "BOOL": "?",
}  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """What two sides do not have in common: its sort, its place, and what each side has there."""

    sort: str
    where: str
    base: str
    head: str

    @property
    def variation(self) -> str | None:
        """The variation of a model whose training makes the difference, None for other sorts."""
        return re.split(r"/| > ", self.where)[0] if self.sort in ("weights", "header", "answers") else None

    @property
    def place(self) -> str:
        """The command, the request or the file of a model that it is in."""
        return self.where.partition(" | ")[0].partition(" > ")[0]


def matches_glob(text: str, glob: str) -> bool:
    """Return whether a text matches a pattern in which ``*`` stands for any characters, and nothing else is special.

    >>> matches_glob("POST /annotate [1] | body", "POST /* [1] *"), matches_glob("POST /explain", "POST")
    (True, False)
    """
    return re.fullmatch(".*".join(map(re.escape, glob.split("*"))), text, re.DOTALL) is not None


@dataclass(frozen=True)
class Expected:
    """A difference that is meant: globs for its sort and its place, the reason, and the commit that made it."""

    sort: str
    where: str
    reason: str
    commit: str

    def matches(self, difference: Difference) -> bool:
        """Return whether the difference is this one."""
        return matches_glob(difference.sort, self.sort) and matches_glob(difference.where, self.where)


def load_expected(path: Path) -> list[Expected]:
    """Read the list of meant differences; raise ``ValueError`` where an entry lacks a field or has one too many."""
    entries = tomllib.loads(path.read_text("utf-8")).get("difference", [])
    for number, entry in enumerate(entries, 1):
        if entry.keys() != {"sort", "where", "reason", "commit"} or not all(map(str.strip, entry.values())):
            raise ValueError(f"{path}: entry {number} must have sort, where, reason and commit, none of them empty")
    return [Expected(**entry) for entry in entries]


def split_expected(
    differences: Iterable[Difference], entries: list[Expected]
) -> tuple[list[Difference], list[Expected]]:
    """Return the differences that match no entry, and the entries that match no difference."""
    differences = list(differences)
    unexpected = [d for d in differences if not any(entry.matches(d) for entry in entries)]
    return unexpected, [entry for entry in entries if not any(map(entry.matches, differences))]


Record = dict[str, Any]
"""A command or a request: its name, its fields, its files by name, and what is wrong with it, if anything."""


class Results:
    """The folder of results of one side: ``about.json``, and a folder for each sort of part."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.about: dict[str, Any] = json.loads((folder / "about.json").read_text("utf-8"))
        self.parts: dict[str, dict[str, Any]] = self.about["parts"]
        self.skipped: dict[str, str] = self.about["skipped"]
        paths = sorted(self.about["paths"].items(), key=lambda item: -len(item[0]))
        version = re.compile(rf"(?<![\w.]){re.escape(self.about['version'])}(?![\w.]|\d)")
        self._masks = [(re.compile(re.escape(path)), name) for path, name in paths] + [(version, "<version>"), *MASKS]

    def mask(self, text: str) -> str:
        """Return a text without what differs between two runs of one commit: folders, times, ports, the version."""
        for pattern, name in self._masks:
            text = pattern.sub(name, text)
        return text

    def load_records(self, part: str) -> dict[str, Record]:
        """Return the records of a part, by the name of the command or the request."""
        path = self.folder / part / "records.json"
        records = json.loads(path.read_text("utf-8")) if path.exists() else []
        return {record["name"]: record for record in records}


@dataclass(frozen=True)
class Array:
    """An array of a model file: the name of its type, its shape, and its bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    def values(self) -> np.ndarray:
        """Return the numbers in a row; of a type that numpy lacks, the bytes."""
        return np.frombuffer(self.data, NUMPY_TYPES.get(self.dtype, "<u1"))


Model = tuple[dict[str, Any], dict[str, Array]]


def read_model(data: bytes) -> Model | None:
    """Return the header and the arrays of a model file, None if it is none; raise ``ValueError`` if it is damaged."""
    size = int.from_bytes(data[:8], "little")
    if data[8:9] != b"{" or 8 + size > len(data):
        return None
    described = _parse_json(data[8 : 8 + size].decode("utf-8", "replace"))
    if not isinstance(described, dict) or "dovetail" not in described.get("__metadata__", {}):
        return None
    entry = described.pop("__metadata__")["dovetail"]
    if f"{zlib.crc32(entry[8:].encode('utf-8', 'surrogatepass')):08x}" != entry[:8]:
        raise ValueError("the checksum of the header is wrong")
    header = json.loads(entry[8:])
    arrays = {}
    for name, about in sorted(described.items()):
        begin, end = (8 + size + offset for offset in about["data_offsets"])
        arrays[name] = Array(about["dtype"], tuple(about["shape"]), data[begin:end])
        if zlib.crc32(arrays[name].data) != header["checksums"][name]:
            raise ValueError(f"the checksum of {name} is wrong")
    return header, arrays


def find_array_difference(sort: str, where: str, first: Array, second: Array) -> Difference:
    """Return the first difference between the bits of two arrays of one shape, and how many values differ."""
    values = first.values(), second.values()
    bits = [np.frombuffer(array.data, f"V{v.itemsize}") for array, v in zip((first, second), values, strict=True)]
    [positions] = np.nonzero(bits[0] != bits[1])
    at = int(positions[0])
    index = list(map(int, np.unravel_index(at, first.shape))) if math.prod(first.shape) == len(bits[0]) else [at]
    left, right = (f"{v[at]!r} (bits {b[at].tobytes()[::-1].hex()})" for v, b in zip(values, bits, strict=True))
    return Difference(sort, where, f"{left}; {len(positions)} of {len(bits[0])} differ, the first at {index}", right)


@dataclass(frozen=True)
class Comparison:
    """The results of both sides, and how they are compared."""

    base: Results
    head: Results

    def differences(self) -> Iterator[Difference]:
        """Yield all differences between two sides, in the order in which the parts ran."""
        for name in merge_names(self.base.parts, self.head.parts):
            runs = [side.parts.get(name, {"failure": "this part did not run"}) for side in (self.base, self.head)]
            left, right = (run.get("failure", "no failure") for run in runs)
            if any("failure" in run for run in runs):
                yield Difference("failed", name, self.base.mask(left), self.head.mask(right))
            sort, _, part = name.partition("/")
            yield from self.compare_variation(part) if sort == "models" else self._compare_records(sort, name)

    def compare_variation(self, part: str) -> Iterator[Difference]:
        """Yield the differences between the files that one variation of a model wrote, and between its answers."""
        folders = [side.folder / "models" / part for side in (self.base, self.head)]
        listed = [sorted(str(p.relative_to(f)) for p in f.rglob("*") if p.is_file()) for f in folders]
        for name in merge_names(*listed):
            if not all(name in names for names in listed):
                yield Difference("weights", f"{part}/{name}", *("written" if name in n else "absent" for n in listed))
            else:
                first, second = ((folder / name).read_bytes() for folder in folders)
                yield from self.compare_files("weights", f"{part}/{name}", first, second)
        answers = [side.folder / "answers" / f"{part}.json" for side in (self.base, self.head)]
        if all(path.exists() for path in answers):
            yield from self.compare_json("answers", part, *(json.loads(path.read_text("utf-8")) for path in answers))

    def _compare_records(self, sort: str, part: str) -> Iterator[Difference]:
        """Yield the differences between the commands or requests of a part, whose names are those of their records."""
        records = self.base.load_records(part), self.head.load_records(part)
        for name in merge_names(*records):
            if not all(name in side for side in records):
                yield Difference(sort, name, *("there" if name in side else "absent" for side in records))
            else:
                yield from self._compare_record(sort, part, records[0][name], records[1][name])

    def _compare_record(self, sort: str, part: str, left: Record, right: Record) -> Iterator[Difference]:
        """Yield the differences between two records: their fields, and the files by name and content."""
        name, files = left["name"], [record["files"] for record in (left, right)]
        if left.get("wrong") and right.get("wrong"):  # if one side alone is wrong, its fields differ
            yield Difference("failed", name, left["wrong"], right["wrong"])
        for key in merge_names(left["fields"], right["fields"]):
            first, second = (str(record["fields"].get(key, "absent")) for record in (left, right))
            yield from self.compare_texts(sort, f"{name} | {key}", first, second)
        for file in merge_names(*files):
            if not all(file in names for names in files):
                shown = ("written" if file in names else "absent" for names in files)
                yield Difference(sort, f"{name} | {file}", *shown)
            else:
                first, second = (
                    b"" if names[file] is None else (side.folder / part / names[file]).read_bytes()
                    for side, names in zip((self.base, self.head), files, strict=True)
                )
                yield from self.compare_files(
                    "files" if sort == "commands" else sort, f"{name} | {file}", first, second
                )

    def compare_files(self, sort: str, where: str, first: bytes, second: bytes) -> Iterator[Difference]:
        """Yield the differences between two files, by what they hold: a model, JSON, lines of text, or bytes."""
        first, second = decompress(first), decompress(second)
        if first == second:
            return
        try:
            models = [read_model(data) for data in (first, second)]
        except ValueError as error:
            yield Difference("failed", where, f"one of the two cannot be read: {error}", "")
            return
        if all(models):
            yield from self.compare_models(sort, where, *models)
            return
        try:
            yield from self.compare_texts(sort, where, first.decode("utf-8"), second.decode("utf-8"))
        except UnicodeDecodeError:
            pairs = enumerate(zip(first, second, strict=False))
            at = next((i for i, (a, b) in pairs if a != b), min(len(first), len(second)))
            shown = (f"{len(data)} bytes: {data[at : at + 16]!r}" for data in (first, second))
            yield Difference(sort, f"{where}: byte {at}", *shown)

    def compare_texts(self, sort: str, where: str, first: str, second: str) -> Iterator[Difference]:
        """Yield the differences between two texts: of JSON field by field, else the first line that differs."""
        first, second = self.base.mask(first), self.head.mask(second)
        if first == second:
            return
        if (parsed := _parse_both(first, second)) is not None:
            yield from self.compare_json(sort, where, *parsed)
            return
        lines = zip_longest(first.split("\n"), second.split("\n"), fillvalue="the end")
        for number, (left, right) in enumerate(lines, 1):
            if left == right:
                continue
            place = f"{where}: line {number}"
            parsed = _parse_both(left, right)
            differences = [*self.compare_json(sort, place, *parsed)] if parsed is not None else []
            if parsed is None:
                differences = [Difference(sort, place, shorten(left), shorten(right))]
            if differences:
                yield from differences
                return

    def compare_json(self, sort: str, where: str, first: Any, second: Any) -> Iterator[Difference]:
        """Yield the differences between two JSON values, each with the path that leads to it; numbers bit by bit."""
        if isinstance(first, dict) and isinstance(second, dict):
            orders = [[key for key in value if key in first and key in second] for value in (first, second)]
            if orders[0] != orders[1]:
                yield Difference(sort, where, *(f"keys in the order {', '.join(order)}" for order in orders))
            for key in merge_names(first, second):
                if key not in first or key not in second:
                    shown = (shorten(value[key]) if key in value else "absent" for value in (first, second))
                    yield Difference(sort, join_path(where, key), *shown)
                elif not (TIMED_FIELDS.fullmatch(key) and isinstance(first[key], int | float | str)):
                    yield from self.compare_json(sort, join_path(where, key), first[key], second[key])
        elif isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
            for number, (left, right) in enumerate(zip(first, second, strict=True)):
                yield from self.compare_json(sort, join_path(where, str(number)), left, right)
        elif isinstance(first, list) and isinstance(second, list):
            yield Difference(sort, where, *(f"{len(value)} items: {shorten(value)}" for value in (first, second)))
        elif isinstance(first, str) and isinstance(second, str):
            if self.base.mask(first) != self.head.mask(second):
                yield Difference(sort, where, shorten(first), shorten(second))
        elif repr(first) != repr(second):  # 1 and 1.0 and true are three values, and so are 0.0 and -0.0
            yield Difference(sort, where, shorten(first), shorten(second))

    def compare_models(self, sort: str, where: str, first: Model, second: Model) -> Iterator[Difference]:
        """Yield the differences between two models: arrays bit by bit, and the header key by key."""
        headers = [{key: value for key, value in model[0].items() if key != "checksums"} for model in (first, second)]
        yield from self.compare_json("header" if sort == "weights" else sort, join_path(where, "header"), *headers)
        for name in merge_names(first[1], second[1]):
            left, right = (model[1].get(name) for model in (first, second))
            if left is None or right is None or (left.dtype, left.shape) != (right.dtype, right.shape):
                shown = ("absent" if array is None else f"{array.dtype} {array.shape}" for array in (left, right))
                yield Difference(sort, join_path(where, name), *shown)
            elif left.data != right.data:
                yield find_array_difference(sort, join_path(where, name), left, right)


def merge_names(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """Return the names of both sides, each once, in the order of the first side."""
    return list(dict.fromkeys([*first, *second]))


def join_path(where: str, key: str) -> str:
    """Return the place of a value within another: ``file > field.field``."""
    return f"{where}.{key}" if " > " in where else f"{where} > {key}"


def shorten(value: Any) -> str:
    """Return a value as a report shows it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}... ({len(text)} characters)"


def decompress(data: bytes) -> bytes:
    """Return the content of a compressed file, and that of any other as it is."""
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _parse_both(first: str, second: str) -> tuple[Any, Any] | None:
    """Return what two texts hold if both are JSON objects or arrays."""
    values = _parse_json(first), _parse_json(second)
    return values if all(isinstance(value, dict | list) for value in values) else None


def pair_figures(base: Results, head: Results, clock: str) -> Iterator[tuple[str, float, float, float, float]]:
    """Yield for each part its name, the seconds of base and head, and the megabytes of base and head.

    ``clock`` is ``seconds`` for elapsed time, or ``processor`` for CPU time.
    """
    for name, left in base.parts.items():
        right = head.parts.get(name, {})
        if clock in left and clock in right:
            yield name, left[clock], right[clock], left["megabytes"], right["megabytes"]
