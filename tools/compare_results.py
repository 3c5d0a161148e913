"""Comparison of two folders of results that ``tools/compare_run.py`` has written, and the list of meant differences.

Nothing of dovetail is imported here: model files are read by a reader of this file's own, after docs/model-file.md.
"""

from __future__ import annotations

import fnmatch
import gzip
import json
import math
import re
import tomllib
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SORTS = ("failed", "weights", "header", "answers", "commands", "files", "json", "routes", "determinism")
"""Sorts of differences, in the order of the report; ``files`` is what commands write."""
MAX_SHOWN_CHARS = 400
"""Longest value that a report shows of each side."""
TIMED_FIELDS = re.compile(r"(?:.*_)?(?:seconds|milliseconds|processor|time|per_second|compiled)")
"""Names of JSON fields that hold a time, a date or a speed, or say what is in the cache of kernels."""
MASKS = [
    (re.compile(r"^(?!.*\biteration (\d+)/\1,).*, at most \d+ s left\n|^compiling, about .*\n", re.M), ""),
    (re.compile(r"\b\d+ compiled loops\b"), "<number> compiled loops"),
    (re.compile(r"\bdovetail-\d{4,5}(?==)"), "dovetail-<port>"),
    (re.compile(r"\btmp[a-z0-9_]{8}\b"), "<temporary>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|\+\d\d:?\d\d)?"), "<date>"),
    (re.compile(r"(?:127\.0\.0\.1|localhost):\d{4,5}\b"), "<address>"),
    (re.compile(r"\b\d[\d.,]*[ \u00a0]?(?:s|ms|µs|min|h|seconds?|minutes?)\b(?!\.\w)"), "<time>"),
    (re.compile(r"\b\d[\d.,]*k? (\w+(?:/s| per second| a second))\b"), r"<speed> \1"),
    (re.compile(r"^(dovetail_request_seconds_(?:sum|bucket)\b.*) \S+$", re.M), r"\1 <time>"),
]
"""What depends on time, on the cache of kernels and on free ports in texts, and what stands for it. Of the passes of
training only the last is always told."""
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
    def place(self) -> str:
        """The command, the request or the file of a model that it is in."""
        return self.where.partition(" | ")[0].partition(" > ")[0]


@dataclass(frozen=True)
class Expected:
    """A difference that is meant: globs for its sort and its place, the reason, and the commit that made it."""

    sort: str
    where: str
    reason: str
    commit: str

    def matches(self, difference: Difference) -> bool:
        """Return whether the difference is this one."""
        found = (difference.sort, self.sort), (difference.where, self.where)
        return all(fnmatch.fnmatchcase(value, pattern) for value, pattern in found)


def read_expected(path: Path) -> list[Expected]:
    """Read the list of meant differences; raise ``ValueError`` where an entry lacks a field or has one too many."""
    entries = tomllib.loads(path.read_text("utf-8")).get("difference", [])
    for number, entry in enumerate(entries, 1):
        if entry.keys() != {"sort", "where", "reason", "commit"} or not all(map(str.strip, entry.values())):
            raise ValueError(f"{path}: entry {number} must have sort, where, reason and commit, none of them empty")
    return [Expected(**entry) for entry in entries]


def settled(found: Iterable[Difference], expected: list[Expected]) -> tuple[list[Difference], list[Expected]]:
    """Return the differences that nobody expects, and the expectations that nothing meets."""
    found = list(found)
    unexpected = [one for one in found if not any(entry.matches(one) for entry in expected)]
    return unexpected, [entry for entry in expected if not any(map(entry.matches, found))]


class Results:
    """The folder of results of one side: ``about.json``, and a folder for each sort of part."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.about: dict[str, Any] = json.loads((folder / "about.json").read_text("utf-8"))
        self.parts: dict[str, dict[str, Any]] = self.about["parts"]
        paths = sorted(self.about["paths"].items(), key=lambda item: -len(item[0]))
        version = re.compile(rf"(?<![\w.]){re.escape(self.about['version'])}(?![\w.]|\d)")
        self._masks = [(re.compile(re.escape(path)), name) for path, name in paths] + [(version, "<version>"), *MASKS]

    def masked(self, text: str) -> str:
        """Return a text with names for this side's folders, version, times and ports.

        What differs between two runs of the same commit is no difference between commits.
        """
        for pattern, name in self._masks:
            text = pattern.sub(name, text)
        return text

    def records(self, name: str) -> dict[str, dict[str, Any]]:
        """Return the records of a part, by the name of the command or the request."""
        path = self.folder / name / "records.json"
        return {one["name"]: one for one in json.loads(path.read_text("utf-8"))} if path.exists() else {}


def differences(base: Results, head: Results) -> Iterator[Difference]:
    """Yield all differences between two sides, each sort in the order in which its parts ran."""
    for name in both(base.parts, head.parts):
        sort, _, part = name.partition("/")
        runs = [side.parts.get(name, {"failure": "this part did not run"}) for side in (base, head)]
        failures = [run.get("failure") for run in runs]
        if any(failures):
            shown = [side.masked(told or "no failure") for side, told in zip((base, head), failures, strict=True)]
            yield Difference("failed", name, *shown)
        if sort == "models":
            yield from _model_part_differences(base, head, part)
        else:
            yield from _record_differences(base, head, sort, name)


def _model_part_differences(base: Results, head: Results, part: str) -> Iterator[Difference]:
    """Yield the differences between the files that one variation of a model wrote, and between its answers."""
    folders = [side.folder / "models" / part for side in (base, head)]
    listed = [sorted(str(p.relative_to(f)) for p in f.rglob("*") if p.is_file()) for f in folders]
    for name in both(*listed):
        if not all(name in names for names in listed):
            yield Difference("weights", f"{part}/{name}", *("written" if name in n else "absent" for n in listed))
        else:
            data = [(folder / name).read_bytes() for folder in folders]
            yield from content_differences("weights", f"{part}/{name}", *data, base, head)
    answers = [side.folder / "answers" / f"{part}.json" for side in (base, head)]
    if all(path.exists() for path in answers):
        read = [json.loads(path.read_text("utf-8")) for path in answers]
        yield from json_differences("answers", part, *read, base, head)


def _record_differences(base: Results, head: Results, sort: str, name: str) -> Iterator[Difference]:
    """Yield the differences between the commands or requests of a part: their fields, and files by name and content."""
    records = base.records(name), head.records(name)
    for one in both(*records):
        if not all(one in side for side in records):
            yield Difference(sort, one, *("there" if one in side else "absent" for side in records))
            continue
        ours, theirs = (side[one] for side in records)
        if ours.get("wrong") and theirs.get("wrong"):  # else the exit codes differ, which is told below
            yield Difference("failed", one, ours["wrong"], theirs["wrong"])
        for key in both(ours["fields"], theirs["fields"]):
            values = [str(record["fields"].get(key, "absent")) for record in (ours, theirs)]
            yield from text_differences(sort, f"{one} | {key}", *values, base, head)
        for file in both(ours["files"], theirs["files"]):
            where = f"{one} | {file}"
            if not (file in ours["files"] and file in theirs["files"]):
                found = ("written" if file in record["files"] else "absent" for record in (ours, theirs))
                yield Difference(sort, where, *found)
                continue
            stored = ours["files"][file], theirs["files"][file]
            data = [
                b"" if place is None else (side.folder / name / place).read_bytes()
                for side, place in zip((base, head), stored, strict=True)
            ]
            yield from content_differences("files" if sort == "commands" else sort, where, *data, base, head)


def both(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """Return the names of both sides, each once, in the order of the first side."""
    return list(dict.fromkeys([*first, *second]))


def content_differences(
    sort: str, where: str, first: bytes, second: bytes, base: Results, head: Results
) -> Iterator[Difference]:
    """Yield the differences between two files, by what they hold: a model, JSON, lines of text, or bytes."""
    first, second = unpacked(first), unpacked(second)
    if first == second:
        return
    try:
        models = [read_model(data) for data in (first, second)]
    except ValueError as error:
        yield Difference("failed", where, f"one of the two cannot be read: {error}", "")
        return
    if all(models):
        yield from model_differences(sort, where, *models, base, head)
        return
    try:
        texts = [data.decode("utf-8") for data in (first, second)]
    except UnicodeDecodeError:
        at = next(
            (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(map(len, (first, second)))
        )
        yield Difference(
            sort, f"{where}: byte {at}", *(f"{len(d)} bytes: {d[at : at + 16]!r}" for d in (first, second))
        )
        return
    yield from text_differences(sort, where, *texts, base, head)


def unpacked(data: bytes) -> bytes:
    """Return the content of a compressed file, and that of any other as it is."""
    return gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data


def text_differences(
    sort: str, where: str, first: str, second: str, base: Results, head: Results
) -> Iterator[Difference]:
    """Yield the differences between two texts: of JSON field by field, else the first line that differs."""
    first, second = base.masked(first), head.masked(second)
    if first == second:
        return
    parsed = [_json(text) for text in (first, second)]
    if all(isinstance(value, dict | list) for value in parsed):
        yield from json_differences(sort, where, *parsed, base, head)
        return
    lines = [text.split("\n") for text in (first, second)]
    for number in range(max(map(len, lines))):
        ours, theirs = (own[number] if number < len(own) else "the end" for own in lines)
        if ours == theirs:
            continue
        parsed = [_json(line) for line in (ours, theirs)]
        place = f"{where}: line {number + 1}"
        if all(isinstance(value, dict | list) for value in parsed):
            if inner := list(json_differences(sort, place, *parsed, base, head)):
                yield from inner
                return
        else:
            yield Difference(sort, place, shortened(ours), shortened(theirs))
            return


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def json_differences(
    sort: str, where: str, first: Any, second: Any, base: Results, head: Results
) -> Iterator[Difference]:
    """Yield the differences between two JSON values, each with the path that leads to it; numbers bit by bit."""
    if isinstance(first, dict) and isinstance(second, dict):
        for key in both(first, second):
            place = inside(where, key)
            if key not in first or key not in second:
                yield Difference(sort, place, *(shortened(v[key]) if key in v else "absent" for v in (first, second)))
            elif not (TIMED_FIELDS.fullmatch(key) and isinstance(first[key], int | float | str)):
                yield from json_differences(sort, place, first[key], second[key], base, head)
    elif isinstance(first, list) and isinstance(second, list):
        if len(first) != len(second):
            yield Difference(sort, where, *(f"{len(v)} items: {shortened(v)}" for v in (first, second)))
        for number, (a, b) in enumerate(zip(first, second, strict=False)) if len(first) == len(second) else ():
            yield from json_differences(sort, inside(where, str(number)), a, b, base, head)
    elif isinstance(first, str) and isinstance(second, str):
        if base.masked(first) != head.masked(second):
            yield Difference(sort, where, shortened(first), shortened(second))
    elif repr(first) != repr(second):  # 1 and 1.0 and true are three values, and so are 0.0 and -0.0
        yield Difference(sort, where, shortened(first), shortened(second))


def inside(where: str, key: str) -> str:
    """Return the place of a value within another: ``file > field.field``."""
    return f"{where}.{key}" if " > " in where else f"{where} > {key}"


def shortened(value: Any) -> str:
    """Return a value as a report shows it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN_CHARS else f"{text[:MAX_SHOWN_CHARS]}... ({len(text)} characters)"


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
    described = _json(data[8 : 8 + size].decode("utf-8", "replace"))
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


def model_differences(
    sort: str, where: str, first: Model, second: Model, base: Results, head: Results
) -> Iterator[Difference]:
    """Yield the differences between two models: arrays bit by bit, and the header key by key."""
    headers = [{key: value for key, value in model[0].items() if key != "checksums"} for model in (first, second)]
    yield from json_differences("header" if sort == "weights" else sort, inside(where, "header"), *headers, base, head)
    for name in both(first[1], second[1]):
        place = inside(where, name)
        ours, theirs = (model[1].get(name) for model in (first, second))
        if ours is None or theirs is None:
            yield Difference(
                sort, place, *("absent" if one is None else f"{one.dtype} {one.shape}" for one in (ours, theirs))
            )
        elif (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
            yield Difference(sort, place, *(f"{one.dtype} {one.shape}" for one in (ours, theirs)))
        elif ours.data != theirs.data:
            yield array_difference(sort, place, ours, theirs)


def array_difference(sort: str, where: str, first: Array, second: Array) -> Difference:
    """Return the first difference between the bits of two arrays of one shape, and how many there are."""
    values = first.values(), second.values()
    bits = [np.frombuffer(array.data, f"V{v.itemsize}") for array, v in zip((first, second), values, strict=True)]
    [differ] = np.nonzero(bits[0] != bits[1])
    at = int(differ[0])
    index = list(map(int, np.unravel_index(at, first.shape))) if math.prod(first.shape) == len(bits[0]) else [at]
    shown = (f"{v[at]!r} (bits {b[at].tobytes()[::-1].hex()})" for v, b in zip(values, bits, strict=True))
    share = f"{len(differ)} of {len(bits[0])} differ, the first at {index}"
    ours, theirs = shown
    return Difference(sort, where, f"{ours}; {share}", theirs)


def figures(base: Results, head: Results, clock: str) -> Iterator[tuple[str, float, float, float, float]]:
    """Yield the seconds and megabytes of every part: base and head of the one, base and head of the other.

    ``clock`` names the seconds: ``seconds`` on the wall, or those of the ``processor``.
    """
    for name, ours in base.parts.items():
        theirs = head.parts.get(name)
        if theirs is not None and clock in ours and clock in theirs:
            yield name, ours[clock], theirs[clock], ours["megabytes"], theirs["megabytes"]
