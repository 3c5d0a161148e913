"""``dovetail cluster exchange``: word classes that predict the text best, from unlabelled text."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli import options
from dovetail.cli.cluster.work import Texts, counted
from dovetail.cli.console import count, warn
from dovetail.cli.output import check_writable
from dovetail.cli.progress import reporting


def cluster_exchange(
    texts: Texts,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Paths (.gz too), or compact if it ends in .clusters."),
    ],
    classes: Annotated[int, typer.Option("--classes", "-c", metavar="N", min=1, help="Number of classes.")] = 200,
    morphology: Annotated[
        float,
        typer.Option(metavar="WEIGHT", min=0.0, max=1e6, help="How much spelling counts beside the text; 0: not."),
    ] = 1.0,
    iterations: Annotated[int, typer.Option(metavar="N", min=0, help="Passes over all words, at most.")] = 30,
    min_count: Annotated[int, typer.Option(metavar="N", min=1, help="Leave out words seen fewer times.")] = 1,
    max_types: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Keep only so many types, the most frequent.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Another one may find better classes, or worse.")] = 0,
    threads: options.Threads = None,
    encoding: options.Encoding = "utf-8",
    quiet: options.Quiet = False,
) -> None:
    """Cluster words by the words beside them and by their spelling: the exchange algorithm.

    TEXT has words parted by white space; its files are read as one running text. Words move between classes as long
    as the classes predict the text better; then a tree is built over the classes, so that a prefix of a path is a
    coarser class. Ctrl-C ends the search early and keeps what it found.
    """
    check_writable(output)
    begin = time.monotonic()
    with reporting(quiet) as work:
        counts = counted(texts, min_count, max_types, encoding, work)
        from dovetail.clusters.exchange import Exchange
        from dovetail.clusters.information import mutual_information

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
    clustering.save(output)
    information = mutual_information(counts, clustering.classes)
    print(f"{counts.tokens:,} words, {count(len(counts.words), 'type')}, {len(clustering.paths):,} classes")
    print(f"mutual information of adjacent classes: {information:.6f} nats, after pass {run.passes}")
    print(f"{output}: written after {time.monotonic() - begin:.1f} s")
