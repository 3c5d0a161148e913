"""``dovetail train dependency``: a parser of projective dependency trees."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli import options
from dovetail.cli.console import count, say, warn_all
from dovetail.cli.corpus import Corpora
from dovetail.cli.dependencies import attachment_record, attachment_report, check_heads
from dovetail.cli.layers import will_need
from dovetail.cli.paths import Reads
from dovetail.cli.progress import Reporter, reporting
from dovetail.cli.train import resources
from dovetail.cli.train.domains import Data, DomainFiles
from dovetail.cli.train.doubts import overlap_doubts
from dovetail.cli.train.parser_domains import domain_files, sigma_option, train_parser_domains
from dovetail.cli.train.summary import STOPPED
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.models.dependency.estimator import DependencyParser
    from dovetail.models.domains.parser import MultiDomainParser
    from dovetail.text.sentence import Sentence


# The defaults of settings are those of DependencyParser: an option that is not given is not passed on.
def train_dependency(
    output: options.ModelOutput,
    train: Annotated[
        Path | None,
        typer.Option(
            "--train",
            metavar="FILE",
            help="Sentences with heads, relations and tags (may be .gz); required, unless --domain is given.",
        ),
        Reads(),
    ] = None,
    dev: Annotated[
        Path | None,
        typer.Option("--dev", metavar="FILE", help="Held-out sentences, to stop at the best score and to tune on."),
        Reads(),
    ] = None,
    domain: DomainFiles = None,
    sigma: Annotated[float | None, sigma_option("0.1")] = None,
    input_format: options.InputFormat = None,
    columns: options.Columns = None,
    encoding: options.Encoding = "utf-8",
    tags: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The layer with parts of speech.", show_default="pos, else xpos"),
    ] = None,
    predict_tags: Annotated[
        bool, typer.Option("--predict-tags", help="Also train a tagger, so that plain text can be parsed.")
    ] = False,
    relations: Annotated[bool, typer.Option("--relations/--no-relations", help="Also learn the relations.")] = True,
    clusters: resources.ClusterFiles = None,
    max_length: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Leave longer sentences out of training.", show_default="300"),
    ] = None,
    decode: Annotated[
        str | None,
        typer.Option(
            metavar="expected|best",
            help="Return the tree of the most probable arcs, or the most probable tree.",
            show_default="expected",
        ),
    ] = None,
    l2: Annotated[
        float | None, typer.Option(metavar="X", min=0, help="Penalty on squared weights.", show_default="3")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Maximum number of passes over the data.", show_default="200")
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Stop after N scores on dev without improvement.", show_default="3"),
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Words that occur less often are known by their suffix only.", show_default="5"
        ),
    ] = None,
    bits: Annotated[
        int | None,
        typer.Option(metavar="N", min=8, max=28, help="Hash features of arcs into 2**N buckets.", show_default="22"),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            min=0,
            max=0.5,
            help="Skip arcs that a small model finds less probable than P.",
            show_default="0.0001",
        ),
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate/--no-calibrate", help="Calibrate the probabilities on dev.")
    ] = True,
    threads: options.Threads = None,
    init: options.Init = None,
    resume: options.Resume = False,
    half: options.Half = False,
    quiet: options.Quiet = False,
) -> None:
    """Train a parser of projective dependency trees.

    It finds heads and relations, with a probability for every arc. Ctrl-C ends the current step early and saves the
    best weights so far; the exit code is then 0.
    """
    files = domain_files(domain, train, sigma, dev=dev, patience=patience, init=init, resume=resume, half=half)
    if patience is not None and dev is None:
        raise DovetailError("--patience counts scores on dev, so it needs --dev")
    from dovetail.models.dependency.estimator import DependencyParser

    given: dict[str, Any] = {
        "tags": tags, "predict_tags": predict_tags, "relations": relations, "max_length": max_length,
        "decode": decode, "l2": l2, "iterations": iterations, "patience": patience, "min_count": min_count,
        "bits": bits, "threshold": threshold, "calibrate": calibrate, "threads": threads,
    }  # fmt: skip
    parser = DependencyParser(**{name: value for name, value in given.items() if value is not None})
    start = DependencyParser.load(init) if init is not None else None
    corpora = Corpora(input_format, options.names(columns), encoding)

    def several(data: Data, reporter: Reporter) -> MultiDomainParser:
        from dovetail.models.domains.parser import MultiDomainParser

        for name, some in data.items():
            check_heads(some, files[name], corpora)
        parser.clusters = _clusters(clusters or ())
        return MultiDomainParser(parser=parser, sigma=sigma)

    if train is None:
        train_parser_domains(files, corpora, several, _doubts, output, quiet)
        return
    began = time.perf_counter()
    with reporting(quiet) as reporter:
        reporter.doing(f"reading {train}")
        sentences = corpora.sentences(train)
        corpora.check_training(sentences, train)
        check_heads(sentences, train, corpora)
        held_out = None
        if dev is not None:
            held_out = corpora.sentences(dev)
            check_heads(held_out, dev, corpora)
        corpora.warn()
        warn_all(overlap_doubts(sentences, held_out))
        warn_all(will_need("dependency", [] if predict_tags else [parser.tags]))
        parser.clusters = _clusters(clusters or ())
        checkpoint = output.with_name(output.name + ".checkpoint") if resume else None
        parser.fit(
            sentences, dev=held_out or None, init=start, checkpoint=checkpoint, progress=reporter.trained,
            told=reporter.doing,
        )  # fmt: skip
        seconds = time.perf_counter() - began
        reporter.doing(f"writing {output}")
        parser.save(output, half=half)
    warn_all(_doubts(parser.card_))
    if checkpoint is not None and checkpoint.exists():
        say(f"run the same command again to continue from {checkpoint}")
    print(_summary(parser, held_out, output, seconds))


def _clusters(paths: Any) -> dict[str, Any]:
    """Clusters by the names of their files."""
    from dovetail.features.resources.recipe import as_resources, read_clusterings
    from dovetail.text.report import ReadReport

    report = ReadReport()
    clusterings = read_clusterings(paths, report)
    warn_all(report.lines())
    made = as_resources(clusterings)
    return {name: made[name] for name in clusterings}


def _doubts(card: Mapping[str, Any]) -> list[str]:
    found = []
    if card["projectivised"]:
        trees = count(card["projectivised"], "tree")
        found.append(f"{trees} of the training data with crossing arcs, made projective")
    if card["left_out"]:
        found.append(f"{count(card['left_out'], 'sentence')} of the training data left out as too long")
    return found


def _summary(parser: DependencyParser, dev: list[Sentence] | None, output: Path, seconds: float) -> str:
    lines = []
    if dev:
        lines += [attachment_report(attachment_record(dev, list(parser.annotate(dev, False)))), ""]
    card, size = parser.card_, output.stat().st_size / 1e6
    data = f"{count(card['sentences'], 'sentence')}, {count(card['tokens'], 'token')}"
    lines += [
        f"trained on {data} in {seconds:.1f} s",
        f"stopped: {STOPPED.get(card['stopped'], card['stopped'])}",
        f"model: {output} ({size:.1f} MB, {count(len(parser.classes_), 'relation')})",
    ]
    return "\n".join(lines)
