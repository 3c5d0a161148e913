"""``dovetail select``: which sentences to label next."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli import options
from dovetail.cli.console import count, say, warn, warn_all
from dovetail.cli.corpus import Corpora, Input
from dovetail.cli.domains import load_model
from dovetail.cli.output import format_by_name
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.progress import SECONDS_BETWEEN_LINES, Reporter, reporting
from dovetail.cli.running_text import LinesOption, SentencePerLine, Tokenised, text_options
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.text.report import ReadReport
    from dovetail.text.sentence import Sentence


class Measure(StrEnum):
    """Measures of uncertainty."""

    sequence_entropy = "sequence-entropy"
    token_entropy = "token-entropy"
    least_confident = "least-confident"
    margin = "margin"
    random = "random"


class SelectionFormat(StrEnum):
    """Formats for sentences to be labelled; text has no tags."""

    conll = "conll"
    jsonl = "jsonl"
    text = "text"


Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write to this file (may be .gz).", show_default="standard output"
    ),
    Writes(),
]
Discount = Annotated[
    float,
    typer.Option("--discount", metavar="X", min=0, max=1, help="Divide by (number of words)**X: 0 total, 1 per word."),
]
Diversity = Annotated[
    float,
    typer.Option(
        "--diversity", metavar="X", min=0, max=1, help="How much to prefer sentences that differ from each other."
    ),
]


def select(
    unlabelled: Annotated[
        Path,
        typer.Argument(metavar="UNLABELLED", help="Sentences to choose from (may be .gz); - for standard input."),
        Reads(),
    ],
    number: Annotated[
        int, typer.Option("--number", "-n", metavar="N", min=1, help="Number of sentences to choose.")
    ] = 100,
    model: options.Model = None,
    output: Output = None,
    by: Annotated[Measure, typer.Option("--by", help="Measure of uncertainty.")] = Measure.sequence_entropy,
    discount: Discount = 0.0,
    diversity: Diversity = 0.0,
    labelled: Annotated[
        list[Path] | None,
        typer.Option("--labelled", metavar="FILE", help="Leave out the sentences of this file; may be repeated."),
        Reads(),
    ] = None,
    input_format: options.AnyFormat = None,
    output_format: Annotated[
        SelectionFormat | None,
        typer.Option(help="Format of the output.", show_default="from the name of --output, else conll"),
    ] = None,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    lines: LinesOption = None,
    sentence_per_line: SentencePerLine = False,
    tokenised: Tokenised = False,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Seed of the random number generator.")] = 1,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
) -> None:
    """Choose the sentences that are most worth labelling next.

    These are the ones that the model is least sure of, best first. They are written with the model's tags,
    ready to be corrected, and with their rank and score as comments. Example:

    dovetail select --model M news.txt --number 100 --labelled train.conll --output next.conll
    """
    form = output_format or _format_of(output)
    source = Input(str(unlabelled), input_format)
    if source.is_text:
        raise DovetailError(f"{unlabelled}: no such file")
    reading = text_options(source.format, lines, sentence_per_line, tokenised)
    import dovetail
    from dovetail.active import select as choose
    from dovetail.text.formats import write
    from dovetail.text.report import ReadReport

    tagger = load_model(model, None).set_params(threads=threads)
    if not isinstance(tagger, dovetail.Tagger):
        raise DovetailError(f"{model}: sentences are chosen by a tagger, and this is another kind of model")
    report = ReadReport()
    with reporting(quiet) as reporter:
        known = _labelled(labelled or [], options.names(columns), encoding, report)
        documents = source.documents(options.names(columns), encoding, report, **reading)
        reporter.doing(f"reading {unlabelled}")
        choices = choose(
            tagger,
            _counted((sentence for document in documents for sentence in document), reporter),
            number,
            by=by.value,
            discount=discount,
            diversity=diversity,
            labelled=known,
            seed=seed,
        )
    warn_all(report.lines())
    if len(choices) < number:
        warn(f"{unlabelled} has only {count(len(choices), 'sentence')} to choose from")
    ranked = [choice.with_comments(rank, by.value) for rank, choice in enumerate(choices, 1)]
    write(tagger.annotate(ranked), output or "-", form)
    if not quiet:
        say(f"chose {count(len(ranked), 'sentence')}, {count(sum(map(len, ranked)), 'token')}")


def _counted(sentences: Iterable[Sentence], reporter: Reporter) -> Iterator[Sentence]:
    """The sentences as they come, with a word every few seconds about how many there were."""
    last = time.monotonic()
    for number, sentence in enumerate(sentences, 1):
        if time.monotonic() - last >= SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            reporter.doing(f"{number:,} sentences")
        yield sentence


def _format_of(output: Path | None) -> SelectionFormat:
    return SelectionFormat(format_by_name(output, list(SelectionFormat)) or "conll")


def _labelled(paths: list[Path], columns: list[str] | None, encoding: str, report: ReadReport) -> Iterator[Sentence]:
    """The sentences that are labelled already; an annotated file needs no format, as in training."""
    for path in paths:
        corpora = Corpora(None, columns, encoding)
        corpora.report = report
        yield from corpora.sentences(path)
