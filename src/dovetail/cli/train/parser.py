"""``dovetail train parser``: constituent trees."""

from __future__ import annotations

import time
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli import options
from dovetail.cli.console import count, warn, warn_all
from dovetail.cli.corpus import Corpora
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
    from dovetail.models.domains.parser import MultiDomainParser
    from dovetail.models.parser.estimator import Parser


class ParserKind(StrEnum):
    """What the scores of rules are made of."""

    full = "full"
    rules = "rules"
    generative = "generative"


class Branching(StrEnum):
    """Where long constituents branch."""

    right = "right"
    left = "left"


class Tags(StrEnum):
    """Where parts of speech come from."""

    predicted = "predicted"
    given = "given"


class Decode(StrEnum):
    """What the best tree is."""

    viterbi = "viterbi"
    recall = "recall"


class ParserOptimiser(StrEnum):
    """How weights are found."""

    adagrad = "adagrad"
    sgd = "sgd"


# The defaults of settings are those of Parser: an option that is not given is not passed on.
def train_parser(
    output: options.ModelOutput,
    train: Annotated[
        Path | None,
        typer.Option(
            "--train",
            metavar="FILE",
            help="Trees: brackets, or JSON lines with a field tree (may be .gz); required, unless --domain is given.",
        ),
        Reads(),
    ] = None,
    dev: Annotated[
        Path | None,
        typer.Option("--dev", metavar="FILE", help="Held-out text, to stop at the best score and to tune on."),
        Reads(),
    ] = None,
    domain: DomainFiles = None,
    sigma: Annotated[float | None, sigma_option("0.3")] = None,
    max_length: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Leave longer sentences out of training and dev.", show_default="no limit"
        ),
    ] = None,
    features: Annotated[
        ParserKind | None,
        typer.Option(help="All features, only rules, or a generative grammar.", show_default="full"),
    ] = None,
    unlabelled: resources.Unlabelled = None,
    clusters: resources.ClusterFiles = None,
    save_clusters: resources.SaveClusters = None,
    vertical: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Vertical Markov order: 2 adds the parent's label.",
            show_default="1, or 2 for generative",
        ),
    ] = None,
    horizontal: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Horizontal Markov order of binarised rules.",
            show_default="0, or 1 for generative",
        ),
    ] = None,
    branching: Annotated[
        Branching | None, typer.Option(help="Direction of binarisation.", show_default="right")
    ] = None,
    head_tags: Annotated[
        bool | None,
        typer.Option(
            "--head-tags/--no-head-tags",
            help="Split verb phrases by the tag of their head.",
            show_default="no, but yes for generative",
        ),
    ] = None,
    relax: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=0,
            help="Give a symbol that is in more than N rules the rules of symbols that differ from it in their "
            "parents alone; only with --vertical 2 or more.",
            show_default="off",
        ),
    ] = None,
    tags: Annotated[
        Tags | None,
        typer.Option(help="Predict parts of speech, or read them from the text.", show_default="predicted"),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="P", min=0, max=1, help="Skip what a small grammar finds less probable.", show_default="0.001"
        ),
    ] = None,
    decode: Annotated[
        Decode | None,
        typer.Option(help="Return the most probable tree, or the most probable brackets.", show_default="viterbi"),
    ] = None,
    optimiser: Annotated[ParserOptimiser | None, typer.Option(help="Optimiser.", show_default="adagrad")] = None,
    l2: Annotated[
        float | None, typer.Option(metavar="X", min=0, help="Penalty on squared weights.", show_default="1")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Maximum number of passes over the data.", show_default="10")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Sentences per step.", show_default="64 or fewer")
    ] = None,
    gain: Annotated[float | None, typer.Option(metavar="X", help="Step size.", show_default="0.1")] = None,
    patience: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Stop after N passes without improvement on dev.", show_default="3"),
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Drop features that occur fewer than N times.", show_default="1"),
    ] = None,
    input_format: options.TreeFormat = None,
    encoding: options.Encoding = "utf-8",
    seed: options.Seed = None,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
) -> None:
    """Train a parser of constituent trees.

    Ctrl-C ends training early and saves the best weights so far; the exit code is then 0.
    """
    files = domain_files(domain, train, sigma, dev=dev, patience=patience)
    if patience is not None and dev is None:
        raise DovetailError("--patience counts scores on dev, so it needs --dev")
    given: dict[str, Any] = {
        "max_length": max_length, "features": features, "vertical": vertical, "horizontal": horizontal,
        "direction": branching, "head_tags": head_tags, "relax": relax, "tags": tags, "threshold": threshold,
        "decode": decode, "optimiser": optimiser, "l2": l2, "iterations": iterations, "batch": batch, "gain": gain,
        "patience": patience, "min_count": min_count, "seed": seed, "threads": threads,
    }  # fmt: skip
    settings: dict[str, Any] = {
        name: v.value if isinstance(v, StrEnum) else v for name, v in given.items() if v is not None
    }
    from dovetail.models.parser.estimator import Parser

    def new(reporter: Reporter) -> Parser:
        found = resources.word_resources(
            reporter, unlabelled=unlabelled or (), clusters=clusters or (), encoding=encoding, threads=threads,
            keep=save_clusters,
        )  # fmt: skip
        found.pop("casing", None)
        return Parser(clusters=found or None, **settings)  # type: ignore[arg-type]

    def several(data: Data, reporter: Reporter) -> MultiDomainParser:
        from dovetail.models.domains.parser import MultiDomainParser

        return MultiDomainParser(parser=new(reporter), sigma=sigma)

    corpora = Corpora(input_format, None, encoding)
    if train is None:
        train_parser_domains(files, corpora, several, _doubts, output, quiet)
        return
    began = time.perf_counter()
    with reporting(quiet) as reporter:
        parser = new(reporter)
        reporter.doing(f"reading {train}")
        sentences = corpora.sentences(train)
        corpora.check_training(sentences, train, trees=True)
        held_out = corpora.sentences(dev) if dev is not None else None
        corpora.warn()
        if held_out == []:
            warn("the dev data has no sentences, so it is not used")
        warn_all(overlap_doubts(sentences, held_out))
        warn_all(will_need("parser", ["pos"] if tags == Tags.given else []))
        parser.fit(sentences, dev=held_out or None, progress=reporter.trained, doing=reporter.doing)
        seconds = time.perf_counter() - began
        reporter.doing(f"writing {output}")
        parser.save(output)
    warn_all(_doubts(parser.card_))
    print(_summary(parser, output, seconds))


def _doubts(card: Mapping[str, Any]) -> list[str]:
    left_out = card["left_out"]
    return [f"{count(left_out, 'sentence')} of the training data left out as too long"] if left_out else []


def _summary(parser: Parser, output: Path, seconds: float) -> str:
    """What was trained, how long, why it ended, how good it is on dev, and where it is."""
    card = parser.card_
    size = output.stat().st_size
    lines = [] if card["dev"] is None else [f"dev F1 {card['dev']:.2f}", ""]
    lines += [
        f"trained on {count(card['sentences'], 'tree')}, {count(card['tokens'], 'word')} in {seconds:.1f} s",
        f"grammar: {count(card['symbols'], 'symbol')}, {count(card['rules'], 'rule')}",
        f"stopped: {STOPPED.get(card['stopped'], card['stopped'])}",
        f"model: {output} ({size / 1e6:.1f} MB, {count(card['weights'], 'weight')})",
    ]
    return "\n".join(lines)
