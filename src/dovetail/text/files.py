"""Text files in and out: gzip by suffix, exact errors, nothing half written."""

from __future__ import annotations

import codecs
import errno
import gzip
import io
import os
import stat
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

from dovetail.errors import DovetailError, InputError

BLOCK_BYTES = 1 << 16
MAX_LINE_BYTES = 1 << 27
"""A longer line means that this is no file of lines; it would fill the memory."""

Source = str | os.PathLike[str] | IO[str] | IO[bytes]
"""What can be read: a path, ``-`` for the standard input, or an open file."""
Target = str | os.PathLike[str] | IO[str]
"""What can be written: a path, ``-`` for the standard output, or an open text file."""

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_OTHER_KINDS = {
    b"\x1f\x8b": "this is gzip-compressed; give the file a name that ends in .gz",
    b"PK\x03\x04": "this is a zip file, such as a spreadsheet or a document; export it as text",
    b"%PDF-": "this is a PDF; convert it to text first",
}
_DISK_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS}


class TextReader(AbstractContextManager["TextReader"]):
    """A text that is read once, as lines or as blocks; made by `open_text`."""

    def __init__(self, stream: IO[Any], name: str, encoding: str, owned: bool) -> None:
        self.name = name
        self._stream = stream
        self._encoding = encoding
        self._owned = owned

    def __exit__(self, *_: object) -> None:
        if self._owned:
            self._stream.close()

    def __iter__(self) -> Iterator[str]:
        r"""The lines without their ends, ``\n`` or ``\r\n``; U+2028 and the like do not end one."""
        pending: list[str] = []  # joined only when the line ends, so that a long line costs linear time
        for block in self.blocks():
            first, *rest = block.split("\n")
            pending.append(first)
            if rest:
                yield "".join(pending).removesuffix("\r")
                pending = [rest.pop()]
                for line in rest:
                    yield line.removesuffix("\r")
            elif len(pending) * BLOCK_BYTES > MAX_LINE_BYTES:
                raise InputError(f"a line of over {MAX_LINE_BYTES:,} bytes; are its line ends missing?", self.name)
        if last := "".join(pending):
            yield last.removesuffix("\r")

    def blocks(self) -> Iterator[str]:
        """The text as pieces of bounded size, decoded but not changed, less a byte order mark."""
        decoder = _decoder(self._encoding)
        lines_before = 0
        data = self._read()
        if isinstance(data, bytes):
            self._check_kind(data)
        while data:
            if isinstance(data, str):
                yield data
            else:
                yield from self._decoded(decoder, data, lines_before)
                lines_before += data.count(b"\n")
            data = self._read()
        if isinstance(data, bytes):
            yield from self._decoded(decoder, data, lines_before)

    def data(self) -> bytes:
        """All of it as bytes, of a file that is no text."""
        pieces: list[bytes] = []
        while piece := self._read():
            if isinstance(piece, str):
                raise DovetailError(f"{self.name}: this format is no text; open the file in binary mode")
            pieces.append(piece)
        return b"".join(pieces)

    def _decoded(self, decoder: codecs.IncrementalDecoder, data: bytes, lines_before: int) -> Iterator[str]:
        """The text of some bytes, if they hold any whole character; no bytes mean that the file is over."""
        try:
            text = decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            line = lines_before + error.object[: error.start].count(b"\n") + 1
            raise InputError(self._decoding_message(error), self.name, line) from None
        except UnicodeError as error:  # such as UTF-16 without its mark
            raise InputError(f"not valid {self._encoding} ({error}); name another encoding", self.name) from None
        if text:
            yield text

    def _check_kind(self, data: bytes) -> None:
        """Files of other kinds are named: decoded as text, they would be rubbish."""
        for beginning, message in _OTHER_KINDS.items():
            if data.startswith(beginning):
                raise InputError(message, self.name)
        if self._owned and b"\0" in data and _is_utf8(self._encoding) and not data.startswith(_UTF_16):
            raise InputError("this is a binary file, or text in another encoding (see --encoding)", self.name)

    def _read(self) -> bytes | str:
        try:
            return cast("bytes | str", self._stream.read(BLOCK_BYTES))
        except UnicodeDecodeError as error:  # of a text stream that the caller opened
            raise InputError(self._decoding_message(error), self.name) from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InputError(f"damaged or truncated gzip file ({error}); fetch it again", self.name) from None
        except OSError as error:
            raise _cannot_read(error, self.name) from None

    def _decoding_message(self, error: UnicodeDecodeError) -> str:
        encoding = "UTF-8" if _is_utf8(self._encoding) else self._encoding
        if error.object.startswith(_UTF_16):
            advice = "it looks like UTF-16: convert the file, or give its encoding (--encoding utf-16)"
        else:
            advice = "convert the file, or give its encoding (--encoding), such as latin-1"
        return f"not valid {encoding} (byte 0x{error.object[error.start]:02x}); {advice}"


def open_text(source: Source, encoding: str = "utf-8") -> TextReader:
    r"""Open a text for reading: gzip if its name ends in ``.gz``, the standard input if it is ``-``.

    Iterate it for lines, or call ``blocks()``. A byte order mark is skipped; bytes that are no text in this
    encoding raise `InputError` with file and line.

    >>> with open_text(io.BytesIO("naïve\r\ncafé".encode())) as lines:
    ...     list(lines)
    ['naïve', 'café']
    """
    _decoder(encoding)
    if hasattr(source, "read"):
        return TextReader(cast("IO[Any]", source), str(getattr(source, "name", "<stream>")), encoding, owned=False)
    name = os.fspath(source)
    if name == "-":
        return TextReader(getattr(sys.stdin, "buffer", sys.stdin), "<stdin>", encoding, owned=False)
    try:
        raw = gzip.open(name) if name.endswith(".gz") else Path(name).open("rb")  # noqa: SIM115 (the reader closes it)
    except OSError as error:
        raise _cannot_read(error, name) from None
    for watch in _WATCHES:
        watch.append((getattr(raw, "fileobj", raw), Path(name).stat().st_size))
    return TextReader(cast("IO[bytes]", raw), name, encoding, owned=True)


_WATCHES: list[list[tuple[Any, int]]] = []
"""The files that were opened while somebody wants to know how far they are read."""


@contextmanager
def positions() -> Iterator[Callable[[], int]]:
    """A function that tells how many bytes are read of the files that are opened meanwhile.

    Of a compressed file these are compressed bytes, so that they compare with its size. A file that is closed is read.
    """
    opened: list[tuple[Any, int]] = []
    _WATCHES.append(opened)
    try:
        yield lambda: sum(size if file is None or file.closed else file.tell() for file, size in opened)
    finally:
        _WATCHES.remove(opened)


def source_names(sources: Iterable[Source]) -> str | None:
    """What some sources are called in messages; None where there are none.

    >>> source_names(["a.txt", io.StringIO()])
    'a.txt, <stream>'
    """
    names = [
        str(getattr(source, "name", "<stream>")) if hasattr(source, "read") else os.fspath(cast("str", source))
        for source in sources
    ]
    return ", ".join(names) or None


def read_whole(source: Source, encoding: str = "utf-8") -> str:
    """The whole text, its line ends untouched."""
    with open_text(source, encoding) as reader:
        return "".join(reader.blocks())


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    try:
        return codecs.getincrementaldecoder("utf-8-sig" if _is_utf8(encoding) else encoding)()
    except LookupError:
        raise DovetailError(f"unknown encoding {encoding!r}; try utf-8, latin-1, cp1252 or utf-16") from None


def _is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig")


def _cannot_read(error: OSError, name: str) -> InputError:
    if isinstance(error, FileNotFoundError):
        return InputError("no such file", name)
    if isinstance(error, IsADirectoryError):
        return InputError("this is a directory, not a file", name)
    return InputError(f"cannot be read: {error.strerror or error}", name)


@contextmanager
def atomic_writer(path: str | os.PathLike[str], *, binary: bool = False) -> Iterator[IO[Any]]:
    """A file that appears under its name only when the ``with`` block ends well.

    Text is UTF-8 with plain newlines; a name that ends in ``.gz`` is compressed; ``-`` is the standard
    output. What cannot be written (no folder, no permission, no space) raises `DovetailError` that says so.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_writer(folder + "/a.txt") as file:
    ...         _ = file.write("whole or not at all")
    ...     os.listdir(folder)
    ['a.txt']
    """
    path = os.fspath(path)
    if path == "-":
        raw_output = getattr(sys.stdout, "buffer", None)
        yield from _through(raw_output, binary) if raw_output is not None else [sys.stdout]
        return
    target = os.path.realpath(path)  # the file that a link names is replaced, not the link
    try:
        mode = Path(target).stat().st_mode
    except OSError:
        mode = None
    if mode is not None and stat.S_ISDIR(mode):
        raise DovetailError(f"{path}: cannot be written: this is a directory")
    if mode is not None and not stat.S_ISREG(mode):  # a pipe or a device has no half-written state to avoid
        with _disk_errors(path, only_disk=True), Path(target).open("wb") as device:
            yield from _through(device, binary)
        return
    with _disk_errors(path):
        folder, name = os.path.split(target)
        handle, temporary = tempfile.mkstemp(prefix=f".{name[:40]}.", suffix=".part", dir=folder)
    try:
        with _disk_errors(path, only_disk=True), os.fdopen(handle, "wb") as raw:
            yield from _compressed(raw, binary) if path.endswith(".gz") else _through(raw, binary)
            raw.flush()
            os.fsync(raw.fileno())
        with _disk_errors(path):
            Path(temporary).chmod(_permissions(mode))
            Path(temporary).replace(target)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def _through(raw: IO[bytes], binary: bool) -> Iterator[IO[Any]]:
    if binary:
        yield raw
        raw.flush()
        return
    text = io.TextIOWrapper(raw, encoding="utf-8", newline="\n", write_through=False)
    try:
        yield text
        text.flush()
    finally:
        with suppress(OSError, ValueError):
            text.detach()  # leaves ``raw`` open for its owner


def _compressed(raw: IO[bytes], binary: bool) -> Iterator[IO[Any]]:
    # No name and no time inside, so that equal contents are equal files.
    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, compresslevel=6, mtime=0) as zipped:
        yield from _through(cast("IO[bytes]", zipped), binary)


def _permissions(mode: int | None) -> int:
    if mode is not None:
        return stat.S_IMODE(mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


@contextmanager
def _disk_errors(path: str, only_disk: bool = False) -> Iterator[None]:
    """Errors of the system as messages; around the user's own code only those that a disk alone can raise."""
    try:
        yield
    except OSError as error:
        if only_disk and error.errno not in _DISK_ERRORS:
            raise
        raise DovetailError(f"{path}: cannot be written: {why_not_written(Path(path), error)}") from None


def why_not_written(path: Path, error: OSError) -> str:
    """What is wrong with a path where nothing could be written. Some folders, such as /proc, take no new files.

    >>> why_not_written(Path("nosuch/a.txt"), FileNotFoundError())
    'the folder nosuch does not exist'
    """
    if isinstance(error, FileNotFoundError):
        missing = not path.parent.is_dir()
        return f"the folder {path.parent} {'does not exist' if missing else 'takes no new files'}"
    return f"{error.strerror or error}; nothing was written"


@contextmanager
def open_target(target: Target) -> Iterator[IO[str]]:
    """An atomic writer for a path, or the caller's own open text file as it is."""
    if hasattr(target, "write"):
        yield cast("IO[str]", target)
        return
    with atomic_writer(target) as file:
        yield file
