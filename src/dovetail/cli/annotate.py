"""``dovetail annotate``: tags, and entities with their probabilities, for text or for files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dovetail.cli import options
from dovetail.cli import pipeline as pipelines
from dovetail.cli.console import warn_all
from dovetail.cli.corpus import Input
from dovetail.cli.formats import InputFormat, OutputFormat
from dovetail.cli.kinds import Kind, kind_of, name_of
from dovetail.cli.language import in_its_language
from dovetail.cli.layers import lacks, telling
from dovetail.cli.nested import span_chances
from dovetail.cli.options import argument, option, switch
from dovetail.cli.pairs import annotate_pairs
from dovetail.cli.paths import Reads, Writes, format_by_name
from dovetail.cli.reading import told
from dovetail.cli.shards import annotate_shards
from dovetail.cli.words import annotate_words
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.models.tagger.estimator import Tagger
    from dovetail.text.sentence import Document, Sentence


PLAIN = (OutputFormat.conll, OutputFormat.conllu, OutputFormat.brackets)
"""Formats that have no place for probabilities."""
FORMAT = f"Format of the output: {', '.join(OutputFormat)}."
TO_FILES = (OutputFormat.brat, OutputFormat.spacy, OutputFormat.huggingface)
"""Formats that are no text, or several files."""


def annotate(
    text: str | None = argument(
        "FILE|TEXT",
        "A file (may be .gz), a folder of .txt files, or text in quotes; - or nothing for standard input. "
        "Something with a space in it is text, unless there is such a file, or it ends like a file name (.txt, "
        ".gz, ...) and has a slash or at most two words.",
        Reads(stdin=True),
    ),
    model: Path | None = options.MODEL,
    pipeline: Path | None = pipelines.PIPELINE,
    strategy: pipelines.Strategy | None = pipelines.STRATEGY,
    samples: int | None = pipelines.SAMPLES,
    seed: int | None = pipelines.SEED,
    input_format: InputFormat | None = options.ANY_FORMAT,
    output_format: OutputFormat | None = option(
        "FORMAT",
        FORMAT,
        shown="from the name of --output, else as the input; for text, pretty on a terminal, else jsonl",
    ),
    output: Path | None = options.output(
        "FILE",
        "Write to this file (may be .gz), or to this folder for brat.",
        Writes(inside=("*.ann", "*.tsv")),
        None,
        shown="standard output",
    ),
    columns: str | None = options.COLUMNS,
    encoding: str = options.ENCODING,
    lines: options.Lines | None = options.LINES,
    sentence_per_line: bool = options.SENTENCE_PER_LINE,
    tokenised: bool = options.TOKENISED,
    threshold: float = option("P", "Leave out entities less probable than this.", default=0.0, min=0, max=1),
    documents: bool = switch("Write whole documents as JSON lines, with character offsets."),
    k_best: int | None = option(
        "N", "Add the N best answers for each sentence, with probabilities (jsonl, html).", min=1
    ),
    marginals: bool = switch("Add the probability of every label for every word (jsonl)."),
    domain: str | None = options.DOMAIN,
    threads: int | None = options.THREADS,
    quiet: bool = options.QUIET,
    ray: bool = switch("Share the files of a folder out over a Ray cluster; --output is another folder."),
) -> None:
    """Annotate text or files, with probabilities.

    Files are streamed, so even very large ones need little memory. Examples:

    dovetail annotate "Ada Lovelace was born in London."

    dovetail annotate --model M news.conll.gz --output tagged.conll.gz
    """
    if ray:
        return annotate_shards(annotate, dict(locals()))
    source = Input(text, input_format)
    from dovetail.text.documents import annotate_documents
    from dovetail.text.report import ReadReport

    report = ReadReport()

    def documents_of() -> Iterator[Document]:
        reading = options.text_options(source.format, lines, sentence_per_line, tokenised)
        return source.documents(options.names(columns), encoding, report, **reading)

    read = documents_of() if model is None and pipeline is None else None
    if read is not None:
        model, read = in_its_language(read)
    tagger = pipelines.load(model, pipeline, domain, strategy, samples, seed, threads)
    if getattr(tagger, "words", False) or name_of(tagger) == "entailment":
        if k_best or marginals or documents or threshold > 0:
            raise DovetailError("--k-best, --marginals, --documents and --threshold are not for this kind of model")
        write = annotate_words if name_of(tagger) == "segmenter" else annotate_pairs
        write(tagger, source, output, output_format, encoding)
        return
    kind = kind_of(tagger)
    if source.format == InputFormat.text and (needs := getattr(tagger, "needs", ())):
        raise DovetailError(lacks(name_of(tagger), needs))
    form = output_format or _default_format(source.format, output, None if k_best or marginals or documents else kind)
    _check_wishes(tagger, form, output, threshold, documents, bool(k_best or marginals), marginals)
    read = documents_of() if read is None else read
    wants_probabilities = threshold > 0 or form not in PLAIN
    if form == OutputFormat.brat and source.name is not None:
        read = (replace(document, id=document.id or source.name) for document in read)
    annotated = annotate_documents(read, lambda some: _tag(tagger, some, threshold, wants_probabilities))
    if output is not None and (path := source.path) is not None:
        annotated = told(annotated, path, quiet)
    if form == OutputFormat.html:
        _write_page(annotated, output or "-", tagger, source, k_best or 0)
    elif k_best or marginals:
        _write_details(annotated, output or "-", tagger, k_best or 0, marginals)
    else:
        _write(annotated, output, form, tagger, documents)
    warn_all(report.lines())


def _check_wishes(
    tagger: Any,
    form: OutputFormat,
    output: Path | None,
    threshold: float,
    documents: bool,
    details: bool,
    marginals: bool,
) -> None:
    """Refuse what this kind of model or this format cannot give."""
    kind = kind_of(tagger)
    page = form == OutputFormat.html and not (documents or marginals)
    if (details or documents) and form != OutputFormat.jsonl and not page:
        raise DovetailError(f"--k-best, --marginals and --documents need the output format jsonl, not {form}")
    if documents and details:
        raise DovetailError("--documents does not go with --k-best or --marginals, which are written per sentence")
    if form in TO_FILES and output is None:
        where = "a folder" if form == OutputFormat.brat else "a file"
        raise DovetailError(f"{form} needs {where} to write to: name it with --output")
    if form == OutputFormat.svg and (kind is None or kind.picture is None):
        raise DovetailError("svg is for trees and dependencies, and this model finds neither")
    if kind is not None and threshold > 0 and name_of(tagger) != "nested":
        raise DovetailError("--threshold leaves out entities, and this model finds none")
    if marginals and hasattr(tagger, "posterior"):
        raise DovetailError("--marginals is of single models; for a pipeline, see Pipeline.posterior in Python")
    if details and not hasattr(tagger, "predict_marginals") and not hasattr(tagger, "posterior"):
        raise DovetailError("--k-best and --marginals are not available for segmenters; see Segmenter.kbest in Python")


def _draw(annotated: Iterable[Document], output: Path | None, picture: Callable[[Sentence], str]) -> None:
    """A picture for each sentence: one to the output as it is named, more to names with their numbers."""
    from dovetail.text.files import open_target

    pictures = [picture(sentence) for document in annotated for sentence in document if len(sentence)]
    if len(pictures) > 1 and output is None:
        told = f"there is one picture per sentence, and {len(pictures)} sentences"
        raise DovetailError(f"{told}: name a file with --output")
    for number, drawn in enumerate(pictures, 1):
        numbered = output.with_stem(f"{output.stem}-{number}") if output and len(pictures) > 1 else output
        with open_target(numbered or "-") as file:
            file.write(drawn)


def _default_format(given: InputFormat, output: Path | None, kind: Kind | None) -> OutputFormat:
    if (named := format_by_name(output, list(OutputFormat))) is not None:
        return OutputFormat(named)
    if given != InputFormat.text and (output is not None or OutputFormat(given) not in TO_FILES):
        return OutputFormat(given)
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


def _write(annotated: Iterable[Document], output: Path | None, form: OutputFormat, model: Any, documents: bool) -> None:
    from dovetail.text.files import open_target
    from dovetail.text.formats import write

    kind, where = kind_of(model), output or "-"
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
            show(annotated, file, model.target)


def _write_details(documents: Iterable[Document], path: Path | str, model: Any, k_best: int, marginals: bool) -> None:
    """Write annotated documents with more fields: ``k_best``, a list of answers with their ``probability``, best first;
    ``marginals``, of a tagger an object from label to probability for each word.
    """
    from dovetail.text.files import atomic_writer
    from dovetail.text.jsonl import compact_json, sentence_object

    kind = kind_of(model)
    of_words = span_chances if getattr(model, "kind", "") == "segmenter" else _labels
    answer, chances = (kind.answer, kind.marginals) if kind else (lambda tagging: {"tags": tagging.tags}, of_words)
    with atomic_writer(path) as file:
        for document in documents:
            sentences = document.sentences
            more: dict[str, list[Any]] = {}
            if k_best:
                ranked = model.kbest(sentences, k_best)
                more["k_best"] = [[{"probability": one.probability, **answer(one)} for one in all] for all in ranked]
            if marginals:
                more["marginals"] = chances(model, sentences)
            for sentence, *values in zip(document, *more.values(), strict=True):
                fields = sentence_object(sentence, document) | dict(zip(more, values, strict=True))
                file.write(f"{compact_json(fields)}\n")


def _write_page(documents: Iterable[Document], path: Path | str, model: Any, source: Input, k_best: int) -> None:
    """Write a page that stands alone; with ``k_best``, other answers to each sentence are folded away below it."""
    from dovetail.text.files import open_target
    from dovetail.text.html import alternatives_html, document_html, sentence_html
    from dovetail.text.page import PAGE_END, page_head

    with open_target(path) as file:
        file.write(page_head(source.name or ("Annotated text" if source.is_text else Path(source.argument).name)))
        for document in documents:
            file.write('<section class="card">')
            if not k_best:
                file.write(document_html(document))
            else:
                for sentence, ranked in zip(document, model.kbest(document.sentences, k_best), strict=True):
                    others = [(one.probability, one.write(sentence)) for one in ranked[1:]]
                    file.write(sentence_html(sentence) + alternatives_html(others))
            file.write("</section>\n")
        file.write(PAGE_END)


def _labels(tagger: Any, sentences: Any) -> list[Any]:
    tables = tagger.predict_marginals(sentences)
    return [[dict(zip(tagger.classes_, row, strict=True)) for row in table.tolist()] for table in tables]
