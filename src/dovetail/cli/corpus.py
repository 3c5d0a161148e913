"""What commands read: annotated corpora for training and scoring, and whatever a user wants annotated."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.cli.console import say, warn_all
from dovetail.errors import DovetailError, InputError

if TYPE_CHECKING:
    from dovetail.text.report import ReadReport
    from dovetail.text.sentence import Document, Sentence


class CorpusFormat(StrEnum):
    """Formats that hold annotations."""

    conll = "conll"
    conllu = "conllu"
    jsonl = "jsonl"
    brackets = "brackets"
    brat = "brat"


class InputFormat(StrEnum):
    """Formats of what is to be annotated."""

    text = "text"
    conll = "conll"
    conllu = "conllu"
    jsonl = "jsonl"
    brackets = "brackets"
    brat = "brat"


class Corpora:
    """Reads annotated files in one way, and keeps count of what had to be repaired."""

    def __init__(self, format: CorpusFormat | None, columns: list[str] | None, encoding: str) -> None:
        from dovetail.text.report import ReadReport

        self.format = format
        self.columns = columns
        self.encoding = encoding
        self.report = ReadReport()

    def format_of(self, path: Path) -> CorpusFormat:
        """The format of a file; a name that tells no annotated format (train.txt) means CoNLL."""
        from dovetail.text.formats import guess_format

        guess = guess_format(path)
        return self.format or CorpusFormat(guess if guess in list(CorpusFormat) else "conll")

    def sentences(self, path: Path) -> list[Sentence]:
        """All sentences of a file."""
        from dovetail.text.formats import sentences

        format = self.format_of(path)
        options = reader_options(format, self.columns, self.encoding)
        return list(sentences(path, format, report=self.report, **options))

    def warn(self) -> None:
        """Tell the user what was repaired."""
        warn_all(self.report.lines())


def reader_options(format: str, columns: list[str] | None, encoding: str) -> dict[str, Any]:
    """The options of the reader of a format."""
    if columns is None:
        return {"encoding": encoding}
    if format != CorpusFormat.conll:
        raise DovetailError(f"--columns names columns of CoNLL, but the input is {format}; see --input-format")
    if columns.count("word") != 1:
        raise DovetailError(f"--columns {','.join(columns)}: one of them must be word")
    return {"encoding": encoding, "columns": columns}


class Input:
    """What a user gave to be annotated: a file, a text in quotes, or the standard input.

    An argument is text if there is no such file, it holds white space, and it does not end like a file.
    """

    def __init__(self, argument: str | None, format: InputFormat | None) -> None:
        from dovetail.text.formats import guess_format

        self.argument = argument if argument is not None else "-"
        self.is_text = self._is_text()
        guess = "text" if self.is_text else guess_format(self.argument) or "text"
        self.format = format or InputFormat(guess)
        if self.is_text and self.format != InputFormat.text:
            raise InputError(f"no such file (text in quotes cannot be {self.format}: give it through a pipe)", argument)
        if self.argument == "-" and sys.stdin.isatty():
            say(f"reading {self.format} from the keyboard; end it with Ctrl-D")

    def _is_text(self) -> bool:
        if not self.argument.strip():
            raise InputError("the text to annotate is empty; give a text or a file, or leave it out to read a pipe")
        if self.argument == "-" or _exists(self.argument):
            return False
        if len(self.argument.split()) > 1 and not _ends_like_a_file(self.argument):
            return True
        raise InputError("no such file; text to annotate must hold a space, or come through a pipe", self.argument)

    def documents(
        self, columns: list[str] | None, encoding: str, report: ReadReport, **options: Any
    ) -> Iterator[Document]:
        """The documents, streamed."""
        from dovetail.text.documents import marked
        from dovetail.text.formats import FORMATS

        source = io.StringIO(self.argument) if self.is_text else self.argument
        options |= reader_options(self.format, columns, encoding)
        return marked(FORMATS[self.format].read(source, report=report, **options))


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # a long text is no possible name, nor is one with a NUL
        return False


def _ends_like_a_file(name: str) -> bool:
    from dovetail.text.formats import guess_format

    return name.endswith(".gz") or guess_format(name[-100:]) is not None
