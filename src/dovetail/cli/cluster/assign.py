"""``dovetail cluster assign``: classes for words that were not clustered."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli import options
from dovetail.cli.cluster.work import Output, Texts, counted
from dovetail.cli.console import count, warn_all
from dovetail.cli.paths import Reads
from dovetail.cli.progress import reporting


def cluster_assign(
    clusters: Annotated[
        Path,
        typer.Argument(metavar="CLUSTERS", help="Clusters: a paths file (may be .gz) or a .clusters file."),
        Reads(),
    ],
    texts: Texts,
    output: Output,
    min_count: Annotated[int, typer.Option(metavar="N", min=1, help="Leave out words that occur less often.")] = 1,
    encoding: options.Encoding = "utf-8",
    quiet: options.Quiet = False,
) -> None:
    """Add new words to existing clusters.

    Each new word of TEXT gets the class that best fits its neighbours. The words of CLUSTERS keep their classes.
    """
    from dovetail.clusters.clustering import Clustering
    from dovetail.text.report import ReadReport

    report = ReadReport()
    known = Clustering.load(clusters, report)
    warn_all(report.lines())
    with reporting(quiet) as work:
        counts = counted(texts, min_count, None, encoding, work)
        work.doing("placing new words")
        from dovetail.clusters.assign import assign

        result = assign(known, counts)
    result.clustering.save(output)
    without = f"; {count(result.unplaced, 'word')} without a known neighbour left out" if result.unplaced else ""
    print(f"{count(len(known), 'word')} kept, {result.placed:,} added{without}")
    print(f"{output}: written")
