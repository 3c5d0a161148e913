"""``dovetail cluster brown``: a tree of word classes from unlabelled text."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from dovetail.cli import options
from dovetail.cli.cluster.work import MaxTypes, MinCount, Output, Texts, counted, saved
from dovetail.cli.console import count, warn
from dovetail.cli.progress import reporting


def cluster_brown(
    texts: Texts,
    output: Output,
    classes: Annotated[
        int, typer.Option("--classes", "-c", metavar="N", min=1, help="Number of classes, the leaves of the tree.")
    ] = 1000,
    min_count: MinCount = 1,
    max_types: MaxTypes = None,
    encoding: options.Encoding = "utf-8",
    threads: Annotated[
        int, typer.Option(metavar="N", min=1, help="CPU cores to use if idle. The result does not depend on it.")
    ] = 1,
    quiet: options.Quiet = False,
) -> None:
    """Brown clusters: a binary tree of word classes.

    Words with similar neighbours share a class. Each word gets the path of bits that leads to its class; a
    prefix of the path is a coarser class. All files of TEXT are read as one running text.
    """
    begin = time.monotonic()
    with reporting(quiet) as work:
        counts = counted(texts, min_count, max_types, encoding, work)
        from dovetail.clusters.brown import brown

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
    saved(clustering, counts, output, begin)
