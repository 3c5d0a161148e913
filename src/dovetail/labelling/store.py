"""Answers in an append-only file of JSON lines that outlives ``kill -9``.

The first line says what is labelled. Every other line is an ``Entry``, or a point of the learning curve, written in one
piece and forced to the disk before anybody hears that it is saved. What was answered is never changed: who answers
again, or takes an answer back, adds a line. A line that the machine did not get to finish is left out, and told.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from dovetail.errors import DovetailError, InputError
from dovetail.spellings import known, respelled

State = Literal["done", "skipped", "flagged", "undone"]
STATES: tuple[State, ...] = ("done", "skipped", "flagged", "undone")
VERSION = 1


@dataclass(frozen=True)
class Entry:
    """What one annotator said of one sentence, which is known by its words."""

    words: tuple[str, ...]
    annotator: str
    state: State
    answer: list[Any] | None = None
    note: str = ""
    time: str = ""
    seconds: float | None = None

    def as_json(self) -> str:
        """One line of the file."""
        return json.dumps({k: v for k, v in asdict(self).items() if v not in (None, "")}, ensure_ascii=False)


@dataclass
class Store:
    """The file of a session; ``open_store`` opens it."""

    path: Path
    task: str
    labels: tuple[str, ...]
    entries: list[Entry] = field(default_factory=list)
    points: list[list[float]] = field(default_factory=list)
    """The learning curve so far."""
    warnings: list[str] = field(default_factory=list)
    _file: Any = None
    _lock: Any = field(default_factory=threading.Lock)

    def add(self, *entries: Entry) -> None:
        """Write entries; when this returns, they are on the disk."""
        with self._lock:
            self._write("\n".join(entry.as_json() for entry in entries))
            self.entries.extend(entries)

    def add_point(self, point: Sequence[float]) -> None:
        """Write a point of the learning curve."""
        with self._lock:
            self._write(json.dumps({"point": list(point)}))
            self.points.append(list(point))

    def _write(self, line: str) -> None:
        data = memoryview((line + "\n").encode("utf-8", "backslashreplace"))
        try:
            while data:
                data = data[self._file.write(data) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise DovetailError(f"{self.path}: cannot be written: {error.strerror or error}") from None

    def close(self) -> None:
        """Let others open it."""
        self._file.close()


def open_store(path: Path, task: str, labels: Sequence[str]) -> Store:
    """The store at a path, with all that is in it; a new one where there is none.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = open_store(Path(folder, "a.jsonl"), "entities", ["PER"])
    ...     store.add(Entry(("Ada", "slept"), "ann", "done", [[0, 1, "PER"]]))
    ...     store.close()
    ...     open_store(Path(folder, "a.jsonl"), "entities", ["PER"]).entries[0].answer
    [[0, 1, 'PER']]
    """
    try:
        file = path.open("ab+", buffering=0)
    except OSError as error:
        raise DovetailError(f"{path}: cannot be written: {error.strerror}") from None
    _hold(file, path)
    store = Store(path, task, tuple(labels), _file=file)
    file.seek(0)
    data = file.read()
    if not data:
        store._write(json.dumps({"dovetail-label": VERSION, "task": task, "labels": list(labels)}, ensure_ascii=False))
        _sync_folder(path.parent)
        return store
    try:
        _load(store, data)
    except BaseException:
        store.close()
        raise
    if not data.endswith(b"\n"):
        file.write(b"\n")  # what is added stands on a line of its own
    return store


def _load(store: Store, data: bytes) -> None:
    lines = data.split(b"\n")
    header = respelled("labels", _parsed(lines[0]))
    if "dovetail-label" not in header:
        raise InputError("this is no file of dovetail label; name another --output", store.path, 1)
    if header["dovetail-label"] != VERSION:
        raise InputError("this file is of a newer dovetail; upgrade dovetail, or name another --output", store.path, 1)
    header = known("labels", header, ("dovetail-label", "task", "labels"), store.path)
    if header.get("task") != store.task:
        raise InputError(f"this file is of --task {header.get('task')}; name another --output", store.path, 1)
    labels = [str(label) for label in header.get("labels", [])]
    store.labels = tuple(dict.fromkeys([*labels, *store.labels]))
    last = max(number for number, line in enumerate(lines) if line.strip())
    for number, line in enumerate(lines[1:], 2):
        if not line.strip():
            continue
        given = known("labels", _parsed(line), {"point", *(f.name for f in fields(Entry))}, store.path)
        entry, point = _entry(given), _point(given)
        if entry is not None:
            store.entries.append(entry)
        elif point is not None:
            store.points.append(point)
        else:
            torn = number == last + 1 and not data.endswith(b"\n")
            what = "an answer that was not written to its end" if torn else "a damaged line"
            store.warnings.append(f"{store.path}:{number}: {what}, left out")


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _entry(given: dict[str, Any]) -> Entry | None:
    """The entry of a line, None if it is none."""
    words, state = given.get("words"), given.get("state")
    right: Callable[[Any], bool] = lambda one: isinstance(one, list) and all(isinstance(w, str) for w in one)  # noqa: E731
    if not right(words) or state not in STATES or not isinstance(given.get("annotator"), str):
        return None
    if state == "done" and not isinstance(given.get("answer"), list):
        return None
    return Entry(**{k: v for k, v in given.items() if k != "point"} | {"words": tuple(given["words"])})


def _point(given: dict[str, Any]) -> list[float] | None:
    found = given.get("point")
    right = isinstance(found, list) and len(found) == 5 and all(isinstance(one, int | float) for one in found)
    return found if right else None


def _hold(file: Any, path: Path) -> None:
    """Refuse a file that another session has open: each would not see what the other writes."""
    try:
        import fcntl
    except ImportError:  # not on Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        message = "another dovetail label has this file open; open its page in a second tab, or name another --output"
        raise DovetailError(f"{path}: {message}") from None


def _sync_folder(folder: Path) -> None:
    """Force the name of a new file to the disk, where folders can be opened."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)
