"""How far the reading of a large file has come, for those who wait for what is written."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dovetail.cli.progress import Reporter, reporting, times

if TYPE_CHECKING:
    from dovetail.text.sentence import Document

LATEST = 5.0
"""After so many seconds a command says how far it is; what is quicker needs no word."""


def told(documents: Iterable[Document], source: Path, quiet: bool) -> Iterator[Document]:
    """The documents, as they come; how much of the file is read, and how long the rest may take, is told meanwhile."""
    from dovetail.text.files import positions

    began, words = time.monotonic(), 0
    with reporting(quiet) as reporter, positions() as place:
        for document in documents:
            yield document
            words += sum(map(len, document))
            tell(reporter, place(), source.stat().st_size, words, time.monotonic() - began)


def tell(reporter: Reporter, place: int, size: int, words: int, seconds: float) -> None:
    """Say it, once enough time has gone by: so many of the file's bytes are read, and so many words annotated."""
    if seconds >= LATEST and place:
        left = seconds * max(size - place, 0) / place
        reporter.standing(place, size, f"{words:,} words, {times(seconds, left)}")
