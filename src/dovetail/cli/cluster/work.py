"""What the commands that cluster share: texts in, counts out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dovetail.cli.console import count, warn_all
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.progress import Reporter

if TYPE_CHECKING:
    from dovetail.clusters.clustering import Clustering
    from dovetail.clusters.counts import BigramCounts

Texts = Annotated[
    list[Path],
    typer.Argument(metavar="TEXT", help="Text with words separated by white space (may be .gz); - for standard input."),
    Reads(),
]

Output = Annotated[
    Path,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write paths to this file (may be .gz), or a compact .clusters file."
    ),
    Writes(),
]

Clusters = Annotated[
    Path, typer.Argument(metavar="CLUSTERS", help="Clusters: a paths file (may be .gz) or a .clusters file."), Reads()
]
MinCount = Annotated[int, typer.Option(metavar="N", min=1, help="Leave out words that occur less often.")]
MaxTypes = Annotated[int | None, typer.Option(metavar="N", min=1, help="Keep only the N most frequent types.")]


def loaded(path: Path) -> Clustering:
    """Clusters from a file; what is odd about it is told."""
    from dovetail.clusters.clustering import Clustering
    from dovetail.text.report import ReadReport

    report = ReadReport()
    clustering = Clustering.load(path, report)
    warn_all(report.lines())
    return clustering


def saved(clustering: Clustering, counts: BigramCounts, output: Path, begin: float, after: str = "") -> None:
    """Write new clusters, and say what they are."""
    from dovetail.clusters.information import mutual_information

    clustering.save(output)
    information = mutual_information(counts, clustering.classes)
    print(f"{counts.tokens:,} words, {count(len(counts.words), 'type')}, {len(clustering.paths):,} classes")
    print(f"mutual information of adjacent classes: {information:.6f} nats{after}")
    print(f"{output}: written after {time.monotonic() - begin:.1f} s")


def counted(texts: list[Path], min_count: int, max_types: int | None, encoding: str, work: Reporter) -> BigramCounts:
    """Count the words and neighbours of all the texts."""
    from dovetail.clusters.counts import count_bigrams

    work.doing("counting words")
    return count_bigrams(
        tuple(texts),
        min_count=min_count,
        max_types=max_types,
        encoding=encoding,
        progress=lambda tokens: work.standing(tokens, None, "words"),
    )
