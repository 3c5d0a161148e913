"""Options that several commands share, so that they mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Model = Annotated[
    Path | None,
    typer.Option(
        "--model",
        "-m",
        metavar="FILE",
        help="A model file.",
        show_default="the English model that comes with dovetail",
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        "--columns",
        metavar="NAMES",
        help="Names of the columns of CoNLL input, such as word,pos,ner; the word must be one.",
        show_default="word first, ner last",
    ),
]
Encoding = Annotated[str, typer.Option("--encoding", metavar="NAME", help="Of the input; latin-1, cp1252, utf-16, ...")]
Threads = Annotated[
    int | None,
    typer.Option("--threads", metavar="N", min=1, help="Cores to use; the result is the same.", show_default="all"),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress; only results, warnings and errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def names(listing: str | None) -> list[str] | None:
    """The names in a list with commas.

    >>> names("word, pos,ner")
    ['word', 'pos', 'ner']
    """
    return [name.strip() for name in listing.split(",") if name.strip()] if listing is not None else None
