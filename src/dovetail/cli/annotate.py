"""``dovetail annotate``: tags, and entities with their probabilities, for text or for files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli import options
from dovetail.cli.console import explain_silence, warn_all
from dovetail.cli.corpus import Input, InputFormat
from dovetail.cli.domains import Domain, load_model
from dovetail.cli.kinds import Kind, kind_of
from dovetail.cli.words import annotate_words
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.models.tagger import Tagger
    from dovetail.text.sentence import Document, Sentence


class Lines(StrEnum):
    """What a line end in running text means."""

    auto = "auto"
    paragraphs = "paragraphs"
    sentences = "sentences"


LinesOption = Annotated[
    Lines | None,
    typer.Option(
        "--lines",
        help="What a line end in text means. auto: a sentence ends at blank lines, and at lines that are not wrapped, "
        "such as signatures and tweets; paragraphs: at blank lines only; sentences: at every line end, and nowhere "
        "else.",
        show_default="auto",
    ),
]


class OutputFormat(StrEnum):
    """Formats of annotated text; pretty is for reading."""

    pretty = "pretty"
    jsonl = "jsonl"
    conll = "conll"
    conllu = "conllu"
    brackets = "brackets"
    brat = "brat"
    svg = "svg"


PLAIN = (OutputFormat.conll, OutputFormat.conllu, OutputFormat.brackets)
"""Formats that have no place for probabilities."""


def annotate(
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|TEXT",
            help="A file (.gz too), a folder of .txt files, or text in quotes; - or nothing for the standard input. "
            "It is text if there is no such file and it holds a space, unless it ends like a file (.txt, .gz, ...) "
            "and has a slash or no more than two words.",
        ),
    ] = None,
    model: options.Model = None,
    input_format: Annotated[
        InputFormat | None, typer.Option(help="Of the input.", show_default="told by the name, else text")
    ] = None,
    output_format: Annotated[
        OutputFormat | None,
        typer.Option(
            help="Of the output.",
            show_default="told by --output, else as the input; for text pretty on a terminal, else jsonl",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write here (.gz too); a folder for brat.",
            show_default="standard output",
        ),
    ] = None,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    lines: LinesOption = None,
    sentence_per_line: Annotated[
        bool, typer.Option("--sentence-per-line", help="The same as --lines sentences.")
    ] = False,
    tokenised: Annotated[
        bool, typer.Option("--tokenised", help="The words of the text are parted by spaces already.")
    ] = False,
    threshold: Annotated[
        float,
        typer.Option(metavar="P", min=0, max=1, help="Leave out entities that are less probable than this."),
    ] = 0.0,
    documents: Annotated[
        bool, typer.Option("--documents", help="JSON lines of whole documents, with entities by characters.")
    ] = False,
    k_best: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Add the N best taggings of each sentence, with probabilities (jsonl)."),
    ] = None,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Add the probability of every label at every word (jsonl).")
    ] = False,
    domain: Domain = None,
    threads: options.Threads = None,
) -> None:
    """Tag text or files, with a probability for every entity.

    Files of any size are annotated as a stream, in little memory. Examples:

    dovetail annotate "Ada Lovelace was born in London."

    dovetail annotate --model M news.conll.gz --output tagged.conll.gz
    """
    source = Input(text, input_format)
    from dovetail.cli.stream import annotate_documents
    from dovetail.text.files import open_target
    from dovetail.text.report import ReadReport

    tagger = load_model(model, domain).set_params(threads=threads)
    kind = kind_of(tagger)
    form = output_format or _default_format(source.format, output, None if k_best or marginals or documents else kind)
    if (k_best or marginals or documents) and form != OutputFormat.jsonl:
        raise DovetailError(f"--k-best, --marginals and --documents are written as jsonl, not as {form}")
    if documents and (k_best or marginals):
        raise DovetailError("--documents has no place for --k-best and --marginals, which are of sentences")
    if form == OutputFormat.brat and output is None:
        raise DovetailError("brat is written to a folder: name it with --output")
    if form == OutputFormat.svg and (kind is None or kind.picture is None):
        raise DovetailError("svg draws trees and dependencies, and this model finds none")
    if getattr(tagger, "words", False):
        if k_best or marginals or documents or threshold > 0:
            raise DovetailError("--k-best, --marginals, --documents and --threshold are of taggers, not of words")
        annotate_words(tagger, source, output, output_format, encoding)
        return
    if kind is not None and threshold > 0 and tagger.kind != "nested":
        raise DovetailError("--threshold leaves out entities, and this model finds none")
    if (k_best or marginals) and not hasattr(tagger, "predict_marginals"):
        raise DovetailError("--k-best and --marginals are of taggers; a segmenter gives its k best in Python")
    report = ReadReport()
    reading = _text_options(source.format, lines, sentence_per_line, tokenised)
    read = source.documents(options.names(columns), encoding, report, **reading)
    wants_probabilities = threshold > 0 or form not in PLAIN
    annotated = annotate_documents(read, lambda some: _tag(tagger, some, threshold, wants_probabilities))
    annotated = explain_silence(annotated, "(the first run compiles its inner loops; later ones start at once)")
    if k_best or marginals:
        from dovetail.cli.details import tag_details, write_details

        write_details(annotated, output or "-", tagger, k_best or 0, marginals, kind.details if kind else tag_details)
    elif kind is not None and kind.picture is not None and form == OutputFormat.svg:
        _draw(annotated, output, kind.picture)
    elif kind is not None and form == OutputFormat.pretty:
        with open_target(output or "-") as file:
            kind.show(annotated, file)
    else:
        _write(annotated, output, form, tagger.target, documents)
    warn_all(report.lines())


def _draw(annotated: Iterable[Document], output: Path | None, picture: Callable[[Sentence], str]) -> None:
    """A picture for each sentence: one to the output as it is named, more to names with their numbers."""
    from dovetail.text.files import open_target

    pictures = [picture(sentence) for document in annotated for sentence in document if len(sentence)]
    if len(pictures) > 1 and output is None:
        raise DovetailError(f"{len(pictures)} sentences are as many pictures: name a file with --output")
    for number, drawn in enumerate(pictures, 1):
        numbered = output.with_stem(f"{output.stem}-{number}") if output and len(pictures) > 1 else output
        with open_target(numbered or "-") as file:
            file.write(drawn)


def _default_format(given: InputFormat, output: Path | None, kind: Kind | None) -> OutputFormat:
    from dovetail.text.formats import guess_format

    if output is not None and output.suffix == ".svg":
        return OutputFormat.svg
    if output is not None and (guess := guess_format(output)) in list(OutputFormat):
        return OutputFormat(guess)
    if given in (InputFormat.conll, InputFormat.conllu, InputFormat.jsonl, InputFormat.brackets):
        return OutputFormat(given)
    if given == InputFormat.brat and output is not None:
        return OutputFormat.brat
    if output is None and sys.stdout.isatty():
        return OutputFormat.pretty
    return OutputFormat.jsonl if kind is None or output is not None else OutputFormat(kind.piped)


def _text_options(format: InputFormat, lines: Lines | None, sentence_per_line: bool, tokenised: bool) -> dict[str, Any]:
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


def _tag(tagger: Tagger, sentences: Iterable[Sentence], threshold: float, probabilities: bool) -> Iterator[Sentence]:
    from dovetail.text.spans import flat_tags

    for sentence in tagger.annotate(sentences, probabilities):
        sure = tuple(span for span in sentence.spans if span.probability is None or span.probability >= threshold)
        if len(sure) < len(sentence.spans):
            tags = flat_tags(sure, len(sentence))
            sentence = replace(sentence, layers={**sentence.layers, tagger.target: tags}, spans=sure)
        yield sentence


def _write(
    annotated: Iterable[Document], output: Path | None, form: OutputFormat, target: str, documents: bool
) -> None:
    from dovetail.text.files import atomic_writer
    from dovetail.text.formats import write

    where = output or "-"
    if form != OutputFormat.pretty:
        write(annotated, where, form, **({"unit": "documents"} if documents else {}))
        return
    from dovetail.cli.display import show

    if output is None:
        show(annotated, sys.stdout, target)
    else:
        with atomic_writer(output) as file:
            show(annotated, file, target)
