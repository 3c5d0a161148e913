"""``dovetail select``: which sentences to label next."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.cli import options
from dovetail.cli.console import count, say, warn
from dovetail.cli.corpus import Corpora, Input
from dovetail.cli.formats import InputFormat
from dovetail.cli.kinds import load_model
from dovetail.cli.options import REQUIRED, argument, option
from dovetail.cli.paths import Reads, Writes, format_by_name
from dovetail.cli.progress import SECONDS_BETWEEN_LINES, Reporter, reporting
from dovetail.errors import DovetailError
from dovetail.models import settings

if TYPE_CHECKING:
    from dovetail.text.sentence import Sentence


Measure = StrEnum("Measure", "sequence-entropy token-entropy least-confident margin random")
"""Measures of uncertainty."""
USUAL = Measure("sequence-entropy")
SelectionFormat = StrEnum("SelectionFormat", "conll jsonl text")
"""Formats for sentences to be labelled; text has no tags."""

DISCOUNT = option("X", "Divide by (number of words)**X: 0 total, 1 per word.", default=0.0, min=0, max=1)
DIVERSITY = option("X", "How much to prefer sentences that differ from each other.", default=0.0, min=0, max=1)


def select(
    unlabelled: Path = argument(
        "UNLABELLED", "Sentences to choose from (may be .gz); - for standard input.", Reads(), REQUIRED
    ),
    number: int = option("N", "Number of sentences to choose.", default=100, short="-n", min=1),
    model: Path | None = options.MODEL,
    output: Path | None = options.output(
        "FILE", "Write to this file (may be .gz).", Writes(), None, shown="standard output"
    ),
    by: Measure = option(None, "Measure of uncertainty.", default=USUAL),
    discount: float = DISCOUNT,
    diversity: float = DIVERSITY,
    labelled: list[Path] | None = option("FILE", "Leave out the sentences of this file; may be repeated.", Reads()),
    input_format: InputFormat | None = options.ANY_FORMAT,
    output_format: SelectionFormat | None = option(
        None, "Format of the output.", shown="from the name of --output, else conll"
    ),
    columns: str | None = options.COLUMNS,
    encoding: str = options.ENCODING,
    lines: options.Lines | None = options.LINES,
    sentence_per_line: bool = options.SENTENCE_PER_LINE,
    tokenised: bool = options.TOKENISED,
    seed: int = option("N", settings.seed.keywords["help"], default=1, min=0),
    threads: int | None = options.THREADS,
    quiet: bool = options.QUIET,
) -> None:
    """Choose the sentences that are most worth labelling next.

    These are the ones that the model is least sure of, best first. They are written with the model's tags,
    ready to be corrected, and with their rank and score as comments. Example:

    dovetail select --model M news.txt --number 100 --labelled train.conll --output next.conll
    """
    form = output_format or SelectionFormat(format_by_name(output, list(SelectionFormat)) or "conll")
    source = Input(str(unlabelled), input_format)
    if source.is_text:
        raise DovetailError(f"{unlabelled}: no such file")
    reading = options.text_options(source.format, lines, sentence_per_line, tokenised)
    import dovetail
    from dovetail.active import select as choose
    from dovetail.text.formats import write

    tagger = load_model(model, None).set_params(threads=threads)
    if not isinstance(tagger, dovetail.Tagger):
        raise DovetailError(f"{model}: sentences are chosen by a tagger, and this is another kind of model")
    corpora = Corpora(None, options.names(columns), encoding)  # labelled files need no format, as in training
    with reporting(quiet) as reporter:
        documents = source.documents(corpora.columns, encoding, corpora.report, **reading)
        reporter.doing(f"reading {unlabelled}")
        offered = _counted(chain.from_iterable(documents), reporter)
        known = chain.from_iterable(map(corpora.sentences, labelled or []))
        how: dict[str, Any] = {"by": by.value, "discount": discount, "diversity": diversity}
        choices = choose(tagger, offered, number, **how, labelled=known, seed=seed)
    corpora.warn()
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
