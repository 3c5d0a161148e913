"""How running text is cut into sentences and words: the options of every command that reads text."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from dovetail.cli.corpus import InputFormat
from dovetail.errors import DovetailError


class Lines(StrEnum):
    """What a line end in running text means."""

    auto = "auto"
    paragraphs = "paragraphs"
    sentences = "sentences"


LinesOption = Annotated[
    Lines | None,
    typer.Option(
        "--lines",
        help="Where sentences end in text. auto: at periods, at blank lines, and at the end of lines that are not "
        "wrapped, such as signatures and tweets; paragraphs: at periods and at blank lines; sentences: at every line "
        "end, and nowhere else.",
        show_default="auto",
    ),
]
SentencePerLine = Annotated[bool, typer.Option("--sentence-per-line", help="The same as --lines sentences.")]
Tokenised = Annotated[
    bool, typer.Option("--tokenised", help="The text is already tokenised: its words are separated by spaces.")
]


def text_options(format: InputFormat, lines: Lines | None, sentence_per_line: bool, tokenised: bool) -> dict[str, Any]:
    """The options of the reader of text that these mean."""
    if lines is not None and sentence_per_line and lines != Lines.sentences:
        raise DovetailError(f"--sentence-per-line means --lines sentences, and --lines {lines} was given; choose one")
    if (sentence_per_line or tokenised) and format != InputFormat.text:
        raise DovetailError(f"--sentence-per-line and --tokenised are for text, not for {format}")
    if lines is not None and format not in (InputFormat.text, InputFormat.jsonl, InputFormat.brat):
        raise DovetailError(f"--lines is for running text, and {format} has its sentences marked")
    found: dict[str, Any] = {}
    if lines is not None or sentence_per_line:
        found["lines"] = (lines or Lines.sentences).value
    if tokenised:
        found["words"] = "spaces"
    return found
