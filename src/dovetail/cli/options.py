"""Options that several commands share, so that they mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.corpus import CorpusFormat, FormatOfTrees
from dovetail.cli.corpus import InputFormat as AnyInput
from dovetail.cli.paths import Reads, Writes

Model = Annotated[
    Path | None,
    typer.Option("--model", "-m", metavar="FILE", help="The model file.", show_default="dovetail's English model"),
    Reads(english=True),
]
InputFormat = Annotated[
    CorpusFormat | None,
    typer.Option("--input-format", help="Format of the input files.", show_default="from the file name, else conll"),
]
AnyFormat = Annotated[
    AnyInput | None, typer.Option(help="Format of the input.", show_default="from the file name, else text")
]
TreeFormat = Annotated[
    FormatOfTrees | None,
    typer.Option(
        "--input-format",
        help="Format of the input files; trees are in brackets or jsonl.",
        show_default="from the file name",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAMES",
        help="Names of the columns of a CoNLL file, such as word,pos,ner; one must be word.",
        show_default="word first, ner last",
    ),
]
Encoding = Annotated[
    str, typer.Option("--encoding", metavar="NAME", help="Encoding of the input: utf-8, latin-1, cp1252, utf-16, ...")
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads",
        metavar="N",
        min=1,
        help="Number of CPU cores to use. The result does not depend on it.",
        show_default="all",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress, only results, warnings and errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

# training

ModelOutput = Annotated[
    Path,
    typer.Option("--output", "-o", metavar="FILE", help="Write the model to this file."),
    Writes(beside=(".checkpoint",)),
]


def names(listing: str | None) -> list[str] | None:
    """The names in a list with commas.

    >>> names("word, pos,ner")
    ['word', 'pos', 'ner']
    """
    return [name.strip() for name in listing.split(",") if name.strip()] if listing is not None else None
