"""``dovetail cluster exchange``: word classes that predict the text best, from unlabelled text."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from dovetail.cli import options
from dovetail.cli.cluster.work import MaxTypes, MinCount, Output, Texts, counted, saved
from dovetail.cli.console import count, warn
from dovetail.cli.progress import reporting


def cluster_exchange(
    texts: Texts,
    output: Output,
    classes: Annotated[int, typer.Option("--classes", "-c", metavar="N", min=1, help="Number of classes.")] = 200,
    morphology: Annotated[
        float,
        typer.Option(
            metavar="WEIGHT", min=0.0, max=1e6, help="Weight of spelling against context; 0 ignores spelling."
        ),
    ] = 1.0,
    iterations: Annotated[int, typer.Option(metavar="N", min=0, help="Maximum number of passes over all words.")] = 30,
    min_count: MinCount = 1,
    max_types: MaxTypes = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the random number generator.")] = 0,
    threads: options.Threads = None,
    encoding: options.Encoding = "utf-8",
    quiet: options.Quiet = False,
) -> None:
    """Exchange clusters: classes from context and spelling.

    Words move between classes as long as that predicts the text better; then a tree is built over the classes,
    so that a prefix of a path is a coarser class. All files of TEXT are read as one running text. Ctrl-C ends
    the search early and keeps the classes found so far.
    """
    begin = time.monotonic()
    with reporting(quiet) as work:
        counts = counted(texts, min_count, max_types, encoding, work)
        from dovetail.clusters.exchange import Exchange

        if len(counts.words) <= classes:
            warn(f"{count(len(counts.words), 'type')} for {classes:,} classes: there is one for each word")
        work.doing(f"clustering {count(len(counts.words), 'type')}")
        run = Exchange(counts, classes, morphology=morphology, seed=seed, threads=threads)
        try:
            run.run(iterations, lambda p: work.standing(p.done, p.of, "visits", p.seconds, p.seconds_left))
        except KeyboardInterrupt:
            if run.inserted < run.words:
                raise
            warn(f"interrupted in pass {run.passes + 1}: the classes so far are kept")
        clustering = run.clustering()
    saved(clustering, counts, output, begin, f", after pass {run.passes}")
