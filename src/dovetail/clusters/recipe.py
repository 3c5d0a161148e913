"""The recipe that serves taggers well: several clusterings of one text, each a different view of its words.

Brown's tree tells words apart at every grain; exchange clustering finds flat classes that fit the text better, and with
its morphological prior places rare words by their spelling. Together they help more than any one of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from dovetail.clusters.brown import brown
from dovetail.clusters.clustering import Clustering
from dovetail.clusters.counts import BigramCounts
from dovetail.clusters.exchange import exchange
from dovetail.clusters.progress import Report

if TYPE_CHECKING:
    from dovetail.features.clusters import Clusters

FINEST = 1000
COARSE = 200
MORPHOLOGY = 1.0

Told = Callable[[str], Report]
"""Given the name of a step that begins, what to call with its progress."""


def fitting_classes(tokens: int) -> tuple[int, int]:
    """How many classes, fine and coarse, a text of so many words can fill.

    >>> fitting_classes(15_000_000), fitting_classes(250_000)
    ((968, 200), (125, 62))
    """
    fine = max(64, min(FINEST, round(math.sqrt(tokens) / 4)))
    return fine, min(COARSE, fine // 2)


def learn_clusterings(
    counts: BigramCounts, threads: int | None = None, told: Told | None = None
) -> dict[str, Clustering]:
    """Three clusterings of a counted text by name: ``brown``, ``exchange`` (coarse) and ``fine``."""
    begins: Told = told or (lambda _: lambda _: None)
    fine, coarse = fitting_classes(counts.tokens)
    return {
        "brown": brown(counts, fine, progress=begins(f"Brown clusters, {fine} classes")),
        "exchange": exchange(
            counts, coarse, morphology=MORPHOLOGY, threads=threads, progress=begins(f"exchange, {coarse} classes")
        ),
        "fine": exchange(
            counts, fine, morphology=MORPHOLOGY, threads=threads, progress=begins(f"exchange, {fine} classes")
        ),
    }


def as_resources(clusterings: Mapping[str, Clustering]) -> dict[str, Clusters]:
    """Clusterings as features read them, and with them how words are usually written, from the counts of the first.

    Classes of a flat clustering are used whole, those of Brown's tree at several levels.
    """
    from dovetail.features.casing import casing
    from dovetail.features.clusters import Clusters

    found = {name: Clusters.of(clustering) for name, clustering in clusterings.items()}
    for name in ("exchange", "fine"):
        if name in found:
            found[name] = replace(found[name], levels=(0,))
    if clusterings:
        first = next(iter(clusterings.values()))
        found["casing"] = casing(first.words, first.counts)
    return found
