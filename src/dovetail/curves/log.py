"""A file of finished work: a JSON line for each piece, written as soon as it is done, so that a kill loses no other."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Generic, TypeVar

from dovetail.errors import DovetailError, InputError
from dovetail.spellings import known

Entry = TypeVar("Entry", bound=Any)
"""A dataclass with a ``fingerprint``, whose other fields JSON can hold."""


class Log(Generic[Entry]):
    """Finished pieces of work of one kind, by fingerprint. The file is only ever added to."""

    def __init__(self, path: Path, kind: type[Entry], what: str = "run") -> None:
        self.path = path
        self.what = what
        self.runs: dict[str, Entry] = {}
        self._torn = 0
        lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
        for number, line in enumerate(lines, 1):
            if not line.rstrip().endswith("}"):  # the last line of work that was killed while it wrote
                continue
            try:
                entry = kind(**known("log", json.loads(line), [f.name for f in fields(kind)], path, kind.__name__))
            except (ValueError, TypeError, AttributeError):
                if number == len(lines):  # torn where an inner object ends: it is cut off before more is added
                    self._torn = len(line.encode())
                    continue
                message = f"this is not a finished {what}; delete the line, or the file"
                raise InputError(message, path, number) from None
            self.runs[entry.fingerprint] = entry

    def add(self, entry: Entry) -> None:
        """Keep a piece of work, in memory and on disk. Where the disk is full, the file stays as it was."""
        self.runs[entry.fingerprint] = entry
        try:
            size = self.path.stat().st_size if self.path.is_file() else 0
            if self._torn:
                size, self._torn = size - self._torn, 0
                os.truncate(self.path, size)
            torn = size and not self._ends_a_line()
            with self.path.open("a", encoding="utf-8", newline="\n") as file:
                file.write(("\n" if torn else "") + json.dumps(asdict(entry)) + "\n")
        except OSError as error:
            kept = len(self.runs) - 1
            if self.path.is_file() and self.path.stat().st_size > size:
                os.truncate(self.path, size)
            done = f"{kept} finished {self.what}{'' if kept == 1 else 's'} in it are kept"
            advice = "make room, then run the same command again to continue"
            raise DovetailError(f"{self.path}: cannot be written: {error.strerror}; {done}; {advice}") from None

    def _ends_a_line(self) -> bool:
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read() == b"\n"
