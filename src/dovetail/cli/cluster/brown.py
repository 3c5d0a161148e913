"""``dovetail cluster brown``: a tree of word classes from unlabelled text."""

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


def cluster_brown(
    texts: Texts,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Paths (.gz too), or compact if it ends in .clusters."),
    ],
    classes: Annotated[int, typer.Option("--classes", "-c", metavar="N", min=1, help="Leaves of the tree.")] = 1000,
    min_count: Annotated[int, typer.Option(metavar="N", min=1, help="Leave out words seen fewer times.")] = 1,
    max_types: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Keep only so many types, the most frequent.")
    ] = None,
    encoding: options.Encoding = "utf-8",
    threads: Annotated[
        int, typer.Option(metavar="N", min=1, help="Cores to use, if so many are idle; the result is the same.")
    ] = 1,
    quiet: options.Quiet = False,
) -> None:
    """Cluster words by the words beside them: Brown's algorithm, a binary tree of classes.

    TEXT has words parted by white space; its files are read as one running text. Each word gets the path of bits that
    leads to its class; a prefix of the path is a coarser class.
    """
    check_writable(output)
    begin = time.monotonic()
    with reporting(quiet) as work:
        counts = counted(texts, min_count, max_types, encoding, work)
        from dovetail.clusters.brown import brown
        from dovetail.clusters.information import mutual_information

        if len(counts.words) <= classes:
            warn(
                f"{count(len(counts.words), 'type')} and {classes:,} classes asked for: each word is a class of its own"
            )
        work.doing(f"clustering {count(len(counts.words), 'type')}")
        clustering = brown(
            counts,
            classes,
            threads=threads,
            progress=lambda p: work.standing(p.done, p.of, "words", p.seconds, p.seconds_left),
        )
    clustering.save(output)
    information = mutual_information(counts, clustering.classes)
    print(f"{counts.tokens:,} words, {count(len(counts.words), 'type')}, {len(clustering.paths):,} classes")
    print(f"mutual information of adjacent classes: {information:.6f} nats")
    print(f"{output}: written after {time.monotonic() - begin:.1f} s")
