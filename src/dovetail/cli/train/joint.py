"""``dovetail train joint``: trees and entities by one model."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dovetail.cli import options
from dovetail.cli.console import count, warn, warn_all
from dovetail.cli.corpus import Corpora
from dovetail.cli.layers import will_need
from dovetail.cli.paths import Reads
from dovetail.cli.progress import reporting
from dovetail.cli.train import resources
from dovetail.cli.train.doubts import overlap_doubts
from dovetail.cli.train.parser import Decode, Tags
from dovetail.cli.train.summary import STOPPED
from dovetail.errors import DovetailError


# The defaults of settings are those of JointParser: an option that is not given is not passed on.
def train_joint(
    train: Annotated[
        Path, typer.Option("--train", metavar="FILE", help="JSON lines with trees and entities (may be .gz)."), Reads()
    ],
    output: options.ModelOutput,
    dev: Annotated[
        Path | None,
        typer.Option("--dev", metavar="FILE", help="Held-out text, to stop at the best score and to tune on."),
        Reads(),
    ] = None,
    trees_only: Annotated[
        Path | None,
        typer.Option("--trees-only", metavar="FILE", help="More text, with trees but without entities."),
        Reads(),
    ] = None,
    entities_only: Annotated[
        Path | None,
        typer.Option("--entities-only", metavar="FILE", help="More text, with entities but without trees."),
        Reads(),
    ] = None,
    sigma: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            min=0,
            help="How far the models of --trees-only and --entities-only may deviate.",
            show_default="0.3",
        ),
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Leave longer sentences out of training.", show_default="no limit"),
    ] = None,
    min_documents: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Drop entity features that occur in fewer than N documents.", show_default="1"
        ),
    ] = None,
    unlabelled: resources.Unlabelled = None,
    clusters: resources.ClusterFiles = None,
    save_clusters: resources.SaveClusters = None,
    tags: Annotated[
        Tags | None,
        typer.Option(help="Predict parts of speech, or read them from the text.", show_default="predicted"),
    ] = None,
    decode: Annotated[
        Decode | None,
        typer.Option(help="Return the most probable tree, or the most probable brackets.", show_default="viterbi"),
    ] = None,
    l2: Annotated[
        float | None, typer.Option(metavar="X", min=0, help="Penalty on squared weights.", show_default="1")
    ] = None,
    iterations: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Maximum number of passes over the data.", show_default="10")
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Stop after N passes without improvement on dev.", show_default="3"),
    ] = None,
    input_format: options.TreeFormat = None,
    encoding: options.Encoding = "utf-8",
    seed: options.Seed = None,
    threads: options.Threads = None,
    quiet: options.Quiet = False,
) -> None:
    """Train one model of constituents and entities.

    Ctrl-C ends training early and saves the best weights so far; the exit code is then 0.
    """
    if patience is not None and dev is None:
        raise DovetailError("--patience counts scores on dev, so it needs --dev")
    if sigma is not None and trees_only is None and entities_only is None:
        raise DovetailError("--sigma needs --trees-only or --entities-only")
    given: dict[str, Any] = {
        "sigma": sigma, "max_length": max_length, "tags": tags, "decode": decode, "l2": l2,
        "iterations": iterations, "patience": patience, "seed": seed, "threads": threads,
        "entity_min_documents": min_documents,
    }  # fmt: skip
    settings: dict[str, Any] = {
        name: v.value if isinstance(v, StrEnum) else v for name, v in given.items() if v is not None
    }
    from dovetail.models.joint.estimator import JointParser

    corpora = Corpora(input_format, None, encoding)
    began = time.perf_counter()
    with reporting(quiet) as reporter:
        found = resources.word_resources(
            reporter, unlabelled=unlabelled or (), clusters=clusters or (), encoding=encoding, threads=threads,
            keep=save_clusters,
        )  # fmt: skip
        found.pop("casing", None)
        parser = JointParser(clusters=found or None, **settings)  # type: ignore[arg-type]
        reporter.doing(f"reading {train}")
        sentences, held_out, trees, entities = (
            corpora.sentences(path) if path is not None else [] for path in (train, dev, trees_only, entities_only)
        )
        corpora.check_training(sentences, train, trees=True)
        corpora.warn()
        warn_all(overlap_doubts(sentences, held_out))
        warn_all(will_need("joint", ["pos"] if tags == Tags.given else []))
        parser.fit(
            sentences, trees_only=trees, entities_only=entities, dev=held_out or None, progress=reporter.trained,
            doing=reporter.doing,
        )  # fmt: skip
        seconds = time.perf_counter() - began
        reporter.doing(f"writing {output}")
        parser.save(output)
    card = parser.card_
    if card["left_out"]:
        warn(f"{count(card['left_out'], 'sentence')} left out of training: too long, or entities on no constituent")
    lines = [*parser.repairs_.lines(), ""]
    lines += [] if card["dev"] is None else [f"dev, mean of bracket F1 and entity F1: {card['dev']:.2f}", ""]
    data = f"{count(card['sentences'], 'tree')} with {card['entities']:,} entities"
    lines += [
        f"trained on {data}, {card['trees_only']:,} trees alone, {card['entities_only']:,} sentences with entities "
        f"alone, in {seconds:.1f} s",
        f"stopped: {STOPPED.get(card['stopped'], card['stopped'])}",
        f"model: {output} ({output.stat().st_size / 1e6:.1f} MB)",
    ]
    print("\n".join(lines))
