"""What raw text, clusters and lists add to a tagger: from the options of a command to resources by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dovetail.cli.console import count, warn_all
from dovetail.cli.paths import Reads, Writes
from dovetail.cli.progress import Reporter
from dovetail.errors import DovetailError

if TYPE_CHECKING:
    from dovetail.clusters.clustering import Clustering
    from dovetail.features.resources.resource import Resource

Unlabelled = Annotated[
    list[Path] | None,
    typer.Option(
        "--unlabelled",
        metavar="RAW",
        help="Raw text to make word clusters from, words separated by spaces (may be .gz); may be repeated.",
    ),
    Reads(),
]
ClusterFiles = Annotated[
    list[Path] | None,
    typer.Option("--clusters", metavar="PATHS", help="Existing clusters: a file or a folder; may be repeated."),
    Reads(),
]
Lexicons = Annotated[
    list[str] | None,
    typer.Option("--lexicon", metavar="NAME=FILE", help="A list of names, one per line; may be repeated."),
    Reads(named=True),
]
Associations = Annotated[
    list[Path] | None,
    typer.Option("--association", metavar="RAW", help="Raw text to count word associations in; may be repeated."),
    Reads(),
]
SaveClusters = Annotated[
    Path | None,
    typer.Option("--save-clusters", metavar="FOLDER", help="Save the clusters of --unlabelled here, for --clusters."),
    Writes(inside=("brown.paths", "exchange.paths", "fine.paths")),
]

RESERVED = {"brown", "exchange", "fine", "casing", "association"}
"""Names that the recipe gives to what it makes."""


def word_resources(
    reporter: Reporter,
    *,
    unlabelled: Sequence[Path] = (),
    clusters: Sequence[Path] = (),
    lexicons: Sequence[str] = (),
    association: Sequence[Path] = (),
    encoding: str = "utf-8",
    threads: int | None = None,
    keep: Path | None = None,
) -> dict[str, Resource]:
    """Everything that was asked for, by the names that templates use."""
    from dovetail.features.resources.recipe import as_resources, read_clusterings
    from dovetail.text.report import ReadReport

    if clusters:
        reporter.doing(f"reading {', '.join(map(str, clusters))}")
    lists = read_lexicons(lexicons, unit="word")
    if keep is not None and not unlabelled:
        raise DovetailError("--save-clusters saves the clusters made from raw text: it needs --unlabelled")
    report = ReadReport()
    clusterings = read_clusterings(clusters, report)
    warn_all(report.lines())
    if clash := set(lists) & (set(clusterings) | RESERVED):
        raise DovetailError(f"--lexicon {clash.pop()}=...: this name is taken by another resource; use another one")
    if unlabelled:
        learnt = _learnt(unlabelled, encoding, threads, reporter, keep)
        clusterings = {**{f"{name}_" if name in learnt else name: c for name, c in clusterings.items()}, **learnt}
    found: dict[str, Any] = {**lists, **as_resources(clusterings)}
    if association:
        from dovetail.features.resources.association import Association

        reporter.doing("counting association")
        table = Association.count(
            association, unit="word", encoding=encoding, progress=lambda n: reporter.standing(n, None, "words")
        )
        found["association"] = table.transform("z-score")
    return found


def read_lexicons(given: Sequence[str], unit: Any) -> dict[str, Any]:
    """Lists of names by name, from NAME=FILE."""
    from dovetail.features.resources.lexicon import Lexicon
    from dovetail.text.report import ReadReport

    found: dict[str, Any] = {}
    report = ReadReport()
    for one in given:
        name, equals, file = one.partition("=")
        if not (name and equals and file):
            raise DovetailError(f"--lexicon {one}: give it as NAME=FILE")
        if name in found:
            raise DovetailError(f"--lexicon {one}: the name {name!r} is given twice")
        found[name] = Lexicon.read({name: file}, unit=unit, report=report)
    warn_all(report.lines())
    return found


def _learnt(
    raw: Sequence[Path],
    encoding: str,
    threads: int | None,
    reporter: Reporter,
    keep: Path | None,
) -> dict[str, Clustering]:
    """Clusters of the raw text, which may be an annotated file.

    The training text is left out: with it, each of its words would have a cluster, and the model would not learn what
    to do without one. It costs half a point of F1 on CoNLL-2003.
    """
    from dovetail.clusters.counts import count_bigrams
    from dovetail.features.resources.recipe import learn_clusterings
    from dovetail.text import formats

    if keep is not None:  # a folder that cannot be made is reported before the long work
        keep.mkdir(parents=True, exist_ok=True)
    reporter.doing("counting words")
    annotated = {path for path in raw if formats.guess_format(path) not in (None, "text")}
    counts = count_bigrams(
        [path for path in raw if path not in annotated],
        sentences=(s.words for path in raw if path in annotated for s in formats.sentences(path, encoding=encoding)),
        encoding=encoding,
        progress=lambda n: reporter.standing(n, None, "words"),
    )

    def told(what: str) -> Any:
        reporter.doing(f"clustering {count(len(counts.words), 'type')}: {what}")
        return lambda p: reporter.standing(p.done, p.of, "words", p.seconds, p.seconds_left)

    made = learn_clusterings(counts, threads, told)
    if keep is not None:
        for name, clustering in made.items():
            clustering.save(keep / f"{name}.paths")
    return made
