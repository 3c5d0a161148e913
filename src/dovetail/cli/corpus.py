"""What commands read: annotated corpora for training and scoring, and whatever a user wants annotated."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence, Sized
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from dovetail.cli.console import count, say, warn_all
from dovetail.cli.formats import CorpusFormat, InputFormat, takes
from dovetail.errors import DovetailError, InputError

if TYPE_CHECKING:
    from dovetail.text.report import ReadReport
    from dovetail.text.sentence import Document, Sentence


class Corpora:
    """Reads annotated files in one way, and keeps count of what had to be repaired."""

    def __init__(self, format: CorpusFormat | None, columns: list[str] | None, encoding: str) -> None:
        from dovetail.text.report import ReadReport

        self.format = format
        self.columns = columns
        self.encoding = encoding
        self.report = ReadReport()

    def format_of(self, path: Path) -> CorpusFormat:
        """The format of a file; a name that ends like no annotated format (train.txt) means CoNLL."""
        from dovetail.text.formats import guess_format

        guess = guess_format(path)
        return self.format or CorpusFormat(guess if guess in list(CorpusFormat) else "conll")

    def sentences(self, path: Path) -> list[Sentence]:
        """All sentences of a file."""
        from dovetail.text.formats import guess_format, sentences

        format = self.format_of(path)
        options = reader_options(format, self.columns, self.encoding)
        found = list(sentences(path, format, report=self.report, **options))
        guessed = self.format is None and self.columns is None and guess_format(path) == "text"
        if guessed and found and all(len(s) == 1 and len(s.layers) > 1 for s in found):  # one word, and many tags
            message = "this looks like running text, not like columns of words and tags; give annotated text"
            raise InputError(f"{message}, or name its format with --input-format", path)
        return found

    def stream(self, path: Path) -> Iterator[Sentence]:
        """All sentences of a file, one at a time."""
        from dovetail.text.formats import sentences

        format = self.format_of(path)
        return sentences(path, format, report=self.report, **reader_options(format, self.columns, self.encoding))

    def check_training(
        self, found: Sequence[Sized], path: Path, layer: str | None = None, trees: bool = False, words: bool = False
    ) -> None:
        """An error that names the file if there is nothing to learn from in it: no words, no such layer, no trees.

        ``words`` is for a file of words with spaces between them, which is no annotated format.
        """
        if words:
            if not found:
                advice = "give a sentence a line, with spaces between its words"
                raise InputError(f"no words to learn from in this file; {advice}", path)
            return
        format = self.format_of(path)
        if not any(map(len, found)):
            advice = "check the file, or name its format with --input-format"
            raise InputError(f"no sentences to learn from in this file, read as {format}; {advice}", path)
        sentences = cast("Sequence[Sentence]", found)
        if trees and all(sentence.tree is None for sentence in sentences):
            advice = 'give trees in brackets (.mrg), or JSON lines with a field "tree"'
            raise InputError(f"no trees in this file, read as {format}; {advice}", path)
        if layer is not None and not any(layer in sentence.layers for sentence in sentences):
            raise InputError(_no_layer(sentences, layer, format), path)

    def warn(self) -> None:
        """Tell the user what was repaired."""
        warn_all(self.report.lines())


def _no_layer(sentences: Sequence[Sentence], layer: str, format: CorpusFormat) -> str:
    has = ["word", *dict.fromkeys(name for sentence in sentences for name in sentence.layers)]
    if format != CorpusFormat.conll or len(has) > 1:
        return f"no layer {layer!r} to learn (read as {format}, it has: {', '.join(has)}); see --target and --columns"
    words = [word for sentence in sentences for word in sentence.words if len(word) > 1]
    mark = next((mark for mark in ",;|" if words and all(mark in word for word in words)), None)
    seen = f"; this one seems to have {mark!r} between its columns: replace it by a tab" if mark else ""
    return f"one column, so no layer {layer!r} to learn: labels come after tabs or spaces in a CoNLL file{seen}"


def reader_options(format: str, columns: list[str] | None, encoding: str) -> dict[str, Any]:
    """The options of the reader of a format."""
    if columns is None:
        return {"encoding": encoding} if takes(format, "encoding") else {}
    if format != CorpusFormat.conll:
        raise DovetailError(f"--columns names columns of CoNLL, but the input is {format}; see --input-format")
    if columns.count("word") != 1:
        raise DovetailError(f"--columns {','.join(columns)}: one of them must be word")
    return {"encoding": encoding, "columns": columns}


class Input:
    """What a user gave to be annotated: a file, a folder, a text in quotes, or the standard input.

    An argument is text if there is no such file and it holds a space, unless it ends like a file (.txt, .gz, ...) and
    has a slash or no more than two words.
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

    @property
    def path(self) -> Path | None:
        """The file that is read, if it is one."""
        path = Path(self.argument)
        return path if not self.is_text and self.argument != "-" and path.is_file() else None

    @property
    def name(self) -> str | None:
        """The name of a file of running text, without its ending."""
        is_file = self.format == InputFormat.text and not self.is_text and self.argument != "-"
        return Path(self.argument.removesuffix(".gz")).stem if is_file else None

    def _is_text(self) -> bool:
        from dovetail.text.formats import guess_format

        if not self.argument.strip():
            raise InputError("the text to annotate is empty; give a text or a file, or leave it out to read a pipe")
        if self.argument == "-" or _exists(self.argument):
            return False
        words = self.argument.split()
        if any(mark in self.argument for mark in "。！？，"):  # of text that is written without spaces
            return True
        if len(words) > 1 and not self.argument.endswith(".gz") and guess_format(self.argument[-100:]) is None:
            return True
        if len(words) > 2 and "/" not in self.argument:
            say(f"{self.argument}: taken as text, because there is no such file")
            return True
        advice = "a text must have a space in it" if len(words) < 2 else "a text must not end like a file name"
        raise InputError(f"no such file; {advice}, or come through a pipe", self.argument)

    def documents(
        self, columns: list[str] | None, encoding: str, report: ReadReport, **options: Any
    ) -> Iterator[Document]:
        """The documents, streamed."""
        from dovetail.text.documents import marked
        from dovetail.text.formats import FORMATS

        source = io.StringIO(self.argument) if self.is_text else self.argument
        options |= reader_options(self.format, columns, encoding)
        if takes(self.format, "texts"):
            options["texts"] = "all"  # those that nobody has annotated are the ones to annotate
        if self.format == InputFormat.brat:
            self._say_what_is_read(report)
        return marked(FORMATS[self.format].read(source, report=report, **options))

    def _say_what_is_read(self, report: ReadReport) -> None:
        from dovetail.text.brat import find_texts

        folder = Path(self.argument)
        if folder.is_dir():
            found = find_texts(folder, "all", report)
            annotated = sum(path.with_suffix(".ann").exists() for path in found)
            say(f"{folder}: reading {count(len(found), 'text')} (.txt), {annotated:,} of them with an .ann file")


def _exists(name: str) -> bool:
    try:
        return Path(name).exists()
    except (OSError, ValueError):  # a long text is no possible name, nor is one with a NUL
        return False
