"""``dovetail cluster KIND``: word classes from unlabelled text."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from dovetail.cli import options
from dovetail.cli.command import Commands
from dovetail.cli.console import count, warn, warn_all
from dovetail.cli.options import REQUIRED, argument, option
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.progress import Reporter, reporting
from dovetail.models import settings

if TYPE_CHECKING:
    from dovetail.clusters.clustering import Clustering
    from dovetail.clusters.counts import BigramCounts

app = Commands("Make word clusters from raw text, extend and draw them.")

TEXTS = argument(
    "TEXT", "Text with words separated by white space (may be .gz); - for standard input.", Reads(), REQUIRED
)
CLUSTERS = argument("CLUSTERS", "Clusters: a paths file (may be .gz) or a .clusters file.", Reads(), REQUIRED)
OUTPUT = options.output("FILE", "Write paths to this file (may be .gz), or a compact .clusters file.", Writes())
MIN_COUNT = option("N", "Leave out words that occur less often.", default=1, min=1)
MAX_TYPES = option("N", "Keep only the N most frequent types.", min=1)


@app.command("brown")
def cluster_brown(
    texts: list[Path] = TEXTS,
    output: Path = OUTPUT,
    classes: int = option("N", "Number of classes, the leaves of the tree.", default=1000, short="-c", min=1),
    min_count: int = MIN_COUNT,
    max_types: int | None = MAX_TYPES,
    encoding: str = options.ENCODING,
    threads: int = option("N", "CPU cores to use if idle. The result does not depend on it.", default=1, min=1),
    quiet: bool = options.QUIET,
) -> None:
    """Brown clusters: a binary tree of word classes.

    Words with similar neighbours share a class. Each word gets the path of bits that leads to its class; a
    prefix of the path is a coarser class. All files of TEXT are read as one running text.
    """
    begin = time.monotonic()
    with reporting(quiet) as work:
        counts = _counted(texts, min_count, max_types, encoding, work)
        from dovetail.clusters.brown import brown

        types = count(len(counts.words), "type")
        if len(counts.words) <= classes:
            warn(f"{types} and {classes:,} classes asked for: each word is a class of its own")
        work.doing(f"clustering {types}")
        clustering = brown(counts, classes, threads=threads, progress=work.clustered)
    _saved(clustering, counts, output, begin)


@app.command("exchange")
def cluster_exchange(
    texts: list[Path] = TEXTS,
    output: Path = OUTPUT,
    classes: int = option("N", "Number of classes.", default=200, short="-c", min=1),
    morphology: float = option(
        "WEIGHT", "Weight of spelling against context; 0 ignores spelling.", default=1.0, min=0.0, max=1e6
    ),
    iterations: int = option("N", "Maximum number of passes over all words.", default=30, min=0),
    min_count: int = MIN_COUNT,
    max_types: int | None = MAX_TYPES,
    seed: int = option("N", settings.seed.keywords["help"], default=0, min=0),
    threads: int | None = options.THREADS,
    encoding: str = options.ENCODING,
    quiet: bool = options.QUIET,
) -> None:
    """Exchange clusters: classes from context and spelling.

    Words move between classes as long as that predicts the text better; then a tree is built over the classes,
    so that a prefix of a path is a coarser class. All files of TEXT are read as one running text. Ctrl-C ends
    the search early and keeps the classes found so far.
    """
    begin = time.monotonic()
    with reporting(quiet) as work:
        counts = _counted(texts, min_count, max_types, encoding, work)
        from dovetail.clusters.exchange import Exchange

        types = count(len(counts.words), "type")
        if len(counts.words) <= classes:
            warn(f"{types} for {classes:,} classes: there is one for each word")
        work.doing(f"clustering {types}")
        run = Exchange(counts, classes, morphology=morphology, seed=seed, threads=threads)
        try:
            run.run(iterations, lambda progress: work.clustered(progress, "visits"))
        except KeyboardInterrupt:
            if run.inserted < run.words:
                raise
            warn(f"interrupted in pass {run.passes + 1}: the classes so far are kept")
        clustering = run.clustering()
    _saved(clustering, counts, output, begin, f", after pass {run.passes}")


@app.command("assign")
def cluster_assign(
    clusters: Path = CLUSTERS,
    texts: list[Path] = TEXTS,
    output: Path = OUTPUT,
    min_count: int = MIN_COUNT,
    encoding: str = options.ENCODING,
    quiet: bool = options.QUIET,
) -> None:
    """Add new words to existing clusters.

    Each new word of TEXT gets the class that best fits its neighbours. The words of CLUSTERS keep their classes.
    """
    known = _loaded(clusters)
    with reporting(quiet) as work:
        counts = _counted(texts, min_count, None, encoding, work)
        work.doing("placing new words")
        from dovetail.clusters.assign import assign

        result = assign(known, counts)
    result.clustering.save(output)
    without = f"; {count(result.unplaced, 'word')} without a known neighbour left out" if result.unplaced else ""
    print(f"{count(len(known), 'word')} kept, {result.placed:,} added{without}")
    print(f"{output}: written")


@app.command("tree")
def cluster_tree(
    clusters: Path = CLUSTERS,
    output: Path = options.output("PICTURE", "Write an .svg or .png.", Writes(endings=(".svg", ".png"))),
    depth: int = option("N", "Number of levels to draw.", default=5, min=1, max=10),
    words: int = option("N", "Number of words to show for each branch.", default=6, min=1, max=20),
    below: str = option("BITS", "Draw only the part below this path.", default=""),
) -> None:
    """Draw the top of the tree, with frequent words of every branch."""
    from dovetail.clusters.picture import draw_tree

    draw_tree(_loaded(clusters), output, depth=depth, words=words, below=below)
    print(f"{output}: written")


def _loaded(path: Path) -> Clustering:
    """Clusters from a file; what is odd about it is told."""
    from dovetail.clusters.clustering import Clustering
    from dovetail.text.report import ReadReport

    report = ReadReport()
    clustering = Clustering.load(path, report)
    warn_all(report.lines())
    return clustering


def _counted(texts: list[Path], min_count: int, max_types: int | None, encoding: str, work: Reporter) -> BigramCounts:
    """The words and neighbours of all the texts."""
    from dovetail.clusters.counts import count_bigrams

    work.doing("counting words")
    return count_bigrams(
        tuple(texts), min_count=min_count, max_types=max_types, encoding=encoding, progress=work.counted
    )


def _saved(clustering: Clustering, counts: BigramCounts, output: Path, begin: float, after: str = "") -> None:
    """Write new clusters, and say what they are."""
    from dovetail.clusters.information import mutual_information

    clustering.save(output)
    information = mutual_information(counts, clustering.classes)
    print(f"{counts.tokens:,} words, {count(len(counts.words), 'type')}, {len(clustering.paths):,} classes")
    print(f"mutual information of adjacent classes: {information:.6f} nats{after}")
    print(f"{output}: written after {time.monotonic() - begin:.1f} s")
