"""Damage to files: bytes changed, cut out, doubled and put in, as slips and bad copies do."""

from __future__ import annotations

import json
import re
import zlib
from copy import deepcopy
from random import Random
from typing import Any

TOKENS = [token.encode() for token in [
    "", "\t", "\n", "\n\n", "\r\n", "\r", " ", "  ", "\0", "\f", "\v", "\x1c", "\x85", "\xa0", "\u2028", "\u2029",
    "\ufeff", "\u0301", "日", "e\u0301", "😀", "-DOCSTART-", " -DOCSTART- O", "# newdoc", "# newdoc id = a", "#", "# ",
    "# text = a b", "O", "B", "I", "I-", "B-PER", "E-X", "S-X", "L-X", "U-X", "-", "_", "0", "1", "-1", "1-2", "2-1",
    "0.1", "1.5", "9" * 20, "9" * 5000, "1e999", "NaN", "true", "null", "()", "(", ")", "((", "(-NONE- *)", "{", "}",
    "[", "]", "{}", "[]", "[[]]", ",", ":", '"', "'", "\\", "\\ud800", "\\n", '"words"', '"tokens"', '"text"',
    '"spans"', '"entities"', '"label"', '"start"', '"answer": "reject"', '"data": {}', '"annotations": [1]',
    '"offsets": 3', '"comments": 1', "T1\tX 0 1\ta", "T1\tX 0 1;2 3\ta", "R1", "#1\tAnnotatorNotes T1\tprobability nan",
    "=", "templates", "word[0]", "cluster(a, 4)[0]", "NER=B-PER", "SpaceAfter=No", "SpaceAfter=No|NER=B", "|", "NNP",
]] + [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x1f\x8b", b"\xff\xfe"]  # fmt: skip


def mutated(data: bytes, rng: Random, other: bytes = b"") -> bytes:
    """The data with one to six changes; ``other`` is data of which parts may be put in."""
    changes = (_odd_json,) if rng.random() < 0.3 and data[:1] in (b"{", b"[") else _CHANGES
    for _ in range(rng.choice([1, 1, 2, 3, 6])):
        data = rng.choice(changes)(data, rng, other)
    return data[:20_000]


def _place(data: bytes, rng: Random) -> tuple[int, int]:
    start = rng.randint(0, len(data))
    return start, min(len(data), start + rng.choice([0, 1, 1, 2, 5, 20, 100]))


def _cut(data: bytes, rng: Random, other: bytes) -> bytes:
    start, end = _place(data, rng)
    return data[:start] + data[end:]


def _double(data: bytes, rng: Random, other: bytes) -> bytes:
    start, end = _place(data, rng)
    return data[:end] + data[start:end] * rng.choice([1, 1, 2, 30]) + data[end:]


def _put_in(data: bytes, rng: Random, other: bytes) -> bytes:
    start, end = _place(data, rng)
    if rng.random() < 0.5:  # where a line begins
        start = end = data.rfind(b"\n", 0, start) + 1
    return data[:start] + rng.choice(TOKENS) + data[rng.choice([start, end]) :]


def _flip(data: bytes, rng: Random, other: bytes) -> bytes:
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _end(data: bytes, rng: Random, other: bytes) -> bytes:
    return data[: rng.randint(0, len(data))]


def _graft(data: bytes, rng: Random, other: bytes) -> bytes:
    start, end = _place(other, rng)
    at = rng.randint(0, len(data))
    return data[:at] + other[start:end] + data[at:]


def _replace_value(data: bytes, rng: Random, other: bytes) -> bytes:
    """A run of letters and digits becomes another token, so that the structure around it stays."""
    runs = list(re.finditer(rb"[\w.-]+", data))
    if not runs:
        return data
    chosen = rng.choice(runs)
    return data[: chosen.start()] + rng.choice(TOKENS) + data[chosen.end() :]


def _odd_json(data: bytes, rng: Random, other: bytes) -> bytes:
    """A value of a JSON file, or of one of its lines, becomes another of any type; what is no JSON stays as it is."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    for before, text, after in ((b"", data, b""), (lines[:at], lines[at], lines[at + 1 :])):
        try:
            value = json.loads(text)
        except ValueError:
            continue
        _change_value(value, rng)
        changed = json.dumps(value).encode()
        return b"\n".join([*before, changed, *after]) if text is not data else changed
    return data


def _move_line(data: bytes, rng: Random, other: bytes) -> bytes:
    lines = data.split(b"\n")
    lines.insert(rng.randrange(len(lines)), lines.pop(rng.randrange(len(lines))))
    return b"\n".join(lines)


_CHANGES = (_cut, _double, _put_in, _put_in, _flip, _end, _graft, _replace_value, _replace_value, _move_line, _odd_json)

ODD_VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    10**30,
    float("inf"),
    "",
    "odd",
    [],
    {},
    [1],
    {"a": 1},
    [[]],
    "word[0]",
]


def with_odd_header(data: bytes, rng: Random) -> bytes:
    """A model file whose header is another one with a right checksum: not a bad copy, but a foreign writer."""
    size = int.from_bytes(data[:8], "little")
    described = json.loads(data[8 : 8 + size])
    header = json.loads(described["__metadata__"]["dovetail"][8:])
    for _ in range(rng.randint(1, 2)):
        _change_value(rng.choice([header, header, described]), rng)
    if "__metadata__" in described:
        text = json.dumps(header)
        described["__metadata__"] = {"dovetail": f"{zlib.crc32(text.encode()):08x}{text}"}
    text = json.dumps(described).encode()
    return len(text).to_bytes(8, "little") + text + data[8 + size :]


def _change_value(value: Any, rng: Random) -> None:
    """One value somewhere inside becomes another, or goes."""
    while isinstance(value, dict | list) and value:
        keys = list(value) if isinstance(value, dict) else list(range(len(value)))
        key = rng.choice(keys)
        if rng.random() < 0.4 or not isinstance(value[key], dict | list):
            if rng.random() < 0.3:
                del value[key]
            else:
                value[key] = deepcopy(rng.choice(ODD_VALUES))
            return
        value = value[key]
