"""``dovetail cluster assign``: classes for words that were not clustered."""

from __future__ import annotations

from dovetail.cli import options
from dovetail.cli.cluster.work import Clusters, MinCount, Output, Texts, counted, loaded
from dovetail.cli.console import count
from dovetail.cli.progress import reporting


def cluster_assign(
    clusters: Clusters,
    texts: Texts,
    output: Output,
    min_count: MinCount = 1,
    encoding: options.Encoding = "utf-8",
    quiet: options.Quiet = False,
) -> None:
    """Add new words to existing clusters.

    Each new word of TEXT gets the class that best fits its neighbours. The words of CLUSTERS keep their classes.
    """
    known = loaded(clusters)
    with reporting(quiet) as work:
        counts = counted(texts, min_count, None, encoding, work)
        work.doing("placing new words")
        from dovetail.clusters.assign import assign

        result = assign(known, counts)
    result.clustering.save(output)
    without = f"; {count(result.unplaced, 'word')} without a known neighbour left out" if result.unplaced else ""
    print(f"{count(len(known), 'word')} kept, {result.placed:,} added{without}")
    print(f"{output}: written")
