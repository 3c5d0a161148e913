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
from dovetail.cli.console import warn_all
from dovetail.cli.corpus import Input, InputFormat
from dovetail.cli.domains import Domain, load_model
from dovetail.cli.kinds import Kind, kind_of, name_of
from dovetail.cli.layers import lacks, telling
from dovetail.cli.output import format_by_name
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.running_text import LinesOption, SentencePerLine, Tokenised, text_options
from dovetail.cli.words import annotate_words
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.models.tagger.estimator import Tagger
    from dovetail.text.sentence import Document, Sentence


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


Text = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE|TEXT",
        help="A file (may be .gz), a folder of .txt files, or text in quotes; - or nothing for standard input. "
        "Something with a space in it is text, unless there is such a file, or it ends like a file name (.txt, "
        ".gz, ...) and has a slash or at most two words.",
    ),
    Reads(stdin=True),
]
Form = Annotated[
    OutputFormat | None,
    typer.Option(
        help="Format of the output.",
        show_default="from the name of --output, else as the input; for text, pretty on a terminal, else jsonl",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to this file (may be .gz), or to this folder for brat.",
        show_default="standard output",
    ),
    Writes(inside=("*.ann",)),
]


def annotate(
    text: Text = None,
    model: options.Model = None,
    input_format: options.AnyFormat = None,
    output_format: Form = None,
    output: Output = None,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    lines: LinesOption = None,
    sentence_per_line: SentencePerLine = False,
    tokenised: Tokenised = False,
    threshold: Annotated[
        float, typer.Option(metavar="P", min=0, max=1, help="Leave out entities less probable than this.")
    ] = 0.0,
    documents: Annotated[
        bool, typer.Option("--documents", help="Write whole documents as JSON lines, with character offsets.")
    ] = False,
    k_best: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Add the N best answers for each sentence, with probabilities (jsonl)."),
    ] = None,
    marginals: Annotated[
        bool, typer.Option("--marginals", help="Add the probability of every label for every word (jsonl).")
    ] = False,
    domain: Domain = None,
    threads: options.Threads = None,
) -> None:
    """Annotate text or files, with a probability for every answer.

    Files are streamed, so even very large ones need little memory. Examples:

    dovetail annotate "Ada Lovelace was born in London."

    dovetail annotate --model M news.conll.gz --output tagged.conll.gz
    """
    source = Input(text, input_format)
    from dovetail.text.report import ReadReport
    from dovetail.text.stream import annotate_documents

    tagger = load_model(model, domain).set_params(threads=threads)
    if getattr(tagger, "words", False):
        if k_best or marginals or documents or threshold > 0:
            raise DovetailError("--k-best, --marginals, --documents and --threshold are not for this kind of model")
        annotate_words(tagger, source, output, output_format, encoding)
        return
    kind = kind_of(tagger)
    if source.format == InputFormat.text and (needs := getattr(tagger, "needs", ())):
        raise DovetailError(lacks(name_of(tagger), needs))
    form = output_format or _default_format(source.format, output, None if k_best or marginals or documents else kind)
    _check_wishes(tagger, kind, form, output, threshold, documents, bool(k_best or marginals))
    report = ReadReport()
    reading = text_options(source.format, lines, sentence_per_line, tokenised)
    read = source.documents(options.names(columns), encoding, report, **reading)
    wants_probabilities = threshold > 0 or form not in PLAIN
    if form == OutputFormat.brat and source.name is not None:
        read = (replace(document, id=document.id or source.name) for document in read)
    annotated = annotate_documents(read, lambda some: _tag(tagger, some, threshold, wants_probabilities))
    if k_best or marginals:
        from dovetail.cli.details import write_details

        write_details(annotated, output or "-", tagger, k_best or 0, marginals, kind)
    else:
        _write(annotated, output, form, kind, tagger.target, documents)
    warn_all(report.lines())


def _check_wishes(
    tagger: Any,
    kind: Kind | None,
    form: OutputFormat,
    output: Path | None,
    threshold: float,
    documents: bool,
    details: bool,
) -> None:
    """Refuse what this kind of model or this format cannot give."""
    if (details or documents) and form != OutputFormat.jsonl:
        raise DovetailError(f"--k-best, --marginals and --documents need the output format jsonl, not {form}")
    if documents and details:
        raise DovetailError("--documents does not go with --k-best or --marginals, which are written per sentence")
    if form == OutputFormat.brat and output is None:
        raise DovetailError("brat needs a folder to write to: name it with --output")
    if form == OutputFormat.svg and (kind is None or kind.picture is None):
        raise DovetailError("svg is for trees and dependencies, and this model finds neither")
    if kind is not None and threshold > 0 and name_of(tagger) != "nested":
        raise DovetailError("--threshold leaves out entities, and this model finds none")
    if details and not hasattr(tagger, "predict_marginals"):
        raise DovetailError("--k-best and --marginals are not available for segmenters; see Segmenter.kbest in Python")


def _draw(annotated: Iterable[Document], output: Path | None, picture: Callable[[Sentence], str]) -> None:
    """A picture for each sentence: one to the output as it is named, more to names with their numbers."""
    from dovetail.text.files import open_target

    pictures = [picture(sentence) for document in annotated for sentence in document if len(sentence)]
    if len(pictures) > 1 and output is None:
        raise DovetailError(
            f"there is one picture per sentence, and {len(pictures)} sentences: name a file with --output"
        )
    for number, drawn in enumerate(pictures, 1):
        numbered = output.with_stem(f"{output.stem}-{number}") if output and len(pictures) > 1 else output
        with open_target(numbered or "-") as file:
            file.write(drawn)


def _default_format(given: InputFormat, output: Path | None, kind: Kind | None) -> OutputFormat:
    if (named := format_by_name(output, list(OutputFormat))) is not None:
        return OutputFormat(named)
    if given in (InputFormat.conll, InputFormat.conllu, InputFormat.jsonl, InputFormat.brackets):
        return OutputFormat(given)
    if given == InputFormat.brat and output is not None:
        return OutputFormat.brat
    if output is None and sys.stdout.isatty():
        return OutputFormat.pretty
    return OutputFormat.jsonl if kind is None or output is not None else OutputFormat(kind.piped)


def _tag(tagger: Tagger, sentences: Iterable[Sentence], threshold: float, probabilities: bool) -> Iterator[Sentence]:
    from dovetail.text.spans import flat_tags

    for sentence in tagger.annotate(telling(tagger, sentences), probabilities):
        sure = tuple(span for span in sentence.spans if span.probability is None or span.probability >= threshold)
        if len(sure) < len(sentence.spans):
            tags = flat_tags(sure, len(sentence))
            sentence = replace(sentence, layers={**sentence.layers, tagger.target: tags}, spans=sure)
        yield sentence


def _write(
    annotated: Iterable[Document],
    output: Path | None,
    form: OutputFormat,
    kind: Kind | None,
    target: str,
    documents: bool,
) -> None:
    from dovetail.text.files import open_target
    from dovetail.text.formats import write

    where = output or "-"
    if kind is not None and kind.picture is not None and form == OutputFormat.svg:
        _draw(annotated, output, kind.picture)
    elif form != OutputFormat.pretty:
        write(annotated, where, form, **({"unit": "documents"} if documents else {}))
    elif kind is not None:
        with open_target(where) as file:
            file.writelines(kind.show(sentence) for document in annotated for sentence in document)
    else:
        from dovetail.cli.display import show

        with open_target(output or sys.stdout) as file:
            show(annotated, file, target)
