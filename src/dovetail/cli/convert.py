"""``dovetail convert``: files from any format into any other, and what the other cannot keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dovetail.cli import options
from dovetail.cli.console import count, say, warn_all
from dovetail.cli.corpus import reader_options
from dovetail.cli.formats import InputFormat, takes
from dovetail.cli.options import argument, option
from dovetail.cli.paths import Reads, Writes, one_of
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.text.sentence import Document

FROM = f"Format of the input: {', '.join(InputFormat)}."
TO = "Format of the output: one of the same."


def convert(
    source: str = argument("IN", "A file (may be .gz) or a folder; - for standard input.", Reads(), options.REQUIRED),
    target: str = argument(
        "OUT",
        "The file to write (may be .gz), or a folder; - for standard output.",
        Writes(inside=("*.ann", "*.tsv", "*.arrow", "*.json")),
        options.REQUIRED,
    ),
    input_format: InputFormat | None = option("FORMAT", FROM, flag="--from", shown="from the name of IN"),
    output_format: InputFormat | None = option("FORMAT", TO, flag="--to", shown="from the name of OUT"),
    split: str | None = option("NAME", "The split to read of a data set of Hugging Face with several."),
    columns: str | None = options.COLUMNS,
    encoding: str = options.ENCODING,
    lines: options.Lines | None = options.LINES,
    sentence_per_line: bool = options.SENTENCE_PER_LINE,
    tokenised: bool = options.TOKENISED,
) -> None:
    """Convert annotated text from one format into another.

    What the new format cannot keep is told, with counts. Examples:

    dovetail convert train.conll train.spacy

    dovetail convert project.json train.jsonl --from label-studio
    """
    from dovetail.text.documents import marked
    from dovetail.text.formats import FORMATS
    from dovetail.text.kept import losses
    from dovetail.text.report import ReadReport

    given, wanted = _format(source, input_format, "--from"), _format(target, output_format, "--to")
    reading: dict[str, Any] = reader_options(given, options.names(columns), encoding)
    reading |= options.text_options(InputFormat(given), lines, sentence_per_line, tokenised)
    if split is not None:
        if not takes(given, "split"):
            raise DovetailError(f"--split is for data sets of Hugging Face, and the input is {given}")
        reading["split"] = split
    if takes(given, "texts"):
        reading["texts"] = "all"  # what nobody has looked at yet is converted as well
    report, lost, seen = ReadReport(), Counter[str](), Counter[str]()
    documents = marked(FORMATS[given].read(source, report=report, **reading))
    FORMATS[wanted].write(losses(_counted(documents, seen), FORMATS[wanted].keeps, lost), target)
    warn_all(report.lines())
    if lost:
        told = "; ".join(f"{number:,} × {what}" for what, number in lost.items())
        say(f"not kept in {wanted}: {told}")
    say(f"{target}: {count(seen['sentence'], 'sentence')}, {count(seen['word'], 'word')}")


def _counted(documents: Iterator[Document], seen: Counter[str]) -> Iterator[Document]:
    for document in documents:
        seen["sentence"] += len(document)
        seen["word"] += sum(map(len, document))
        yield document


def _format(path: str, named: InputFormat | None, flag: str) -> str:
    from dovetail.text.formats import guess_format

    found = named or guess_format(path)
    if found is None:
        raise DovetailError(f"{path}: no format ends like this name; name one with {flag}: {one_of(InputFormat)}")
    return str(found)
