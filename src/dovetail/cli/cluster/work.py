"""What the commands that cluster share: texts in, counts out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli.paths import Reads, Writes
from dovetail.cli.progress import Reporter

if TYPE_CHECKING:
    from dovetail.clusters.counts import BigramCounts

Texts = Annotated[
    list[Path],
    typer.Argument(metavar="TEXT", help="Text with words separated by white space (may be .gz); - for standard input."),
    Reads(),
]

Output = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write paths to this file (may be .gz), or a compact .clusters file."
    ),
    Writes(),
]


def counted(texts: list[Path], min_count: int, max_types: int | None, encoding: str, work: Reporter) -> BigramCounts:
    """Count the words and neighbours of all the texts."""
    from dovetail.clusters.counts import count_bigrams

    work.doing("counting words")
    return count_bigrams(
        tuple(texts),
        min_count=min_count,
        max_types=max_types,
        encoding=encoding,
        progress=lambda tokens: work.standing(tokens, None, "words"),
    )
