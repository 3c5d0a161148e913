"""Which parameters of a command name what it reads and what it writes, and that these are never the same file."""

from __future__ import annotations

import inspect
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import dovetail
from dovetail.errors import DovetailError
from dovetail.shipped import find

READ_IN_FOLDERS = (".txt", ".ann", ".paths", ".clusters", ".gz", ".tsv", ".arrow", ".parquet", ".json")
"""Endings of the files that are read where a folder is given: texts, annotations, clusters."""
FileId = tuple[int, int]
"""Device and inode: the same for all names of a file."""


@dataclass(frozen=True)
class Reads:
    """Marks a parameter that names what is read: a file, a folder, or ``-`` for the standard input."""

    named: bool = False
    """It is written ``NAME=FILE``, or where a name is not needed ``FILE``."""
    folders: bool = True
    """A folder means the files in it."""
    stdin: bool = False
    """Left out, it means the standard input."""
    english: bool = False
    """Left out, it means the English model that comes with dovetail."""
    inside: bool = True
    """What a TOML file names is read, too."""


@dataclass(frozen=True)
class Writes:
    """Marks a parameter that names what is written."""

    inside: tuple[str, ...] = ()
    """It may name a folder: patterns of the files that are written there."""
    beside: tuple[str, ...] = ()
    """Endings of files that may be written beside it."""
    endings: tuple[str, ...] = ()
    """The name must have one of these."""


def roles(command: Callable[..., Any]) -> dict[str, Reads | Writes]:
    """The roles of the parameters of a function, as its annotations declare them.

    >>> def copy(source: Annotated[Path, Reads()], target: Annotated[Path, Writes()], quiet: bool = False) -> None: ...
    >>> roles(copy)["target"]
    Writes(inside=(), beside=(), endings=())
    """
    found: dict[str, Reads | Writes] = {}
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        is_annotated = get_origin(parameter.annotation) is Annotated
        marks = [m for m in get_args(parameter.annotation) if isinstance(m, Reads | Writes)] if is_annotated else []
        if marks:
            [found[name]] = marks
        elif "Path" in str(parameter.annotation):
            raise TypeError(f"{command.__name__}({name}): mark this path with Reads() or Writes()")
    return found


def check_paths(command: Callable[..., Any], values: Mapping[str, Any], labels: Mapping[str, str]) -> None:
    """Refuse to run a command one of whose outputs is one of its inputs, or another output, or cannot be written.

    ``values`` are those of its parameters, ``labels`` what a user calls them.
    """
    read: dict[FileId, str] = {}
    written: dict[FileId | str, str] = {}
    outputs: list[tuple[str, Writes]] = []
    for name, role in roles(command).items():
        if isinstance(role, Writes):
            outputs.append((name, role))
            continue
        for path in _named(values.get(name), role):
            for identity in _files_read(path, role, values):
                read.setdefault(identity, labels[name])
    if (redirected := _identity(sys.stdout)) in read:
        raise DovetailError(f"the standard output is the file of {read[redirected]}; send it to another file")
    for name, role in outputs:
        for target in _listed(values.get(name)):
            for file in _files_written(Path(target), role):
                key = _identity(file) or os.path.realpath(file)
                if key in read:
                    clash = f"{labels[name]} would overwrite what {read[key]} reads"
                elif written.setdefault(key, name) != name:
                    clash = f"{labels[name]} and {labels[written[key]]} are the same file"
                else:
                    continue
                raise DovetailError(f"{file}: {clash}; choose another name")
            if role.endings and Path(target).suffix.lower() not in role.endings:
                raise DovetailError(f"{target}: cannot be written: the name must end in {one_of(role.endings)}")
            if not role.inside:
                check_writable(Path(target))


def _listed(value: Any) -> list[str]:
    if value is None:
        return []
    return [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]


def _named(value: Any, role: Reads) -> Iterator[str]:
    """What is named: the file of ``NAME=FILE``, ``-`` for the standard input."""
    if value is None and role.stdin:
        yield "-"
    if value is None and role.english:
        yield str(dovetail.embedded(dovetail.ENGLISH_MODEL))
    for one in _listed(value):
        _, equals, file = one.partition("=")
        yield from filter(None, [file if role.named and equals else one])


def _files_read(path: str, role: Reads, values: Mapping[str, Any]) -> Iterator[FileId]:
    """The files that are read where a path is given: all in a folder, and both halves of a brat document."""
    if path == "-":
        yield from filter(None, [_identity(sys.stdin)])
        return
    file = _file(path)
    together = [file]
    if _is_folder(file):
        together = [f for f in file.rglob("*") if f.suffix in READ_IN_FOLDERS] if role.folders else []
    elif file.suffix == ".ann" or str(values.get("input_format")) == "brat":
        together = [file.with_suffix(".ann"), file.with_suffix(".txt")]
    elif file.suffix == ".toml" and role.inside:
        together += _named_inside(file)
    if values.get("languages"):  # the two files of a Moses pair, whose beginning is given
        endings = [ending.strip() for ending in str(values["languages"]).split(",")]
        together += [Path(f"{path}.{ending}{packed}") for ending in endings for packed in ("", ".gz")]
    yield from filter(None, map(_identity, together))


def _file(path: str) -> Path:
    """A file that is named by its path, or a model by its name."""
    model = find(path)
    return model if model is not None and not os.path.lexists(path) else Path(path)


def _named_inside(file: Path) -> list[Path]:
    """The files that a TOML file may name: clusters and lists of a feature set, relative to its folder."""
    import tomllib

    from dovetail.curves.configurations import strings_in

    try:
        return [file.parent / name for name in strings_in(tomllib.loads(file.read_text(encoding="utf-8")))]
    except (OSError, ValueError):  # whoever reads it says what is wrong
        return []


def _files_written(path: Path, role: Writes) -> Iterable[Path]:
    """The files that may be written where a path is given."""
    if _is_folder(path):
        for pattern in role.inside:
            yield from path.rglob(pattern) if "*" in pattern else [path / pattern]
        return
    yield path
    for ending in role.beside:
        yield path.with_name(path.name + ending)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):  # a text to annotate may be no possible name
        return False


def _identity(file: Any) -> FileId | None:
    """The identity of a path or stream; None of what is not there, and of pipes and devices, which lose nothing."""
    try:
        found = file.stat() if isinstance(file, Path) else os.fstat(file.fileno())
    except (OSError, ValueError, AttributeError):  # a text to annotate is no name, and a stream may have no file at all
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None


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
