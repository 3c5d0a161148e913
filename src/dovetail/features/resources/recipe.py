"""The recipe that serves taggers well: several clusterings of one text, each a different view of its words.

Brown's tree tells words apart at every grain; exchange clustering finds flat classes that fit the text better, and with
its morphological prior places rare words by their spelling. Together they help more than any one of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from dovetail.clusters.brown import brown
from dovetail.clusters.clustering import Clustering, Report
from dovetail.clusters.counts import BigramCounts
from dovetail.clusters.exchange import exchange
from dovetail.errors import DovetailError
from dovetail.features.resources.casing import casing
from dovetail.features.resources.clusters import Clusters
from dovetail.text.report import ReadReport

FINEST = 1000
COARSE = 200
MORPHOLOGY = 1.0
FLAT = ("exchange", "fine")  # what is read as whole classes, not at the levels of a tree
ENDINGS = (".paths", ".paths.gz", ".clusters")
MADE = ("casing", "association", "variety")  # names of resources that are not read from files of clusters

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

    def flat(classes: int) -> Clustering:
        progress = begins(f"exchange, {classes} classes")
        return exchange(counts, classes, morphology=MORPHOLOGY, threads=threads, progress=progress)

    tree = brown(counts, fine, progress=begins(f"Brown clusters, {fine} classes"))
    return {"brown": tree, "exchange": flat(coarse), "fine": flat(fine)}


def read_clusterings(paths: Sequence[str | Path], report: ReadReport | None = None) -> dict[str, Clustering]:
    """Clusterings from files, or from all such files of a folder, by the names of the files."""
    found: dict[str, Clustering] = {}
    for path in map(Path, paths):
        files = sorted(f for ending in ENDINGS for f in path.glob(f"*{ending}")) if path.is_dir() else [path]
        if not files:
            raise DovetailError(f"{path}: no clusters in this folder (files that end in {', '.join(ENDINGS)})")
        for file in files:
            found[free_name(file, found)] = Clustering.load(file, report)
    return found


def free_name(file: Path, taken: Container[str], kind: str = "clusters") -> str:
    """The name of a file without its ending as templates can write it, unlike all others."""
    name = re.sub(r"\W+", "_", file.name.split(".")[0])
    if not name or name[0].isdigit() or name in MADE:
        name = f"{kind}_{name}"
    while name in taken:
        name += "_"
    return name


def as_resources(clusterings: Mapping[str, Clustering]) -> dict[str, Clusters]:
    """Clusterings as features read them, and with them how words are usually written, from the counts of the first.

    Classes of a flat clustering are used whole, those of Brown's tree at several levels.
    """
    found = {name: Clusters.of(clustering) for name, clustering in clusterings.items()}
    for name in found:
        if name.rstrip("_") in FLAT:
            found[name] = replace(found[name], levels=(0,))
    if clusterings:
        first = next(iter(clusterings.values()))
        found["casing"] = casing(first.words, first.counts)
    return found
