"""``dovetail annotate``: tags, and entities with their probabilities, for text or for files."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli import options
from dovetail.cli.console import explain_silence, warn_all
from dovetail.cli.corpus import Input, InputFormat
from dovetail.cli.words import annotate_words
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.models.tagger import Tagger
    from dovetail.text.sentence import Document, Sentence


class OutputFormat(StrEnum):
    """Formats of annotated text; pretty is for reading."""

    pretty = "pretty"
    jsonl = "jsonl"
    conll = "conll"
    conllu = "conllu"
    brat = "brat"


def annotate(
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|TEXT",
            help="A file (.gz too), or text in quotes; - or nothing for the standard input. It is taken for "
            "text if there is no such file, it holds a space, and it ends like no file (.txt, .gz, ...).",
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
    sentence_per_line: Annotated[
        bool, typer.Option("--sentence-per-line", help="A line of text is a sentence, and nothing else is.")
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
    threads: options.Threads = None,
) -> None:
    """Tag text or files, with a probability for every entity.

    Files of any size are annotated as a stream, in little memory. Examples:

    dovetail annotate "Ada Lovelace was born in London."

    dovetail annotate --model M news.conll.gz --output tagged.conll.gz
    """
    source = Input(text, input_format)
    form = output_format or _default_format(source.format, output)
    if (k_best or marginals or documents) and form != OutputFormat.jsonl:
        raise DovetailError(f"--k-best, --marginals and --documents are written as jsonl, not as {form}")
    if documents and (k_best or marginals):
        raise DovetailError("--documents has no place for --k-best and --marginals, which are of sentences")
    if form == OutputFormat.brat and output is None:
        raise DovetailError("brat is written to a folder: name it with --output")
    import dovetail
    from dovetail.cli.stream import annotate_documents
    from dovetail.text.report import ReadReport

    tagger = dovetail.load(model).set_params(threads=threads)
    if getattr(tagger, "words", False):
        if k_best or marginals or documents or threshold > 0:
            raise DovetailError("--k-best, --marginals, --documents and --threshold are of taggers, not of words")
        annotate_words(tagger, source, output, output_format, encoding)
        return
    if (k_best or marginals) and not hasattr(tagger, "predict_marginals"):
        raise DovetailError("--k-best and --marginals are of taggers; a segmenter gives its k best in Python")
    report = ReadReport()
    reading = _text_options(source.format, sentence_per_line, tokenised)
    read = source.documents(options.names(columns), encoding, report, **reading)
    wants_probabilities = threshold > 0 or form not in (OutputFormat.conll, OutputFormat.conllu)
    annotated = annotate_documents(read, lambda some: _tag(tagger, some, threshold, wants_probabilities))
    annotated = explain_silence(annotated, "(the first run compiles its inner loops; later ones start at once)")
    if k_best or marginals:
        from dovetail.cli.details import write_details

        write_details(annotated, output or "-", tagger, k_best or 0, marginals)
    else:
        _write(annotated, output, form, tagger.target, documents)
    warn_all(report.lines())


def _default_format(given: InputFormat, output: Path | None) -> OutputFormat:
    from dovetail.text.formats import guess_format

    if output is not None and (guess := guess_format(output)) in list(OutputFormat):
        return OutputFormat(guess)
    if given in (InputFormat.conll, InputFormat.conllu, InputFormat.jsonl):
        return OutputFormat(given)
    if given == InputFormat.brat and output is not None:
        return OutputFormat.brat
    return OutputFormat.pretty if output is None and sys.stdout.isatty() else OutputFormat.jsonl


def _text_options(format: InputFormat, sentence_per_line: bool, tokenised: bool) -> dict[str, Any]:
    if (sentence_per_line or tokenised) and format != InputFormat.text:
        raise DovetailError(f"--sentence-per-line and --tokenised are for text, not for {format}")
    found = {}
    if sentence_per_line:
        found["lines"] = "sentences"
    if tokenised:
        found["words"] = "spaces"
    return found


def _tag(tagger: Tagger, sentences: Iterable[Sentence], threshold: float, probabilities: bool) -> Iterator[Sentence]:
    for sentence in tagger.annotate(sentences, probabilities):
        sure = tuple(span for span in sentence.spans if span.probability is None or span.probability >= threshold)
        yield sentence if len(sure) == len(sentence.spans) else sentence.with_entities(sure, tagger.target)


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
