"""Files of word vectors that others write: word2vec (text and binary), GloVe, fastText's ``.vec``.

Which of them a file is, and whether it is compressed, its contents say. A text has a line for every word: the word and
its numbers, separated by spaces; word2vec and fastText put a line ``words dimensions`` before it. A binary file has the
same header, then for every word its name, a space and its numbers, four bytes each.
"""

from __future__ import annotations

import gzip
import io
import os
import sys
import warnings
import zlib
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from dovetail.errors import InputError
from dovetail.text.files import Source
from dovetail.text.report import ReadReport, reporting

PEEK = 1 << 14
LONGEST_LINE = 1 << 22
LONGEST_WORD = 1 << 12
MOST_DIMENSIONS = 10_000
TOGETHER = 2048  # lines that are read into numbers at once
EXPECTED = "expected a word and its numbers, separated by spaces"

Matrix = NDArray[np.float32]


class Head(NamedTuple):
    """What the beginning of a file says: how many words (None if it does not), dimensions, and what it is."""

    words: int | None
    dimensions: int
    binary: bool


def read_vectors(
    source: Source, *, wanted: Container[str] | None = None, most: int | None = None, report: ReadReport | None = None
) -> tuple[list[str], Matrix]:
    r"""The words of a file and their vectors, [words, dimensions]; it is read in pieces.

    ``wanted``: only these words; ``most``: only so many from the beginning, which in most files are the most frequent.
    Of a word that comes twice the first vector is kept, and it is reported, as are words that are no UTF-8 or hold a
    space.

    >>> words, matrix = read_vectors(io.BytesIO(b"2 3\nrose 0 1 0.5\nlily 1 0 0\n"))
    >>> words, matrix[0].tolist()
    (['rose', 'lily'], [0.0, 1.0, 0.5])
    """
    with _opened(source) as (stream, name), reporting(report) as notes:
        reader = _Reader(stream, name, wanted, most, notes)
        return reader.read()


@contextmanager
def _opened(source: Source) -> Iterator[tuple[io.BufferedReader, str]]:
    """The bytes of a source, unpacked if they are compressed."""
    if hasattr(source, "read"):
        raw, name, owned = cast("IO[Any]", source), str(getattr(source, "name", "<stream>")), False
        if isinstance(raw, io.TextIOBase):
            raw = getattr(raw, "buffer", None) or io.BytesIO(raw.read().encode("utf-8", "surrogatepass"))
    elif os.fspath(source) == "-":
        raw, name, owned = sys.stdin.buffer, "<stdin>", False
    else:
        name, owned = os.fspath(source), True
        try:
            raw = Path(name).open("rb")  # noqa: SIM115 (closed below)
        except OSError as error:
            why = "no such file" if isinstance(error, FileNotFoundError) else f"cannot be read ({error.strerror})"
            raise InputError(why, name) from None
    try:
        buffered = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(cast("Any", raw), 1 << 16)
        with _reading(name):
            if buffered.peek(2)[:2] == b"\x1f\x8b":
                buffered = io.BufferedReader(cast("Any", gzip.GzipFile(fileobj=buffered)), 1 << 16)
            yield buffered, name
    finally:
        if owned:
            raw.close()


@contextmanager
def _reading(name: str) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"damaged or truncated gzip file ({error}); fetch it again", name) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", name) from None


class _Reader:
    """One file on its way into a table."""

    def __init__(
        self, stream: io.BufferedReader, name: str, wanted: Container[str] | None, most: int | None, notes: ReadReport
    ) -> None:
        self.stream, self.name, self.wanted, self.notes = stream, name, wanted, notes
        self.most = sys.maxsize if most is None else most
        self.words: dict[str, None] = {}
        self.parts: list[Matrix] = []
        self.head = Head(None, 0, False)
        self.first_line = 1

    def read(self) -> tuple[list[str], Matrix]:
        """Everything."""
        self.head = self._head()
        number = self._binary() if self.head.binary else self._text()
        if self.head.words is not None and number != min(self.head.words, self.most):
            raise InputError(
                f"its first line says {self.head.words:,} words, but there are {number:,}; fetch the file again, or "
                "correct its first line",
                self.name,
            )
        if not self.words and self.wanted is None:
            raise InputError(f"no words in this file; {EXPECTED}", self.name)
        empty = np.empty((0, self.head.dimensions), dtype=np.float32)
        return list(self.words), np.concatenate([empty, *self.parts])

    def _head(self) -> Head:
        begin = self._peek()
        line = begin.split(b"\n", 1)[0]
        fields = _fields(line)
        if not fields:
            what = "an empty file" if not begin.strip() else "its first line is empty"
            raise InputError(f"{what}; {EXPECTED}", self.name, None if not begin.strip() else 1)
        if len(fields) == 2 and all(f.isdigit() and len(f) <= 18 for f in fields) and b"\n" in begin:
            words, dimensions = map(int, fields)
            self.stream.readline()
            self.first_line = 2
            rest = begin[len(line) + 1 :]
            first = _fields(rest.split(b"\n", 1)[0])
            plain = len(first) > dimensions > 0 and all(map(_is_number, first[-dimensions:]))
            head = Head(words, dimensions, not plain and _is_binary(rest))
        else:
            if _is_binary(begin[:256]):
                raise InputError("this is neither a text nor a binary file of word vectors", self.name)
            head = Head(None, len(_fields(self._peek(LONGEST_LINE).split(b"\n", 1)[0])) - 1, False)
        if not 1 <= head.dimensions <= MOST_DIMENSIONS:
            what = f"{head.dimensions:,} numbers a word by its first line"
            raise InputError(f"{what}, where 1 to {MOST_DIMENSIONS:,} are possible; {EXPECTED}", self.name, 1)
        return head

    def _peek(self, size: int = PEEK) -> bytes:
        """The next bytes, which stay to be read."""
        found = self.stream.peek(size)
        if len(found) < size:  # the buffer is smaller: one with these bytes in front takes its place
            found = self.stream.read(size)
            self.stream = io.BufferedReader(cast("Any", _Pushed(found, self.stream)), 1 << 16)
        return found

    def _text(self) -> int:
        """Read the lines; how many words there are."""
        lines: list[tuple[int, str, bytes]] = []
        number, at = 0, self.first_line
        while number < self.most and (line := self.stream.readline(LONGEST_LINE)):
            if len(line) == LONGEST_LINE:
                raise InputError(f"a line of over {LONGEST_LINE:,} bytes; {EXPECTED}", self.name, at)
            if fields := _fields(line):
                number += 1
                word = self._word(fields, at)
                if word is not None:
                    lines.append((at, word, b" ".join(fields[-self.head.dimensions :])))
                    if len(lines) == TOGETHER:
                        self._add(lines)
                        lines = []
            at += 1
        self._add(lines)
        return number

    def _word(self, fields: list[bytes], line: int) -> str | None:
        """The word of a line, if it is to be kept; the line must have as many numbers as all."""
        found = len(fields) - 1
        more = found - self.head.dimensions
        if more and (more < 0 or all(map(_is_number, fields[1 : 1 + more]))):
            said = "by the first line" if line > 1 else ""
            raise InputError(
                f"{found:,} numbers where {self.head.dimensions:,} are expected {said}; {EXPECTED}", self.name, line
            )
        return self._kept(b" ".join(fields[: 1 + more]), line)

    def _kept(self, spelled: bytes, line: int | None) -> str | None:
        """The word that some bytes spell, unless it is not wanted or came before."""
        try:
            word = spelled.decode("utf-8")
        except UnicodeDecodeError:
            self.notes.note("word that is not valid UTF-8, left out", self.name, line)
            return None
        if not word or len(word.split()) != 1 or word.strip() != word:
            self.notes.note("word that is empty or holds a space, left out", self.name, line)
            return None
        if self.wanted is not None and word not in self.wanted:
            return None
        if word in self.words:
            self.notes.note("word that already has a vector, left out", self.name, line)
            return None
        self.words[word] = None
        return word

    def _add(self, lines: list[tuple[int, str, bytes]]) -> None:
        """Read the numbers of some lines."""
        if not lines:
            return
        shape = len(lines), self.head.dimensions
        found = _numbers(b" ".join(numbers for _, _, numbers in lines), shape[0] * shape[1])
        if found is None:  # one of them is wrong: which?
            for at, word, numbers in lines:
                wrong = next((n for n in numbers.split(b" ") if not _is_number(n)), None)
                if wrong is not None:
                    shown = wrong[:40].decode("utf-8", "replace")
                    raise InputError(f"{shown!r} is no number, in the vector of {word[:40]!r}", self.name, at)
        matrix = np.asarray(found).reshape(shape)
        finite = np.isfinite(matrix).all(axis=1)
        if not finite.all():
            at, word, _ = lines[int(np.flatnonzero(~finite)[0])]
            raise InputError(f"the vector of {word[:40]!r} has a number that is not finite", self.name, at)
        self.parts.append(matrix)

    def _binary(self) -> int:
        """Read words and the bytes of their numbers; how many there are."""
        size = 4 * self.head.dimensions
        words = min(self.head.words or 0, self.most)
        rows: list[bytes] = []
        for number in range(1, words + 1):
            spelled, row = self._until_space(number), self.stream.read(size)
            if len(row) < size:
                raise self._truncated(number)
            vector = np.frombuffer(row, dtype="<f4")
            if not np.isfinite(vector).all():
                raise InputError(f"the vector of word {number:,} has a number that is not finite", self.name)
            if self._kept(spelled.lstrip(b"\n"), None) is not None:
                rows.append(row)
        if rows:
            flat = np.frombuffer(b"".join(rows), dtype="<f4").astype(np.float32)
            self.parts.append(flat.reshape(len(rows), self.head.dimensions))
        if words == self.head.words and self.stream.read(2).strip():
            raise InputError(f"there is more after the {words:,} words that its first line names", self.name)
        return words

    def _until_space(self, number: int) -> bytes:
        """The next bytes, up to a space, which is left out."""
        found = bytearray()
        while (byte := self.stream.read(1)) != b" ":
            if not byte:
                raise self._truncated(number)
            found += byte
            if len(found) > LONGEST_WORD:
                raise InputError(f"word {number:,} has no end: this is no binary file of word vectors", self.name)
        return bytes(found)

    def _truncated(self, number: int) -> InputError:
        return InputError(
            f"the file ends within word {number:,} of {self.head.words:,}; fetch it again, or correct its first line",
            self.name,
        )


class _Pushed(io.RawIOBase):
    """Bytes that were read ahead, and then the rest of their stream."""

    def __init__(self, ahead: bytes, rest: io.BufferedReader) -> None:
        self.ahead, self.rest = ahead, rest

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        if not self.ahead:
            return self.rest.readinto1(buffer)
        some = self.ahead[: len(buffer)]
        self.ahead = self.ahead[len(some) :]
        buffer[: len(some)] = some
        return len(some)


def _fields(line: bytes) -> list[bytes]:
    return [field for field in line.strip(b" \t\r\n").replace(b"\t", b" ").split(b" ") if field]


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def _numbers(text: bytes, size: int) -> Matrix | None:
    """So many numbers out of a text, None if one of them cannot be read."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = np.fromstring(text, dtype=np.float32, sep=" ")
        except (DeprecationWarning, ValueError, RuntimeWarning):
            return None
    return found if len(found) == size else None


def _is_binary(begin: bytes) -> bool:
    """Whether these bytes are no text: not UTF-8, or with control characters."""
    try:
        text = begin.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(begin) - 4:  # else a character that is cut
            return True
        text = begin[: error.start].decode("utf-8")
    return any(c < " " and c not in "\t\n\r" for c in text)
