"""Sentences in a file of their own, read one at a time: text that is larger than the memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from sys import intern
from typing import Any, overload

from dovetail.errors import InputError
from dovetail.text.sentence import Sentence

MARK = "\x1f"
"""What stands between words; few words have it in them."""


class StoredSentences(Sequence[Sentence]):
    """Sentences on disk, with their words, layers and documents; every look at one reads it again.

    What else sentences may have, such as trees and offsets, is not kept.
    """

    def __init__(self, path: Path, places: Sequence[int], tokens: int) -> None:
        self.path = path
        self.tokens = tokens
        """The number of words in all sentences."""
        self._places = places

    @classmethod
    def write(cls, sentences: Iterable[Sentence], path: Path) -> StoredSentences:
        """Keep a stream of sentences in a file.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     stored = StoredSentences.write([Sentence(("Ada", "slept"))], Path(folder, "sentences"))
        ...     len(stored), stored[0].words
        (1, ('Ada', 'slept'))
        """
        from array import array

        places, tokens, place = array("q", [0]), 0, 0
        try:
            with path.open("wb") as file:
                for sentence in sentences:
                    layers = {name: _joined(values) for name, values in sentence.layers.items()}
                    record = [_joined(sentence.words), layers, sentence.document]
                    line = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
                    place += file.write(line)
                    places.append(place)
                    tokens += len(sentence.words)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}; name a folder with more room", path) from None
        return cls(path, places, tokens)

    def __len__(self) -> int:
        return len(self._places) - 1

    def __iter__(self) -> Iterator[Sentence]:
        with self.path.open("rb") as file:
            yield from map(_sentence, file)

    @overload
    def __getitem__(self, index: int) -> Sentence: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sentence]: ...
    def __getitem__(self, index: int | slice) -> Sentence | list[Sentence]:
        which = range(len(self))[index]
        if isinstance(which, int):
            return self._read(which, which + 1)[0]
        if which.step == 1:
            return self._read(which.start, max(which.start, which.stop))
        return [self[i] for i in which]

    def _read(self, first: int, last: int) -> list[Sentence]:
        with self.path.open("rb") as file:
            file.seek(self._places[first])
            lines = file.read(self._places[last] - self._places[first]).splitlines()
        return [_sentence(line) for line in lines]


def _joined(values: Sequence[str]) -> str | list[str]:
    """Words as one string, which is quicker to read again; as a list where one of them has the mark between them."""
    return list(values) if not values or any(MARK in value for value in values) else MARK.join(values)


def _apart(stored: str | list[str]) -> Iterable[str]:
    return stored.split(MARK) if isinstance(stored, str) else stored


def _sentence(line: bytes) -> Sentence:
    """A sentence as it was written; the values of layers are few, and kept once."""
    words, layers, document = json.loads(line.decode("ascii"))
    known: dict[str, Any] = {name: tuple(map(intern, _apart(values))) for name, values in layers.items()}
    return Sentence(tuple(_apart(words)), known, document=document)
