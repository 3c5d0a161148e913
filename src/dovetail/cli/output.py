"""Where results go, and in which format."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path

from dovetail.errors import DovetailError


def check_writable(path: Path) -> None:
    """Refuse at once what could only fail after hours of work."""
    from dovetail.text.files import why_not_written

    folder = path.parent
    if path.is_dir():
        raise DovetailError(f"{path}: cannot be written: this is a directory; name a file in it")
    if not folder.is_dir():
        raise DovetailError(f"{path}: cannot be written: the folder {folder} does not exist")
    if path.exists() and not path.is_file():
        return  # a pipe or a device
    if path.exists() and not os.access(path, os.W_OK):
        raise DovetailError(f"{path}: cannot be written: permission denied")
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".dovetail."):
            pass
    except PermissionError:
        raise DovetailError(f"{path}: cannot be written: permission denied") from None
    except OSError as error:
        raise DovetailError(f"{path}: cannot be written: {why_not_written(path, error)}") from None


def check_ending(path: Path, endings: Iterable[str]) -> None:
    """Refuse a name that does not say which kind of file to write."""
    if path.suffix.lower() not in endings:
        raise DovetailError(f"{path}: cannot be written: the name must end in {one_of(endings)}")


def format_by_name(output: Path | None, known: Collection[str]) -> str | None:
    """The one of these formats that the name of a file gives, None if the name has no ending.

    >>> format_by_name(Path("a.conll.gz"), ["conll", "jsonl"]), format_by_name(Path("tagged"), ["conll", "jsonl"])
    ('conll', None)
    """
    from dovetail.text.formats import FORMATS, guess_format

    if output is None:
        return None
    suffix = Path(str(output).removesuffix(".gz")).suffix
    guess = suffix[1:] if suffix[1:] in known else guess_format(output)
    if guess is not None and guess in known:
        return guess
    if guess is None and (not suffix or (output.exists() and not output.is_file())):
        return None
    endings = [FORMATS[name].suffixes[0] if name in FORMATS else f".{name}" for name in known if name != "pretty"]
    raise DovetailError(f"{output}: no output format for this ending; use {one_of(endings)}, or give --output-format")


def one_of(names: Iterable[str]) -> str:
    """Names to choose from.

    >>> one_of([".png", ".svg", ".pdf"])
    '.png, .svg or .pdf'
    """
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
